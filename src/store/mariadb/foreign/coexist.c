/* See coexist.h. Each trigger is created or dropped by a statement that is committed by itself, and
 * waits until no transaction uses its table, while later users of the table wait behind it. So it
 * waits for a second at most, and is tried again, for a minute. On a Galera cluster the server ends
 * such transactions instead. There, MariaDB 10.11 now and then answers CREATE TRIGGER beside writes
 * with a syntax error (1064), of this trigger's body or of another one's, and the same statement
 * succeeds when it is sent again. A table that was left with such an error is opened again in the
 * end, for other programs (foreign_reopen.h); on other nodes, berthd does so when it finds one.
 *
 * The row 'coexist' of berth_locks says that all triggers are there and that everybody has been
 * told: it is deleted before the first change, and written together with the row of the log because
 * of which everybody compares all rows. One thread at a time. */
#include "store/mariadb/foreign/coexist.h"

#include "base/clock.h"
#include "base/wait.h"
#include "store/mariadb/foreign/foreign_log.h"
#include "store/mariadb/foreign/foreign_reopen.h"
#include "store/mariadb/foreign/foreign_sql.h"
#include "store/mariadb/foreign/foreign_triggers.h"
#include "store/mariadb/log/locks.h"
#include "store/mariadb/session/session_state.h"
#include "store/mariadb/session/tool_session.h"

enum { ATTEMPTS_FOR_S = 60, AGAIN_US = 300000 };

/* Errors of the server. */
enum {
    NO_SUPER = 1227,
    NO_TRUST = 1419,
    NO_RIGHT = 1142,
    NO_DATABASE_RIGHT = 1044,
    IS_THERE = 1359,
    IS_NOT_THERE = 1360,
    TOO_LONG = 1205,
    DEADLOCK = 1213,
    DUPLICATE = 1062,
    SYNTAX = 1064,
};

struct coexist {
    struct mariadb_session *session;
    struct mariadb_rows triggers; /* name, table, event of those that there are */
    bool has_own;                 /* berth's tables are there */
    bool has_upstream;
    bool is_complete; /* the row 'coexist' is there */
};

static unsigned code_of(const struct coexist *c)
{
    return mariadb_session_failure(c->session)->code;
}

/* ---- failures ---- */

static bool explain(const struct coexist *c, const struct err *failed, struct err *err)
{
    struct slice target = c->session->base.target;
    switch (code_of(c)) {
    case NO_TRUST:
        return err_set(err, 503, NULL,
                       "the server of the database '%.*s' writes a binary log, and lets only users "
                       "with SUPER create or remove triggers: run SET GLOBAL "
                       "log_bin_trust_function_creators = 1 on each server for this command",
                       SLICE_ARG(target));
    case NO_RIGHT:
    case NO_DATABASE_RIGHT:
    case NO_SUPER:
        return err_set(err, 503, NULL,
                       "this user may not create or remove triggers in the database '%.*s': grant "
                       "TRIGGER on it (%.*s)",
                       SLICE_ARG(target), SLICE_ARG(failed->message));
    default:
        return err_set_text(err, failed->status, failed->code, failed->message);
    }
}

static bool may_pass(const struct coexist *c)
{
    unsigned code = code_of(c);
    const bool is_galera = mariadb_session_server(c->session)->is_galera;
    return code == TOO_LONG || code == DEADLOCK || code == DUPLICATE ||
           (code == SYNTAX && is_galera);
}

/* ---- statements ---- */

typedef enum server_outcome coexist_step(struct coexist *c, const char *sql, struct err *err);

static enum server_outcome run_statement(struct coexist *c, const char *sql, struct err *err)
{
    return mariadb_session_run(c->session, sql, "changed", mariadb_tool_deadline(), err);
}

static enum server_outcome tell_everybody(struct coexist *c, const char *also, struct err *err)
{
    return mariadb_foreign_log_everything(c->session, also, mariadb_tool_deadline(), err);
}

static bool roll_back(struct coexist *c)
{
    struct err ignored = {.arena = c->session->arena};
    return mariadb_session_is_open(c->session) &&
           mariadb_session_rollback(c->session, "changed", mariadb_tool_deadline(), &ignored) ==
               SERVER_OK;
}

/* Again while others use the tables. `done`: the error that says that nothing is left to do. */
static bool with_patience(struct coexist *c, coexist_step *step, const char *sql, unsigned done,
                          struct err *err)
{
    const uint64_t until_us = clock_monotonic_us() + ATTEMPTS_FOR_S * UINT64_C(1000000);
    for (;;) {
        struct err failed = {.arena = err->arena};
        if (step(c, sql, &failed) == SERVER_OK || (done != 0 && code_of(c) == done))
            return true;
        const bool again = may_pass(c) && clock_monotonic_us() < until_us;
        if (!again || !roll_back(c))
            return explain(c, &failed, err);
        wait_sleep_us(AGAIN_US);
    }
}

static bool ask(struct coexist *c, const char *sql, struct mariadb_rows *rows, struct err *err)
{
    const struct mariadb_text text = {.sql = slice_of(sql), .what = "read"};
    return mariadb_session_execute(c->session, &text, rows, 1, NULL, mariadb_tool_deadline(),
                                   err) == SERVER_OK;
}

/* ---- what there is ---- */

/* How many of upstream's tables there are, and of berth's. */
static void append_tables(struct buf *sql)
{
    buf_append_lit(sql, "SELECT COALESCE(SUM(TABLE_NAME IN (''");
    for (unsigned i = 0; i < MARIADB_FOREIGN_TRIGGERS; i += MARIADB_FOREIGN_EVENTS)
        buf_printf(sql, ",'%s'", mariadb_foreign_trigger_table(i));
    buf_printf(sql,
               ")), 0), COALESCE(SUM(TABLE_NAME IN ('berth_foreign', '" MARIADB_LOCKS_TABLE
               "', 'berth_log')),"
               " 0) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()%c",
               '\0');
}

static bool read_tables(struct coexist *c, struct err *err)
{
    struct mariadb_rows rows = {0};
    struct buf sql = {0};
    int64_t upstream = 0, own = 0;
    append_tables(&sql);
    bool ok = ask(c, sql.data, &rows, err);
    bool is_read = mariadb_rows_int(&rows, 0, 0, &upstream) && mariadb_rows_int(&rows, 0, 1, &own);
    c->has_upstream = is_read && upstream == MARIADB_FOREIGN_TABLES;
    c->has_own = is_read && own == 3;
    buf_free(&sql);
    mariadb_rows_free(&rows);
    return ok;
}

static bool read_complete(struct coexist *c, struct err *err)
{
    struct mariadb_rows rows = {0};
    int64_t is_complete = 0;
    bool ok = !c->has_own || ask(c, "SELECT " MARIADB_FOREIGN_IS_COMPLETE, &rows, err);
    c->is_complete = mariadb_rows_int(&rows, 0, 0, &is_complete) && is_complete == 1;
    mariadb_rows_free(&rows);
    return ok;
}

static bool read_state(struct coexist *c, struct err *err)
{
    mariadb_rows_free(&c->triggers);
    return read_tables(c, err) && read_complete(c, err) &&
           ask(c,
               "SELECT TRIGGER_NAME, EVENT_OBJECT_TABLE, EVENT_MANIPULATION FROM"
               " information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = DATABASE()"
               " AND ACTION_TIMING = 'AFTER' AND LEFT(TRIGGER_NAME, 14) = 'berth_foreign_'",
               &c->triggers, err);
}

static bool has_trigger(const struct coexist *c, unsigned trigger)
{
    bool found = false;
    struct buf name = {0};
    mariadb_foreign_trigger_name(trigger, &name);
    for (size_t i = 0; i < mariadb_rows_count(&c->triggers) && !found; i++)
        found = slice_equal(mariadb_rows_bytes(&c->triggers, i, 0), slice_of(name.data)) &&
                slice_equal(mariadb_rows_bytes(&c->triggers, i, 1),
                            slice_of(mariadb_foreign_trigger_table(trigger))) &&
                slice_equal(mariadb_rows_bytes(&c->triggers, i, 2),
                            slice_of(mariadb_foreign_trigger_event(trigger)));
    buf_free(&name);
    return found;
}

static unsigned count_triggers(const struct coexist *c)
{
    unsigned count = 0;
    for (unsigned i = 0; i < MARIADB_FOREIGN_TRIGGERS; i++)
        count += has_trigger(c, i);
    return count;
}

/* ---- enable ---- */

static const char INCOMPLETE[] =
    "DELETE FROM " MARIADB_LOCKS_TABLE " WHERE name = '" MARIADB_LOCK_COEXIST "'";
static const char COMPLETE[] =
    "INSERT INTO " MARIADB_LOCKS_TABLE " (name) VALUES ('" MARIADB_LOCK_COEXIST
    "') ON DUPLICATE KEY UPDATE name = '" MARIADB_LOCK_COEXIST "'";

static bool create_missing(struct coexist *c, struct err *err)
{
    bool ok = true;
    for (unsigned i = 0; ok && i < MARIADB_FOREIGN_TRIGGERS; i++) {
        struct buf sql = {0};
        if (has_trigger(c, i))
            continue;
        mariadb_foreign_trigger_create(i, &sql);
        ok = with_patience(c, run_statement, sql.data, IS_THERE, err);
        buf_free(&sql);
    }
    return ok;
}

/* For other programs. A table that is in use all the time stays as it is. */
static bool reopen_all(struct coexist *c, struct err *err)
{
    bool ok = true;
    for (unsigned i = 0; ok && i < MARIADB_FOREIGN_TRIGGERS; i += MARIADB_FOREIGN_EVENTS) {
        struct err failed = {.arena = err->arena};
        ok = mariadb_foreign_reopen(c->session, mariadb_foreign_trigger_table(i),
                                    mariadb_tool_deadline(), &failed) == SERVER_OK ||
             mariadb_session_is_open(c->session) ||
             err_set_text(err, failed.status, failed.code, failed.message);
    }
    return ok;
}

/* Another user's triggers, which this one may not see, would pass for missing. */
static bool check_created(struct coexist *c, struct err *err)
{
    if (!read_state(c, err))
        return false;
    unsigned count = count_triggers(c);
    return count == MARIADB_FOREIGN_TRIGGERS ||
           err_set(err, 503, NULL,
                   "%u triggers of berth in the database '%.*s' are missing, or belong to other "
                   "tables: remove them with \"placement-manage db coexist disable\"",
                   MARIADB_FOREIGN_TRIGGERS - count, SLICE_ARG(c->session->base.target));
}

static bool coexist_enable_open(struct coexist *c, struct err *err)
{
    struct slice target = c->session->base.target;
    if (!read_state(c, err))
        return false;
    if (!c->has_upstream || !c->has_own)
        return err_set(err, 503, NULL,
                       "the database '%.*s' lacks %s tables: run \"placement-manage db sync\"",
                       SLICE_ARG(target), c->has_upstream ? "berth's" : "the Placement service's");
    return with_patience(c, run_statement, INCOMPLETE, 0, err) && create_missing(c, err) &&
           check_created(c, err) &&
           (!mariadb_session_server(c->session)->is_galera || reopen_all(c, err)) &&
           with_patience(c, tell_everybody, COMPLETE, 0, err);
}

/* ---- disable ---- */

static bool drop_all(struct coexist *c, struct err *err)
{
    bool ok = true;
    for (unsigned i = 0; ok && i < MARIADB_FOREIGN_TRIGGERS; i++) {
        struct buf sql = {0};
        mariadb_foreign_trigger_drop(i, &sql);
        ok = with_patience(c, run_statement, sql.data, IS_NOT_THERE, err);
        buf_free(&sql);
    }
    return ok;
}

/* Also after berth's tables were dropped. */
static bool coexist_disable_open(struct coexist *c, struct err *err)
{
    if (!read_state(c, err))
        return false;
    bool had_any = mariadb_rows_count(&c->triggers) > 0 || c->is_complete;
    if (c->has_own && !with_patience(c, run_statement, INCOMPLETE, 0, err))
        return false;
    if (had_any && !drop_all(c, err))
        return false;
    if (!c->has_own)
        return true;
    /* Notes that nobody has read are told by the row of the log. */
    return had_any ? with_patience(c, tell_everybody, "DELETE FROM berth_foreign", 0, err)
                   : with_patience(c, run_statement, "DELETE FROM berth_foreign", 0, err);
}

/* ---- status ---- */

/* As long as not everybody was told, one of them counts as missing. */
static bool read_counts(struct coexist *c, struct coexist_status *status, struct err *err)
{
    struct mariadb_rows rows = {0};
    if (!read_state(c, err))
        return false;
    *status =
        (struct coexist_status){.triggers = count_triggers(c), .all = MARIADB_FOREIGN_TRIGGERS};
    if (status->triggers == status->all && !c->is_complete)
        status->triggers--;
    if (!c->has_own)
        return true;
    bool ok = ask(c, "SELECT " MARIADB_FOREIGN_WAITING, &rows, err);
    if (!mariadb_rows_int(&rows, 0, 0, &status->waiting))
        status->waiting = 0;
    mariadb_rows_free(&rows);
    return ok;
}

/* ---- sessions ---- */

static bool coexist_open(struct coexist *c, struct slice connection, struct err *err)
{
    *c = (struct coexist){.session = mariadb_tool_open(connection, err)};
    return c->session != NULL &&
           run_statement(c, "SET lock_wait_timeout = 1, innodb_lock_wait_timeout = 1", err) ==
               SERVER_OK;
}

static void coexist_close(struct coexist *c)
{
    mariadb_rows_free(&c->triggers);
    mariadb_session_destroy(c->session);
}

bool mariadb_coexist_enable(struct slice connection, struct err *err)
{
    struct coexist c;
    bool ok = coexist_open(&c, connection, err) && coexist_enable_open(&c, err);
    coexist_close(&c);
    return ok;
}

bool mariadb_coexist_disable(struct slice connection, struct err *err)
{
    struct coexist c;
    bool ok = coexist_open(&c, connection, err) && coexist_disable_open(&c, err);
    coexist_close(&c);
    return ok;
}

bool mariadb_coexist_read_status(struct slice connection, struct coexist_status *status,
                                 struct err *err)
{
    struct coexist c;
    bool ok = coexist_open(&c, connection, err) && read_counts(&c, status, err);
    coexist_close(&c);
    return ok;
}
