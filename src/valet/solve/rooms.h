/* How much is left of a class on a provider while a stack is planned: what the version says, with
 * the holds that the plan gives back, less what the plan has put there. Read when first asked for.
 * One thread at a time. */
#ifndef BERTH_VALET_SOLVE_ROOMS_H
#define BERTH_VALET_SOLVE_ROOMS_H

#include "base/arena.h"
#include "query/fit.h"
#include "replica/version.h"

struct room {
    int64_t left;
    int64_t first;   /* what was left before the plan put anything there */
    double per_unit; /* 1 / capacity; 0: it has none */
};

/* So much given back. */
struct room_back {
    struct class_no class_no;
    struct slot_no slot;
    int64_t amount;
};

struct rooms {
    const struct version *version;
    struct arena *arena;
    struct class_no *classes; /* those that the stack asks for: a class is its index here */
    uint32_t class_count;
    struct room **chunks; /* class_count * chunk_count, NULL until needed */
    uint32_t chunk_count;
    const struct room_back *back; /* ascending by class and slot, each once */
    uint32_t back_count;
    struct room *nothing; /* a chunk in which nobody has anything; of any class */
};

enum { ROOMS_CHUNK = 64 };

void rooms_init(struct rooms *rooms, const struct version *version, struct arena *arena,
                struct class_no *classes, uint32_t class_count);

/* Out of line: the first time. */
struct room *rooms_read(struct rooms *rooms, uint32_t class_index, uint32_t slot);

/* The room of a class at a slot in use; stays where it is. */
static inline struct room *rooms_at(struct rooms *rooms, uint32_t class_index, uint32_t slot)
{
    struct room *chunk =
        rooms->chunks[(size_t)class_index * rooms->chunk_count + slot / ROOMS_CHUNK];
    if (chunk == NULL || chunk[slot % ROOMS_CHUNK].left == INT64_MIN)
        return rooms_read(rooms, class_index, slot);
    return &chunk[slot % ROOMS_CHUNK];
}

/* The consumer's allocations count as not there. Before any room is read. */
void rooms_give_back(struct rooms *rooms, const struct consumer *const *consumers, uint32_t count);

/* What was given back, for ac_request.rooms. */
struct fit_room *rooms_overlay(const struct rooms *rooms, uint32_t *count);

#endif
