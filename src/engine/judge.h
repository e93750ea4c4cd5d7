/* What the engine makes of a request once it is planned: the rules' judgement, the generations, and
 * what follows. The one way from a planner's changes to those that are applied. Writer thread only.
 */
#ifndef BERTH_ENGINE_JUDGE_H
#define BERTH_ENGINE_JUDGE_H

#include "engine/effects.h"
#include "engine/rules.h"

/* A planned request on its way; in the batch's arena. */
struct judged {
    struct effects effects;
    struct rules_noted noted;
};

/* Derives the effects of the plan's list, has the rules judge them and note what they touch, and
 * appends the generations of the providers that change. False: err is set, and the request is
 * refused. Then the list is to be applied, and judge_follow called. */
bool judge_planned(struct judged *judged, const struct plan *plan,
                   struct err *err) BERTH_MUST_CHECK;

/* Begins what others' writes have left to do; false: nothing is. Then judge_follow is to be called.
 */
bool judge_foreign(struct judged *judged, const struct plan *plan) BERTH_MUST_CHECK;

/* After what was planned so far has been applied, with an empty list: appends what follows next, to
 * be applied in its turn. False: nothing more. */
bool judge_follow(struct judged *judged, const struct plan *plan);

#endif
