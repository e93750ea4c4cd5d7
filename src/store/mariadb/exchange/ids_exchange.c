/* Ids come from the counters of the tables, which do not go back when a transaction is rolled back.
 * Classes have no use for theirs: upstream numbers custom ones from 10000 on.
 *
 * MariaDB gives a row the next id of a series whose distance is a setting: a row with a large
 * distance, rolled back, leaves all ids up to the next one to berth. On Galera, each node has a
 * series of its own, and its counter knows nothing of other nodes' rows that are rolled back; so
 * only ids of that series are taken. A node ignores the setting of a session, but not that of a
 * statement. MySQL protects the setting, and has none for a statement: there, as many rows are
 * inserted as ids are needed.
 *
 * If the number of nodes changes, ids that were reserved may be given to others as well. A batch
 * with such an id is refused, and planned again with other ones.
 *
 * A Galera node ends the transaction when somebody changes the schema of its table meanwhile. */
#include "base/buf.h"
#include "store/mariadb/exchange/exchanges.h"
#include "store/mariadb/foreign/foreign_reopen.h"
#include "store/mariadb/session/session_state.h"
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

static bool uses_distance(const struct mariadb_session *session)
{
    return session->server.is_mariadb;
}

/* How many ids are reserved. */
static size_t room_of(const struct mariadb_session *session, const struct id_range *ids)
{
    size_t nodes = session->server.auto_increment_increment;
    size_t most = DISTANCE_MOST / (nodes > 0 ? nodes : 1);
    return uses_distance(session) && ids->room > most ? most : ids->room;
}

/* The results: BEGIN; INSERT; SELECT; ROLLBACK. */
enum { IDS_RESULT = 2 };

static void append_reservation(const struct mariadb_session *session, enum store_table table,
                               size_t room, struct buf *sql)
{
    bool with_distance = uses_distance(session);
    buf_append_lit(sql, "BEGIN;");
    if (with_distance)
        buf_printf(sql,
                   "SET STATEMENT auto_increment_increment=@@global.auto_increment_increment*%zu"
                   " FOR ",
                   room);
    ids_append_insert(table, with_distance ? 1 : room, sql);
    buf_append_lit(sql, "SELECT LAST_INSERT_ID(), @@global.auto_increment_increment;ROLLBACK");
}

/* MySQL hands the last id out again and again until a row has it, so it is nobody's there. */
static void take_series(const struct mariadb_session *session, const struct mariadb_rows *rows,
                        size_t room, struct id_range *ids)
{
    int64_t most = uses_distance(session) ? ids->most : ids->most - 1;
    int64_t first = 0;
    int64_t distance = 0;
    if (!mariadb_rows_int(rows, 0, 0, &first) || !mariadb_rows_int(rows, 0, 1, &distance))
        return;
    for (size_t i = 0; i < room && first > 0 && distance > 0; i++, first += distance)
        if (first <= most)
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
    append_reservation(session, table, room, &sql);
    const struct mariadb_text text = {.sql = buf_slice(&sql), .what = "asked for ids"};
    enum server_outcome outcome =
        mariadb_session_execute(session, &text, rows, IDS_RESULT + 1, NULL, deadline_us, err);
    if (outcome == SERVER_OK)
        take_series(session, &rows[IDS_RESULT], room, ids);
    for (size_t i = 0; i <= IDS_RESULT; i++)
        mariadb_rows_free(&rows[i]);
    buf_free(&sql);
    return outcome;
}

/* The connection stays: on another one, all ids that were reserved would be distrusted. */
static enum server_outcome leave_reservation(struct mariadb_session *session, uint64_t deadline_us,
                                             struct err *err)
{
    enum server_outcome outcome =
        mariadb_session_run(session, "ROLLBACK", "asked for ids", deadline_us, err);
    if (outcome != SERVER_OK)
        mariadb_session_close(session);
    return outcome;
}

/* Whether others have ended the transaction, and the next one can begin. */
static bool can_try_again(struct mariadb_session *session, enum server_outcome outcome,
                          uint64_t deadline_us)
{
    struct err ignored = {.arena = session->arena};
    if (!mariadb_session_tries_again(session, outcome, deadline_us))
        return false;
    if (session->failure.is_broken_table && !mariadb_foreign_mend(session, deadline_us))
        return false;
    return leave_reservation(session, deadline_us, &ignored) == SERVER_OK;
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
    struct err failed;
    enum server_outcome outcome;
    ids->count = 0;
    if (table == STORE_CLASSES)
        return take_classes(session, ids, deadline_us, err);
    do {
        failed = (struct err){.arena = err->arena};
        outcome = reserve(session, table, ids, deadline_us, &failed);
    } while (can_try_again(session, outcome, deadline_us));
    if (outcome == SERVER_OK)
        return SERVER_OK;
    if (is_at_end(&session->failure))
        return leave_reservation(session, deadline_us, err);
    /* The transaction ends with the connection. */
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
    const struct reserved_row row = row_of(table);
    struct buf sql = {0};
    if (table < STORE_NODES)
        buf_printf(&sql, "BEGIN;INSERT IGNORE INTO %s (id, %s) VALUES (%lld, %s);ROLLBACK",
                   id_table_name(table), row.columns, (long long)floor, row.values);
    else
        buf_printf(&sql, "BEGIN;INSERT IGNORE INTO %s (id) VALUES (%lld);ROLLBACK",
                   id_table_name(table), (long long)floor);
    const struct mariadb_text text = {.sql = buf_slice(&sql), .what = "asked for ids"};
    struct err failed;
    enum server_outcome outcome;
    do {
        failed = (struct err){.arena = err->arena};
        outcome = mariadb_session_execute(session, &text, NULL, 0, NULL, deadline_us, &failed);
    } while (can_try_again(session, outcome, deadline_us));
    if (outcome != SERVER_OK) {
        mariadb_session_close(session);
        (void)!err_set_text(err, failed.status, failed.code, failed.message);
    }
    buf_free(&sql);
    return outcome;
}
