/* Appends one change for each provider and request: first the steps that planners set, then the
 * raises that follow from the effects. */
#include "engine/generations.h"

#include "base/arena.h"

enum {
    RAISING =
        EFFECT_INVENTORY | EFFECT_TRAIT | EFFECT_AGGREGATE | EFFECT_ALLOCATED | EFFECT_RELEASED
};

void generation_set_steps(const struct plan *plan, const struct provider *provider, unsigned steps)
{
    struct generation_word *word = arena_alloc(plan->arena, sizeof(*word));
    *word = (struct generation_word){provider, steps, plan->said->generations};
    plan->said->generations = word;
}

/* The first word of the list was added last, and takes precedence. */
static void take_words(struct effects *effects, const struct plan *plan)
{
    for (const struct generation_word *word = plan->said->generations; word != NULL;
         word = word->next) {
        struct effect_provider *effect = effects_provider_of(effects, word->provider);
        if (!effect->is_said)
            effect->steps = word->steps;
        effect->is_said = true;
    }
    plan->said->generations = NULL;
}

static void append(const struct plan *plan, const struct provider *provider, unsigned steps)
{
    int64_t next = provider->generation;
    for (unsigned i = 0; i < steps; i++)
        next = change_next_generation((int32_t)next);
    struct change *change = change_append(plan->changes, CHANGE_PROVIDER_GENERATION);
    change->updated_at_us = plan->now_us;
    change->generation = (struct change_generation){
        .provider_id = provider->id, .expected = provider->generation, .next = next};
}

/* `provider`: its current state; NULL: it is new or deleted, and that change includes its
 * generation. */
static void raise_one(struct effect_provider *effect, const struct provider *provider,
                      const struct plan *plan)
{
    unsigned steps = effect->is_said ? effect->steps : (effect->on & RAISING) != 0 ? 1 : 0;
    if (!effect->is_raised && steps > 0 && provider != NULL && !effect->is_gone) {
        append(plan, provider, steps);
        effect->is_raised = true;
    }
    effect->is_said = false; /* the word covers what was planned, not its consequences */
    effect->on = 0;
}

void generations_append(struct effects *effects, const struct plan *plan)
{
    take_words(effects, plan);
    for (size_t i = 0; i < effects->provider_count; i++)
        raise_one(&effects->providers[i], effects->providers[i].before, plan);
}

void generations_append_following(struct effects *effects, const struct plan *plan)
{
    for (size_t i = 0; i < effects->provider_count; i++) {
        struct effect_provider *effect = &effects->providers[i];
        bool is_new = effect->before == NULL;
        if (effect->on != 0 && !effect->is_raised)
            raise_one(effect, is_new ? NULL : version_provider_by_id(plan->version, effect->id),
                      plan);
    }
}
