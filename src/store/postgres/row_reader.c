/* See store/row_reader.h: all sets are asked for in one round trip. The thread of the reader's
 * session, inside its snapshot. */
#include "base/clock.h"
#include "store/postgres/cells.h"
#include "store/postgres/pipeline.h"
#include "store/postgres/rows_sql.h"
#include "store/postgres/session_internal.h"
#include "store/postgres/store_internal.h"

enum { STEP_ROWS = 100 }; /* for each, as long as for the answer to any other statement */

static struct pg_statement statement_of(const struct buf *sql)
{
    return (struct pg_statement){.sql = sql->data, .binary_results = true, .what = "read"};
}

/* The position of the column of a table of upstream. */
static unsigned column_at(enum rows_table table, const char *name, bool of_consumer)
{
    const struct rows_info *info = rows_info(table);
    unsigned at = 0;
    while (((info->columns[at].flags & ROWS_OF_CONSUMER) != 0) != of_consumer ||
           strcmp(info->columns[at].name, name) != 0)
        check(++at < info->count);
    return at;
}

/* Rows of a table, while everything is read. */
struct streaming {
    struct postgres_store *store;
    enum rows_table table;
    unsigned uuid;     /* the column with the consumer's uuid */
    unsigned consumer; /* and that with its id */
};

static struct streaming begin_streaming(struct postgres_store *store, enum rows_table table)
{
    struct streaming streaming = {.store = store, .table = table};
    if (table == ROWS_CONSUMERS) {
        consumer_ids_free(&store->consumer_ids);
        streaming.uuid = column_at(table, "uuid", false);
    } else if (table == ROWS_ALLOCATIONS) {
        streaming.uuid = column_at(table, "consumer_id", false);
        streaming.consumer = column_at(table, "id", true);
    }
    return streaming;
}

/* Consumers come before allocations. False: the row is invisible, because it has no consumer. */
static bool join_consumer(const struct streaming *streaming, struct cell *cells)
{
    struct consumer_ids *ids = &streaming->store->consumer_ids;
    const struct cell *uuid = &cells[streaming->uuid];
    if (streaming->table == ROWS_CONSUMERS && !uuid->is_null)
        consumer_ids_add(ids, uuid->text, cells[0].integer);
    if (streaming->table != ROWS_ALLOCATIONS)
        return true;
    int64_t id = uuid->is_null ? 0 : consumer_ids_find(ids, uuid->text);
    cells[streaming->consumer] = (struct cell){.integer = id};
    return id != 0;
}

static uint64_t deadline_of(const struct postgres_reader *reader)
{
    return clock_monotonic_us() + reader->timeout_us;
}

static void note_step(const struct postgres_store *store)
{
    if (store->steps != NULL)
        atomic_fetch_add_explicit(store->steps, 1, memory_order_relaxed);
}

static void note_id(const struct postgres_reader *reader, enum rows_table table, int64_t id)
{
    if (reader->noting != NULL)
        postgres_note_id(reader->noting, table, id);
}

static bool stream(void *cls, enum rows_table table, row_take *take, void *take_cls,
                   struct err *err)
{
    struct postgres_reader *reader = cls;
    struct postgres_store *store = reader->noting; /* observers read by ids only */
    struct streaming streaming = begin_streaming(store, table);
    struct buf sql = {0};
    struct pg_rows rows = {0};
    struct pg_cells cells;
    pg_rows_sql_all(table, &sql);
    const struct pg_statement statement = statement_of(&sql); /* planned for the size it has now */
    uint64_t deadline_us = deadline_of(reader);
    enum server_outcome outcome = pg_stream_begin(reader->session, &statement, deadline_us, err);
    pg_cells_begin(&cells, table);
    for (size_t row = 0; outcome == SERVER_OK; row++) {
        if (row % STEP_ROWS == 0) {
            deadline_us = deadline_of(reader);
            note_step(store);
        }
        outcome = pg_stream_next(reader->session, &rows, deadline_us, err);
        if (outcome == SERVER_OK) {
            pg_cells_read(&cells, &rows, 0);
            note_id(reader, table, cells.at[0].integer);
            if (join_consumer(&streaming, cells.at))
                take(take_cls, cells.at);
        }
    }
    if (table == ROWS_ALLOCATIONS)
        consumer_ids_free(&store->consumer_ids);
    pg_rows_free(&rows);
    buf_free(&sql);
    return outcome == SERVER_END;
}

static bool queue_set(struct postgres_reader *reader, const struct row_set *set, struct err *err)
{
    struct buf sql = {0};
    struct pg_array *ids = &reader->session->arrays[0];
    bool is_big = rows_is_record(set->table);
    pg_rows_sql_of_ids(set->table, &sql);
    pg_array_begin(ids, is_big ? PG_INT8_ARRAY : PG_INT4_ARRAY);
    for (size_t i = 0; i < set->count; i++)
        if (is_big || set->ids[i] == (int32_t)set->ids[i]) /* otherwise there is no such row */
            pg_array_add_int(ids, set->ids[i]);
    const struct pg_parameter parameter = pg_array_parameter(ids);
    struct pg_statement statement = statement_of(&sql);
    statement.is_prepared = true;
    statement.parameters = &parameter;
    statement.parameters_n = 1;
    bool ok = pg_pipeline_queue(reader->session, &statement, err) == SERVER_OK;
    buf_free(&sql);
    return ok;
}

static bool take_set(struct postgres_reader *reader, const struct row_set *set, struct err *err)
{
    struct pg_rows rows = {0};
    struct pg_cells cells;
    if (pg_pipeline_next(reader->session, &rows, deadline_of(reader), err) != SERVER_OK)
        return false;
    pg_cells_begin(&cells, set->table);
    for (size_t i = 0; i < pg_rows_count(&rows); i++) {
        pg_cells_read(&cells, &rows, i);
        note_id(reader, set->table, cells.at[0].integer);
        row_set_take(set, cells.at);
    }
    pg_rows_free(&rows);
    return true;
}

static bool find_sets(void *cls, const struct row_set *sets, size_t count, struct err *err)
{
    struct postgres_reader *reader = cls;
    if (count == 0)
        return true;
    bool ok = pg_pipeline_begin(reader->session, err) == SERVER_OK;
    for (size_t i = 0; ok && i < count; i++)
        ok = queue_set(reader, &sets[i], err);
    ok = ok && pg_pipeline_send(reader->session, deadline_of(reader), err) == SERVER_OK;
    for (size_t i = 0; ok && i < count; i++)
        ok = take_set(reader, &sets[i], err);
    if (ok)
        return pg_pipeline_finish(reader->session, deadline_of(reader), err) == SERVER_OK;
    pg_session_close(reader->session); /* the snapshot is of no use any more */
    return false;
}

struct row_reader postgres_row_reader(struct postgres_reader *reader)
{
    return (struct row_reader){
        .name = reader->target.data, .cls = reader, .stream = stream, .find = find_sets};
}
