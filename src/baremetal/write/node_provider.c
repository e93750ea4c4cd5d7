/* Compares a node's row with a version's providers and consumers. Any thread. */
#include "baremetal/write/node_provider.h"

#include "replica/provider_consumers.h"

enum { PROVIDER_NAME_MAX_CHARS = 200 };

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

struct slice node_provider_name(const struct version *version, const struct node *node,
                                const struct metal *metal)
{
    const struct provider *provider = version_provider_by_uuid(version, node_text(node, NODE_UUID));
    struct slice wanted[] = {node_text(node, NODE_NAME), node_text(node, NODE_UUID)};
    bool fits = metal->provider_has_node_name && wanted[0].len > 0 &&
                wanted[0].len <= PROVIDER_NAME_MAX_CHARS;
    for (unsigned i = fits ? 0 : 1; i < 2; i++) {
        const struct provider *namesake = version_provider_by_name(version, wanted[i]);
        if (namesake == NULL || namesake == provider)
            return wanted[i];
    }
    return provider == NULL ? (struct slice){0} : provider_name(provider);
}

bool node_can_be_provider(const struct version *version, const struct node *node,
                          const struct metal *metal, struct err *err)
{
    struct slice uuid = node_text(node, NODE_UUID);
    const struct provider *provider = version_provider_by_uuid(version, uuid);
    if (provider == NULL)
        return node_provider_name(version, node, metal).data != NULL ||
               err_set(err, 409, NULL,
                       "Node %.*s cannot be a resource provider: another provider has its uuid as "
                       "name.",
                       SLICE_ARG(uuid));
    return provider->parent.v == NUMBER_NONE || !node_is_null(node, NODE_PROVIDER_ADOPTED) ||
           err_set(
               err, 409, NULL,
               "Node %.*s cannot be a resource provider: the provider with its uuid has a parent.",
               SLICE_ARG(uuid));
}

struct node_taker node_taker_of(const struct node_allocation *allocation, const struct metal *metal)
{
    struct slice owner = node_allocation_text(allocation, NODE_ALLOCATION_OWNER);
    return (struct node_taker){node_allocation_text(allocation, NODE_ALLOCATION_UUID),
                               owner.len > 0 ? owner : metal->incomplete_project_id};
}

static bool gives_way(const struct version *version, const struct rules *rules,
                      const struct consumer *consumer, struct node_taker taker)
{
    return taker.uuid.data != NULL &&
           rules_let_yield(rules, version, consumer, taker.uuid, taker.project);
}

const struct consumer *node_holder(const struct version *version, const struct rules *rules,
                                   const struct provider *provider, struct node_taker taker,
                                   const struct consumer *nor)
{
    struct provider_consumers walk;
    const struct consumer *at;
    provider_consumers_below(&walk, version, provider->no);
    while ((at = provider_consumers_next(&walk)) != NULL)
        if (at != nor && (taker.uuid.data == NULL || !slice_equal(consumer_uuid(at), taker.uuid)) &&
            !gives_way(version, rules, at, taker))
            return at;
    return NULL;
}

static bool holds_class(const struct consumer *consumer, struct provider_no provider,
                        uint32_t class_number)
{
    for (uint32_t i = 0; i < consumer->allocation_count; i++)
        if (consumer->allocation[i].provider.v == provider.v &&
            consumer->allocation[i].class_no.v == class_number)
            return true;
    return false;
}

static const struct consumer *class_holder(const struct version *version,
                                           const struct provider *provider, struct slice class_name,
                                           const struct consumer *but_for,
                                           const struct consumer *nor)
{
    const struct catalog_row *row =
        class_name.data == NULL ? NULL : catalog_find(&version->classes, class_name);
    struct provider_consumers walk;
    const struct consumer *at;
    provider_consumers_of(&walk, version, provider->no);
    while (row != NULL && (at = provider_consumers_next(&walk)) != NULL)
        if (at != but_for && at != nor && holds_class(at, provider->no, row->number))
            return at;
    return NULL;
}

static const struct catalog_row *
node_provider_class_of(const struct version *version, const struct node *node, struct arena *arena)
{
    struct slice name = node_class_name(node_text(node, NODE_RESOURCE_CLASS), arena);
    return name.data == NULL ? NULL : catalog_find(&version->classes, name);
}

bool node_is_held_by(const struct version *version, const struct node *node,
                     const struct consumer *consumer, struct arena *arena)
{
    const struct provider *provider = node_provider(version, node);
    const struct catalog_row *row = node_provider_class_of(version, node, arena);
    return provider != NULL && row != NULL && consumer->allocation_count == 1 &&
           consumer->allocation[0].provider.v == provider->no.v &&
           consumer->allocation[0].class_no.v == row->number && consumer->allocation[0].used == 1;
}

bool node_consumer_is_ours(const struct node_allocation *allocation)
{
    return record_number(&allocation->record, NODE_ALLOCATION_CONSUMER_ADOPTED) == RECORD_FALSE;
}

static const struct consumer *holder_by_uuid(const struct version *version, const struct node *node,
                                             struct slice uuid, struct arena *arena)
{
    const struct consumer *consumer = version_consumer(version, uuid);
    return consumer != NULL && node_is_held_by(version, node, consumer, arena) ? consumer : NULL;
}

const struct consumer *node_consumer_of(const struct version *version, const struct node *node,
                                        const struct node_allocation *allocation,
                                        struct arena *arena)
{
    if (!node_consumer_is_ours(allocation))
        return NULL;
    return holder_by_uuid(version, node, node_allocation_text(allocation, NODE_ALLOCATION_UUID),
                          arena);
}

bool node_finds_consumer(const struct version *version, const struct node *node,
                         const struct node_allocation *allocation, struct arena *arena)
{
    return node_allocation_is_null(allocation, NODE_ALLOCATION_CONSUMER_ADOPTED) &&
           holder_by_uuid(version, node, node_allocation_text(allocation, NODE_ALLOCATION_UUID),
                          arena) != NULL;
}

bool node_lacks_consumer(const struct version *version, const struct node *node,
                         const struct node_allocation *allocation, const struct consumer *leaves,
                         struct arena *arena)
{
    if (node_allocation_bool(allocation, NODE_ALLOCATION_CONSUMER_ADOPTED))
        return false;
    const struct consumer *consumer =
        version_consumer(version, node_allocation_text(allocation, NODE_ALLOCATION_UUID));
    const struct provider *provider = version_provider_by_uuid(version, node_text(node, NODE_UUID));
    struct slice class_name = node_class_name(node_text(node, NODE_RESOURCE_CLASS), arena);
    return (consumer == NULL || consumer->allocation_count == 0) &&
           (provider == NULL || class_holder(version, provider, class_name, leaves, NULL) == NULL);
}

const struct node *node_as_mirrored(const struct node *node, struct arena *arena)
{
    struct slice class = node_text(node, NODE_MIRRORED_CLASS);
    struct slice traits = node_text(node, NODE_MIRRORED_TRAITS);
    if (class.data == NULL && traits.data == NULL)
        return node;
    struct node_draft draft = node_draft_of(node);
    if (class.data != NULL && class.len == 0)
        node_set_null(&draft, NODE_RESOURCE_CLASS);
    else if (class.data != NULL)
        node_set_text(&draft, NODE_RESOURCE_CLASS, class);
    if (traits.data != NULL)
        node_set_text(&draft, NODE_TRAITS, traits);
    return node_pack(&draft, arena);
}

const struct consumer *node_consumer_left(const struct version *version, const struct node *node,
                                          struct arena *arena)
{
    struct slice uuid = node_text(node, NODE_MIRRORED_CONSUMER);
    return uuid.data == NULL ? NULL
                             : holder_by_uuid(version, node_as_mirrored(node, arena), uuid, arena);
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

const struct consumer *node_class_other_consumer(const struct version *version,
                                                 const struct node *mirrored,
                                                 const struct node *node,
                                                 const struct consumer *ours, struct arena *arena)
{
    const struct provider *provider = node_provider(version, mirrored);
    struct slice was = node_class_name(node_text(mirrored, NODE_RESOURCE_CLASS), arena);
    struct slice is = node_class_name(node_text(node, NODE_RESOURCE_CLASS), arena);
    if (provider == NULL || was.data == NULL || node_class_same(was, is))
        return NULL;
    const struct consumer *left = node_consumer_left(version, mirrored, arena);
    const struct consumer *other = class_holder(version, provider, was, ours, left);
    return other != NULL ? other : class_holder(version, provider, is, ours, left);
}

bool node_refuse_associated(const struct node *node, struct slice instance, struct err *err)
{
    return err_set(err, 409, NULL, "Node %.*s is associated with instance %.*s.",
                   SLICE_ARG(node_text(node, NODE_UUID)), SLICE_ARG(instance));
}

bool node_refuse_existing(struct slice what, struct slice text, struct err *err)
{
    return err_set_join(err, 409, NULL, what, text, SLICE_LIT(" already exists."));
}

bool node_can_be_mirrored(const struct version *version, const struct node *node,
                          const struct metal *metal, struct arena *arena, struct err *err)
{
    if (!node_can_be_provider(version, node, metal, err))
        return false;
    const struct node *mirrored = node_as_mirrored(node, arena);
    const struct node_allocation *has = version_node_allocation_of(version, node->record.id);
    const struct consumer *other =
        mirrored == node
            ? NULL
            : node_class_other_consumer(
                  version, mirrored, node,
                  has == NULL ? NULL : node_consumer_of(version, mirrored, has, arena), arena);
    return other == NULL || node_refuse_associated(node, consumer_uuid(other), err);
}

static bool has_inventory(const struct version *version, const struct provider *provider,
                          const struct node *node, struct arena *arena)
{
    const struct catalog_row *row = node_provider_class_of(version, node, arena);
    const struct provider_inventory *inventory =
        row == NULL ? NULL : provider_inventory_of(provider, (struct class_no){row->number});
    struct inventory_figures figures = node_figures(node);
    return inventory != NULL && node_figures_equal(&inventory->figures, &figures);
}

bool node_is_mirrored(const struct version *version, const struct node *node, struct arena *arena)
{
    const struct provider *provider = node_provider(version, node);
    bool has_class = !node_is_null(node, NODE_RESOURCE_CLASS);
    if (!node_is_null(node, NODE_MIRRORED_CLASS) || !node_is_null(node, NODE_MIRRORED_TRAITS) ||
        !node_is_null(node, NODE_MIRRORED_CONSUMER))
        return false;
    if (provider == NULL || !has_traits(version, provider, node_text(node, NODE_TRAITS)))
        return provider == NULL && !has_class;
    if (!has_class)
        return true;
    const struct node_allocation *allocation = version_node_allocation_of(version, node->record.id);
    return has_inventory(version, provider, node, arena) &&
           (allocation == NULL || (!node_lacks_consumer(version, node, allocation, NULL, arena) &&
                                   !node_finds_consumer(version, node, allocation, arena)));
}
