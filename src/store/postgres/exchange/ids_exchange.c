/* Ids come from the database's own sequences. Classes have no use for theirs: upstream numbers
 * custom ones from 10000 on.
 *
 * A statement that asks a sequence for more than it has left fails, and what it has taken by then
 * is lost. So near the end it asks for a part of what is left, and in the end for single ids: then
 * each id is used, also if several instances ask at the same time.
 *
 * nextval() is as durable as a commit, and waits for a standby like one. With synchronous_commit =
 * off it would not wait, but a crash of the server could then give the ids of a block in use to
 * others; and there is one such wait for thousands of ids. */
#include "base/buf.h"
#include "store/postgres/exchange/exchanges.h"
#include "store/postgres/session/session_state.h"
#include "store/server/id_tables.h"

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

static void take_ids(const struct pg_rows *rows, struct id_range *ids)
{
    for (size_t i = 0; i < pg_rows_count(rows) && ids->count < ids->room; i++) {
        int64_t id;
        if (pg_rows_int(rows, i, 0, &id) && id > 0 && id <= ids->most)
            ids->at[ids->count++] = id;
    }
}

enum server_outcome pg_ids_reserve(struct server_session *base, enum store_table table,
                                   struct id_range *ids, uint64_t deadline_us, struct err *err)
{
    struct pg_session *session = pg_session_of(base);
    const struct pg_parameter parameters[] = {pg_int8((int64_t)ids->room),
                                              pg_text(slice_of(id_table_name(table))),
                                              pg_int8(ids->most), pg_int8(ids->floor)};
    const struct pg_statement statement = {
        .sql = table == STORE_CLASSES ? FROM_CLASSES : FROM_SEQUENCE,
        .parameters = parameters,
        .parameters_n = table == STORE_CLASSES ? 4 : 3,
        .binary_results = true,
        .is_prepared = true,
        .what = "asked for ids",
    };
    struct pg_rows rows = {0};
    struct err failed = {.arena = err->arena};
    enum server_outcome outcome =
        pg_session_execute(session, &statement, &rows, deadline_us, &failed);
    ids->count = 0;
    take_ids(&rows, ids);
    pg_rows_free(&rows);
    if (outcome == SERVER_OK || strcmp(pg_session_failure(session)->sqlstate, SEQUENCE_AT_END) == 0)
        return SERVER_OK;
    (void)!err_set_text(err, failed.status, failed.code, failed.message);
    return outcome;
}

enum server_outcome pg_ids_mend(struct server_session *base, enum store_table of, int64_t floor,
                                uint64_t deadline_us, struct err *err)
{
    struct pg_session *session = pg_session_of(base);
    const char *table = id_table_name(of);
    struct buf sql = {0};
    buf_printf(&sql,
               "SELECT setval(x.s, x.m) FROM (SELECT pg_get_serial_sequence('%s', 'id')::regclass"
               " AS s, (SELECT greatest(max(id), %lld) FROM %s) AS m) x"
               " WHERE x.m > coalesce(pg_sequence_last_value(x.s), 0)%c",
               table, (long long)floor, table, '\0');
    enum server_outcome outcome =
        pg_session_run(session, sql.data, "asked for ids", deadline_us, err);
    buf_free(&sql);
    return outcome;
}
