/* Requests of the simulation as input of the real planners; texts and arrays are in the batch's
 * arena. One thread. */
#include "base/arena.h"
#include "clients.h"
#include "placement/write/plan_aggregates.h"
#include "placement/write/plan_allocations.h"
#include "placement/write/plan_classes.h"
#include "placement/write/plan_inventories.h"
#include "placement/write/plan_provider_traits.h"
#include "placement/write/plan_providers.h"
#include "placement/write/plan_reshaper.h"
#include "placement/write/plan_traits.h"

static struct claim *claims_of(const struct client_request *request, struct arena *arena)
{
    struct claim *claims = arena_zalloc(arena, REQUEST_CLAIMS * sizeof(*claims));
    for (int i = 0; i < request->claim_count; i++) {
        const struct client_claim *from = &request->claim[i];
        struct claim_provider *providers = arena_zalloc(arena, CLAIM_ROWS * sizeof(*providers));
        struct claim_amount *amounts = arena_zalloc(arena, CLAIM_ROWS * sizeof(*amounts));
        claims[i] = (struct claim){
            .consumer = universe_consumer(from->consumer),
            .project = universe_project(from->project),
            .user = universe_user(from->user),
            .generation_rule = from->rule,
            .generation = from->generation,
            .providers = providers,
        };
        if (from->type != NOBODY)
            claims[i].type = universe_type(from->type);
        for (int r = 0; r < from->row_count; r++) {
            amounts[r] =
                (struct claim_amount){universe_class(from->row[r].class), from->row[r].amount};
            if (r == 0 || from->row[r].provider != from->row[r - 1].provider)
                providers[claims[i].provider_count++] = (struct claim_provider){
                    universe_provider(from->row[r].provider), &amounts[r], 0};
            providers[claims[i].provider_count - 1].amount_count++;
        }
    }
    return claims;
}

static bool plan_reshape(const struct client_request *request, const struct plan *plan,
                         struct err *err)
{
    struct reshape_provider providers[REQUEST_PROVIDERS];
    for (int i = 0; i < request->inventories_count; i++) {
        const struct client_inventories *from = &request->inventories[i];
        struct reshape_inventory *inventories =
            arena_zalloc(plan->arena, CLASSES * sizeof(*inventories));
        providers[i] = (struct reshape_provider){.uuid = universe_provider(from->provider),
                                                 .generation = from->generation,
                                                 .inventories = inventories};
        for (int c = 0; c < CLASSES; c++)
            if (from->wanted[c])
                inventories[providers[i].inventory_count++] =
                    (struct reshape_inventory){universe_class(c), from->figures[c]};
    }
    struct reshape reshape = {providers, (size_t)request->inventories_count,
                              claims_of(request, plan->arena), (size_t)request->claim_count};
    return plan_reshaper(&reshape, plan, err);
}

static bool plan_inventory(const struct client_request *request, const struct plan *plan,
                           struct err *err)
{
    const struct client_inventories *from = &request->inventories[0];
    struct plan_inventory items[CLASSES];
    struct plan_inventories input = {.provider_uuid = universe_provider(from->provider),
                                     .generation = from->generation,
                                     .all_can_be_reserved = true,
                                     .items = items};
    bool is_set = request->op == OP_INVENTORIES_SET;
    for (int c = 0; c < CLASSES; c++)
        if (is_set ? from->wanted[c] : c == request->class)
            items[input.item_count++] =
                (struct plan_inventory){universe_class(c), from->figures[c], true};
    int64_t generation;
    if (is_set)
        return plan_inventories_set(&input, plan, &generation, err);
    if (request->op == OP_INVENTORY_CREATE)
        return plan_inventory_create(&input, plan, &generation, err);
    return plan_inventory_update(&input, plan, &generation, err);
}

static bool plan_traits(const struct client_request *request, const struct plan *plan,
                        struct err *err)
{
    struct slice names[TRAITS];
    struct plan_provider_traits input = {.provider_uuid = universe_provider(request->provider),
                                         .names = names,
                                         .has_generation = request->has_generation,
                                         .generation = request->generation};
    for (int t = 0; t < TRAITS; t++)
        if (request->wanted[t])
            names[input.name_count++] = universe_trait(t);
    struct planned_traits result;
    return plan_provider_traits_set(&input, plan, &result, err);
}

static bool plan_aggregates(const struct client_request *request, const struct plan *plan,
                            struct err *err)
{
    struct slice uuids[AGGREGATES];
    struct plan_aggregates input = {.provider_uuid = universe_provider(request->provider),
                                    .uuids = uuids,
                                    .has_generation = request->has_generation,
                                    .generation = request->generation};
    for (int a = 0; a < AGGREGATES; a++)
        if (request->wanted[a])
            uuids[input.uuid_count++] = universe_aggregate(a);
    int64_t generation;
    return plan_aggregates_set(&input, plan, &generation, err);
}

static bool plan_provider(const struct client_request *request, const struct plan *plan,
                          struct err *err)
{
    struct planned_provider result;
    struct slice parent = {0};
    if (request->has_parent && request->parent != NOBODY)
        parent = universe_provider(request->parent);
    if (request->op == OP_PROVIDER_CREATE)
        return plan_provider_create(universe_provider(request->provider),
                                    universe_name(request->name), parent, plan, &result, err);
    struct plan_provider_update update = {.uuid = universe_provider(request->provider),
                                          .name = universe_name(request->name),
                                          .has_parent = request->has_parent,
                                          .parent_uuid = parent,
                                          .may_move = request->may_move};
    return plan_provider_update(&update, plan, &result, err);
}

bool client_plan(const struct client_request *request, const struct plan *plan, struct err *err)
{
    bool is_new;
    struct planned_trait trait;
    switch (request->op) {
    case OP_ALLOCATIONS_PUT:
    case OP_ALLOCATIONS_POST:
        return plan_allocations(claims_of(request, plan->arena), (size_t)request->claim_count,
                                request->op == OP_ALLOCATIONS_PUT ? CLAIM_BY_PUT : CLAIM_BY_POST,
                                plan, err);
    case OP_ALLOCATIONS_DELETE: {
        struct slice consumer = universe_consumer(request->claim[0].consumer);
        return plan_allocations_delete(consumer, consumer, plan, err);
    }
    case OP_RESHAPE:
        return plan_reshape(request, plan, err);
    case OP_INVENTORY_CREATE:
    case OP_INVENTORY_UPDATE:
    case OP_INVENTORIES_SET:
        return plan_inventory(request, plan, err);
    case OP_INVENTORY_DELETE:
        return plan_inventory_delete(universe_provider(request->provider),
                                     universe_class(request->class), plan, err);
    case OP_INVENTORIES_DELETE:
        return plan_inventories_delete(universe_provider(request->provider), plan, err);
    case OP_TRAITS_SET:
        return plan_traits(request, plan, err);
    case OP_AGGREGATES_SET:
        return plan_aggregates(request, plan, err);
    case OP_PROVIDER_CREATE:
    case OP_PROVIDER_UPDATE:
        return plan_provider(request, plan, err);
    case OP_PROVIDER_DELETE:
        return plan_provider_delete(universe_provider(request->provider), plan, err);
    case OP_CLASS_CREATE:
        return plan_class_create(universe_class(request->class), plan, err);
    case OP_CLASS_ENSURE:
        return plan_class_ensure(universe_class(request->class), plan, &is_new, err);
    case OP_CLASS_RENAME:
        return plan_class_rename(universe_class(request->class),
                                 universe_class(request->other_class), plan, err);
    case OP_CLASS_DELETE:
        return plan_class_delete(universe_class(request->class), plan, err);
    case OP_TRAIT_PUT:
        return plan_trait_put(universe_trait(request->trait), plan, &trait, err);
    case OP_TRAIT_DELETE:
        return plan_trait_delete(universe_trait(request->trait), plan, err);
    case OP_NODE_CREATE:
    case OP_NODE_DELETE:
    case OP_NODE_VERB:
    case OP_NODE_POWER:
    case OP_NODE_MAINTENANCE:
    case OP_NODE_CHANGE:
    case OP_NODE_ALLOCATE:
    case OP_NODE_RELEASE:
        return client_plan_node(request, plan, err);
    case OP_WAIT:
    case OP_COUNT:
        break;
    }
    check(false);
}
