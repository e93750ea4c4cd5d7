/* Looks for what keeps a batch from being committed. The server ends connections that hold locks
 * and do nothing by itself (idle_transaction_timeout), and tells an ordinary user nothing about the
 * locks of others. */
#include "base/arena.h"
#include "store/mariadb/exchange/exchanges.h"
#include "store/mariadb/session/literal.h"
#include "store/mariadb/session/session_state.h"

static const struct named_table {
    const char *table;
    const char *columns[2];
} named_tables[ENTITY_NODE] = {
    [ENTITY_CLASS] = {"resource_classes", {"name", NULL}},
    [ENTITY_TRAIT] = {"traits", {"name", NULL}},
    [ENTITY_AGGREGATE] = {"placement_aggregates", {"uuid", NULL}},
    [ENTITY_PROJECT] = {"projects", {"external_id", NULL}},
    [ENTITY_USER] = {"users", {"external_id", NULL}},
    [ENTITY_CONSUMER_TYPE] = {"consumer_types", {"name", NULL}},
    [ENTITY_PROVIDER] = {"resource_providers", {"name", "uuid"}},
    [ENTITY_CONSUMER] = {"consumers", {"uuid", NULL}},
};

static void take_namesakes(const struct mariadb_rows *rows, unsigned field, struct arena *arena,
                           struct namesakes *found)
{
    for (size_t i = 0; i < mariadb_rows_count(rows); i++) {
        struct namesake *row = &found->at[found->count];
        if (!mariadb_rows_int(rows, i, 0, &row->id))
            continue;
        row->field = field;
        row->text = arena_copy(arena, mariadb_rows_bytes(rows, i, 1));
        found->count++;
    }
}

/* One statement for each column: they may have different collations, which UNION does not mix. */
enum server_outcome mariadb_namesakes(struct server_session *base, enum entity entity,
                                      const struct slice texts[static 2], struct arena *arena,
                                      struct namesakes *found, uint64_t deadline_us,
                                      struct err *err)
{
    const struct named_table *table = &named_tables[entity];
    struct mariadb_rows rows[2] = {0};
    struct buf sql = {0};
    unsigned fields = 0;
    for (; fields < 2 && table->columns[fields] != NULL; fields++) {
        const char *column = table->columns[fields];
        buf_printf(&sql, "%sSELECT id, %s FROM %s WHERE %s=", fields == 0 ? "" : ";", column,
                   table->table, column);
        mariadb_literal_text(&sql, texts[fields]);
    }
    const struct mariadb_text text = {.sql = buf_slice(&sql), .what = "read"};
    enum server_outcome outcome = mariadb_session_execute(mariadb_session_of(base), &text, rows,
                                                          fields, NULL, deadline_us, err);
    size_t most = mariadb_rows_count(&rows[0]) + mariadb_rows_count(&rows[1]);
    *found = (struct namesakes){.at = arena_zalloc(arena, (most + 1) * sizeof(*found->at))};
    for (unsigned field = 0; field < fields; field++) {
        if (outcome == SERVER_OK)
            take_namesakes(&rows[field], field, arena, found);
        mariadb_rows_free(&rows[field]);
    }
    buf_free(&sql);
    return outcome;
}

/* The names as a derived table, whose column has the collation of the table's own: that of a column
 * prevails over that of literals. */
static void append_names(const struct named_table *table, const struct slice *names, size_t count,
                         struct buf *sql)
{
    buf_printf(sql, "WITH n AS (SELECT 0 i, %s name FROM %s WHERE FALSE", table->columns[0],
               table->table);
    for (size_t i = 0; i < count; i++) {
        buf_printf(sql, " UNION ALL SELECT %zu, ", i);
        mariadb_literal_compared(sql, names[i]);
    }
    buf_append_char(sql, ')');
}

/* The columns: the index of the name, that of the first equal name, the id and the text of the row.
 */
static void take_alike(const struct mariadb_rows *rows, const struct slice *names, size_t count,
                       struct arena *arena, struct namesakes *found)
{
    found->at = arena_zalloc(arena, (mariadb_rows_count(rows) + 1) * sizeof(*found->at));
    for (size_t i = 0; i < mariadb_rows_count(rows); i++) {
        struct namesake *row = &found->at[found->count];
        int64_t name, first;
        bool is_valid = mariadb_rows_int(rows, i, 0, &name) &&
                        mariadb_rows_int(rows, i, 1, &first) &&
                        mariadb_rows_int(rows, i, 2, &row->id) && name >= 0 && first >= 0 &&
                        (size_t)name < count && (size_t)first < count;
        if (!is_valid)
            continue;
        row->field = (unsigned)name;
        row->text = row->id == 0 ? names[first] : arena_copy(arena, mariadb_rows_bytes(rows, i, 3));
        found->count++;
    }
}

/* Names are compared in groups, because comparing each with each takes long. */
enum server_outcome mariadb_names_alike(struct server_session *base, enum entity entity,
                                        const struct slice *names, size_t count,
                                        struct arena *arena, struct namesakes *found,
                                        uint64_t deadline_us, struct err *err)
{
    const struct named_table *table = &named_tables[entity];
    const char *column = table->columns[0];
    struct mariadb_rows rows = {0};
    struct buf sql = {0};
    append_names(table, names, count, &sql);
    buf_printf(&sql,
               " SELECT n.i, f.i, COALESCE(t.id, 0), t.%s FROM n"
               " JOIN (SELECT MIN(i) i, name FROM n GROUP BY name) f ON f.name=n.name"
               " LEFT JOIN %s t ON t.%s=n.name WHERE t.id IS NOT NULL OR f.i<n.i",
               column, table->table, column);
    const struct mariadb_text text = {.sql = buf_slice(&sql), .what = "read"};
    enum server_outcome outcome =
        mariadb_session_execute(mariadb_session_of(base), &text, &rows, 1, NULL, deadline_us, err);
    *found = (struct namesakes){0};
    if (outcome == SERVER_OK)
        take_alike(&rows, names, count, arena, found);
    mariadb_rows_free(&rows);
    buf_free(&sql);
    return outcome;
}

enum server_outcome mariadb_row_holder(struct server_session *base, int64_t provider_id,
                                       struct arena *arena, struct slice *holder,
                                       uint64_t deadline_us, struct err *err)
{
    (void)base;
    (void)provider_id;
    (void)arena;
    (void)deadline_us;
    (void)err;
    *holder = (struct slice){0};
    return SERVER_OK;
}

enum server_outcome mariadb_stalled_end(struct server_session *base, uint64_t least_us,
                                        struct arena *arena, struct stalled *ended,
                                        uint64_t deadline_us, struct err *err)
{
    (void)base;
    (void)least_us;
    (void)arena;
    (void)deadline_us;
    (void)err;
    *ended = (struct stalled){0};
    return SERVER_OK;
}
