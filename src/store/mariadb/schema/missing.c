/* See missing.h. A row is known by two numbers: its id and its generation, or the two ids of a link
 * or an inventory. Pure; any thread. */
#include "store/mariadb/schema/missing.h"

#include "store/mariadb/session/literal.h"

struct known_by {
    const char *table;
    const char *id;
    const char *other; /* NULL: the id is enough */
};

#define CONSUMERS                                                                                  \
    {                                                                                              \
        "consumers", "id", "generation"                                                            \
    }
#define PROVIDERS                                                                                  \
    {                                                                                              \
        "resource_providers", "id", "COALESCE(generation, 0)"                                      \
    }
#define INVENTORIES                                                                                \
    {                                                                                              \
        "inventories", "resource_provider_id", "resource_class_id"                                 \
    }

static const struct known_by upstream[] = {
    [BUNDLE_CONSUMER_DELETE] = CONSUMERS,
    [BUNDLE_PROVIDER_TRAIT_DELETE] = {"resource_provider_traits", "resource_provider_id",
                                      "trait_id"},
    [BUNDLE_PROVIDER_AGGREGATE_DELETE] = {"resource_provider_aggregates", "resource_provider_id",
                                          "aggregate_id"},
    [BUNDLE_INVENTORY_DELETE] = INVENTORIES,
    [BUNDLE_PROVIDER_DELETE] = PROVIDERS,
    [BUNDLE_TRAIT_DELETE] = {"traits", "id", NULL},
    [BUNDLE_CLASS_DELETE] = {"resource_classes", "id", NULL},
    [BUNDLE_CLASS_RENAME] = {"resource_classes", "id", NULL},
    [BUNDLE_PROVIDER_UPDATE] = {"resource_providers", "id", NULL},
    [BUNDLE_PROVIDER_ROOT] = {"resource_providers", "id", NULL},
    [BUNDLE_INVENTORY_UPDATE] = INVENTORIES,
    [BUNDLE_CONSUMER_UPDATE] = CONSUMERS,
    [BUNDLE_CONSUMER_GENERATION] = CONSUMERS,
    [BUNDLE_PROVIDER_GENERATION] = PROVIDERS,
};
enum { UPSTREAM_KINDS = sizeof(upstream) / sizeof(upstream[0]) };

static struct known_by known_by(enum bundle_kind kind)
{
    static const enum bundle_kind records[] = {BUNDLE_RECORD_DELETE, BUNDLE_RECORD_UPDATE};
    for (unsigned i = 0; i < sizeof(records) / sizeof(records[0]); i++)
        if (kind >= records[i] && kind - records[i] < RECORD_TABLE_COUNT)
            return (struct known_by){record_tables[kind - records[i]].name, "id", NULL};
    return (int)kind < UPSTREAM_KINDS ? upstream[kind] : (struct known_by){0};
}

/* Each kind of change begins with the id of its row, or with that of its provider. */
static int64_t id_of(const struct change *change)
{
    return change->row.id;
}

static int64_t other_of(enum bundle_kind kind, const struct change *change)
{
    switch (kind) {
    case BUNDLE_PROVIDER_TRAIT_DELETE:
    case BUNDLE_PROVIDER_AGGREGATE_DELETE:
        return change->link.other_id;
    case BUNDLE_INVENTORY_DELETE:
    case BUNDLE_INVENTORY_UPDATE:
        return change->inventory.class_id;
    case BUNDLE_PROVIDER_DELETE:
        return change->provider.generation;
    case BUNDLE_PROVIDER_GENERATION:
        return change->generation.expected;
    default:
        return change->consumer.expected_generation;
    }
}

bool mariadb_missing_append(const struct bundle *chunk, const struct change *changes,
                            struct buf *sql)
{
    const struct known_by by = known_by(chunk->kind);
    if (by.table == NULL)
        return false;
    buf_printf(sql, "SELECT %s, %s FROM %s WHERE %s IN(", by.id, by.other == NULL ? "0" : by.other,
               by.table, by.id);
    for (size_t i = 0; i < chunk->count; i++) {
        if (i > 0)
            buf_append_char(sql, ',');
        mariadb_literal_int(sql, id_of(&changes[chunk->rows[i].first]));
    }
    buf_append_lit(sql, ");");
    return true;
}

static bool has_row(const struct mariadb_rows *rows, int64_t id, int64_t other)
{
    for (size_t i = 0; i < mariadb_rows_count(rows); i++) {
        int64_t found_id;
        int64_t found_other;
        if (mariadb_rows_int(rows, i, 0, &found_id) && mariadb_rows_int(rows, i, 1, &found_other) &&
            found_id == id && found_other == other)
            return true;
    }
    return false;
}

size_t mariadb_missing_find(const struct bundle *chunk, const struct change *changes,
                            const struct mariadb_rows *rows)
{
    bool has_other = known_by(chunk->kind).other != NULL;
    for (size_t i = 0; i < chunk->count; i++) {
        const struct change *change = &changes[chunk->rows[i].first];
        if (!has_row(rows, id_of(change), has_other ? other_of(chunk->kind, change) : 0))
            return chunk->rows[i].first;
    }
    return SIZE_MAX;
}
