/* From a node's row to Placement's tables: the provider, inventory, traits and consumer before and
 * after, and the changes between them (baremetal-allocations spec, C1 to C6). The writer only.
 */
#include "baremetal/write/node_mirror.h"
#include "baremetal/write/node_rule.h"
#include "base/arena.h"
#include "engine/allocations.h"
#include "engine/generations.h"
#include "engine/provider_changes.h"

static const char CONSUMER_TYPE[] = "BAREMETAL_ALLOCATION";

static struct slice uuid_of(const struct node *node)
{
    return node_text(node, NODE_UUID);
}

/* Shared by the functions that append. */
struct mirroring {
    const struct node_mirror *mirror;
    const struct plan *plan;
    int64_t provider_id;
    int64_t class_id; /* of the new class; 0: none */
};

static int64_t class_id_of(const struct plan *plan, struct slice name)
{
    return plan_name_id(plan, CHANGE_CLASS_INSERT, name);
}

static void append_provider(struct mirroring *mirroring)
{
    const struct plan *plan = mirroring->plan;
    const struct provider *provider = mirroring->mirror->provider;
    const struct node *node = mirroring->mirror->after;
    struct slice name = node_provider_name(plan->version, node, plan_metal(plan));
    if (provider == NULL) {
        mirroring->provider_id = store_next_id(plan->store, STORE_PROVIDERS);
        struct change *change = change_append(plan->changes, CHANGE_PROVIDER_INSERT);
        change->created_at_us = plan->now_us;
        change->provider = (struct change_provider){
            .id = mirroring->provider_id,
            .root_id = mirroring->provider_id,
            .uuid = uuid_of(node),
            .name = name,
        };
        return;
    }
    mirroring->provider_id = provider->id;
    if (node_bool(node, NODE_PROVIDER_ADOPTED) || provider->parent.v != NUMBER_NONE ||
        slice_equal(provider_name(provider), name))
        return;
    struct change *change = change_append(plan->changes, CHANGE_PROVIDER_UPDATE);
    change->updated_at_us = plan->now_us;
    change->provider = (struct change_provider){
        .id = provider->id, .root_id = provider->id, .uuid = uuid_of(node), .name = name};
    generation_set_steps(plan, provider, 1);
}

/* NULL: there is none. */
static void append_consumer_gone(struct mirroring *mirroring, const struct consumer *ours)
{
    if (ours != NULL)
        allocations_drop(mirroring->plan, ours);
}

static void append_one(struct mirroring *mirroring, int64_t consumer_id, struct slice uuid)
{
    allocations_consume(mirroring->plan, consumer_id, uuid, mirroring->provider_id,
                        mirroring->class_id, 1);
}

static struct slice or_else(struct slice text, struct slice other)
{
    return text.len > 0 ? text : other;
}

/* C3. A consumer without allocations was left by the Python service; berth takes it over. */
static void append_consumer(struct mirroring *mirroring, const struct node_allocation *takes)
{
    const struct plan *plan = mirroring->plan;
    const struct version *version = plan->version;
    struct slice uuid = node_allocation_text(takes, NODE_ALLOCATION_UUID);
    const struct consumer *there = version_consumer(version, uuid);
    if (there != NULL && there->allocation_count > 0)
        return;
    struct slice project = node_taker_of(takes, plan_metal(plan)).project;
    struct slice user = or_else(node_allocation_text(takes, NODE_ALLOCATION_CALLER_USER),
                                plan_metal(plan)->incomplete_user_id);
    struct consumer_owner owner = {
        .project_id = plan_name_id(plan, CHANGE_PROJECT_INSERT, project),
        .user_id = plan_name_id(plan, CHANGE_USER_INSERT, user),
        .type_id = plan_name_id(plan, CHANGE_CONSUMER_TYPE_INSERT, slice_of(CONSUMER_TYPE)),
    };
    append_one(mirroring, allocations_put_consumer(plan, there, uuid, &owner), uuid);
}

/* C7: our consumer moves with the class. */
static void append_consumer_moved(struct mirroring *mirroring)
{
    const struct plan *plan = mirroring->plan;
    const struct consumer *ours = mirroring->mirror->ours;
    struct slice uuid = arena_copy(plan->arena, consumer_uuid(ours));
    struct consumer_owner owner = consumer_owner_of(plan->version, ours);
    append_one(mirroring, allocations_put_consumer(plan, ours, uuid, &owner), uuid);
}

static void append_inventory_gone(struct mirroring *mirroring)
{
    const struct plan *plan = mirroring->plan;
    const struct node_mirror *mirror = mirroring->mirror;
    const struct catalog_row *row =
        mirror->provider == NULL ? NULL
                                 : catalog_find(&plan->version->classes, mirror->class_before);
    if (row == NULL ||
        provider_inventory_of(mirror->provider, (struct class_no){row->number}) == NULL)
        return;
    change_append(plan->changes, CHANGE_INVENTORY_DELETE)->inventory =
        (struct change_inventory){.provider_id = mirror->provider->id, .class_id = row->id};
}

static void append_inventory(struct mirroring *mirroring)
{
    const struct plan *plan = mirroring->plan;
    const struct node_mirror *mirror = mirroring->mirror;
    struct inventory_figures figures = node_figures(mirror->after);
    const struct catalog_row *row = catalog_find(&plan->version->classes, mirror->class_after);
    const struct provider_inventory *there =
        row == NULL || mirror->provider == NULL
            ? NULL
            : provider_inventory_of(mirror->provider, (struct class_no){row->number});
    if (there != NULL && node_figures_equal(&there->figures, &figures))
        return;
    provider_put_inventory(plan, there == NULL, mirroring->provider_id, mirroring->class_id,
                           &figures);
}

static bool provider_has(const struct plan *plan, const struct provider *provider,
                         struct slice trait)
{
    const struct catalog_row *row = catalog_find(&plan->version->traits, trait);
    return provider != NULL && row != NULL && name_set_has(provider->traits, row->number);
}

static void append_traits(struct mirroring *mirroring)
{
    const struct plan *plan = mirroring->plan;
    const struct node_mirror *mirror = mirroring->mirror;
    bool was_mirrored =
        mirror->before != NULL && !node_is_null(mirror->before, NODE_PROVIDER_ADOPTED);
    struct slice had = was_mirrored ? node_text(mirror->before, NODE_TRAITS) : SLICE_LIT("");
    struct slice has = node_text(mirror->after, NODE_TRAITS);
    struct slice rest = had;
    struct slice trait;
    while (record_next_word(&rest, &trait)) {
        if (record_has_word(has, trait) || !provider_has(plan, mirror->provider, trait))
            continue;
        change_append(plan->changes, CHANGE_PROVIDER_TRAIT_DELETE)->link = (struct change_link){
            mirroring->provider_id, catalog_find(&plan->version->traits, trait)->id};
    }
    rest = has;
    while (record_next_word(&rest, &trait)) {
        if (provider_has(plan, mirror->provider, trait))
            continue;
        int64_t id = plan_name_id(plan, CHANGE_TRAIT_INSERT, trait);
        struct change *change = change_append(plan->changes, CHANGE_PROVIDER_TRAIT_INSERT);
        change->created_at_us = plan->now_us;
        change->link = (struct change_link){mirroring->provider_id, id};
    }
}

/* The node is deleted, and with it its provider, unless others need that; then the provider stays
 * unchanged and reserved. */
static void append_going(struct mirroring *mirroring)
{
    const struct plan *plan = mirroring->plan;
    const struct node_mirror *mirror = mirroring->mirror;
    append_consumer_gone(mirroring, mirror->ours);
    append_consumer_gone(mirroring, mirror->leaves);
    if (mirror->provider == NULL)
        return;
    if (!mirror->provider_stays) {
        provider_append_delete(mirror->provider, plan);
        return;
    }
    if (mirror->class_before.data == NULL)
        return;
    mirroring->provider_id = mirror->provider->id;
    mirroring->class_id = class_id_of(plan, mirror->class_before);
    struct inventory_figures reserved = node_figures(mirror->before);
    const struct catalog_row *row = catalog_find(&plan->version->classes, mirror->class_before);
    const struct provider_inventory *there =
        row == NULL ? NULL
                    : provider_inventory_of(mirror->provider, (struct class_no){row->number});
    reserved.reserved = 1;
    if (there != NULL && !node_figures_equal(&there->figures, &reserved)) {
        provider_put_inventory(plan, false, mirroring->provider_id, mirroring->class_id, &reserved);
    }
}

/* The node has lost its class: the provider stays without the node's inventory. */
static void append_without_class(struct mirroring *mirroring)
{
    const struct node_mirror *mirror = mirroring->mirror;
    if (mirror->provider == NULL || node_is_null(mirror->after, NODE_PROVIDER_ADOPTED))
        return;
    mirroring->provider_id = mirror->provider->id;
    append_consumer_gone(mirroring, mirror->ours);
    append_consumer_gone(mirroring, mirror->leaves);
    if (mirror->class_before.data != NULL)
        append_inventory_gone(mirroring);
    append_traits(mirroring);
}

void node_mirror_append(const struct node_mirror *mirror, const struct plan *plan)
{
    struct mirroring mirroring = {.mirror = mirror, .plan = plan};
    if (mirror->after == NULL) {
        append_going(&mirroring);
        return;
    }
    if (mirror->class_after.data == NULL) {
        append_without_class(&mirroring);
        return;
    }
    bool moves = !node_class_same(mirror->class_before, mirror->class_after);
    bool releases = mirror->ours != NULL && mirror->releases != NULL;
    bool moves_ours = mirror->ours != NULL && !releases && moves;
    mirroring.class_id = class_id_of(plan, mirror->class_after);
    append_provider(&mirroring);
    if (releases)
        append_consumer_gone(&mirroring, mirror->ours);
    if (moves_ours)
        allocations_release(plan, mirror->ours);
    append_consumer_gone(&mirroring, mirror->leaves);
    if (moves && mirror->class_before.data != NULL)
        append_inventory_gone(&mirroring);
    append_inventory(&mirroring);
    append_traits(&mirroring);
    if (mirror->takes != NULL)
        append_consumer(&mirroring, mirror->takes);
    else if (mirror->holds != NULL &&
             node_lacks_consumer(plan->version, mirror->after, mirror->holds, mirror->leaves,
                                 plan->arena))
        append_consumer(&mirroring, mirror->holds);
    if (moves_ours)
        append_consumer_moved(&mirroring);
}
