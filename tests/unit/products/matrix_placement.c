/* See matrix.h: Placement's planners. One thread. */
#include "placement/write/plan_aggregates.h"
#include "placement/write/plan_allocations.h"
#include "placement/write/plan_classes.h"
#include "placement/write/plan_inventories.h"
#include "placement/write/plan_provider_traits.h"
#include "placement/write/plan_providers.h"
#include "placement/write/plan_traits.h"
#include "products/matrix.h"

static struct slice word(const char *text)
{
    return text == NULL ? (struct slice){0} : slice_of(text);
}

static int64_t generation_of(const struct plan *plan, const char *provider)
{
    return version_provider_by_uuid(plan->version, slice_of(provider))->generation;
}

bool attempt_aggregates_set(const struct target *target, const struct plan *plan, struct err *err)
{
    static const struct slice uuids[] = {SLICE_LIT("gold")};
    const struct plan_aggregates input = {
        .provider_uuid = slice_of(target->provider),
        .uuids = uuids,
        .uuid_count = 1,
        .has_generation = true,
        .generation = generation_of(plan, target->provider),
    };
    int64_t generation;
    return plan_aggregates_set(&input, plan, &generation, err);
}

const struct claim *target_claim(const struct target *target, const struct plan *plan)
{
    struct claim_amount *amount = arena_alloc(plan->arena, sizeof(*amount));
    *amount = (struct claim_amount){slice_of(target->class), target->amount};
    struct claim_provider *provider = arena_alloc(plan->arena, sizeof(*provider));
    *provider = (struct claim_provider){slice_of(target->provider), amount, 1};
    struct claim *claim = arena_alloc(plan->arena, sizeof(*claim));
    *claim = (struct claim){
        .consumer = slice_of(target->consumer),
        .project = slice_of(target->project),
        .user = SLICE_LIT("user"),
        .providers = provider,
        .provider_count = 1,
    };
    return claim;
}

bool attempt_allocations(const struct target *target, const struct plan *plan, struct err *err)
{
    return plan_allocations(target_claim(target, plan), 1, CLAIM_BY_PUT, plan, err);
}

bool attempt_allocations_post(const struct target *target, const struct plan *plan, struct err *err)
{
    struct claim claims[2] = {*target_claim(target, plan), *target_claim(target, plan)};
    claims[0].consumer = SLICE_LIT("innocent");
    claims[0].provider_count = 0;
    return plan_allocations(claims, 2, CLAIM_BY_POST, plan, err);
}

bool attempt_allocations_delete(const struct target *target, const struct plan *plan,
                                struct err *err)
{
    return plan_allocations_delete(slice_of(target->consumer), slice_of(target->consumer), plan,
                                   err);
}

bool attempt_class_create(const struct target *target, const struct plan *plan, struct err *err)
{
    (void)target;
    return plan_class_create(SLICE_LIT("CUSTOM_NEW"), plan, err);
}

bool attempt_class_rename(const struct target *target, const struct plan *plan, struct err *err)
{
    return plan_class_rename(slice_of(target->class), SLICE_LIT("CUSTOM_NEW"), plan, err);
}

bool attempt_class_ensure(const struct target *target, const struct plan *plan, struct err *err)
{
    (void)target;
    bool is_new;
    return plan_class_ensure(SLICE_LIT("CUSTOM_NEW"), plan, &is_new, err);
}

bool attempt_class_delete(const struct target *target, const struct plan *plan, struct err *err)
{
    return plan_class_delete(slice_of(target->class), plan, err);
}

typedef bool inventories_planner(const struct plan_inventories *input, const struct plan *plan,
                                 int64_t *generation, struct err *err);

static bool stock(inventories_planner *planner, const char *class, const struct target *target,
                  const struct plan *plan, struct err *err)
{
    const struct plan_inventory item = {
        slice_of(class), {target->total, 0, 1, target->total, 1, 1.0}, true};
    const struct plan_inventories input = {
        .provider_uuid = slice_of(target->provider),
        .generation = generation_of(plan, target->provider),
        .all_can_be_reserved = true,
        .items = &item,
        .item_count = 1,
    };
    int64_t generation;
    return planner(&input, plan, &generation, err);
}

bool attempt_inventory_create(const struct target *target, const struct plan *plan, struct err *err)
{
    return stock(plan_inventory_create, "D", target, plan, err);
}

bool attempt_inventory_update(const struct target *target, const struct plan *plan, struct err *err)
{
    return stock(plan_inventory_update, target->class, target, plan, err);
}

bool attempt_inventories_set(const struct target *target, const struct plan *plan, struct err *err)
{
    return stock(plan_inventories_set, target->class, target, plan, err);
}

bool attempt_inventory_delete(const struct target *target, const struct plan *plan, struct err *err)
{
    return plan_inventory_delete(slice_of(target->provider), slice_of(target->class), plan, err);
}

bool attempt_inventories_delete(const struct target *target, const struct plan *plan,
                                struct err *err)
{
    return plan_inventories_delete(slice_of(target->provider), plan, err);
}

bool attempt_provider_traits_set(const struct target *target, const struct plan *plan,
                                 struct err *err)
{
    static const struct slice names[] = {SLICE_LIT("CUSTOM_VALET_RACK")};
    const struct plan_provider_traits input = {
        .provider_uuid = slice_of(target->provider), .names = names, .name_count = 1};
    struct planned_traits result;
    return plan_provider_traits_set(&input, plan, &result, err);
}

bool attempt_provider_create(const struct target *target, const struct plan *plan, struct err *err)
{
    struct planned_provider result;
    return plan_provider_create(SLICE_LIT("fresh"), SLICE_LIT("fresh"), slice_of(target->provider),
                                plan, &result, err);
}

bool attempt_provider_update(const struct target *target, const struct plan *plan, struct err *err)
{
    const struct plan_provider_update update = {
        .uuid = slice_of(target->provider),
        .name = slice_of(target->name),
        .has_parent = target->parent != NULL,
        .parent_uuid = word(target->parent),
        .may_move = true,
    };
    struct planned_provider result;
    return plan_provider_update(&update, plan, &result, err);
}

bool attempt_provider_delete(const struct target *target, const struct plan *plan, struct err *err)
{
    return plan_provider_delete(slice_of(target->provider), plan, err);
}

bool attempt_reshaper(const struct target *target, const struct plan *plan, struct err *err)
{
    const struct reshape_inventory inventory = {slice_of(target->class),
                                                {target->total, 0, 1, target->total, 1, 1.0}};
    const struct reshape_provider provider = {
        .uuid = slice_of(target->provider),
        .generation = generation_of(plan, target->provider),
        .inventories = &inventory,
        .inventory_count = 1,
    };
    const struct reshape reshape = {&provider, 1, target_claim(target, plan), 1};
    return plan_reshaper(&reshape, plan, err);
}

bool attempt_trait_put(const struct target *target, const struct plan *plan, struct err *err)
{
    (void)target;
    struct planned_trait result;
    return plan_trait_put(SLICE_LIT("CUSTOM_NEW"), plan, &result, err);
}

bool attempt_trait_delete(const struct target *target, const struct plan *plan, struct err *err)
{
    (void)target;
    return plan_trait_delete(SLICE_LIT("CUSTOM_T"), plan, err);
}
