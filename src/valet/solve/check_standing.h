/* Servers that stay, and what is asked of them anew (Valet spec, 6.8). One thread at a time. */
#ifndef BERTH_VALET_SOLVE_CHECK_STANDING_H
#define BERTH_VALET_SOLVE_CHECK_STANDING_H

#include "valet/solve/solve_internal.h"

/* Checks those that are FIXED by what request->accepted did not ask of them, and notes the claims
 * that it takes in solver->made; with accepted NULL nothing. SOLVE_NONE: the reason says which
 * server, or which two (9.5). */
enum solve_result check_standing(struct solver *solver, struct slice *reason);

#endif
