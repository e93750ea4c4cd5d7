/* How much is left of a class on a provider while a stack is planned: what the version has, plus
 * the holds that the plan gives back, minus what the plan has placed there. Read when first needed.
 * One thread at a time. */
#ifndef BERTH_VALET_SOLVE_HEADROOMS_H
#define BERTH_VALET_SOLVE_HEADROOMS_H

#include "base/arena.h"
#include "query/fit.h"
#include "replica/version.h"

struct headroom {
    int64_t left;
    int64_t first;   /* before the plan placed anything there */
    double per_unit; /* 1 / capacity; 0: no capacity */
};

/* An amount given back. */
struct headroom_back {
    struct class_no class_no;
    struct slot_no slot;
    int64_t amount;
};

struct headrooms {
    const struct version *version;
    struct arena *arena;
    struct class_no *classes; /* those that the stack requires: a class is its index here */
    uint32_t class_count;
    struct headroom **chunks; /* class_count * chunk_count, NULL until needed */
    uint32_t chunk_count;
    const struct headroom_back *back; /* ascending by class and slot, each once */
    uint32_t back_count;
    struct headroom *nothing; /* a chunk without inventories, shared by all classes */
};

enum { HEADROOMS_CHUNK = 64 };

void headrooms_init(struct headrooms *headrooms, const struct version *version, struct arena *arena,
                    struct class_no *classes, uint32_t class_count);

/* Not inline: used the first time only. */
struct headroom *headrooms_read(struct headrooms *headrooms, uint32_t class_index, uint32_t slot);

/* The headroom of a class at a slot in use; its address does not change. */
static inline struct headroom *headrooms_at(struct headrooms *headrooms, uint32_t class_index,
                                            uint32_t slot)
{
    struct headroom *chunk =
        headrooms->chunks[(size_t)class_index * headrooms->chunk_count + slot / HEADROOMS_CHUNK];
    if (chunk == NULL || chunk[slot % HEADROOMS_CHUNK].left == INT64_MIN)
        return headrooms_read(headrooms, class_index, slot);
    return &chunk[slot % HEADROOMS_CHUNK];
}

/* Leaves out the consumers' allocations. To be called before any headroom is read. */
void headrooms_give_back(struct headrooms *headrooms, const struct consumer *const *consumers,
                         uint32_t count);

/* The amounts given back, for ac_request.headrooms. */
struct fit_headroom *headrooms_overlay(const struct headrooms *headrooms, uint32_t *count);

#endif
