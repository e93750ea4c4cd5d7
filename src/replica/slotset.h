/* A set of slots: who has a trait, who is in an aggregate. Pages of 4 096 slots, each absent, a
 * sorted list or a bitset; pages are shared between versions. The zero struct is the empty set. */
#ifndef BERTH_REPLICA_SLOTSET_H
#define BERTH_REPLICA_SLOTSET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cow.h"
#include "model/numbers.h"

struct slotset {
    struct cow_array pages;
    uint32_t count;
};

enum { SLOTSET_PAGE_SLOTS = 4096, SLOTSET_PAGE_WORDS = SLOTSET_PAGE_SLOTS / 64 };

bool slotset_has(const struct slotset *set, struct slot_no slot);

/* Adding a member or removing a stranger changes nothing, and copies nothing. The writer only, on a
 * set of its edit. */
void slotset_add(struct cow *cow, struct slotset *set, struct slot_no slot);
void slotset_remove(struct cow *cow, struct slotset *set, struct slot_no slot);

/* Adds the members of one page (page n: slots 4096 n and up) to 64 words, one bit a slot. */
void slotset_page_or(const struct slotset *set, uint32_t page, uint64_t words[SLOTSET_PAGE_WORDS]);

/* The smallest member not below `from`, or NUMBER_NONE. */
uint32_t slotset_next(const struct slotset *set, uint32_t from);

/* Frees the pages born at or after `birth` (cow_array_free). The writer only. */
void slotset_free(struct slotset *set, uint64_t birth);

#endif
