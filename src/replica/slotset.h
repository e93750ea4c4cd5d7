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

enum { SLOTSET_PAGE_SLOTS = 4096 };

bool slotset_has(const struct slotset *set, struct slot_no slot);

/* Adding a member or removing a stranger changes nothing. */
void slotset_add(struct cow *cow, struct slotset *set, struct slot_no slot);
void slotset_remove(struct cow *cow, struct slotset *set, struct slot_no slot);

/* The members among slots [256 * chunk, 256 * chunk + 256) as four words; false if there is none
 * (the words are zero then). */
bool slotset_chunk(const struct slotset *set, uint32_t chunk, uint64_t words[4]);

/* Whether the page holding that chunk has any member: if not, its 16 chunks can be passed over. */
bool slotset_has_page(const struct slotset *set, uint32_t chunk);

/* Adds the members of one page of 4 096 slots (page n: slots 4096 n and up) to 64 words. */
enum { SLOTSET_PAGE_WORDS = SLOTSET_PAGE_SLOTS / 64 };
void slotset_page_or(const struct slotset *set, uint32_t page, uint64_t words[SLOTSET_PAGE_WORDS]);

/* The smallest member not below `from`, or NUMBER_NONE. */
uint32_t slotset_next(const struct slotset *set, uint32_t from);

void slotset_free(struct slotset *set, uint64_t birth);

#endif
