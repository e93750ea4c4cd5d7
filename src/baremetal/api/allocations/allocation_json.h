/* Allocations as the Bare Metal API shows them (baremetal-allocations spec, 2). */
#ifndef BERTH_BAREMETAL_API_ALLOCATIONS_ALLOCATION_JSON_H
#define BERTH_BAREMETAL_API_ALLOCATIONS_ALLOCATION_JSON_H

#include "api/request.h"
#include "baremetal/api/record_json.h"
#include "model/node_allocation.h"

/* A row, and what is shown of other rows. */
struct allocation_shown {
    const struct node_allocation *row;
    struct slice node_uuid; /* data == NULL: none, or the node no longer exists */
};

struct allocation_shown allocation_shown_of(const struct version *version,
                                            const struct node_allocation *row);

/* A copy of that in the arena, for callers that outlive the version. */
struct allocation_shown allocation_shown_copy(const struct version *version,
                                              const struct node_allocation *row,
                                              struct arena *arena);

void allocation_write_json(struct api_request *request, const struct allocation_shown *shown,
                           const struct record_fields *fields, struct buf *out);

/* Writes the answer with all fields of the version. The status is 200 unless it is set already. */
void allocation_answer(struct api_request *request, const struct allocation_shown *shown);

#endif
