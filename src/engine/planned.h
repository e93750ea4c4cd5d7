/* What a batch has planned: the changes of all its requests, in the form in which the store takes
 * them. The writer only. */
#ifndef BERTH_ENGINE_PLANNED_H
#define BERTH_ENGINE_PLANNED_H

#include "store/store.h"

struct pipeline_request;

/* One arena has everything. Zeroed apart from the arena of `changes`: empty. */
struct planned {
    struct change_list changes;
    size_t *ends;                       /* as in struct store_batch */
    struct pipeline_request **requests; /* NULL: what other processes' writes require */
    size_t request_count, end_capacity, request_capacity;
    bool must_commit; /* as in struct store_batch */
};

/* Appends a copy of the change, with its texts and its row: the originals may be in memory that a
 * later change of the same batch replaces. */
void planned_add(struct planned *planned, const struct change *change);

/* The changes added since the last end are that request's. */
void planned_end_request(struct planned *planned, struct pipeline_request *request);

struct store_batch planned_batch(const struct planned *planned);

#endif
