/* See join_sql.h.
 *
 * A statement joins the table with a derived table of values, which is read first; with the index
 * that is forced, the server has no choice but to look up row after row. A list of ids (IN) would
 * be as fast, but while the table is small or new the server reads all of it instead, and waits for
 * rows that others have locked. A value that all rows share is written once, so that a statement
 * for one row has no derived table. Statements with texts of clients are always for one row: in a
 * derived table, texts of different collations could not be mixed. Pure; any thread. */
#include "store/mariadb/exchange/join_sql.h"

#include "store/mariadb/session/literal.h"
#include "store/server/write_parts.h"

#define ID          "t.id=$a"
#define PAIR(other) "t.resource_provider_id=$a AND t." other "=$b"
#define DELETE_BY_ID(name)                                                                         \
    {                                                                                              \
        .table = (name), .match = ID, .values = { JOIN_VALUE_ID }                                  \
    }

#define DELETE_NAMED(name)                                                                         \
    {                                                                                              \
        .table = (name), .match = ID " AND t.name=$b", .values = {JOIN_VALUE_ID, JOIN_VALUE_NAME}, \
        .is_single = true                                                                          \
    }

/* Another program may have changed the row since memory read it. And an id may be that of another
 * row by now, perhaps with the same generation: a database that went back gives out ids again, and
 * the Python service always does so for the newest class. So the text of the row is compared. */
static const struct mariadb_join forms[BUNDLE_KIND_COUNT] = {
    [BUNDLE_ALLOCATIONS_OF_DELETE] = {.table = "allocations",
                                      .index = MARIADB_CONSUMER_INDEX,
                                      .match = "t.consumer_id=$a",
                                      .values = {JOIN_VALUE_CONSUMER_UUID},
                                      .is_unchecked = true},
    [BUNDLE_CONSUMER_DELETE] = {.table = "consumers",
                                .match = ID " AND t.generation=$b AND t.uuid=$c",
                                .values = {JOIN_VALUE_ID, JOIN_VALUE_EXPECTED,
                                           JOIN_VALUE_CONSUMER_UUID}},
    [BUNDLE_PROVIDER_TRAIT_DELETE] = {.table = "resource_provider_traits",
                                      .match = PAIR("trait_id"),
                                      .values = {JOIN_VALUE_ID, JOIN_VALUE_OTHER}},
    [BUNDLE_PROVIDER_AGGREGATE_DELETE] = {.table = "resource_provider_aggregates",
                                          .match = PAIR("aggregate_id"),
                                          .values = {JOIN_VALUE_ID, JOIN_VALUE_OTHER}},
    [BUNDLE_INVENTORY_DELETE] = {.table = "inventories",
                                 .index = MARIADB_INVENTORY_INDEX,
                                 .match = PAIR("resource_class_id"),
                                 .values = {JOIN_VALUE_ID, JOIN_VALUE_CLASS}},
    [BUNDLE_PROVIDER_DELETE] = DELETE_BY_ID("resource_providers"), /* after mariadb_join_unlink */
    [BUNDLE_TRAIT_DELETE] = DELETE_NAMED("traits"),
    [BUNDLE_CLASS_DELETE] = DELETE_NAMED("resource_classes"),
    [BUNDLE_CLASS_RENAME] = {.table = "resource_classes",
                             .match = ID " AND t.name=$d",
                             .set = "t.name=$b,t.updated_at=$c",
                             .values = {JOIN_VALUE_ID, JOIN_VALUE_NAME, JOIN_VALUE_UPDATED_AT,
                                        JOIN_VALUE_NAME_BEFORE},
                             .is_single = true},
    [BUNDLE_PROVIDER_UPDATE] = {.table = "resource_providers",
                                .match = ID " AND t.uuid=$f",
                                .set = "t.name=$b,t.root_provider_id=$c,t.parent_provider_id=$d,"
                                       "t.updated_at=$e",
                                .values = {JOIN_VALUE_ID, JOIN_VALUE_PROVIDER_NAME, JOIN_VALUE_ROOT,
                                           JOIN_VALUE_PARENT, JOIN_VALUE_UPDATED_AT,
                                           JOIN_VALUE_PROVIDER_UUID},
                                .is_single = true},
    [BUNDLE_PROVIDER_ROOT] = {.table = "resource_providers",
                              .match = ID " AND t.uuid=$d",
                              .set = "t.root_provider_id=$b,t.updated_at=$c",
                              .values = {JOIN_VALUE_ID, JOIN_VALUE_ROOT, JOIN_VALUE_UPDATED_AT,
                                         JOIN_VALUE_PROVIDER_UUID}},
    [BUNDLE_INVENTORY_UPDATE] = {.table = "inventories",
                                 .index = MARIADB_INVENTORY_INDEX,
                                 .match = PAIR("resource_class_id"),
                                 .set = "t.total=$c,t.reserved=$d,t.min_unit=$e,t.max_unit=$f,"
                                        "t.step_size=$g,t.allocation_ratio=$h,t.updated_at=$i",
                                 .values = {JOIN_VALUE_ID, JOIN_VALUE_CLASS, JOIN_VALUE_TOTAL,
                                            JOIN_VALUE_RESERVED, JOIN_VALUE_MIN_UNIT,
                                            JOIN_VALUE_MAX_UNIT, JOIN_VALUE_STEP_SIZE,
                                            JOIN_VALUE_RATIO, JOIN_VALUE_UPDATED_AT}},
    [BUNDLE_CONSUMER_UPDATE] = {.table = "consumers",
                                .match = ID " AND t.generation=$b AND t.uuid=$h",
                                .set = "t.generation=$c,t.project_id=$d,t.user_id=$e,"
                                       "t.consumer_type_id=$f,t.updated_at=$g",
                                .values = {JOIN_VALUE_ID, JOIN_VALUE_EXPECTED, JOIN_VALUE_NEXT,
                                           JOIN_VALUE_PROJECT, JOIN_VALUE_USER, JOIN_VALUE_TYPE,
                                           JOIN_VALUE_UPDATED_AT, JOIN_VALUE_CONSUMER_UUID}},
    [BUNDLE_CONSUMER_GENERATION] = {.table = "consumers",
                                    .match = ID " AND t.generation=$b AND t.uuid=$e",
                                    .set = "t.generation=$c,t.updated_at=$d",
                                    .values = {JOIN_VALUE_ID, JOIN_VALUE_EXPECTED, JOIN_VALUE_NEXT,
                                               JOIN_VALUE_UPDATED_AT, JOIN_VALUE_CONSUMER_UUID}},
    [BUNDLE_PROVIDER_GENERATION] = {.table = "resource_providers",
                                    .match = ID " AND COALESCE(t.generation,0)=$b",
                                    .set = "t.generation=$c,t.updated_at=$d",
                                    .values = {JOIN_VALUE_ID, JOIN_VALUE_EXPECTED, JOIN_VALUE_NEXT,
                                               JOIN_VALUE_UPDATED_AT}},
};

/* InnoDB checks references row by row, and refuses to delete a row that refers to itself, as roots
 * do. Afterwards the row is locked, so that the delete finds it. */
const struct mariadb_join mariadb_join_unlink = {
    .table = "resource_providers",
    .match = ID " AND COALESCE(t.generation,0)=$b AND t.uuid=$c",
    .set = "t.root_provider_id=NULL,t.parent_provider_id=NULL",
    .values = {JOIN_VALUE_ID, JOIN_VALUE_EXPECTED, JOIN_VALUE_PROVIDER_UUID}};

const struct mariadb_join *mariadb_join_of(enum bundle_kind kind)
{
    return forms[kind].table == NULL ? NULL : &forms[kind];
}

struct mariadb_join mariadb_join_delete(const char *table)
{
    return (struct mariadb_join)DELETE_BY_ID(table);
}

/* ---- values ---- */

/* Each kind of change begins with the id of its row, or with that of its provider. */
static int64_t id_of(const struct change *change)
{
    return change->row.id;
}

static void append_value(struct buf *sql, enum join_value value, const struct change *first,
                         const struct change *last)
{
    switch (value) {
    case JOIN_VALUE_ID:
        mariadb_literal_int(sql, id_of(first));
        return;
    case JOIN_VALUE_OTHER:
        mariadb_literal_int(sql, first->link.other_id);
        return;
    case JOIN_VALUE_CLASS:
        mariadb_literal_int(sql, first->inventory.class_id);
        return;
    case JOIN_VALUE_UPDATED_AT:
        mariadb_literal_second(sql, last->updated_at_us);
        return;
    case JOIN_VALUE_NAME:
        mariadb_literal_text(sql, first->catalog.name);
        return;
    case JOIN_VALUE_NAME_BEFORE:
        mariadb_literal_text(sql, first->renamed.before);
        return;
    case JOIN_VALUE_CONSUMER_UUID:
        mariadb_literal_compared(sql, write_parts_consumer_uuid(first));
        return;
    case JOIN_VALUE_PROVIDER_UUID:
        mariadb_literal_compared(sql, first->provider.uuid);
        return;
    case JOIN_VALUE_PROVIDER_NAME:
        mariadb_literal_text(sql, first->provider.name);
        return;
    case JOIN_VALUE_ROOT:
        mariadb_literal_reference(sql, first->provider.root_id);
        return;
    case JOIN_VALUE_PARENT:
        mariadb_literal_reference(sql, first->provider.parent_id);
        return;
    case JOIN_VALUE_EXPECTED:
        mariadb_literal_int(sql, write_parts_expected(first));
        return;
    case JOIN_VALUE_NEXT:
        mariadb_literal_int(sql, last->kind == CHANGE_PROVIDER_GENERATION
                                     ? last->generation.next
                                     : last->consumer.generation);
        return;
    case JOIN_VALUE_PROJECT:
        mariadb_literal_int(sql, first->consumer.project_id);
        return;
    case JOIN_VALUE_USER:
        mariadb_literal_int(sql, first->consumer.user_id);
        return;
    case JOIN_VALUE_TYPE:
        mariadb_literal_reference(sql, first->consumer.type_id);
        return;
    case JOIN_VALUE_TOTAL:
        mariadb_literal_int(sql, first->inventory.total);
        return;
    case JOIN_VALUE_RESERVED:
        mariadb_literal_int(sql, first->inventory.reserved);
        return;
    case JOIN_VALUE_MIN_UNIT:
        mariadb_literal_int(sql, first->inventory.min_unit);
        return;
    case JOIN_VALUE_MAX_UNIT:
        mariadb_literal_int(sql, first->inventory.max_unit);
        return;
    case JOIN_VALUE_STEP_SIZE:
        mariadb_literal_int(sql, first->inventory.step_size);
        return;
    case JOIN_VALUE_RATIO:
        mariadb_literal_double(sql, first->inventory.allocation_ratio);
        return;
    case JOIN_VALUE_NONE:
        break;
    }
    check(false);
}

/* ---- what finds its rows ---- */

/* A statement that is being written. Its values are columns of the derived table v, except for
 * those that all rows share. */
struct joining {
    const struct mariadb_join *join;
    const struct bundle *chunk;
    const struct change *changes;
    unsigned count; /* of values */
    bool is_shared[JOIN_VALUES_MOST];
};

static void append_value_of(const struct joining *joining, unsigned value, size_t row,
                            struct buf *sql)
{
    const struct bundle_row *at = &joining->chunk->rows[row];
    append_value(sql, joining->join->values[value], &joining->changes[at->first],
                 &joining->changes[at->last]);
}

/* The times of a batch are usually those of one second. */
static bool is_shared_by_all(const struct joining *joining, unsigned value, struct buf *text)
{
    text->len = 0;
    append_value_of(joining, value, 0, text);
    size_t len = text->len;
    for (size_t row = 1; row < joining->chunk->count; row++) {
        text->len = len;
        append_value_of(joining, value, row, text);
        if (text->len != 2 * len || memcmp(text->data, text->data + len, len) != 0)
            return false;
    }
    return true;
}

static struct joining begin_joining(const struct mariadb_join *join, const struct bundle *chunk,
                                    const struct change *changes)
{
    struct joining joining = {.join = join, .chunk = chunk, .changes = changes};
    struct buf text = {0};
    while (joining.count < JOIN_VALUES_MOST && join->values[joining.count] != JOIN_VALUE_NONE)
        joining.count++;
    for (unsigned i = 0; i < joining.count; i++) /* the first is what makes the rows differ */
        joining.is_shared[i] = chunk->count == 1 || (i > 0 && is_shared_by_all(&joining, i, &text));
    buf_free(&text);
    return joining;
}

/* "(SELECT 1 a,2 b UNION ALL SELECT 3,4)v STRAIGHT_JOIN " */
static void append_derived(const struct joining *joining, struct buf *sql)
{
    if (joining->chunk->count == 1)
        return;
    for (size_t row = 0; row < joining->chunk->count; row++) {
        buf_append_slice(sql, row == 0 ? SLICE_LIT("(SELECT ") : SLICE_LIT(" UNION ALL SELECT "));
        for (unsigned i = 0; i < joining->count; i++) {
            if (joining->is_shared[i])
                continue;
            if (i > 0)
                buf_append_char(sql, ',');
            append_value_of(joining, i, row, sql);
            if (row == 0) {
                buf_append_char(sql, ' ');
                buf_append_char(sql, (char)('a' + i));
            }
        }
    }
    buf_append_lit(sql, ")v STRAIGHT_JOIN ");
}

static bool has_index(const struct mariadb_join *join, const struct mariadb_indexes *indexes)
{
    if (join->index == NULL)
        return true;
    return strcmp(join->index, MARIADB_CONSUMER_INDEX) == 0 ? indexes->has_consumer_index
                                                            : indexes->has_inventory_index;
}

/* "resource_providers t FORCE INDEX(PRIMARY)" */
static void append_table(const struct mariadb_join *join, const struct mariadb_indexes *indexes,
                         struct buf *sql)
{
    buf_printf(sql, "%s t", join->table);
    if (has_index(join, indexes))
        buf_printf(sql, " FORCE INDEX(%s)", join->index == NULL ? "PRIMARY" : join->index);
}

static void append_template(const struct joining *joining, const char *text, struct buf *sql)
{
    for (const char *mark; (mark = strchr(text, '$')) != NULL; text = mark + 2) {
        unsigned value = (unsigned)(mark[1] - 'a');
        check(value < joining->count);
        buf_append(sql, text, (size_t)(mark - text));
        if (joining->is_shared[value])
            append_value_of(joining, value, 0, sql);
        else
            buf_printf(sql, "v.%c", mark[1]);
    }
    buf_append_slice(sql, slice_of(text));
}

void mariadb_join_append(const struct mariadb_join *join, const struct bundle *chunk,
                         const struct change *changes, const struct mariadb_indexes *indexes,
                         struct buf *sql)
{
    const struct joining joining = begin_joining(join, chunk, changes);
    buf_append_slice(sql, join->set == NULL ? SLICE_LIT("DELETE t FROM ") : SLICE_LIT("UPDATE "));
    append_derived(&joining, sql);
    append_table(join, indexes, sql);
    if (join->set == NULL) {
        buf_append_lit(sql, " WHERE ");
        append_template(&joining, join->match, sql);
    } else {
        buf_append_lit(sql, " SET ");
        append_template(&joining, join->set, sql);
        buf_append_lit(sql, " WHERE ");
        append_template(&joining, join->match, sql);
    }
    buf_append_char(sql, ';');
}
