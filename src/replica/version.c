/* Lookups in a version. Any thread, on a pinned version; the writer also on the version it is
 * making. */
#include "replica/version.h"

#include "base/hash.h"

static const struct provider *find_provider(const struct version *version, const struct ptree *tree,
                                            struct slice text,
                                            struct slice (*text_of)(const struct provider *))
{
    uint64_t hash = hash_text(text);
    struct ptree_iter iter;
    ptree_seek(tree, hash, 0, &iter);
    const struct ptree_entry *entry;
    while ((entry = ptree_iter_get(&iter)) != NULL && entry->k1 == hash) {
        const struct provider *provider =
            version_provider(version, (struct provider_no){(uint32_t)entry->k2});
        if (slice_equal(text_of(provider), text))
            return provider;
        ptree_iter_next(&iter);
    }
    return NULL;
}

const struct provider *version_provider_by_uuid(const struct version *version, struct slice uuid)
{
    return find_provider(version, &version->provider_by_uuid, uuid, provider_uuid);
}

const struct provider *version_provider_by_name(const struct version *version, struct slice name)
{
    return find_provider(version, &version->provider_by_name, name, provider_name);
}

const struct provider *version_provider_by_id(const struct version *version, int64_t id)
{
    uint64_t number;
    if (!ptree_find(&version->provider_by_id, (uint64_t)id, 0, &number))
        return NULL;
    return version_provider(version, (struct provider_no){(uint32_t)number});
}

const struct consumer *version_consumer(const struct version *version, struct slice uuid)
{
    uint64_t hash = hash_text(uuid);
    struct ptree_iter iter;
    ptree_seek(&version->consumers, hash, 0, &iter);
    const struct ptree_entry *entry;
    while ((entry = ptree_iter_get(&iter)) != NULL && entry->k1 == hash) {
        const struct consumer *consumer = (const struct consumer *)(uintptr_t)entry->value;
        if (slice_equal(consumer_uuid(consumer), uuid))
            return consumer;
        ptree_iter_next(&iter);
    }
    return NULL;
}

const struct column *version_column(const struct version *version, struct class_no class_no)
{
    static const struct column empty;
    if (class_no.v >> COLUMN_SHAPE.shift >= COW_LEAVES_MAX)
        return &empty; /* class numbers this large have no inventory */
    const struct column *column = cow_array_at(&version->columns, COLUMN_SHAPE, class_no.v);
    return column == NULL ? &empty : column;
}
