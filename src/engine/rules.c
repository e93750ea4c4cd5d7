/* Runs the table of rules. A rule without anything to protect returns at once: most clouds have
 * neither bare metal nodes nor exclusivity groups. */
#include "engine/rules.h"

void *rules_context(const struct rules *rules, const struct rule *rule)
{
    for (size_t i = 0; rules != NULL && i < rules->count; i++)
        if (rules->rows[i].rule == rule)
            return rules->rows[i].context;
    return NULL;
}

static size_t row_count(const struct rules *rules)
{
    return rules == NULL ? 0 : rules->count;
}

const struct claim *rules_amend(const struct claim *claims, size_t *count, const struct plan *plan)
{
    const struct rules *rules = plan->rules;
    for (size_t i = 0; i < row_count(rules); i++) {
        const struct rule *rule = rules->rows[i].rule;
        if (rule->amend != NULL && rule != plan->author)
            claims = rule->amend(rules->rows[i].context, claims, count, plan);
    }
    return claims;
}

bool rules_guard(const struct claim_set *set, const struct plan *plan)
{
    const struct rules *rules = plan->rules;
    for (size_t i = 0; i < row_count(rules); i++) {
        const struct rule *rule = rules->rows[i].rule;
        if (rule->guard != NULL && rule != plan->author &&
            !rule->guard(rules->rows[i].context, set))
            return false;
    }
    return true;
}

bool rules_check(const struct effects *effects, const struct plan *plan, struct err *err)
{
    const struct rules *rules = plan->rules;
    for (size_t i = 0; i < row_count(rules); i++)
        if (rules->rows[i].rule->check_effects != NULL &&
            !rules->rows[i].rule->check_effects(rules->rows[i].context, effects, plan, err))
            return false;
    return true;
}

struct rules_noted rules_note(const struct effects *effects, const struct plan *plan)
{
    const struct rules *rules = plan->rules;
    struct rules_noted noted = {{NULL}};
    for (size_t i = 0; i < row_count(rules); i++)
        if (rules->rows[i].rule->note != NULL)
            noted.rows[i] = rules->rows[i].rule->note(rules->rows[i].context, effects, plan);
    return noted;
}

bool rules_follow(const struct rules_noted *noted, const struct plan *plan)
{
    const struct rules *rules = plan->rules;
    for (size_t i = 0; i < row_count(rules); i++)
        if (noted->rows[i] != NULL && rules->rows[i].rule->follow(noted->rows[i], plan))
            return true;
    return false;
}

void rules_foreign(const struct rules *rules, enum foreign_write kind, const struct version *before,
                   const struct version *after, struct arena *arena)
{
    for (size_t i = 0; i < row_count(rules); i++)
        if (rules->rows[i].rule->foreign != NULL)
            rules->rows[i].rule->foreign(rules->rows[i].context, kind, before, after, arena);
}

bool rules_make_up(struct rules_noted *noted, const struct plan *plan)
{
    const struct rules *rules = plan->rules;
    bool any = false;
    *noted = (struct rules_noted){{NULL}};
    for (size_t i = 0; i < row_count(rules); i++) {
        if (rules->rows[i].rule->make_up != NULL)
            noted->rows[i] = rules->rows[i].rule->make_up(rules->rows[i].context, plan);
        any |= noted->rows[i] != NULL;
    }
    return any;
}

void rules_made_up(const struct rules *rules)
{
    for (size_t i = 0; i < row_count(rules); i++)
        if (rules->rows[i].rule->made_up != NULL)
            rules->rows[i].rule->made_up(rules->rows[i].context);
}

bool rules_owe(const struct rules *rules)
{
    for (size_t i = 0; i < row_count(rules); i++) {
        const struct rule *rule = rules->rows[i].rule;
        check((rule->owes == NULL) == (rule->make_up == NULL));
        if (rule->owes != NULL && rule->owes(rules->rows[i].context))
            return true;
    }
    return false;
}

bool rules_refuse_host(const struct rules *rules, const struct version *version,
                       const struct provider *host, struct slice project)
{
    for (size_t i = 0; i < row_count(rules); i++)
        if (rules->rows[i].rule->refuses != NULL &&
            rules->rows[i].rule->refuses(rules->rows[i].context, version, host, project))
            return true;
    return false;
}

bool rules_let_yield(const struct rules *rules, const struct version *version,
                     const struct consumer *consumer, struct slice uuid, struct slice project)
{
    for (size_t i = 0; i < row_count(rules); i++)
        if (rules->rows[i].rule->yields != NULL &&
            rules->rows[i].rule->yields(rules->rows[i].context, version, consumer, uuid, project))
            return true;
    return false;
}

bool rules_own_consumer(const struct rules *rules, const struct version *version, struct slice uuid)
{
    for (size_t i = 0; i < row_count(rules); i++)
        if (rules->rows[i].rule->owns_consumer != NULL &&
            rules->rows[i].rule->owns_consumer(rules->rows[i].context, version, uuid))
            return true;
    return false;
}
