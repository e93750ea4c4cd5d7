/* Sums up, for each class of each provider of which a consumer receives something, the amounts
 * allocated and released. Claims have already been decided one by one (engine/claim.c), each with
 * an error of its own; only a plan that did not go through claims can exceed the capacity here.
 * The writer only. */
#include "placement/write/capacity_rule.h"

#include "base/sums.h"
#include "placement/write/over_capacity_log.h"
#include "placement/write/taken_names.h"
#include "replica/provider_consumers.h"

/* Adds the amounts allocated, and subtracts those released. */
static void capacity_rule_add(struct sums *flows, int64_t provider_id, int64_t class_id,
                              int64_t amount)
{
    sums_add(flows, provider_id, class_id, 0, amount, NULL);
}

static void add_consumer(struct sums *flows, const struct effects *effects,
                         const struct effect_consumer *consumer)
{
    const struct version *version = effects->before;
    for (const struct effect_allocation *got = consumer->gets; got != NULL; got = got->next)
        capacity_rule_add(flows, got->row->provider_id, got->row->class_id, got->row->used);
    for (uint32_t i = 0; consumer->is_released && consumer->before != NULL &&
                         i < consumer->before->allocation_count;
         i++) {
        const struct consumer_allocation *old = &consumer->before->allocation[i];
        capacity_rule_add(flows, version_provider(version, old->provider)->id,
                          catalog_row_at(&version->classes, old->class_no.v)->id, -old->used);
    }
}

/* The provider's inventory of the class before the request; NULL: none. */
static const struct provider_inventory *
stock_before(const struct effects *effects, const struct effect_provider *effect, int64_t class_id)
{
    const struct catalog_row *row =
        effect->before == NULL ? NULL : catalog_find_id(&effects->before->classes, class_id);
    return row == NULL ? NULL
                       : provider_inventory_of(effect->before, (struct class_no){row->number});
}

static bool capacity_rule_refuse(const struct effects *effects,
                                 const struct effect_provider *effect, int64_t class_id,
                                 struct err *err)
{
    struct slice uuid = effect->before != NULL ? provider_uuid(effect->before) : effect->row->uuid;
    err_set_join(err, 409, NULL,
                 SLICE_LIT("Unable to allocate inventory: Unable to create allocation for '"),
                 effects_class_name(effects, class_id), SLICE_LIT("' on resource provider '"), uuid,
                 SLICE_LIT("'. The requested amount would exceed the capacity."));
    return err_of_kind(err, REFUSED_CAPACITY);
}

static int64_t held_of(const struct consumer *consumer, struct provider_no provider,
                       uint32_t class_number)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < consumer->allocation_count; i++)
        if (consumer->allocation[i].provider.v == provider.v &&
            consumer->allocation[i].class_no.v == class_number)
            sum += consumer->allocation[i].used;
    return sum;
}

/* Whether the consumer is deleted because the request gives something to a consumer to which it
 * gives way. */
static bool gives_way(const struct effects *effects, const struct plan *plan,
                      const struct consumer *consumer)
{
    for (size_t i = 0; i < effects->consumer_count; i++) {
        const struct effect_consumer *comes = &effects->consumers[i];
        if (comes->gets != NULL && rules_let_yield(plan->rules, effects->before, consumer,
                                                   comes->uuid, effects_project(effects, comes)))
            return true;
    }
    return false;
}

/* What the consumer holds of the provider's class after the request. What the request itself
 * releases is in the flow already. */
static int64_t holds_after(const struct effects *effects, const struct consumer *consumer,
                           const struct provider *provider, uint32_t class_number, int64_t class_id)
{
    const struct effect_consumer *effect = effects_consumer(effects, consumer->id);
    bool is_released = effect != NULL && effect->is_released;
    int64_t sum = is_released ? 0 : held_of(consumer, provider->no, class_number);
    const struct effect_allocation *got = effect == NULL ? NULL : effect->gets;
    for (; got != NULL; got = got->next)
        if (got->row->provider_id == provider->id && got->row->class_id == class_id)
            sum += got->row->used;
    return sum;
}

/* The part of the provider's use that the request's consequences release. Only called for requests
 * that did not go through claims, because claims drop such consumers first. */
static int64_t yielding(const struct effects *effects, const struct plan *plan,
                        const struct provider *provider, int64_t class_id)
{
    const struct version *version = effects->before;
    const struct catalog_row *row = catalog_find_id(&version->classes, class_id);
    int64_t sum = 0;
    struct provider_consumers walk;
    const struct consumer *consumer;
    provider_consumers_of(&walk, version, provider->no);
    while (row != NULL && (consumer = provider_consumers_next(&walk)) != NULL) {
        int64_t held = holds_after(effects, consumer, provider, row->number, class_id);
        if (held > 0 && gives_way(effects, plan, consumer))
            sum += held;
    }
    return sum;
}

static bool check_flow(const struct effects *effects, const struct plan *plan,
                       const struct sum *flow, struct err *err)
{
    const struct effect_provider *effect = effects_provider(effects, flow->key[0]);
    int64_t class_id = flow->key[1];
    struct inventory_figures figures;
    if (flow->amount <= 0)
        return true;
    const struct provider_inventory *before = stock_before(effects, effect, class_id);
    if (before != NULL && (effect->on & EFFECT_INVENTORY) == 0)
        figures = before->figures;
    else if (!effects_inventory(effects, effect, class_id, &figures))
        return capacity_rule_refuse(effects, effect, class_id, err);
    if (plan->author != NULL && plan->author->allocates_reserved)
        figures.reserved = 0;
    int64_t after = (before == NULL ? 0 : before->used) + flow->amount;
    int64_t capacity = capacity_of(&figures);
    if (after > capacity && effect->before != NULL)
        after -= yielding(effects, plan, effect->before, class_id);
    return after <= capacity || capacity_rule_refuse(effects, effect, class_id, err);
}

static bool check_capacity(const struct effects *effects, const struct plan *plan, struct err *err)
{
    if (!effects_have(effects, CHANGE_ALLOCATION_INSERT))
        return true;
    struct sums flows = {.arena = effects->arena};
    for (size_t i = 0; i < effects->consumer_count; i++)
        add_consumer(&flows, effects, &effects->consumers[i]);
    sums_end(&flows);
    for (size_t i = 0; i < flows.count; i++)
        if (!check_flow(effects, plan, &flows.items[i], err))
            return false;
    return true;
}

static bool check_effects(void *context, const struct effects *effects, const struct plan *plan,
                          struct err *err)
{
    (void)context;
    return check_capacity(effects, plan, err) && taken_names_check(effects, plan, err);
}

static void foreign(void *context, enum foreign_write kind, const struct version *before,
                    const struct version *after, struct arena *arena)
{
    (void)arena;
    over_capacity_log_foreign(context, kind, before, after);
}

const struct rule capacity_rule = {
    .name = "placement",
    .check_effects = check_effects,
    .foreign = foreign,
};
