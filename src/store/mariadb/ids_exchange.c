/* Ids come from the counters of the tables, which do not go back when a transaction is rolled back.
 * Classes have no use for theirs: upstream numbers custom ones from 10000 on.
 *
 * MariaDB gives a row the next id of a series whose distance is a setting of the session: a row
 * with a large distance, rolled back, leaves all ids up to the next one to berth. MySQL protects
 * the setting: there, as many rows are inserted as ids are needed.
 *
 * Galera has settings of its own, to which each statement sets those of the session: each node has
 * a series, whose distance is the number of nodes, and its counter knows nothing of other nodes'
 * rows that are rolled back; so only ids of that series are taken. A row with the last id of the
 * block moves the counter behind it. What takes an id between that row and the one before, which
 * finds out the first id, takes one of the block; instances exclude each other by a lock of the
 * node. (As many rows as ids would take 50 us each.) The session does not commit by itself
 * meanwhile: if the cluster ends the transaction, the next statement would otherwise be one of its
 * own.
 *
 * Ids that were reserved may be given to other programs as well, and if the number of nodes changes
 * to anybody. A batch with such an id is refused, and planned again with other ones. */
#include <stdio.h>

#include "base/buf.h"
#include "store/mariadb/exchanges.h"
#include "store/mariadb/own_tables.h"
#include "store/mariadb/session_internal.h"
#include "store/mariadb/write_texts.h"
#include "store/server/id_tables.h"

enum { DISTANCE_MOST = 65535 };

/* What a row that is never committed has in its other columns. A text must be unique. */
static const struct reserved_row {
    const char *columns;
    const char *values;
} rows_of_tables[] = {
    [STORE_TRAITS] = {"name", "UUID()"},
    [STORE_AGGREGATES] = {"uuid", "UUID()"},
    [STORE_PROJECTS] = {"external_id", "UUID()"},
    [STORE_USERS] = {"external_id", "UUID()"},
    [STORE_CONSUMER_TYPES] = {"name", "UUID()"},
    [STORE_PROVIDERS] = {"uuid", "UUID()"},
    [STORE_CONSUMERS] = {"uuid, project_id, user_id", "UUID(), 0, 0"},
    [STORE_ALLOCATIONS] = {"resource_provider_id, consumer_id, resource_class_id, used",
                           "0, '', 0, 0"},
};

/* berth's own tables have no columns that must have a value. */
static struct reserved_row row_of(enum store_table table)
{
    static const struct reserved_row own = {"id", "NULL"};
    return table < STORE_NODES ? rows_of_tables[table] : own;
}

static void ids_append_insert(enum store_table table, size_t count, struct buf *sql)
{
    const struct reserved_row row = row_of(table);
    buf_printf(sql, "INSERT INTO %s (%s) VALUES ", id_table_name(table), row.columns);
    for (size_t i = 0; i < count; i++)
        buf_printf(sql, "%s(%s)", i == 0 ? "" : ", ", row.values);
    buf_append_char(sql, ';');
}

/* How ids are reserved. */
enum way { WAY_DISTANCE, WAY_ROWS, WAY_LAST };

static enum way way_of(const struct mariadb_session *session)
{
    return session->server.is_galera    ? WAY_LAST
           : session->server.is_mariadb ? WAY_DISTANCE
                                        : WAY_ROWS;
}

/* How many ids are reserved. */
static size_t room_of(const struct mariadb_session *session, const struct id_range *ids)
{
    size_t nodes = session->server.auto_increment_increment;
    size_t most = DISTANCE_MOST / (nodes > 0 ? nodes : 1);
    return way_of(session) == WAY_DISTANCE && ids->room > most ? most : ids->room;
}

/* The results of each way: two; INSERT; SELECT; and others. */
enum { IDS_RESULT = 3 };

#define SELECT_IDS "SELECT LAST_INSERT_ID(), @@global.auto_increment_increment;"

static void append_with_distance(enum store_table table, size_t room, struct buf *sql)
{
    buf_printf(sql, "BEGIN;SET auto_increment_increment=@@global.auto_increment_increment*%zu;",
               room);
    ids_append_insert(table, 1, sql);
    buf_append_lit(sql, SELECT_IDS "ROLLBACK;SET auto_increment_increment=DEFAULT");
}

static void append_with_rows(enum store_table table, size_t room, struct buf *sql)
{
    buf_append_lit(sql, "BEGIN;DO 0;");
    ids_append_insert(table, room, sql);
    buf_append_lit(sql, SELECT_IDS "ROLLBACK");
}

/* A row with that id. */
static void append_row(const char *verb, enum store_table table, const char *id, struct buf *sql)
{
    const struct reserved_row row = row_of(table);
    if (table < STORE_NODES)
        buf_printf(sql, "%s INTO %s (id, %s) VALUES (%s, %s);", verb, id_table_name(table),
                   row.columns, id, row.values);
    else
        buf_printf(sql, "%s INTO %s (id) VALUES (%s);", verb, id_table_name(table), id);
}

static void append_with_last(enum store_table table, size_t room, int64_t most, struct buf *sql)
{
    char last[128];
    snprintf(last, sizeof(last),
             "LEAST(LAST_INSERT_ID()+@@global.auto_increment_increment*%zu, %lld)", room - 1,
             (long long)most);
    buf_append_lit(sql, "SET autocommit=0;SELECT name FROM " MARIADB_LOCKS_TABLE
                        " WHERE name='" MARIADB_LOCK_IDS "' FOR UPDATE;");
    ids_append_insert(table, 1, sql);
    buf_append_lit(sql, SELECT_IDS);
    if (room > 1)
        append_row("INSERT", table, last, sql);
    buf_append_lit(sql, "ROLLBACK;SET autocommit=1");
}

static void append_reservation(enum way way, enum store_table table, size_t room, int64_t most,
                               struct buf *sql)
{
    if (way == WAY_DISTANCE)
        append_with_distance(table, room, sql);
    else if (way == WAY_ROWS)
        append_with_rows(table, room, sql);
    else
        append_with_last(table, room, most, sql);
}

static void take_series(const struct mariadb_rows *rows, size_t room, struct id_range *ids)
{
    int64_t first = 0;
    int64_t distance = 0;
    if (!mariadb_rows_int(rows, 0, 0, &first) || !mariadb_rows_int(rows, 0, 1, &distance))
        return;
    for (size_t i = 0; i < room && first > 0 && distance > 0; i++, first += distance)
        if (first <= ids->most)
            ids->at[ids->count++] = first;
}

/* 1467: the counter cannot give out another one. 167 is what InnoDB says with it. */
static bool is_at_end(const struct mariadb_failure *failure)
{
    return failure->code == 1467 || failure->code == 167 ||
           (failure->code == 1062 && slice_equal(slice_of(failure->key), SLICE_LIT("PRIMARY")));
}

static enum server_outcome reserve(struct mariadb_session *session, enum store_table table,
                                   struct id_range *ids, uint64_t deadline_us, struct err *err)
{
    struct mariadb_rows rows[IDS_RESULT + 1] = {0};
    struct buf sql = {0};
    size_t room = room_of(session, ids);
    append_reservation(way_of(session), table, room, ids->most, &sql);
    const struct mariadb_text text = {.sql = buf_slice(&sql), .what = "asked for ids"};
    enum server_outcome outcome =
        mariadb_session_execute(session, &text, rows, IDS_RESULT + 1, NULL, deadline_us, err);
    if (outcome == SERVER_OK)
        take_series(&rows[IDS_RESULT], room, ids);
    for (size_t i = 0; i <= IDS_RESULT; i++)
        mariadb_rows_free(&rows[i]);
    buf_free(&sql);
    return outcome;
}

/* The connection stays: on another one, all ids that were reserved would be distrusted. */
static enum server_outcome leave_reservation(struct mariadb_session *session, uint64_t deadline_us,
                                             struct err *err)
{
    enum server_outcome outcome = mariadb_session_run(
        session,
        way_of(session) == WAY_DISTANCE ? "ROLLBACK;SET auto_increment_increment=DEFAULT"
                                        : MARIADB_ROLLBACK,
        "asked for ids", deadline_us, err);
    if (outcome != SERVER_OK)
        mariadb_session_close(session);
    return outcome;
}

static enum server_outcome take_classes(struct mariadb_session *session, struct id_range *ids,
                                        uint64_t deadline_us, struct err *err)
{
    const struct mariadb_text text = {
        .sql = SLICE_LIT("SELECT GREATEST(COALESCE(MAX(id), 0), 9999) FROM resource_classes"),
        .what = "asked for ids"};
    struct mariadb_rows rows = {0};
    int64_t last = 0;
    enum server_outcome outcome =
        mariadb_session_execute(session, &text, &rows, 1, NULL, deadline_us, err);
    if (outcome == SERVER_OK && !mariadb_rows_int(&rows, 0, 0, &last))
        last = ids->most;
    last = last > ids->floor ? last : ids->floor;
    for (size_t i = 0; outcome == SERVER_OK && i < ids->room && last < ids->most; i++)
        ids->at[ids->count++] = ++last;
    mariadb_rows_free(&rows);
    return outcome;
}

enum server_outcome mariadb_ids_reserve(struct server_session *base, enum store_table table,
                                        struct id_range *ids, uint64_t deadline_us, struct err *err)
{
    struct mariadb_session *session = mariadb_session_of(base);
    ids->count = 0;
    if (table == STORE_CLASSES)
        return take_classes(session, ids, deadline_us, err);
    struct err failed = {.arena = err->arena};
    enum server_outcome outcome = reserve(session, table, ids, deadline_us, &failed);
    if (outcome == SERVER_OK)
        return SERVER_OK;
    if (is_at_end(&session->failure))
        return leave_reservation(session, deadline_us, err);
    /* The transaction, and the session's settings, end with the connection. */
    mariadb_session_close(session);
    (void)!err_set_text(err, failed.status, failed.code, failed.message);
    return outcome;
}

/* A counter is never behind the ids in its table. Only memory may have had higher ones, of a
 * database that went back: a row with that id, rolled back, moves the counter behind it. */
enum server_outcome mariadb_ids_mend(struct server_session *base, enum store_table table,
                                     int64_t floor, uint64_t deadline_us, struct err *err)
{
    struct mariadb_session *session = mariadb_session_of(base);
    if (floor == 0 || table == STORE_CLASSES)
        return SERVER_OK;
    struct buf sql = {0};
    buf_append_lit(&sql, "BEGIN;");
    append_row("INSERT IGNORE", table, arena_printf(err->arena, "%lld", (long long)floor).data,
               &sql);
    buf_append_lit(&sql, "ROLLBACK");
    const struct mariadb_text text = {.sql = buf_slice(&sql), .what = "asked for ids"};
    enum server_outcome outcome =
        mariadb_session_execute(session, &text, NULL, 0, NULL, deadline_us, err);
    if (outcome != SERVER_OK)
        mariadb_session_close(session);
    buf_free(&sql);
    return outcome;
}
