/* A set of slots: the providers that have a trait, or the members of an aggregate.
 *
 * There are many sets, and most have few members: one member is stored in the struct, up to
 * SLOTSET_FEW_MAX in one sorted list. Larger sets have pages of 4 096 slots, each absent, a sorted
 * list or a bitset; pages are shared between versions. The zero struct is the empty set. */
#ifndef BERTH_REPLICA_SLOTSET_H
#define BERTH_REPLICA_SLOTSET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cow.h"
#include "model/numbers.h"

struct slotset_few;

/* The count alone determines which member of the union is valid. */
struct slotset {
    union {
        uint32_t only;           /* one member */
        struct slotset_few *few; /* 2 to SLOTSET_FEW_MAX */
        struct cow_array pages;  /* more */
    };
    uint32_t count;
};

enum {
    SLOTSET_FEW_MAX = 128,
    SLOTSET_PAGE_SLOTS = 4096,
    SLOTSET_PAGE_WORDS = SLOTSET_PAGE_SLOTS / 64
};

bool slotset_has(const struct slotset *set, struct slot_no slot);

/* Adding a member again, or removing a slot that is not a member, changes nothing and copies
 * nothing. The writer only, on a set of its edit. */
void slotset_add(struct cow *cow, struct slotset *set, struct slot_no slot);
void slotset_remove(struct cow *cow, struct slotset *set, struct slot_no slot);

/* Adds the members of one page (page n: slots 4096 n and up) to 64 words, one bit per slot. */
void slotset_page_or(const struct slotset *set, uint32_t page, uint64_t words[SLOTSET_PAGE_WORDS]);

/* The page's members as bits if it is stored as a bitset; otherwise NULL. */
const uint64_t *slotset_page_bits(const struct slotset *set, uint32_t page);

/* The smallest member not less than `from`, or NUMBER_NONE. */
uint32_t slotset_next(const struct slotset *set, uint32_t from);

/* Frees everything born at or after `birth` (cow_array_free). The writer only. */
void slotset_free(struct slotset *set, uint64_t birth);

/* Whether its memory satisfies the invariants of slotset.c. */
bool slotset_is_sound(const struct slotset *set);

#endif
