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
