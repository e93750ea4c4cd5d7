/* The processing of a planned request: the engine runs the rules, raises generations and derives
 * consequences. A planner's changes can only be applied through these functions. The writer
 * only. */
#ifndef BERTH_ENGINE_CHECKED_H
#define BERTH_ENGINE_CHECKED_H

#include "engine/effects.h"
#include "engine/rules.h"

/* A planned request that is being checked; in the batch's arena. */
struct checked {
    struct effects effects;
    struct rules_noted noted;
};

/* Derives the effects of the plan's list, lets the rules check them and note what they affect, and
 * appends the generations of the providers that change. False: err is set, and the request is
 * refused. True: the caller applies the list, then calls checked_follow. */
bool checked_planned(struct checked *checked, const struct plan *plan,
                     struct err *err) BERTH_MUST_CHECK;

/* Begins the work that other processes' writes still require; false: there is none. True: the
 * caller then calls checked_follow. */
bool checked_foreign(struct checked *checked, const struct plan *plan) BERTH_MUST_CHECK;

/* Call it with an empty list, after the changes planned so far have been applied: appends the next
 * consequences, which the caller applies in turn. False: there are no more. */
bool checked_follow(struct checked *checked, const struct plan *plan);

#endif
