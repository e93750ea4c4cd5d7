/* Why a stack has no solution (Valet spec, 9.5). One thread at a time. */
#ifndef BERTH_VALET_SOLVE_REPORT_H
#define BERTH_VALET_SOLVE_REPORT_H

#include "valet/solve/search.h"

/* The unit's domain is empty before the search. False (here and below): the budget is exhausted. */
bool report_no_host(struct solver *solver, uint32_t unit, struct slice *reason);

/* The search ended without a solution. */
bool report_no_combination(struct search *search, struct slice *reason);

/* The server stays on its host, which this filter forbids. group: for filters that name one. */
struct slice report_keep_in_place(const struct solver *solver, uint32_t server, enum filter filter,
                                  struct slice group);

struct slice report_limit(const struct search *search);

#endif
