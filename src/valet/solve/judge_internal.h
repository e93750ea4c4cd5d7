/* What the files of the judgement of servers that stay share. One thread at a time; in the arena.
 */
#ifndef BERTH_VALET_SOLVE_JUDGE_INTERNAL_H
#define BERTH_VALET_SOLVE_JUDGE_INTERNAL_H

#include "valet/solve/accepted.h"
#include "valet/solve/solve_internal.h"

struct judge {
    struct solver *solver;
    struct accepted accepted;
    struct slice *reason;
};

/* The name of the provider on which the server stays. */
static inline struct slice judge_place_of(const struct judge *judge, uint32_t server)
{
    return provider_name(judge->solver->request->pins[server].present);
}

/* Those of one unit or block, or apart. False: the reason is set, or the budget is exhausted. */
bool judge_pairs(struct judge *judge);

#endif
