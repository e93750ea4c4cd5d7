/* Allocations as the bare metal API shows them (baremetal-allocations spec, 2). */
#ifndef BERTH_BAREMETAL_API_ALLOCATIONS_ALLOCATION_JSON_H
#define BERTH_BAREMETAL_API_ALLOCATIONS_ALLOCATION_JSON_H

#include "api/request.h"
#include "baremetal/api/record_json.h"
#include "model/node_allocation.h"

/* A row with what it needs of others. */
struct allocation_shown {
    const struct node_allocation *row;
    struct slice node_uuid; /* data == NULL: none, or it is gone */
};

struct allocation_shown allocation_shown_of(const struct version *version,
                                            const struct node_allocation *row);

/* The same as a copy in the arena, for those who outlive the version. */
struct allocation_shown allocation_shown_copy(const struct version *version,
                                              const struct node_allocation *row,
                                              struct arena *arena);

void allocation_write_json(struct api_request *request, const struct allocation_shown *shown,
                           const struct record_fields *fields, struct buf *out);

/* The answer with all fields of the version: 200 unless the status is set already. */
void allocation_answer(struct api_request *request, const struct allocation_shown *shown);

#endif
