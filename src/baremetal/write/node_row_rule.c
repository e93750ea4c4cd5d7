/* Checks the mirror's work for each row of a node or of a node's allocation: whichever planner
 * writes the row, the matching changes of Placement's tables must be in the same request. The one
 * exception is that of node_write(): a node that cannot be mirrored, keeps its class and is not
 * taken may be written unmirrored; then its row keeps what was last written to Placement. Writer
 * thread only. */
#include "baremetal/write/node_row_rule.h"

#include "baremetal/write/node_after.h"
#include "baremetal/write/node_provider.h"

bool node_refuse_managed(struct err *err, struct slice what, struct slice name,
                         const struct node *node)
{
    return err_set_join(err, 409, NULL, what, name, SLICE_LIT(" is managed by bare metal node "),
                        node_text(node, NODE_UUID));
}

static bool refuse_provider(struct err *err, const struct node *node)
{
    return node_refuse_managed(err, SLICE_LIT("Resource provider "), node_text(node, NODE_UUID),
                               node);
}

static bool refuse_stock(struct err *err, struct slice class, const struct node *node)
{
    return node_refuse_managed(err, SLICE_LIT("Inventory of class "), class, node);
}

static bool refuse_consumer(struct err *err, struct slice uuid, const struct node *node)
{
    return node_refuse_managed(err, SLICE_LIT("Consumer "), uuid, node);
}

static struct slice node_row_rule_class_of(const struct effects *effects, const struct node *node)
{
    struct slice text = node == NULL ? (struct slice){0} : node_text(node, NODE_RESOURCE_CLASS);
    return node_class_name(text, effects->arena);
}

/* As it was last written to Placement before; NULL: it was not. */
static const struct node *mirrored_before(const struct effects *effects, int64_t id)
{
    const struct node *node = version_node(effects->before, id);
    return node == NULL || node_is_null(node, NODE_PROVIDER_ADOPTED)
               ? NULL
               : node_as_mirrored(node, effects->arena);
}

/* ---- consumers ---- */

/* Whether that consumer has the node after the request. */
static bool holds(const struct effects *effects, struct slice uuid, const struct node *node)
{
    const struct effect_consumer *effect = node_consumer_effect(effects, uuid);
    if (effect != NULL)
        return node_holds_after(effects, effect, node);
    const struct consumer *there = version_consumer(effects->before, uuid);
    return there != NULL && node_is_held_by(effects->before, node, there, effects->arena);
}

/* Whether the allocations that it had are deleted. */
static bool goes(const struct effects *effects, const struct consumer *consumer)
{
    const struct effect_consumer *effect = effects_consumer(effects, consumer->id);
    return effect != NULL && effect->is_released;
}

/* The consumer that berth wrote for the node's former allocation. */
static const struct consumer *ours_before(const struct effects *effects, int64_t node_id,
                                          const struct node_allocation *allocation)
{
    const struct node *mirrored = mirrored_before(effects, node_id);
    return mirrored == NULL || allocation == NULL
               ? NULL
               : node_consumer_of(effects->before, mirrored, allocation, effects->arena);
}

/* The consumer that an unmirrored release left behind, and that stays; NULL: there is none. */
static const struct consumer *left_after(const struct effects *effects, int64_t node_id)
{
    const struct node *before = version_node(effects->before, node_id);
    const struct consumer *left =
        before == NULL ? NULL : node_consumer_left(effects->before, before, effects->arena);
    return left == NULL || goes(effects, left) ? NULL : left;
}

/* ---- rows of nodes ---- */

static bool check_name(const struct effects *effects, const struct effect_provider *provider,
                       const struct node *node, const struct metal *metal, struct err *err)
{
    bool is_root = provider->row != NULL ? provider->row->parent_id == 0
                                         : provider->before->parent.v == NUMBER_NONE;
    return !is_root || node_bool(node, NODE_PROVIDER_ADOPTED) ||
           slice_equal(node_provider_name_after(provider),
                       node_provider_name(effects->before, node, metal)) ||
           refuse_provider(err, node);
}

/* The inventory of the new class matches the row; that of the old class is deleted. */
static bool check_stock(const struct effects *effects, const struct effect_provider *provider,
                        const struct node *mirrored, const struct node *node, struct err *err)
{
    struct slice was = node_row_rule_class_of(effects, mirrored);
    struct slice is = node_row_rule_class_of(effects, node);
    struct inventory_figures figures;
    struct inventory_figures wanted = node_figures(node);
    if (is.data != NULL && !(node_stock_after(effects, provider, is, &figures) &&
                             node_figures_equal(&figures, &wanted)))
        return refuse_stock(err, is, node);
    return was.data == NULL || node_class_same(was, is) ||
           !node_stock_after(effects, provider, was, &figures) || refuse_stock(err, was, node);
}

/* The row's traits exist, and traits that the row lost do not. */
static bool check_traits(const struct effects *effects, const struct effect_provider *provider,
                         const struct node *mirrored, const struct node *node, struct err *err)
{
    struct slice has = node_text(node, NODE_TRAITS);
    struct slice rest = has;
    struct slice trait;
    while (record_next_word(&rest, &trait))
        if (!node_trait_after(effects, provider, trait))
            return node_refuse_managed(err, SLICE_LIT("Trait "), trait, node);
    rest = mirrored == NULL ? SLICE_LIT("") : node_text(mirrored, NODE_TRAITS);
    while (record_next_word(&rest, &trait))
        if (!record_has_word(has, trait) && node_trait_after(effects, provider, trait))
            return node_refuse_managed(err, SLICE_LIT("Trait "), trait, node);
    return true;
}

/* The consumers of the node before the request: the consumer of an allocation that stays is created
 * with the first class and deleted with the last; one left behind is deleted, unless its allocation
 * has the node again. */
static bool check_consumers(const struct effects *effects, const struct node *mirrored,
                            const struct node *node, struct err *err)
{
    int64_t id = node->record.id;
    const struct consumer *left = left_after(effects, id);
    const struct node_allocation *again =
        left == NULL ? NULL : node_allocation_after(effects, consumer_uuid(left));
    if (left != NULL && !(again != NULL && node_allocation_node_id(again) == id &&
                          holds(effects, consumer_uuid(left), node)))
        return refuse_consumer(err, consumer_uuid(left), node);
    const struct node_allocation *had = version_node_allocation_of(effects->before, id);
    const struct consumer *ours = ours_before(effects, id, had);
    if (ours == NULL || node_class_same(node_row_rule_class_of(effects, mirrored),
                                        node_row_rule_class_of(effects, node)))
        return true;
    return (node_is_null(node, NODE_RESOURCE_CLASS)
                ? goes(effects, ours)
                : goes(effects, ours) || holds(effects, consumer_uuid(ours), node)) ||
           refuse_consumer(err, consumer_uuid(ours), node);
}

/* Placement matches the row. */
static bool check_mirrored(const struct effects *effects, const struct node *node,
                           const struct metal *metal, struct err *err)
{
    const struct node *mirrored = mirrored_before(effects, node->record.id);
    struct effect_provider provider;
    if (node_is_null(node, NODE_PROVIDER_ADOPTED))
        return (mirrored == NULL && node_is_null(node, NODE_RESOURCE_CLASS)) ||
               refuse_provider(err, node);
    if (node_as_mirrored(node, effects->arena) != node)
        return refuse_provider(err, node);
    if (mirrored != NULL && !check_consumers(effects, mirrored, node, err))
        return false;
    if (!node_provider_after(effects, node_text(node, NODE_UUID), &provider))
        return node_is_null(node, NODE_RESOURCE_CLASS) || refuse_provider(err, node);
    return (node_is_null(node, NODE_RESOURCE_CLASS) ||
            check_name(effects, &provider, node, metal, err)) &&
           check_stock(effects, &provider, mirrored, node, err) &&
           check_traits(effects, &provider, mirrored, node, err);
}

/* Whether the row records that consumer as left behind. */
static bool remembers(const struct node *node, const struct consumer *consumer)
{
    return slice_equal(node_text(node, NODE_MIRRORED_CONSUMER), consumer_uuid(consumer));
}

/* Placement does not match the row, and the row records what was last written. */
static bool check_unmirrored(const struct effects *effects, const struct node *node,
                             struct err *err)
{
    const struct node *mirrored = mirrored_before(effects, node->record.id);
    const struct node *still =
        node_is_null(node, NODE_PROVIDER_ADOPTED) ? NULL : node_as_mirrored(node, effects->arena);
    bool is_same =
        mirrored == NULL || still == NULL
            ? mirrored == still
            : node_class_same(node_text(mirrored, NODE_RESOURCE_CLASS),
                              node_text(still, NODE_RESOURCE_CLASS)) &&
                  node_class_same(node_text(mirrored, NODE_TRAITS), node_text(still, NODE_TRAITS));
    const struct consumer *left = left_after(effects, node->record.id);
    if (left != NULL && !remembers(node, left))
        return refuse_consumer(err, consumer_uuid(left), node);
    return is_same || refuse_provider(err, node);
}

/* Whether the request gives the node to an allocation. */
static bool is_taken(const struct effects *effects, int64_t node_id)
{
    for (size_t i = 0; i < effects->row_count; i++) {
        const struct change *change = effects->rows[i].change;
        const struct node_allocation *before =
            change->kind != CHANGE_NODE_ALLOCATION_PUT
                ? NULL
                : version_node_allocation(effects->before, change->row.id);
        if (change->kind == CHANGE_NODE_ALLOCATION_PUT &&
            node_allocation_node_id(node_allocation_of(change->row.record)) == node_id &&
            (before == NULL || node_allocation_node_id(before) != node_id))
            return true;
    }
    return false;
}

/* Whether the node may be written unmirrored. */
static bool may_be_unmirrored(const struct effects *effects, const struct node *node,
                              const struct metal *metal)
{
    struct err ignored = {.arena = effects->arena};
    const struct node *before = version_node(effects->before, node->record.id);
    return before != NULL &&
           node_class_same(node_text(before, NODE_RESOURCE_CLASS),
                           node_text(node, NODE_RESOURCE_CLASS)) &&
           !is_taken(effects, node->record.id) &&
           !node_can_be_mirrored(effects->before, before, metal, effects->arena, &ignored);
}

/* A deleted node cannot be allocated: what remains of its provider is reserved. */
static bool check_gone(const struct effects *effects, int64_t id, struct err *err)
{
    const struct node *mirrored = mirrored_before(effects, id);
    struct slice class = node_row_rule_class_of(effects, mirrored);
    struct effect_provider provider;
    struct inventory_figures figures;
    if (mirrored == NULL)
        return true;
    const struct consumer *ours =
        ours_before(effects, id, version_node_allocation_of(effects->before, id));
    const struct consumer *left = left_after(effects, id);
    if (ours != NULL && !goes(effects, ours))
        return refuse_consumer(err, consumer_uuid(ours), mirrored);
    if (left != NULL)
        return refuse_consumer(err, consumer_uuid(left), mirrored);
    return class.data == NULL ||
           !node_provider_after(effects, node_text(mirrored, NODE_UUID), &provider) ||
           !node_stock_after(effects, &provider, class, &figures) ||
           figures.reserved >= figures.total || refuse_provider(err, mirrored);
}

static bool check_node(const struct effects *effects, const struct change *change,
                       const struct metal *metal, struct err *err)
{
    const struct node *node = node_of(change->row.record);
    if (node == NULL)
        return check_gone(effects, change->row.id, err);
    return may_be_unmirrored(effects, node, metal) ? check_unmirrored(effects, node, err)
                                                   : check_mirrored(effects, node, metal, err);
}

/* ---- rows of allocations ---- */

/* The consumer that berth wrote for it is deleted, unless the row of an unmirrored node records it.
 */
static bool check_released(const struct effects *effects, const struct node_allocation *before,
                           const struct metal *metal, struct err *err)
{
    int64_t node_id = before == NULL ? 0 : node_allocation_node_id(before);
    const struct consumer *ours = ours_before(effects, node_id, before);
    if (ours == NULL || goes(effects, ours))
        return true;
    const struct node *node = node_after(effects, node_id);
    return (node != NULL && remembers(node, ours) && may_be_unmirrored(effects, node, metal)) ||
           refuse_consumer(err, consumer_uuid(ours), version_node(effects->before, node_id));
}

/* The row says whose its consumer is, and the consumer holds the node once the node has a class. */
static bool check_taken(const struct effects *effects, const struct node_allocation *before,
                        const struct node_allocation *after, struct err *err)
{
    const struct node *node = node_after(effects, node_allocation_node_id(after));
    struct slice uuid = node_allocation_text(after, NODE_ALLOCATION_UUID);
    bool is_same = before != NULL &&
                   node_allocation_node_id(before) == node_allocation_node_id(after) &&
                   record_number(&before->record, NODE_ALLOCATION_CONSUMER_ADOPTED) ==
                       record_number(&after->record, NODE_ALLOCATION_CONSUMER_ADOPTED);
    if (node == NULL || is_same)
        return true;
    return (!node_allocation_is_null(after, NODE_ALLOCATION_CONSUMER_ADOPTED) &&
            (node_is_null(node, NODE_RESOURCE_CLASS) || holds(effects, uuid, node))) ||
           refuse_consumer(err, uuid, node);
}

static bool check_allocation(const struct effects *effects, const struct change *change,
                             const struct metal *metal, struct err *err)
{
    const struct node_allocation *before = version_node_allocation(effects->before, change->row.id);
    const struct node_allocation *after = node_allocation_of(change->row.record);
    bool stays = before != NULL && after != NULL &&
                 node_allocation_node_id(before) == node_allocation_node_id(after);
    return (stays || check_released(effects, before, metal, err)) &&
           (after == NULL || node_allocation_node_id(after) == 0 ||
            check_taken(effects, before, after, err));
}

bool node_rows_check(const struct effects *effects, const struct metal *metal, struct err *err)
{
    for (size_t i = 0; i < effects->row_count; i++) {
        const struct change *change = effects->rows[i].change;
        switch (change->kind) {
        case CHANGE_NODE_PUT:
        case CHANGE_NODE_DELETE:
            if (!check_node(effects, change, metal, err))
                return false;
            break;
        case CHANGE_NODE_ALLOCATION_PUT:
        case CHANGE_NODE_ALLOCATION_DELETE:
            if (!check_allocation(effects, change, metal, err))
                return false;
            break;
        default:
            break;
        }
    }
    return true;
}
