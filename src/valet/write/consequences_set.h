/* Providers that the derivation of consequences has to look at, each once. Writer thread only. */
#ifndef BERTH_VALET_WRITE_CONSEQUENCES_SET_H
#define BERTH_VALET_WRITE_CONSEQUENCES_SET_H

#include "base/hash_map.h"

/* A provider whose claims, and those of its racks, are to be looked at. */
struct consequences_provider {
    int64_t id;
    bool has_moved; /* what it is in, or below, has changed; else it loses allocations only */
    uint32_t step;  /* the last that changed its aggregates or claims; 0: none did */
};

/* Each id once, in the order of their coming. All zero at first; in the batch's arena. */
struct consequences_set {
    struct consequences_provider *items;
    size_t count;
    size_t capacity;
    struct hash_map by_id;
};

/* Its item, new or not; NULL from find: there is none. Valid until the next add. */
struct consequences_provider *consequences_set_add(struct consequences_set *set, int64_t id,
                                                   struct arena *arena);
struct consequences_provider *consequences_set_find(const struct consequences_set *set, int64_t id);

#endif
