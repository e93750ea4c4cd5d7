/* Looks rows up in the index of effects and, for what the request does not change, in the version.
 * A request changes few rows of nodes, so those are searched linearly where only a text is known.
 * The writer only. */
#include "baremetal/write/node_after.h"

#include "baremetal/write/node_provider.h"

/* A changed row with that text in the field; NULL: there is none. */
static const struct record *row_put(const struct effects *effects, enum change_kind put,
                                    unsigned field, struct slice text)
{
    for (size_t i = 0; i < effects->row_count; i++) {
        const struct change *change = effects->rows[i].change;
        if (change->kind == put && slice_equal(record_text(change->row.record, field), text))
            return change->row.record;
    }
    return NULL;
}

const struct node *node_after(const struct effects *effects, int64_t id)
{
    const struct change *change = effects_row(effects, CHANGE_NODE_PUT, id);
    return change != NULL ? node_of(change->row.record) : version_node(effects->before, id);
}

const struct node *node_owner_after(const struct effects *effects, const struct provider *provider)
{
    struct slice uuid = provider_uuid(provider);
    const struct node *before = version_node_by_uuid(effects->before, uuid);
    const struct node *node = before != NULL
                                  ? node_after(effects, before->record.id)
                                  : node_of(row_put(effects, CHANGE_NODE_PUT, NODE_UUID, uuid));
    return node != NULL && !node_is_null(node, NODE_PROVIDER_ADOPTED) ? node : NULL;
}

const struct node_allocation *node_allocation_after(const struct effects *effects,
                                                    struct slice uuid)
{
    const struct node_allocation *before = version_node_allocation_by_uuid(effects->before, uuid);
    if (before == NULL)
        return node_allocation_of(
            row_put(effects, CHANGE_NODE_ALLOCATION_PUT, NODE_ALLOCATION_UUID, uuid));
    const struct change *change =
        effects_row(effects, CHANGE_NODE_ALLOCATION_PUT, before->record.id);
    return change != NULL ? node_allocation_of(change->row.record) : before;
}

bool node_provider_after(const struct effects *effects, struct slice uuid,
                         struct effect_provider *provider)
{
    const struct provider *before = version_provider_by_uuid(effects->before, uuid);
    if (before != NULL) {
        const struct effect_provider *effect = effects_provider(effects, before->id);
        *provider =
            effect != NULL ? *effect : (struct effect_provider){.id = before->id, .before = before};
        return !provider->is_gone;
    }
    for (size_t i = 0; i < effects->provider_count; i++) {
        *provider = effects->providers[i];
        if (provider->before == NULL && provider->row != NULL &&
            slice_equal(provider->row->uuid, uuid))
            return !provider->is_gone;
    }
    return false;
}

struct slice node_provider_name_after(const struct effect_provider *provider)
{
    return provider->row != NULL ? provider->row->name : provider_name(provider->before);
}

bool node_stock_after(const struct effects *effects, const struct effect_provider *provider,
                      struct slice class_name, struct inventory_figures *figures)
{
    int64_t class_id;
    return effects_name_id(effects, CHANGE_CLASS_INSERT, class_name, &class_id) &&
           effects_inventory(effects, provider, class_id, figures);
}

bool node_trait_after(const struct effects *effects, const struct effect_provider *provider,
                      struct slice trait)
{
    int64_t id;
    if (!effects_name_id(effects, CHANGE_TRAIT_INSERT, trait, &id))
        return false;
    for (const struct effect_content *at = provider->contents; at != NULL; at = at->next)
        if ((at->change->kind == CHANGE_PROVIDER_TRAIT_INSERT ||
             at->change->kind == CHANGE_PROVIDER_TRAIT_DELETE) &&
            at->change->link.other_id == id)
            return at->change->kind == CHANGE_PROVIDER_TRAIT_INSERT;
    const struct catalog_row *row = catalog_find(&effects->before->traits, trait);
    return row != NULL && provider->before != NULL &&
           name_set_has(provider->before->traits, row->number);
}

const struct effect_consumer *node_consumer_effect(const struct effects *effects, struct slice uuid)
{
    const struct consumer *before = version_consumer(effects->before, uuid);
    if (before != NULL)
        return effects_consumer(effects, before->id);
    for (size_t i = 0; i < effects->consumer_count; i++)
        if (slice_equal(effects->consumers[i].uuid, uuid))
            return &effects->consumers[i];
    return NULL;
}

bool node_holds_after(const struct effects *effects, const struct effect_consumer *consumer,
                      const struct node *node)
{
    const struct effect_allocation *got = consumer->gets;
    bool keeps = !consumer->is_released && consumer->before != NULL &&
                 consumer->before->allocation_count > 0;
    if (got == NULL)
        return keeps && node_is_held_by(effects->before, node, consumer->before, effects->arena);
    if (keeps || got->next != NULL || got->row->used != 1)
        return false;
    const struct effect_provider *effect = &effects->providers[got->provider];
    struct slice uuid = effect->before != NULL ? provider_uuid(effect->before) : effect->row->uuid;
    struct slice class = node_class_name(node_text(node, NODE_RESOURCE_CLASS), effects->arena);
    return slice_equal(uuid, node_text(node, NODE_UUID)) && class.data != NULL &&
           slice_equal(effects_class_name(effects, got->row->class_id), class);
}
