/* A set of slots: who has a trait, who is in an aggregate.
 *
 * Most sets have few members, and there are many of them: one member lies in the struct, up to
 * SLOTSET_FEW_MAX in one sorted list. Larger sets have pages of 4 096 slots, each absent, a sorted
 * list or a bitset; pages are shared between versions. The zero struct is the empty set. */
#ifndef BERTH_REPLICA_SLOTSET_H
#define BERTH_REPLICA_SLOTSET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cow.h"
#include "model/numbers.h"

struct slotset_few;

/* The count alone tells which of the union holds. */
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

/* Adding a member or removing what is no member changes nothing, and copies nothing. The writer
 * only, on a set of its edit. */
void slotset_add(struct cow *cow, struct slotset *set, struct slot_no slot);
void slotset_remove(struct cow *cow, struct slotset *set, struct slot_no slot);

/* Adds the members of one page (page n: slots 4096 n and up) to 64 words, one bit a slot. */
void slotset_page_or(const struct slotset *set, uint32_t page, uint64_t words[SLOTSET_PAGE_WORDS]);

/* The page's members as bits, where they are kept so; else NULL. */
const uint64_t *slotset_page_bits(const struct slotset *set, uint32_t page);

/* The smallest member not below `from`, or NUMBER_NONE. */
uint32_t slotset_next(const struct slotset *set, uint32_t from);

/* Frees what was born at or after `birth` (cow_array_free). The writer only. */
void slotset_free(struct slotset *set, uint64_t birth);

/* Whether its memory is as slotset.c promises. */
bool slotset_is_sound(const struct slotset *set);

#endif
