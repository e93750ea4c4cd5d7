/* A limit on memory whose amount clients choose, shared fairly: nobody gets more than half of what
 * the others leave, so there is always something for the next one.
 *
 * Whoever is charged is known by two numbers, an owner (a project) and an address (of the client's
 * network); both shares are bounded. They are hashes: two that fall into the same row of the books
 * have one share together. Any thread; no locks, so that a thread of low priority stops nobody. */
#ifndef BERTH_BASE_MEMORY_BUDGET_H
#define BERTH_BASE_MEMORY_BUDGET_H

#include <stdint.h>

#include "base/check.h"

struct memory_budget;

/* The caller destroys it when nothing is charged to it any more. */
struct memory_budget *memory_budget_create(uint64_t limit_bytes);
void memory_budget_destroy(struct memory_budget *budget);

/* Bytes that are charged now, for metrics. */
uint64_t memory_budget_used(const struct memory_budget *budget);

enum memory_verdict {
    MEMORY_GRANTED,
    MEMORY_TAKEN,    /* others, or others of the same owner, have too much of it now */
    MEMORY_TOO_MUCH, /* this holder would not get it if it were alone, either */
};

/* What one holder has been charged. All zero with a budget, an owner and an address is a good
 * start. budget == NULL: everything is granted. One thread at a time. */
struct memory_share {
    struct memory_budget *budget;
    uint64_t owner;
    uint64_t address;
    uint64_t bytes;
    uint64_t *held;           /* the bytes of all shares of the holder; NULL: it has only this */
    enum memory_verdict over; /* what memory_take() would have said to what memory_charge() charged
                               */
};

/* Charges so many bytes more, or nothing. While several ask at once, one may be refused that would
 * just have fitted. */
enum memory_verdict memory_take(struct memory_share *share, uint64_t bytes) BERTH_MUST_CHECK;

/* Charges what has been taken already, even if it is too much: whoever takes it looks at `over`
 * soon, and ends. */
void memory_charge(struct memory_share *share, uint64_t bytes);

/* An empty share of the same holder. */
struct memory_share memory_another(const struct memory_share *share);

/* From now on its holder is another, who may live longer. */
void memory_detach(struct memory_share *share);

/* Gives everything back, or so many of its bytes. */
void memory_give_back(struct memory_share *share);
void memory_give_back_part(struct memory_share *share, uint64_t bytes);

#endif
