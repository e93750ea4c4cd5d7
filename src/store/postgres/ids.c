/* Ids come from the database's own sequences, in blocks, so that no other program gets the same
 * ones. A block that is used up is followed by one twice as large. Classes have no use for their
 * sequence: upstream numbers custom ones from 10000 on.
 *
 * A statement that asks a sequence for more than it has left fails, and what it has taken by then
 * is lost. So near the end it asks for a part of what is left, and in the end for single ids: then
 * each id is used, also if several instances ask at the same time.
 *
 * nextval() is as durable as a commit, and waits for a standby like one. With synchronous_commit =
 * off it would not wait, but a crash of the server could then give the ids of a block in use to
 * others; and there is one such wait for thousands of ids. The writer only. */
#include <stdlib.h>

#include "base/clock.h"
#include "log/log.h"
#include "store/postgres/id_figures.h"
#include "store/postgres/store_internal.h"
#include "store/rows.h"

enum { BLOCK_LEAST = 32, BLOCK_MOST = 4096 };

static const char FROM_SEQUENCE[] =
    "SELECT nextval(s.name) FROM (SELECT q.seqrelid::regclass AS name, (least(q.seqmax, $3::bigint)"
    " - coalesce(pg_sequence_last_value(q.seqrelid), q.seqstart - q.seqincrement)) / q.seqincrement"
    " AS rest FROM pg_catalog.pg_sequence q"
    " WHERE q.seqrelid = pg_get_serial_sequence($2::text, 'id')::regclass OFFSET 0) s,"
    " generate_series(1, CASE WHEN s.rest > 0 THEN least($1::bigint, greatest(s.rest / 8, 1))"
    " ELSE 0 END)";
static const char FROM_CLASSES[] =
    "SELECT m.id + g FROM (SELECT greatest(max(id), 9999, $4::bigint) AS id FROM resource_classes) "
    "m,"
    " generate_series(1, $1::bigint) g WHERE $2::text <> '' AND m.id + g <= $3::bigint";
static const char SEQUENCE_AT_END[] = "2200H";

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

/* From here on, numbers are no ids. */
static const int64_t NO_ID = STORE_ID_MOST / 2;

/* The largest id that a row can have. */
static int64_t largest_id(enum store_table table)
{
    return table >= STORE_NODES ? NO_ID - 1 : PG_ID_MOST;
}

static bool take_ids(struct id_block *block, int64_t most, const struct pg_rows *rows)
{
    size_t count = pg_rows_count(rows);
    free(block->ids);
    *block = (struct id_block){.ids = calloc(count + 1, sizeof(*block->ids)),
                               .is_told = block->is_told,
                               .highest = block->highest,
                               .read = block->read,
                               .floor = block->floor};
    check(block->ids != NULL);
    for (size_t i = 0; i < count; i++) {
        int64_t id;
        if (pg_rows_int(rows, i, 0, &id) && id > 0 && id <= most)
            block->ids[block->count++] = id;
        if (block->count > 0 && block->ids[block->count - 1] > block->highest)
            block->highest = block->ids[block->count - 1];
    }
    return block->count > 0;
}

/* Classes have no sequence. The database may have none of the highest ids any more, because another
 * instance has deleted these classes, and memory may not know yet. */
static int64_t floor_of(const struct id_block *block)
{
    int64_t last = block->used > 0 ? block->ids[block->used - 1] : 0;
    int64_t floor = block->floor > block->read ? block->floor : block->read;
    return floor > last ? floor : last;
}

/* On the connection that is open: a new one may lead to a server whose sequences are behind. */
static enum lack fetch(struct postgres_store *store, enum store_table table, size_t count,
                       struct err *err)
{
    int64_t most = largest_id(table);
    const struct pg_parameter parameters[] = {pg_int8((int64_t)count),
                                              pg_text(slice_of(table_name(table))), pg_int8(most),
                                              pg_int8(floor_of(&store->ids[table]))};
    const struct pg_statement statement = {
        .sql = table == STORE_CLASSES ? FROM_CLASSES : FROM_SEQUENCE,
        .parameters = parameters,
        .parameters_n = table == STORE_CLASSES ? 4 : 3,
        .binary_results = true,
        .is_prepared = true,
        .what = "asked for ids",
    };
    struct pg_rows rows = {0};
    enum lack lack = LACKS_ANSWER;
    if (pg_session_is_open(store->follower)) {
        enum server_outcome outcome =
            pg_session_execute(store->follower, &statement, &rows, postgres_deadline(store), err);
        const char *state = pg_session_failure(store->follower)->sqlstate;
        if (outcome == SERVER_OK)
            lack = take_ids(&store->ids[table], most, &rows) ? LACKS_NONE : LACKS_IDS;
        else if (strcmp(state, SEQUENCE_AT_END) == 0)
            lack = LACKS_IDS;
    }
    pg_rows_free(&rows);
    return lack;
}

/* Rows may have been inserted with ids of another origin: the table was copied from another
 * database. And memory may have rows that a database that went back has not. */
static bool mend_sequence(struct postgres_store *store, struct pg_session *session,
                          enum store_table of, struct err *err)
{
    const char *table = table_name(of);
    struct buf sql = {0};
    buf_printf(&sql,
               "SELECT setval(x.s, x.m) FROM (SELECT pg_get_serial_sequence('%s', 'id')::regclass"
               " AS s, (SELECT greatest(max(id), %lld) FROM %s) AS m) x"
               " WHERE x.m > coalesce(pg_sequence_last_value(x.s), 0)%c",
               table, (long long)store->ids[of].floor, table, '\0');
    bool ok = pg_session_run(session, sql.data, "asked for ids", postgres_deadline(store), err) ==
              SERVER_OK;
    buf_free(&sql);
    return ok;
}

bool postgres_mend_sequences(struct postgres_store *store, struct pg_session *session,
                             struct err *err)
{
    bool ok = true;
    for (int table = 0; ok && table < STORE_TABLE_COUNT; table++) {
        ok = mend_sequence(store, session, (enum store_table)table, err);
        store->ids[table].used = store->ids[table].committed = store->ids[table].count;
    }
    return ok;
}

static void tell(const struct postgres_store *store, enum store_table table)
{
    log_write(
        LOG_LEVEL_ERROR, "berth", LOG_NO_CONTEXT,
        "the database '%.*s' gives out no ids for new rows of %s: its sequence is used up, or "
        "there is none",
        SLICE_ARG(store->url.target), table_name(table));
}

void postgres_distrust_ids(struct postgres_store *store)
{
    postgres_drop_ids(store);
    for (int table = 0; table < STORE_TABLE_COUNT; table++)
        store->ids[table].floor = store->ids[table].highest;
    store->has_reconnected = false;
    store->mends_first = true;
}

static bool mend_first(struct postgres_store *store, struct err *err)
{
    if (!postgres_ensure_session(store, store->follower, err))
        return false;
    if (store->has_reconnected)
        postgres_distrust_ids(store);
    store->mends_first =
        store->mends_first && !postgres_mend_sequences(store, store->follower, err);
    return !store->mends_first;
}

/* Asks for a whole block first; another instance may meanwhile have taken what was left for it. */
static enum lack reserve(struct postgres_store *store, enum store_table table, struct err *err)
{
    size_t count =
        store->ids[table].count < BLOCK_LEAST ? BLOCK_LEAST : store->ids[table].count * 2;
    if (!mend_first(store, err))
        return LACKS_ANSWER;
    enum lack lack = fetch(store, table, count < BLOCK_MOST ? count : BLOCK_MOST, err);
    return lack == LACKS_IDS ? fetch(store, table, 1, err) : lack;
}

/* A connection that has ended while it was idle is replaced. */
static enum lack reserve_again(struct postgres_store *store, enum store_table table)
{
    struct err ignored = postgres_ignored(store);
    pg_session_notice_end(store->follower);
    bool was_open = pg_session_is_open(store->follower);
    uint64_t soon_us = clock_monotonic_us() + store->timeout_us / 2;
    enum lack lack = reserve(store, table, &ignored);
    if (lack != LACKS_ANSWER || !was_open || pg_session_is_open(store->follower) ||
        clock_monotonic_us() > soon_us)
        return lack;
    ignored = postgres_ignored(store);
    return reserve(store, table, &ignored);
}

static enum lack refill(struct postgres_store *store, enum store_table table)
{
    struct id_block *block = &store->ids[table];
    if (store->is_silent || store->read.is_open || store->must_not_wait)
        return LACKS_ANSWER;
    if (block->is_used_up)
        return LACKS_IDS;
    enum lack lack = reserve_again(store, table);
    store->is_silent = lack == LACKS_ANSWER;
    block->is_used_up = lack == LACKS_IDS;
    if (block->is_used_up && !block->is_told)
        tell(store, table);
    block->is_told = block->is_used_up;
    return lack;
}

void postgres_note_id(struct postgres_store *store, enum rows_table table, int64_t id)
{
    const struct rows_info *info = rows_info(table);
    enum store_table ids = info == NULL ? rows_record_info(table)->ids : info->ids;
    if (ids >= STORE_TABLE_COUNT)
        return;
    struct id_block *block = &store->ids[ids];
    block->read = id > block->read ? id : block->read;
    block->highest = id > block->highest ? id : block->highest;
}

/* Ids of classes are not reserved: other instances may have used them by now. */
static void skip_used(struct id_block *block)
{
    while (block->used < block->count && block->ids[block->used] <= block->read)
        block->used++;
}

int64_t postgres_next_id(struct store *base, enum store_table table)
{
    struct postgres_store *store = postgres_of(base);
    if (store->has_reconnected)
        postgres_distrust_ids(store);
    struct id_block *block = &store->ids[table];
    if (table == STORE_CLASSES)
        skip_used(block);
    enum lack lack = block->used < block->count ? LACKS_NONE : refill(store, table);
    if (lack == LACKS_NONE)
        return block->ids[block->used++];
    if (store->lack == LACKS_NONE) {
        store->lack = lack;
        store->lacking = table;
    }
    return NO_ID + store->lacks++;
}

bool postgres_lacks_id(struct store *base, struct err *err)
{
    struct postgres_store *store = postgres_of(base);
    enum lack lack = store->lack;
    store->lack = LACKS_NONE;
    if (lack == LACKS_IDS)
        return !err_set(err, 503, NULL, "The database gives out no ids for new rows of %s.",
                        table_name(store->lacking));
    if (lack == LACKS_ANSWER)
        return !err_set(err, 503, NULL,
                        "The database does not answer when it is asked for ids. Try again later.");
    return false;
}

void postgres_reuse_ids(struct store *base)
{
    struct postgres_store *store = postgres_of(base);
    for (int table = 0; table < STORE_TABLE_COUNT; table++) {
        struct id_block *block = &store->ids[table];
        block->used = block->handed > block->committed ? block->handed : block->committed;
        block->is_used_up = false;
    }
    store->is_silent = false;
    store->lack = LACKS_NONE;
}

void postgres_hand_over_ids(struct postgres_store *store)
{
    for (int table = 0; table < STORE_TABLE_COUNT; table++)
        store->ids[table].handed = store->ids[table].used;
}

void postgres_decide_ids(struct postgres_store *store, bool kept)
{
    for (int table = 0; table < STORE_TABLE_COUNT; table++) {
        struct id_block *block = &store->ids[table];
        if (kept && block->handed > block->committed)
            block->committed = block->handed;
        block->handed = 0;
    }
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
