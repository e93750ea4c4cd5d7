/* See examine.h. One thread, on a pinned version. */
#include "engine/examine.h"

#include <stdlib.h>

#include "replica/compare.h"

struct examining {
    struct suspects *suspects;
    const struct version *version;
};

void suspects_add(void *cls, enum entity entity, int64_t id, struct slice uuid)
{
    struct suspects *suspects = cls;
    suspects->list.items = arena_grow(suspects->arena, suspects->list.items, suspects->list.count,
                                      &suspects->capacity, sizeof(struct difference));
    suspects->list.items[suspects->list.count++] =
        (struct difference){.entity = entity, .id = id, .uuid = arena_copy(suspects->arena, uuid)};
}

static void suspect(struct examining *examining, enum entity entity, int64_t id, struct slice uuid)
{
    struct suspects *suspects = examining->suspects;
    suspects->is_full |= suspects->list.count >= EXAMINE_SUSPECTS_MOST;
    if (!suspects->is_full)
        suspects_add(suspects, entity, id, uuid);
}

static enum entity entity_of(enum change_kind kind)
{
    switch (kind) {
    case CHANGE_CLASS_INSERT:
        return ENTITY_CLASS;
    case CHANGE_TRAIT_INSERT:
        return ENTITY_TRAIT;
    case CHANGE_AGGREGATE_INSERT:
        return ENTITY_AGGREGATE;
    case CHANGE_PROJECT_INSERT:
        return ENTITY_PROJECT;
    case CHANGE_USER_INSERT:
        return ENTITY_USER;
    case CHANGE_CONSUMER_TYPE_INSERT:
        return ENTITY_CONSUMER_TYPE;
    case CHANGE_CONSUMER_INSERT:
        return ENTITY_CONSUMER;
    default: /* a provider or its aggregate: both begin with its id */
        return ENTITY_PROVIDER;
    }
}

static void examine_recent(void *cls, const struct change *change)
{
    struct examining *examining = cls;
    if (compare_has(examining->version, change))
        return;
    enum entity entity = entity_of(change->kind);
    suspect(examining, entity, change->row.id,
            entity == ENTITY_CONSUMER ? change->consumer.uuid : (struct slice){0});
}

static const struct catalog *catalog_of(const struct version *version, enum entity entity)
{
    return entity == ENTITY_CLASS       ? &version->classes
           : entity == ENTITY_TRAIT     ? &version->traits
           : entity == ENTITY_AGGREGATE ? &version->aggregates
           : entity == ENTITY_PROJECT   ? &version->projects
           : entity == ENTITY_USER      ? &version->users
                                        : &version->types;
}

/* The rows of the entity by id; those of consumers by uuid. */
static const struct ptree *examine_rows_of(const struct version *version, enum entity entity)
{
    return entity == ENTITY_CONSUMER   ? &version->consumers
           : entity == ENTITY_PROVIDER ? &version->provider_by_id
                                       : &catalog_of(version, entity)->by_id;
}

static bool examine_count(void *cls, enum entity entity, uint64_t rows)
{
    struct examining *examining = cls;
    return examine_rows_of(examining->version, entity)->count == rows;
}

static int compare_ids(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a;
    int64_t right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

/* New rows are among the recent ones, so only those that are gone are looked for. */
static void examine_ids(void *cls, enum entity entity, const int64_t *ids, size_t count)
{
    struct examining *examining = cls;
    struct ptree_iter iter;
    const struct ptree_entry *entry;
    ptree_seek(examine_rows_of(examining->version, entity), 0, 0, &iter);
    for (; (entry = ptree_iter_get(&iter)) != NULL; ptree_iter_next(&iter)) {
        const struct consumer *consumer = (const struct consumer *)(uintptr_t)entry->value;
        int64_t id = entity == ENTITY_CONSUMER ? consumer->id : (int64_t)entry->k1;
        if (count == 0 || bsearch(&id, ids, count, sizeof(id), compare_ids) == NULL)
            suspect(examining, entity, id,
                    entity == ENTITY_CONSUMER ? consumer_uuid(consumer) : (struct slice){0});
    }
}

static void examine_nothing(void *cls)
{
    struct examining *examining = cls;
    examining->suspects->is_incomplete = true;
}

static bool examine_is_full(void *cls)
{
    const struct examining *examining = cls;
    return examining->suspects->is_full;
}

bool examine_rows(struct store_observer *rows, const struct version *version,
                  struct suspects *suspects, struct err *err)
{
    struct examining examining = {suspects, version};
    const struct store_examiner examiner = {.recent = examine_recent,
                                            .has_count = examine_count,
                                            .ids = examine_ids,
                                            .unknown = examine_nothing,
                                            .is_full = examine_is_full,
                                            .cls = &examining};
    return store_observer_examine(rows, &examiner, err);
}
