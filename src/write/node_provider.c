/* Reads a node's row and a version's providers and consumers side by side. Any thread. */
#include "write/node_provider.h"

#include "base/buf.h"

struct slice node_class_name(struct slice resource_class, struct arena *arena)
{
    if (resource_class.data == NULL)
        return (struct slice){0};
    const struct slice prefix = SLICE_LIT("CUSTOM_");
    char *name = arena_alloc(arena, prefix.len + resource_class.len + 1);
    memcpy(name, prefix.data, prefix.len);
    size_t len = prefix.len;
    bool in_gap = false;
    for (size_t i = 0; i < resource_class.len; i++) {
        char c = resource_class.data[i];
        if (c >= 'a' && c <= 'z')
            c = (char)(c - 'a' + 'A');
        bool is_plain = (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (is_plain || !in_gap)
            name[len++] = is_plain ? c : '_';
        in_gap = !is_plain;
    }
    return (struct slice){name, len};
}

bool node_class_same(struct slice a, struct slice b)
{
    if (a.data == NULL || b.data == NULL)
        return a.data == b.data;
    return slice_equal(a, b);
}

struct inventory_figures node_figures(const struct node *node)
{
    return (struct inventory_figures){
        .total = 1,
        .reserved = node_is_free(node) ? 0 : 1,
        .min_unit = 1,
        .max_unit = 1,
        .step_size = 1,
        .allocation_ratio = 1.0,
    };
}

const struct node *node_of_provider(const struct version *version, const struct provider *provider)
{
    const struct node *node = version_node_by_uuid(version, provider_uuid(provider));
    return node != NULL && !node_is_null(node, NODE_PROVIDER_ADOPTED) ? node : NULL;
}

const struct provider *node_provider(const struct version *version, const struct node *node)
{
    if (node_is_null(node, NODE_PROVIDER_ADOPTED))
        return NULL;
    return version_provider_by_uuid(version, node_text(node, NODE_UUID));
}

bool node_is_cut_off(const struct version *version, const struct node *node)
{
    const struct provider *provider = version_provider_by_uuid(version, node_text(node, NODE_UUID));
    return provider != NULL && provider->parent.v != NUMBER_NONE &&
           node_is_null(node, NODE_PROVIDER_ADOPTED);
}

static const struct consumer *consumer_at(const struct version *version,
                                          const struct ptree_entry *entry)
{
    uint64_t value;
    check(ptree_find(&version->consumers, entry->value, entry->k2, &value));
    return (const struct consumer *)(uintptr_t)value;
}

static const struct consumer *holder_of_one(const struct version *version, struct provider_no no,
                                            struct slice but_for)
{
    struct ptree_iter iter;
    const struct ptree_entry *entry;
    ptree_seek(&version->provider_consumers, no.v, 0, &iter);
    for (; (entry = ptree_iter_get(&iter)) != NULL && entry->k1 == no.v; ptree_iter_next(&iter)) {
        const struct consumer *consumer = consumer_at(version, entry);
        if (but_for.data == NULL || !slice_equal(consumer_uuid(consumer), but_for))
            return consumer;
    }
    return NULL;
}

const struct consumer *node_holder(const struct version *version, const struct provider *provider,
                                   struct slice but_for)
{
    struct slot_no slot = version_slot(version, provider->no);
    uint32_t end = version_place(version, slot)->end;
    for (; slot.v < end; slot.v++) {
        const struct provider *at = version_place(version, slot)->provider;
        const struct consumer *holder = at == NULL ? NULL : holder_of_one(version, at->no, but_for);
        if (holder != NULL)
            return holder;
    }
    return NULL;
}

static const struct catalog_row *class_of(const struct version *version, const struct node *node,
                                          struct arena *arena)
{
    struct slice name = node_class_name(node_text(node, NODE_RESOURCE_CLASS), arena);
    return name.data == NULL ? NULL : catalog_find(&version->classes, name);
}

bool node_is_held_by(const struct version *version, const struct node *node,
                     const struct consumer *consumer, struct arena *arena)
{
    const struct provider *provider = node_provider(version, node);
    const struct catalog_row *row = class_of(version, node, arena);
    return provider != NULL && row != NULL && consumer->allocation_count == 1 &&
           consumer->allocation[0].provider.v == provider->no.v &&
           consumer->allocation[0].class_no.v == row->number && consumer->allocation[0].used == 1;
}

const struct consumer *node_consumer_of(const struct version *version, const struct node *node,
                                        const struct node_allocation *allocation,
                                        struct arena *arena)
{
    if (node_allocation_bool(allocation, NODE_ALLOCATION_CONSUMER_ADOPTED))
        return NULL;
    const struct consumer *consumer =
        version_consumer(version, node_allocation_text(allocation, NODE_ALLOCATION_UUID));
    return consumer != NULL && node_is_held_by(version, node, consumer, arena) ? consumer : NULL;
}

static bool is_class_held(const struct version *version, const struct node *node,
                          struct arena *arena)
{
    const struct provider *provider = version_provider_by_uuid(version, node_text(node, NODE_UUID));
    const struct catalog_row *row = class_of(version, node, arena);
    const struct provider_inventory *inventory =
        provider == NULL || row == NULL
            ? NULL
            : provider_inventory_of(provider, (struct class_no){row->number});
    return inventory != NULL && inventory->used > 0;
}

bool node_lacks_consumer(const struct version *version, const struct node *node,
                         const struct node_allocation *allocation, struct arena *arena)
{
    if (node_allocation_bool(allocation, NODE_ALLOCATION_CONSUMER_ADOPTED))
        return false;
    const struct consumer *consumer =
        version_consumer(version, node_allocation_text(allocation, NODE_ALLOCATION_UUID));
    return (consumer == NULL || consumer->allocation_count == 0) &&
           !is_class_held(version, node, arena);
}

bool node_figures_equal(const struct inventory_figures *a, const struct inventory_figures *b)
{
    return a->total == b->total && a->reserved == b->reserved && a->min_unit == b->min_unit &&
           a->max_unit == b->max_unit && a->step_size == b->step_size &&
           a->allocation_ratio >= b->allocation_ratio && a->allocation_ratio <= b->allocation_ratio;
}

static bool has_traits(const struct version *version, const struct provider *provider,
                       struct slice traits)
{
    struct slice word;
    while (record_next_word(&traits, &word)) {
        const struct catalog_row *row = catalog_find(&version->traits, word);
        if (row == NULL || !name_set_has(provider->traits, row->number))
            return false;
    }
    return true;
}

bool node_is_mirrored(const struct version *version, const struct node *node, struct arena *arena)
{
    const struct provider *provider = node_provider(version, node);
    if (node_is_null(node, NODE_RESOURCE_CLASS))
        return true;
    const struct catalog_row *row = class_of(version, node, arena);
    const struct provider_inventory *inventory =
        provider == NULL || row == NULL
            ? NULL
            : provider_inventory_of(provider, (struct class_no){row->number});
    struct inventory_figures figures = node_figures(node);
    const struct node_allocation *allocation = version_node_allocation_of(version, node->record.id);
    return inventory != NULL && node_figures_equal(&inventory->figures, &figures) &&
           has_traits(version, provider, node_text(node, NODE_TRAITS)) &&
           (allocation == NULL || !node_lacks_consumer(version, node, allocation, arena));
}
