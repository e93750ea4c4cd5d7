/* Shared by the files that check servers that stay. One thread at a time; in the arena. */
#ifndef BERTH_VALET_SOLVE_CHECK_STANDING_INTERNAL_H
#define BERTH_VALET_SOLVE_CHECK_STANDING_INTERNAL_H

#include "valet/solve/accepted.h"
#include "valet/solve/solve_internal.h"

struct standing_check {
    struct solver *solver;
    struct accepted accepted;
    struct slice *reason;
};

/* The name of the provider on which the server stays. */
static inline struct slice check_standing_place_of(const struct standing_check *check_of,
                                                   uint32_t server)
{
    return provider_name(check_of->solver->request->pins[server].present);
}

/* Checks pairs of servers in one unit or block, or kept apart. False: the reason is set, or the
 * budget is exhausted. */
bool check_standing_pairs(struct standing_check *check_of);

#endif
