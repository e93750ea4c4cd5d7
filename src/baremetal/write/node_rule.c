/* Compares a request's effects on providers, consumers and classes with the rows of nodes after the
 * request. Berth's own mirror passes because it writes what the row says, and not because it is
 * exempt. Equal values pass, and so does everything on a provider that does not belong to a node,
 * which costs one lookup. The writer only. */
#include "baremetal/write/node_rule.h"

#include "baremetal/write/node_after.h"
#include "baremetal/write/node_provider.h"
#include "baremetal/write/node_row_rule.h"

const struct metal *plan_metal(const struct plan *plan)
{
    return rules_context(plan->rules, &node_rule);
}

/* ---- providers ---- */

/* The row determines the provider's name; the provider is a root, and exists. */
static bool check_place(const struct effects *effects, const struct effect_provider *effect,
                        const struct node *node, const struct metal *metal, struct err *err)
{
    const struct provider *before = effect->before;
    bool is_named = true;
    bool is_placed = true;
    if (effect->row != NULL) {
        struct slice name = effect->row->name;
        int64_t parent_id = before->parent.v == NUMBER_NONE
                                ? 0
                                : version_provider(effects->before, before->parent)->id;
        is_placed = effect->row->parent_id == parent_id;
        is_named = slice_equal(name, provider_name(before)) ||
                   (!node_bool(node, NODE_PROVIDER_ADOPTED) &&
                    slice_equal(name, node_provider_name(effects->before, node, metal)));
    }
    return (is_named && is_placed && !effect->is_gone) ||
           node_refuse_managed(err, SLICE_LIT("Resource provider "), provider_uuid(before), node);
}

static bool is_inventory(const struct change *change)
{
    return change->kind == CHANGE_INVENTORY_INSERT || change->kind == CHANGE_INVENTORY_UPDATE ||
           change->kind == CHANGE_INVENTORY_DELETE;
}

/* The inventory of the node's class matches the row. */
static bool check_inventory(const struct effects *effects, const struct effect_provider *effect,
                            const struct node *node, struct err *err)
{
    struct slice class = node_class_name(node_text(node, NODE_RESOURCE_CLASS), effects->arena);
    struct inventory_figures wanted = node_figures(node);
    if (class.data == NULL)
        return true;
    for (const struct effect_content *at = effect->contents; at != NULL; at = at->next) {
        struct inventory_figures figures;
        int64_t class_id = at->change->inventory.class_id;
        if (!is_inventory(at->change) || !slice_equal(effects_class_name(effects, class_id), class))
            continue;
        return (effects_inventory(effects, effect, class_id, &figures) &&
                node_figures_equal(&figures, &wanted)) ||
               node_refuse_managed(err, SLICE_LIT("Inventory of class "), class, node);
    }
    return true;
}

/* The row's traits stay, in the order of the row: the error names the first. */
static bool check_traits(const struct effects *effects, const struct effect_provider *effect,
                         const struct node *node, struct err *err)
{
    struct slice rest = node_text(node, NODE_TRAITS);
    struct slice trait;
    while (record_next_word(&rest, &trait)) {
        const struct catalog_row *row = catalog_find(&effects->before->traits, trait);
        for (const struct effect_content *at = row == NULL ? NULL : effect->contents; at != NULL;
             at = at->next)
            if (at->change->kind == CHANGE_PROVIDER_TRAIT_DELETE &&
                at->change->link.other_id == row->id)
                return node_refuse_managed(err, SLICE_LIT("Trait "), trait, node);
    }
    return true;
}

static bool check_provider(const struct effects *effects, const struct effect_provider *effect,
                           const struct metal *metal, struct err *err)
{
    const struct node *node =
        effect->before == NULL ? NULL : node_owner_after(effects, effect->before);
    if (node == NULL || !check_place(effects, effect, node, metal, err))
        return node == NULL;
    return ((effect->on & EFFECT_INVENTORY) == 0 || check_inventory(effects, effect, node, err)) &&
           ((effect->on & EFFECT_TRAIT) == 0 || check_traits(effects, effect, node, err));
}

/* ---- consumers ---- */

/* Whether the consumer holds the node through an allocation of the Bare Metal API. */
static bool is_ours(const struct effects *effects, const struct effect_consumer *consumer)
{
    const struct version *version = effects->before;
    const struct node_allocation *allocation =
        version_node_allocation_by_uuid(version, consumer->uuid);
    const struct node *node =
        allocation == NULL ? NULL : version_node(version, node_allocation_node_id(allocation));
    return node != NULL && node_consumer_of(version, node, allocation, effects->arena) != NULL;
}

/* The consumer of an active allocation holds its node. While the node has no class, the uuid is
 * reserved for it. */
static bool check_consumer(const struct effects *effects, const struct effect_consumer *consumer,
                           struct err *err)
{
    const struct node_allocation *allocation = node_allocation_after(effects, consumer->uuid);
    const struct node *node =
        allocation == NULL ? NULL : node_after(effects, node_allocation_node_id(allocation));
    bool is_changed = consumer->is_released || consumer->gets != NULL;
    bool has_class = node != NULL && !node_is_null(node, NODE_RESOURCE_CLASS);
    if (node == NULL || !is_changed || node_holds_after(effects, consumer, node) ||
        (!has_class && consumer->gets == NULL))
        return true;
    bool was_free = consumer->before == NULL || consumer->before->allocation_count == 0;
    if (was_free && !node_allocation_bool(allocation, NODE_ALLOCATION_CONSUMER_ADOPTED))
        return consumer->gets == NULL ||
               node_refuse_managed(err, SLICE_LIT("Consumer "), consumer->uuid, node);
    return !is_ours(effects, consumer) ||
           node_refuse_managed(err, SLICE_LIT("Consumer "), consumer->uuid, node);
}

/* ---- classes ---- */

static bool check_rename(const struct effects *effects, int64_t class_id, struct err *err)
{
    const struct version *version = effects->before;
    const struct catalog_row *row = catalog_find_id(&version->classes, class_id);
    struct node_classes classes = node_classes_of(version);
    const struct node *node;
    /* a class that the request itself creates is not a node's yet */
    while (row != NULL && (node = node_classes_next(&classes)) != NULL)
        if (node_class_same(node_class_name(node_text(node, NODE_RESOURCE_CLASS), effects->arena),
                            catalog_name(row)))
            return node_refuse_managed(err, SLICE_LIT("Resource class "), catalog_name(row), node);
    return true;
}

static bool check_classes(const struct effects *effects, struct err *err)
{
    for (size_t i = 0; i < effects->changes->count; i++)
        if (effects->changes->items[i].kind == CHANGE_CLASS_RENAME &&
            !check_rename(effects, effects->changes->items[i].catalog.id, err))
            return false;
    return true;
}

static bool check_effects(void *context, const struct effects *effects, const struct plan *plan,
                          struct err *err)
{
    const struct metal *metal = context;
    (void)plan;
    if (metal == NULL || !metal->mirror ||
        (effects->before->nodes.count == 0 && !effects_have(effects, CHANGE_NODE_PUT)))
        return true;
    if (effects_have(effects, CHANGE_CLASS_RENAME) && !check_classes(effects, err))
        return false;
    for (size_t i = 0; i < effects->provider_count; i++)
        if (!check_provider(effects, &effects->providers[i], metal, err))
            return false;
    for (size_t i = 0; i < effects->consumer_count; i++)
        if (!check_consumer(effects, &effects->consumers[i], err))
            return false;
    return node_rows_check(effects, metal, err);
}

const struct rule node_rule = {
    .name = "baremetal",
    .allocates_reserved = true,
    .check_effects = check_effects,
};
