/* Scan kernels: which slots of a page can serve a demand, have the traits, or are in the
 * aggregates. A page is 4 096 slots as 64 words of bits. */
#ifndef BERTH_QUERY_FIT_H
#define BERTH_QUERY_FIT_H

#include "replica/version.h"

enum { FIT_WORDS = SLOTSET_PAGE_WORDS, FIT_PAGE_SLOTS = SLOTSET_PAGE_SLOTS };

/* One alternative: a slot must be a member of at least one of the sets; without sets, no slot is. A
 * filter requires all its alternatives. */
struct fit_any {
    const struct slotset **sets;
    uint32_t count;
};

struct fit_filter {
    const struct fit_any *any;
    uint32_t any_count;
    const struct slotset **none; /* a member of none of these */
    uint32_t none_count;
};

/* A headroom that replaces the version's, for a planner that removes other allocations. */
struct fit_headroom {
    struct class_no class_no;
    struct slot_no slot;
    int32_t headroom;
};

/* An amount of one class. */
struct fit_demand {
    const struct column *column;
    struct class_no class_no;
    int64_t amount;
    const struct fit_headroom *headrooms; /* for that class, ascending by slot; usually none */
    uint32_t headroom_count;
};

enum { FIT_STEPS_A_SET = 16 }; /* for each set of a filter and each page: steps (query/budget.h) */

/* Clears the bits of slots that cannot serve the demand: headroom, min_unit, step_size. Returns the
 * steps used, which depend on how many hosts are full. */
uint32_t fit_demand_page(const struct version *version, const struct fit_demand *demand,
                         uint32_t page, uint64_t words[FIT_WORDS]);

/* Clears the bits of slots that do not pass the filter. */
void fit_filter_page(const struct fit_filter *filter, uint32_t page, uint64_t words[FIT_WORDS]);

/* The same for one slot. */
bool fit_demand_slot(const struct version *version, const struct fit_demand *demand,
                     struct slot_no slot);

/* Out of line: the headroom of a demand that has headrooms. */
int32_t fit_given_headroom(const struct fit_demand *demand, struct slot_no slot);

static inline int32_t fit_demand_headroom(const struct fit_demand *demand, struct slot_no slot)
{
    return demand->headroom_count == 0 ? column_headroom(demand->column, slot)
                                       : fit_given_headroom(demand, slot);
}
bool fit_filter_slot(const struct fit_filter *filter, struct slot_no slot);

/* The cost of fit_filter_slot, which checks each set until one contains the slot. */
int64_t fit_filter_steps(const struct fit_filter *filter);

static inline bool fit_words_empty(const uint64_t words[FIT_WORDS])
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < FIT_WORDS; i++)
        all |= words[i];
    return all == 0;
}

#endif
