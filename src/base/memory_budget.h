/* A limit on memory whose amount clients choose, shared fairly: no holder gets more than half of
 * what the others leave, so that some is always left for the next one.
 *
 * A holder is identified by two numbers, an owner (a project) and an address (the client's
 * network); the shares of both are limited. The numbers are hashes, counted as in shares.h. Any
 * thread; there are no locks, so that a low-priority thread cannot block another. */
#ifndef BERTH_BASE_MEMORY_BUDGET_H
#define BERTH_BASE_MEMORY_BUDGET_H

#include <stdint.h>

#include "base/check.h"

struct memory_budget;

/* The caller destroys the budget when nothing is charged to it any more. */
struct memory_budget *memory_budget_create(uint64_t limit_bytes);
void memory_budget_destroy(struct memory_budget *budget);

/* The number of bytes charged at present, for metrics. */
uint64_t memory_budget_used(const struct memory_budget *budget);

enum memory_verdict {
    MEMORY_GRANTED,
    MEMORY_TAKEN,    /* others, or others with the same owner or address, hold too much of it now */
    MEMORY_TOO_MUCH, /* this holder would be refused even if it were the only one */
};

/* The bytes charged to one holder. To begin, set budget, owner and address and zero the rest.
 * budget == NULL: everything is granted. One thread at a time. */
struct memory_share {
    struct memory_budget *budget;
    uint64_t owner;
    uint64_t address;
    uint64_t bytes;
    uint64_t *held;           /* the bytes of all shares of this holder; NULL: there is only this
                               * share */
    enum memory_verdict over; /* what memory_take() would have returned for the memory_charge()
                               * calls so far */
};

/* Charges that many more bytes, or nothing. Of several concurrent calls that would fit alone, one
 * may be refused that would just have fitted; a call that would not fit affects no other. */
enum memory_verdict memory_take(struct memory_share *share, uint64_t bytes) BERTH_MUST_CHECK;

/* Charges memory that has already been taken, even if it is too much: the caller checks `over` soon
 * afterwards and gives up. */
void memory_charge(struct memory_share *share, uint64_t bytes);

/* Makes an empty share of the same holder. */
struct memory_share memory_another(const struct memory_share *share);

/* Separates the share from its holder's other shares, so that it can outlive them. */
void memory_detach(struct memory_share *share);

/* Release all of the share's bytes, or only that many. */
void memory_give_back(struct memory_share *share);
void memory_give_back_part(struct memory_share *share, uint64_t bytes);

#endif
