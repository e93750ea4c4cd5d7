/* The ids of consumers by their uuids, while everything is read: allocations refer to consumers by
 * uuid, and a join would take the server more time than all the rest. One thread. */
#ifndef BERTH_STORE_SERVER_CONSUMER_IDS_H
#define BERTH_STORE_SERVER_CONSUMER_IDS_H

#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"

struct arena;
struct consumer_id;

/* All zero: empty. */
struct consumer_ids {
    struct arena *arena;         /* of the texts */
    struct consumer_id *entries; /* in the order in which they were added; from malloc */
    size_t count, capacity;
    uint32_t *slots; /* 1 more than an entry's position, or 0; a power of two of them */
    size_t slot_count;
};

/* A uuid that is not there yet, and its id, which is not 0. */
void consumer_ids_add(struct consumer_ids *ids, struct slice uuid, int64_t id);

/* 0: it is not there. */
int64_t consumer_ids_find(const struct consumer_ids *ids, struct slice uuid);

/* It is then empty. */
void consumer_ids_free(struct consumer_ids *ids);

#endif
