/* Compares what Placement's writers want with what the node's row says. Most providers and
 * consumers are no node's: that costs one lookup. Writer thread only. */
#include "baremetal/write/node_guard.h"

#include "baremetal/write/metal.h"
#include "baremetal/write/node_provider.h"

static bool is_mirrored(const struct plan *plan)
{
    return plan->metal != NULL && plan->metal->mirror && plan->version->nodes.count > 0;
}

static const struct node *owner_of(const struct provider *provider, const struct plan *plan)
{
    return is_mirrored(plan) ? node_of_provider(plan->version, provider) : NULL;
}

static bool refuse(struct err *err, struct slice what, struct slice name, const struct node *node)
{
    return err_set_join(err, 409, NULL, what, name, SLICE_LIT(" is managed by bare metal node "),
                        node_text(node, NODE_UUID));
}

bool node_guard_provider(const struct provider *provider, const struct plan *plan, struct err *err)
{
    const struct node *node = owner_of(provider, plan);
    return node == NULL ||
           refuse(err, SLICE_LIT("Resource provider "), provider_uuid(provider), node);
}

/* The number of the class that stands for the node's; NUMBER_NONE: there is none. */
static uint32_t class_number_of(const struct node *node, const struct plan *plan)
{
    struct slice name = node_class_name(node_text(node, NODE_RESOURCE_CLASS), plan->arena);
    const struct catalog_row *row =
        name.data == NULL ? NULL : catalog_find(&plan->version->classes, name);
    return row == NULL ? NUMBER_NONE : row->number;
}

bool node_guard_inventory(const struct provider *provider, uint32_t class_number,
                          const struct inventory_figures *figures, const struct plan *plan,
                          struct err *err)
{
    const struct node *node = owner_of(provider, plan);
    if (node == NULL || class_number_of(node, plan) != class_number)
        return true;
    struct inventory_figures own = node_figures(node);
    if (figures != NULL && node_figures_equal(figures, &own))
        return true;
    return refuse(err, SLICE_LIT("Inventory of class "),
                  catalog_name(catalog_row_at(&plan->version->classes, class_number)), node);
}

bool node_guard_traits(const struct provider *provider, const bool *wanted, const struct plan *plan,
                       struct err *err)
{
    const struct node *node = owner_of(provider, plan);
    struct slice rest = node == NULL ? SLICE_LIT("") : node_text(node, NODE_TRAITS);
    struct slice trait;
    while (record_next_word(&rest, &trait)) {
        const struct catalog_row *row = catalog_find(&plan->version->traits, trait);
        if (row != NULL && !wanted[row->number] && name_set_has(provider->traits, row->number))
            return refuse(err, SLICE_LIT("Trait "), trait, node);
    }
    return true;
}

/* The node of the active allocation of that uuid, or NULL. */
static const struct node *node_of_uuid(struct slice uuid, const struct plan *plan,
                                       const struct node_allocation **allocation)
{
    *allocation = is_mirrored(plan) ? version_node_allocation_by_uuid(plan->version, uuid) : NULL;
    return *allocation == NULL ? NULL
                               : version_node(plan->version, node_allocation_node_id(*allocation));
}

/* The node that the consumer holds by an allocation of ours, or NULL. */
static const struct node *node_of_consumer(struct slice uuid, const struct plan *plan)
{
    const struct node_allocation *allocation;
    const struct node *node = node_of_uuid(uuid, plan, &allocation);
    if (node == NULL || node_consumer_of(plan->version, node, allocation, plan->arena) == NULL)
        return NULL;
    return node;
}

/* The same, or that the uuid is kept for, as long as the node has no class to be held by. */
static const struct node *node_that_keeps(struct slice uuid, const struct plan *plan)
{
    const struct node_allocation *allocation;
    const struct node *node = node_of_uuid(uuid, plan, &allocation);
    const struct consumer *consumer = version_consumer(plan->version, uuid);
    bool is_free = consumer == NULL || consumer->allocation_count == 0;
    if (node == NULL || !is_free ||
        node_allocation_bool(allocation, NODE_ALLOCATION_CONSUMER_ADOPTED))
        return node_of_consumer(uuid, plan);
    return node;
}

static bool claims_exactly(const struct claim *claim, const struct node *node,
                           const struct plan *plan)
{
    if (claim->provider_count != 1 || claim->providers[0].amount_count != 1 ||
        !slice_equal(claim->providers[0].uuid, node_text(node, NODE_UUID)))
        return false;
    const struct claim_amount *amount = &claim->providers[0].amounts[0];
    const struct catalog_row *row = catalog_find(&plan->version->classes, amount->class_name);
    return row != NULL && row->number == class_number_of(node, plan) && amount->amount == 1;
}

bool node_guard_claim(const struct claim *claim, const struct plan *plan, struct err *err)
{
    const struct node *node = node_that_keeps(claim->consumer, plan);
    return node == NULL || claims_exactly(claim, node, plan) ||
           (claim->provider_count == 0 && node_of_consumer(claim->consumer, plan) == NULL) ||
           refuse(err, SLICE_LIT("Consumer "), claim->consumer, node);
}

bool node_guard_consumer(struct slice uuid, const struct plan *plan, struct err *err)
{
    const struct node *node = node_of_consumer(uuid, plan);
    return node == NULL || refuse(err, SLICE_LIT("Consumer "), uuid, node);
}

bool node_guard_class(const struct catalog_row *class_row, const struct plan *plan, struct err *err)
{
    if (!is_mirrored(plan))
        return true;
    for (const struct node *node = version_next_node(plan->version, 0); node != NULL;
         node = version_next_node(plan->version, node->record.id))
        if (!node_is_null(node, NODE_PROVIDER_ADOPTED) &&
            class_number_of(node, plan) == class_row->number)
            return refuse(err, SLICE_LIT("Resource class "), catalog_name(class_row), node);
    return true;
}
