/* Ids come from the database's own sequences, in blocks, so that no other program gets the same
 * ones. A block that is used up is followed by one twice as large. Classes have no use for their
 * sequence: upstream numbers custom ones from 10000 on. Writer thread only. */
#include <stdlib.h>

#include "store/postgres/store_internal.h"
#include "store/rows.h"

enum { BLOCK_LEAST = 32, BLOCK_MOST = 4096 };

static const char FROM_SEQUENCE[] =
    "SELECT nextval(s.name) FROM (SELECT pg_get_serial_sequence($2::text, 'id')::regclass AS name"
    " OFFSET 0) s, generate_series(1, $1::int)";
static const char FROM_CLASSES[] =
    "SELECT m.id + g FROM (SELECT greatest(max(id), 9999) AS id FROM resource_classes) m,"
    " generate_series(1, $1::int) g WHERE $2::text <> ''";

/* The table in which rows with these ids are inserted. */
static const char *table_name(enum store_table table)
{
    for (int rows = 0; rows < ROWS_RECORDS; rows++)
        if (rows_info((enum rows_table)rows)->ids == table)
            return rows_info((enum rows_table)rows)->name;
    for (int record = 0; record < RECORD_TABLE_COUNT; record++)
        if (record_tables[record].ids == table)
            return record_tables[record].name;
    check(false);
    return NULL;
}

static bool take_ids(struct id_block *block, const struct pg_rows *rows)
{
    size_t count = pg_rows_count(rows);
    free(block->ids);
    *block = (struct id_block){.ids = calloc(count, sizeof(*block->ids))};
    check(block->ids != NULL);
    for (size_t i = 0; i < count; i++) {
        int64_t id;
        if (!pg_rows_int(rows, i, 0, &id))
            return false;
        block->ids[block->count++] = id;
    }
    return count > 0;
}

static bool fetch(struct postgres_store *store, enum store_table table, size_t count,
                  struct err *err)
{
    const struct pg_parameter parameters[] = {pg_int4((int32_t)count),
                                              pg_text(slice_of(table_name(table)))};
    const struct pg_statement statement = {
        .sql = table == STORE_CLASSES ? FROM_CLASSES : FROM_SEQUENCE,
        .parameters = parameters,
        .parameters_n = 2,
        .binary_results = true,
        .is_prepared = true,
        .what = "asked for ids",
    };
    struct pg_rows rows = {0};
    bool ok = postgres_ensure_session(store, store->follower, err) &&
              pg_session_execute(store->follower, &statement, &rows, postgres_deadline(store),
                                 err) == PG_OK &&
              take_ids(&store->ids[table], &rows);
    pg_rows_free(&rows);
    return ok;
}

/* Rows may have been inserted with ids of another origin: the table was copied from another
 * database. */
static bool mend_sequence(struct postgres_store *store, struct pg_session *session,
                          const char *table, struct err *err)
{
    struct buf sql = {0};
    buf_printf(&sql,
               "SELECT setval(x.s, x.m) FROM (SELECT pg_get_serial_sequence('%s', 'id')::regclass"
               " AS s, (SELECT max(id) FROM %s) AS m) x"
               " WHERE x.m > coalesce(pg_sequence_last_value(x.s), 0)%c",
               table, table, '\0');
    bool ok =
        pg_session_run(session, sql.data, "asked for ids", postgres_deadline(store), err) == PG_OK;
    buf_free(&sql);
    return ok;
}

bool postgres_mend_sequences(struct postgres_store *store, struct pg_session *session,
                             struct err *err)
{
    bool ok = true;
    for (int table = 0; ok && table < STORE_TABLE_COUNT; table++) {
        ok = mend_sequence(store, session, table_name((enum store_table)table), err);
        store->ids[table].used = store->ids[table].committed = store->ids[table].count;
    }
    return ok;
}

/* A plan cannot fail for want of ids; its commit does. */
static int64_t give_none(struct postgres_store *store)
{
    store->lacks_ids = true;
    return INT64_MAX / 2 + store->ids_lacking++;
}

int64_t postgres_next_id(struct store *base, enum store_table table)
{
    struct postgres_store *store = postgres_of(base);
    struct id_block *block = &store->ids[table];
    struct err ignored = postgres_ignored(store);
    if (block->used == block->count) {
        size_t count = block->count < BLOCK_LEAST ? BLOCK_LEAST : block->count * 2;
        if (store->read.is_open || store->lacks_ids ||
            !fetch(store, table, count < BLOCK_MOST ? count : BLOCK_MOST, &ignored))
            return give_none(store);
    }
    return block->ids[block->used++];
}

void postgres_reuse_ids(struct store *base)
{
    struct postgres_store *store = postgres_of(base);
    for (int table = 0; table < STORE_TABLE_COUNT; table++)
        store->ids[table].used = store->ids[table].committed;
    store->lacks_ids = false;
}

void postgres_keep_ids(struct postgres_store *store)
{
    for (int table = 0; table < STORE_TABLE_COUNT; table++)
        store->ids[table].committed = store->ids[table].used;
}

void postgres_drop_ids(struct postgres_store *store)
{
    for (int table = 0; table < STORE_TABLE_COUNT; table++)
        store->ids[table].used = store->ids[table].committed = store->ids[table].count;
}

void postgres_free_ids(struct postgres_store *store)
{
    for (int table = 0; table < STORE_TABLE_COUNT; table++)
        free(store->ids[table].ids);
}
