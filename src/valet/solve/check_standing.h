/* Checks new constraints of servers that stay (Valet spec, 6.8). One thread at a time. */
#ifndef BERTH_VALET_SOLVE_CHECK_STANDING_H
#define BERTH_VALET_SOLVE_CHECK_STANDING_H

#include "valet/solve/solve_internal.h"

/* Checks those that are FIXED against the constraints that request->accepted did not have, and
 * notes the claims that this requires in solver->made; checks nothing if accepted is NULL.
 * SOLVE_NONE: the reason names the server, or the two servers (9.5). */
enum solve_result check_standing(struct solver *solver, struct slice *reason);

#endif
