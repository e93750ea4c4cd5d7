/* Finds what programs that write no log have written. The server keeps with each row the number of
 * the transaction that wrote it (xmin), and numbers are given in order: so a row was written since
 * an earlier snapshot if its number is not below that of the oldest transaction that was then open.
 * This needs no clock and no column that a program has to maintain. Rows that were deleted are
 * missing in the count of their table; its ids are read only then. The tables are scanned, so that
 * the pauses grow with the time that a scan takes. Another cluster, to which the tables were
 * copied, has numbers of its own: there, everything is compared once. Writer thread only.
 *
 * Not read are tables of rows that no service changes without raising the generation of their
 * provider: inventories, traits of providers, allocations. */
#include <stdlib.h>

#include "base/clock.h"
#include "store/postgres/cells.h"
#include "store/postgres/rows_sql.h"
#include "store/postgres/store_internal.h"

enum {
    EVERY_US = 1000000,
    AFTER_FAILURE_US = 5000000,
    SHARE = 50 /* one part in so many of the writer's time */
};

struct examined_table {
    enum rows_table table;
    enum entity entity; /* ENTITY_COUNT: rows that have no ids are not counted */
};

static const struct examined_table tables[] = {
    {ROWS_CLASSES, ENTITY_CLASS},        {ROWS_TRAITS, ENTITY_TRAIT},
    {ROWS_AGGREGATES, ENTITY_AGGREGATE}, {ROWS_PROJECTS, ENTITY_PROJECT},
    {ROWS_USERS, ENTITY_USER},           {ROWS_CONSUMER_TYPES, ENTITY_CONSUMER_TYPE},
    {ROWS_PROVIDERS, ENTITY_PROVIDER},   {ROWS_PROVIDER_AGGREGATES, ENTITY_COUNT},
    {ROWS_CONSUMERS, ENTITY_CONSUMER},
};
enum { TABLES = sizeof(tables) / sizeof(tables[0]) };

/* Also while memory is known to be wrong: then the news that this takes are all of it, and nobody
 * else may take them, because the log's newest row is still that of memory. */
bool postgres_should_examine(const struct store *base)
{
    const struct postgres_store *store = postgres_of_const(base);
    return (store->has_state || !store->read.is_open) && !store->is_locked &&
           clock_monotonic_us() >= store->examine_at_us;
}

void postgres_put_off_examination(struct postgres_store *store)
{
    store->examine_at_us = clock_monotonic_us() + AFTER_FAILURE_US;
}

static const char HORIZON[] = "SELECT txid_snapshot_xmin(txid_current_snapshot())";

static struct pg_statement statement_of(const char *sql)
{
    return (struct pg_statement){.sql = sql, .binary_results = true, .what = "read"};
}

bool postgres_read_horizon(struct postgres_store *store, int64_t *horizon, struct err *err)
{
    const struct pg_statement statement = statement_of(HORIZON);
    struct pg_rows rows = {0};
    bool ok = pg_session_execute(store->follower, &statement, &rows, postgres_deadline(store),
                                 err) == PG_OK &&
              pg_rows_count(&rows) == 1 && pg_rows_int(&rows, 0, 0, horizon);
    pg_rows_free(&rows);
    return ok;
}

/* ---- all questions in one round trip ---- */

static bool is_counted(const struct examined_table *table)
{
    return table->entity != ENTITY_COUNT;
}

static bool queue_table(struct postgres_store *store, const struct examined_table *table,
                        struct err *err)
{
    struct buf sql = {0};
    pg_rows_sql_recent(table->table, (uint32_t)store->examined_from, &sql);
    struct pg_statement statement = statement_of(sql.data);
    bool ok = pg_pipeline_queue(store->follower, &statement, err) == PG_OK;
    sql.len = 0;
    buf_printf(&sql, "SELECT count(*) FROM %s%c", rows_name(table->table), '\0');
    statement.sql = sql.data;
    ok = ok && (!is_counted(table) || pg_pipeline_queue(store->follower, &statement, err) == PG_OK);
    buf_free(&sql);
    return ok;
}

static bool ask(struct postgres_store *store, struct err *err)
{
    const struct pg_statement horizon = statement_of(HORIZON);
    bool ok = pg_pipeline_begin(store->follower, err) == PG_OK &&
              pg_pipeline_queue(store->follower, &horizon, err) == PG_OK;
    for (size_t i = 0; ok && i < TABLES; i++)
        ok = queue_table(store, &tables[i], err);
    return ok && pg_pipeline_send(store->follower, postgres_deadline(store), err) == PG_OK;
}

static bool examine_take_number(struct postgres_store *store, int64_t *number, struct err *err)
{
    struct pg_rows rows = {0};
    bool ok = pg_pipeline_next(store->follower, &rows, postgres_deadline(store), err) == PG_OK &&
              pg_rows_count(&rows) == 1 && pg_rows_int(&rows, 0, 0, number);
    pg_rows_free(&rows);
    return ok;
}

static bool take_recent(struct postgres_store *store, enum rows_table table,
                        const struct store_examiner *examiner, struct err *err)
{
    struct pg_rows rows = {0};
    struct pg_cells cells;
    struct change change;
    if (pg_pipeline_next(store->follower, &rows, postgres_deadline(store), err) != PG_OK)
        return false;
    pg_cells_begin(&cells, table);
    for (size_t i = 0; i < pg_rows_count(&rows); i++) {
        pg_cells_read(&cells, &rows, i);
        if (rows_change(table, cells.at, NULL, &change))
            examiner->recent(examiner->cls, &change);
    }
    pg_rows_free(&rows);
    return true;
}

/* Rows that a load left out. */
static int64_t count_skipped(const struct postgres_store *store, const char *name)
{
    int64_t count = 0;
    for (size_t i = 0; i < store->skipped.rows.count; i++)
        count += strcmp(store->skipped.rows.at[i].table, name) == 0;
    return count;
}

/* *lacks: the tables in which rows are missing, as bits. */
static bool take_answers(struct postgres_store *store, const struct store_examiner *examiner,
                         int64_t *horizon, unsigned *lacks, struct err *err)
{
    bool ok = examine_take_number(store, horizon, err);
    for (size_t i = 0; ok && i < TABLES; i++) {
        int64_t count = 0;
        ok = take_recent(store, tables[i].table, examiner, err) &&
             (!is_counted(&tables[i]) || examine_take_number(store, &count, err));
        count -= count_skipped(store, rows_name(tables[i].table));
        if (ok && is_counted(&tables[i]) &&
            !examiner->has_count(examiner->cls, tables[i].entity, (uint64_t)count))
            *lacks |= 1U << i;
    }
    return ok && pg_pipeline_finish(store->follower, postgres_deadline(store), err) == PG_OK;
}

static bool pass_ids(struct postgres_store *store, const struct examined_table *table,
                     const struct store_examiner *examiner, struct err *err)
{
    struct buf sql = {0};
    struct pg_rows rows = {0};
    buf_printf(&sql, "SELECT id FROM %s ORDER BY id%c", rows_name(table->table), '\0');
    const struct pg_statement statement = statement_of(sql.data);
    bool ok = pg_session_execute(store->follower, &statement, &rows, postgres_deadline(store),
                                 err) == PG_OK;
    size_t count = pg_rows_count(&rows);
    int64_t *ids = calloc(count + 1, sizeof(*ids));
    check(ids != NULL);
    for (size_t i = 0; ok && i < count; i++)
        ok = pg_rows_int(&rows, i, 0, &ids[i]);
    if (ok)
        examiner->ids(examiner->cls, table->entity, ids, count);
    free(ids);
    pg_rows_free(&rows);
    buf_free(&sql);
    return ok;
}

/* The next time. A scan may have waited for the processor, so the shortest of the last ones
 * counts. */
static void plan_next(struct postgres_store *store, uint64_t took_us)
{
    uint64_t least_us = took_us;
    store->examinations_us[store->examinations++ % EXAMINATIONS_KEPT] = took_us;
    for (size_t i = 0; i < EXAMINATIONS_KEPT && i < store->examinations; i++)
        if (store->examinations_us[i] < least_us)
            least_us = store->examinations_us[i];
    uint64_t pause_us = least_us * SHARE;
    store->examine_at_us = clock_monotonic_us() + (pause_us > EVERY_US ? pause_us : EVERY_US);
}

bool postgres_examine(struct store *base, const struct store_examiner *examiner, struct err *err)
{
    struct postgres_store *store = postgres_of(base);
    uint64_t began_us = clock_monotonic_us();
    int64_t horizon = 0;
    unsigned lacks = 0;
    check(store->read.is_open && store->has_state);
    if (store->read.has_followed)
        postgres_end_suspicion(store);
    store->read.has_followed = false;
    bool ok = postgres_need_snapshot(store, err) && ask(store, err) &&
              take_answers(store, examiner, &horizon, &lacks, err);
    if (!ok)
        pg_session_close(store->follower); /* the snapshot is of no use any more */
    for (size_t i = 0; ok && i < TABLES; i++)
        if ((lacks & 1U << i) != 0)
            ok = pass_ids(store, &tables[i], examiner, err);
    /* a pooler may lead to another cluster without a new connection */
    store->has_state &= !ok || horizon >= store->examined_from;
    if (ok)
        store->examined_from = horizon;
    plan_next(store, clock_monotonic_us() - began_us);
    return ok;
}
