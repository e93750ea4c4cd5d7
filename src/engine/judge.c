/* Effects, rules and generations, in their order. */
#include "engine/judge.h"

#include "engine/generations.h"

/* Of what was planned. */
static void find_effects(struct effects *effects, const struct plan *plan)
{
    if (plan->said->effects == NULL) {
        effects_derive(effects, plan);
        return;
    }
    *effects = *plan->said->effects;
    check(effects->changes == plan->changes && plan->said->effects_end == plan->changes->count);
}

bool judge_planned(struct judged *judged, const struct plan *plan, struct err *err)
{
    find_effects(&judged->effects, plan);
    if (!rules_check(&judged->effects, plan, err)) {
        check(err_is_set(err));
        return false;
    }
    judged->noted = rules_note(&judged->effects, plan);
    generations_append(&judged->effects, plan);
    return true;
}

bool judge_foreign(struct judged *judged, const struct plan *plan)
{
    if (!rules_make_up(&judged->noted, plan))
        return false;
    effects_derive(&judged->effects, plan);
    return true;
}

bool judge_follow(struct judged *judged, const struct plan *plan)
{
    if (!rules_follow(&judged->noted, plan))
        return false;
    effects_add_providers(&judged->effects, plan);
    generations_append_following(&judged->effects, plan);
    return true;
}
