/* Counters: one total, and what each owner and each address holds. A charge is first added, then
 * checked, and subtracted again if it was too much, so that no interleaving of memory_take() calls
 * exceeds the limit. One that is too much from the beginning is not added at all: for as long as it
 * is, others would be refused because of it. A charge by memory_charge() stays even if it exceeds
 * the limit.
 *
 * An owner that holds `own` of `used` may have at most half of what the others leave: own <= (limit
 * - (used - own)) / 2. */
#include "base/memory_budget.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/shares.h"

struct memory_budget {
    uint64_t limit;
    _Atomic uint64_t used;
    struct shares of_owner;
    struct shares of_address;
};

struct memory_budget *memory_budget_create(uint64_t limit_bytes)
{
    struct memory_budget *budget = calloc(1, sizeof(*budget));
    check(budget != NULL);
    budget->limit = limit_bytes;
    return budget;
}

void memory_budget_destroy(struct memory_budget *budget)
{
    if (budget == NULL)
        return;
    check(atomic_load(&budget->used) == 0);
    free(budget);
}

uint64_t memory_budget_used(const struct memory_budget *budget)
{
    return atomic_load_explicit(&budget->used, memory_order_relaxed);
}

/* What the budget would have to allow: all together, this owner and this address. */
struct memory_level {
    uint64_t used, owner, address;
};

static bool is_fair(const struct memory_budget *budget, uint64_t used, uint64_t own)
{
    uint64_t of_others = used > own ? used - own : 0;
    return of_others <= budget->limit && own <= (budget->limit - of_others) / 2;
}

static bool is_allowed(const struct memory_budget *budget, struct memory_level level)
{
    return level.used <= budget->limit && is_fair(budget, level.used, level.owner) &&
           is_fair(budget, level.used, level.address);
}

static struct memory_level level_with(const struct memory_share *share, uint64_t bytes)
{
    const struct memory_budget *budget = share->budget;
    return (struct memory_level){.used = atomic_load(&budget->used) + bytes,
                                 .owner = shares_of(&budget->of_owner, share->owner) + bytes,
                                 .address = shares_of(&budget->of_address, share->address) + bytes};
}

static struct memory_level put_on(const struct memory_share *share, uint64_t bytes)
{
    struct memory_budget *budget = share->budget;
    return (struct memory_level){.used = atomic_fetch_add(&budget->used, bytes) + bytes,
                                 .owner = shares_add(&budget->of_owner, share->owner, bytes),
                                 .address = shares_add(&budget->of_address, share->address, bytes)};
}

static void take_off(const struct memory_share *share, uint64_t bytes)
{
    struct memory_budget *budget = share->budget;
    shares_subtract(&budget->of_owner, share->owner, bytes);
    shares_subtract(&budget->of_address, share->address, bytes);
    atomic_fetch_sub(&budget->used, bytes);
}

static bool is_too_much(const struct memory_share *share, uint64_t bytes)
{
    uint64_t held = share->held != NULL ? *share->held : share->bytes;
    return bytes > share->budget->limit || held + bytes > share->budget->limit / 2;
}

static void hold(struct memory_share *share, uint64_t bytes)
{
    share->bytes += bytes;
    if (share->held != NULL)
        *share->held += bytes;
}

enum memory_verdict memory_take(struct memory_share *share, uint64_t bytes)
{
    const struct memory_budget *budget = share->budget;
    if (budget != NULL && is_too_much(share, bytes))
        return MEMORY_TOO_MUCH;
    if (budget != NULL && !is_allowed(budget, level_with(share, bytes)))
        return MEMORY_TAKEN;
    if (budget != NULL && !is_allowed(budget, put_on(share, bytes))) {
        take_off(share, bytes);
        return MEMORY_TAKEN;
    }
    hold(share, bytes);
    return MEMORY_GRANTED;
}

void memory_charge(struct memory_share *share, uint64_t bytes)
{
    const struct memory_budget *budget = share->budget;
    if (budget != NULL && is_too_much(share, bytes))
        share->over = MEMORY_TOO_MUCH;
    if (budget != NULL && !is_allowed(budget, put_on(share, bytes)) &&
        share->over == MEMORY_GRANTED)
        share->over = MEMORY_TAKEN;
    hold(share, bytes);
}

struct memory_share memory_another(const struct memory_share *share)
{
    return (struct memory_share){.budget = share->budget,
                                 .owner = share->owner,
                                 .address = share->address,
                                 .held = share->held};
}

void memory_detach(struct memory_share *share)
{
    if (share->held != NULL)
        *share->held -= share->bytes;
    share->held = NULL;
}

void memory_give_back_part(struct memory_share *share, uint64_t bytes)
{
    check(bytes <= share->bytes);
    if (share->budget != NULL && bytes > 0)
        take_off(share, bytes);
    hold(share, -bytes);
}

void memory_give_back(struct memory_share *share)
{
    memory_give_back_part(share, share->bytes);
}
