/* Providers to be examined for consequences, each once. The writer only. */
#ifndef BERTH_VALET_WRITE_CONSEQUENCES_SET_H
#define BERTH_VALET_WRITE_CONSEQUENCES_SET_H

#include "base/hash_map.h"

/* A provider whose claims, and those of its racks, are to be examined. */
struct consequences_provider {
    int64_t id;
    bool has_moved; /* its parent, racks or aggregates have changed; else it only loses allocations
                     */
    uint32_t step;  /* the last that changed its aggregates or claims; 0: none did */
};

/* Each id once, in the order of insertion. Initially all zero; in the batch's arena. */
struct consequences_set {
    struct consequences_provider *items;
    size_t count;
    size_t capacity;
    struct hash_map by_id;
};

/* Its item, new or existing; find returns NULL if there is none. Valid until the next add. */
struct consequences_provider *consequences_set_add(struct consequences_set *set, int64_t id,
                                                   struct arena *arena);
struct consequences_provider *consequences_set_find(const struct consequences_set *set, int64_t id);

#endif
