/* Runs effects, rules and generations, in this order. */
#include "engine/checked.h"

#include "engine/generations.h"

/* Derives the effects of what was planned. */
static void find_effects(struct effects *effects, const struct plan *plan)
{
    if (plan->said->effects == NULL) {
        effects_derive(effects, plan);
        return;
    }
    *effects = *plan->said->effects;
    check(effects->changes == plan->changes && plan->said->effects_end == plan->changes->count);
}

bool checked_planned(struct checked *checked, const struct plan *plan, struct err *err)
{
    find_effects(&checked->effects, plan);
    if (!rules_check(&checked->effects, plan, err)) {
        check(err_is_set(err));
        return false;
    }
    checked->noted = rules_note(&checked->effects, plan);
    generations_append(&checked->effects, plan);
    return true;
}

bool checked_foreign(struct checked *checked, const struct plan *plan)
{
    if (!rules_make_up(&checked->noted, plan))
        return false;
    effects_derive(&checked->effects, plan);
    return true;
}

bool checked_follow(struct checked *checked, const struct plan *plan)
{
    if (!rules_follow(&checked->noted, plan))
        return false;
    effects_add_providers(&checked->effects, plan);
    generations_append_following(&checked->effects, plan);
    return true;
}
