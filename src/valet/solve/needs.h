/* Distinct requirements of servers (amounts and traits), and the hosts that can serve each, found
 * by one search for allocation candidates each. One thread at a time. */
#ifndef BERTH_VALET_SOLVE_NEEDS_H
#define BERTH_VALET_SOLVE_NEEDS_H

#include "query/budget.h"
#include "valet/solve/headrooms.h"
#include "valet/solve/hosts.h"
#include "valet/solve/solve.h"

struct need_amount {
    uint32_t class_index; /* of headrooms.classes */
    int64_t amount;
};

struct need {
    const struct stack_server *like;
    struct slice project;        /* of the plan; data == NULL: membership does not matter */
    struct need_amount *amounts; /* in the order of the server's */
    uint32_t amount_count;
    uint64_t *hosts;  /* those with a candidate */
    uint64_t *simple; /* those whose only candidate is the root alone */
    /* The candidates of the others: for each, the slots of the providers, by amount. NULL: there
     * are no others. Those of host h are first[h] to first[h + 1]. */
    uint32_t *first;
    uint32_t *slots;
};

struct needs {
    struct need *need;
    uint32_t count;
    uint32_t *of_server; /* of those that are to be placed */
};

/* Gathers the distinct requirements of the servers to be placed, and their classes. */
void needs_gather(const struct version *version, const struct solve_request *request,
                  struct arena *arena, struct needs *needs, struct class_no **classes,
                  uint32_t *class_count);

/* Finds each need's hosts. False: the budget is exhausted. */
bool needs_search(const struct version *version, const struct hosts *hosts,
                  struct headrooms *headrooms, struct needs *needs, struct arena *arena,
                  struct budget *budget);

/* The hosts that could serve the need if they had unlimited room; with or without its traits. */
bool needs_search_roomy(const struct version *version, const struct hosts *hosts,
                        struct headrooms *headrooms, const struct need *need, bool with_traits,
                        struct budget *budget, uint64_t *found);

static inline const uint32_t *need_candidate(const struct need *need, uint32_t at)
{
    return &need->slots[(size_t)at * need->amount_count];
}

#endif
