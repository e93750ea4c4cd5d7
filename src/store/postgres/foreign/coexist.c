/* See coexist.h. All of it is one transaction. The lock of batches comes before the tables, as in a
 * batch, so that no batch waits for it with rows in hand. The tables are then locked together, and
 * not for long: a transaction that waited longer would block everybody behind it. If others use
 * them, it is tried again, for a minute. One thread at a time. */
#include "store/postgres/foreign/coexist.h"

#include "base/arena.h"
#include "store/postgres/foreign/foreign_log.h"
#include "store/postgres/foreign/foreign_sql.h"
#include "store/postgres/foreign/foreign_triggers.h"
#include "store/postgres/log/write_texts.h"
#include "store/postgres/schema/migrate.h"
#include "store/postgres/session/figure.h"
#include "store/postgres/session/locks.h"
#include "store/postgres/session/tool_session.h"

struct coexist {
    struct pg_session *session;
    uint64_t deadline_us;
    bool enables;
    bool may_pass; /* the failure was that others use the tables */
    bool has_own;  /* berth's tables are there */
};

static bool lacks_rights(const struct coexist *c)
{
    return strcmp(pg_session_failure(c->session)->sqlstate, "42501") == 0;
}

static bool coexist_run(struct coexist *c, const char *sql, struct err *err)
{
    struct err failed = {.arena = err->arena};
    if (pg_session_run(c->session, sql, "changed", c->deadline_us, &failed) == SERVER_OK)
        return true;
    c->may_pass = tool_session_was_held_up(c->session);
    if (lacks_rights(c))
        return err_set(err, 503, NULL,
                       "this user may not create or remove triggers in the database '%.*s': run "
                       "the command as the owner of its tables (%.*s)",
                       SLICE_ARG(pg_session_target(c->session)), SLICE_ARG(failed.message));
    return err_set_text(err, failed.status, failed.code, failed.message);
}

static bool run_text(struct coexist *c, struct buf *sql, struct err *err)
{
    bool ok = coexist_run(c, sql->data, err);
    buf_free(sql);
    return ok;
}

static bool ask_text(struct coexist *c, const char *sql, struct pg_rows *rows, struct err *err)
{
    const struct pg_statement statement = {.sql = sql, .what = "read"};
    return pg_session_execute(c->session, &statement, rows, c->deadline_us, err) == SERVER_OK;
}

/* (trigger, table) of the triggers that there are. */
static const char TRIGGERS[] =
    "SELECT t.tgname::text, c.relname::text FROM pg_catalog.pg_trigger t"
    " JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid WHERE left(t.tgname, 14) = 'berth_foreign_'"
    " AND t.tgenabled IN ('O', 'A') AND pg_catalog.pg_table_is_visible(c.oid)";

static bool has_trigger(const struct pg_rows *rows, unsigned table, unsigned event)
{
    for (size_t i = 0; i < pg_rows_count(rows); i++)
        if (slice_equal(pg_rows_bytes(rows, i, 0), slice_of(foreign_triggers_name(event))) &&
            slice_equal(pg_rows_bytes(rows, i, 1), slice_of(foreign_triggers_table(table))))
            return true;
    return false;
}

/* ---- both ---- */

static bool hurry(struct coexist *c, struct err *err)
{
    return tool_session_hurry(c->session, c->deadline_us, err) == SERVER_OK;
}

/* Also the lock of batches, which sets a limit for what follows it. */
static bool coexist_begin(struct coexist *c, struct err *err)
{
    return tool_session_begin(c->session, c->deadline_us, err) == SERVER_OK &&
           coexist_run(c, "SELECT pg_advisory_xact_lock(" PG_LOCK_SCHEMA ")", err) &&
           hurry(c, err) && coexist_run(c, PG_TAKE_LOCK, err) && hurry(c, err);
}

static const char OWN[] =
    "SELECT format('%I.%I', n.nspname, c.relname), quote_literal(format('%I.%I', n.nspname,"
    " c.relname)) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n"
    " ON n.oid = c.relnamespace WHERE c.oid = to_regclass('berth_foreign')"
    " AND to_regclass('berth_log') IS NOT NULL";

static bool lock_tables(struct coexist *c, struct err *err)
{
    struct buf sql = {0};
    foreign_triggers_lock(c->enables, &sql);
    return run_text(c, &sql, err);
}

/* ---- enable ---- */

static bool create_missing(struct coexist *c, const struct pg_rows *own,
                           const struct pg_rows *triggers, struct err *err)
{
    bool ok = true;
    for (unsigned table = 0; ok && table < FOREIGN_TABLES; table++) {
        struct buf sql = {0};
        foreign_triggers_function(table, pg_rows_bytes(own, 0, 0), pg_rows_bytes(own, 0, 1), &sql);
        ok = run_text(c, &sql, err);
        for (unsigned event = 0; ok && event < FOREIGN_EVENTS; event++) {
            if (has_trigger(triggers, table, event))
                continue;
            foreign_triggers_drop(table, event, &sql); /* one that is disabled */
            ok = run_text(c, &sql, err);
            if (ok)
                foreign_triggers_create(table, event, &sql);
            ok = ok && run_text(c, &sql, err);
        }
    }
    return ok;
}

static bool enable_locked(struct coexist *c, const struct pg_rows *own, struct err *err)
{
    struct pg_rows triggers = {0};
    char revision[STORE_REVISION_BYTES];
    if (!pg_migrate_check_served(c->session, revision, c->deadline_us, err))
        return false;
    if (!c->has_own)
        return err_set(err, 503, NULL,
                       "the database '%.*s' lacks berth's tables: run \"placement-manage db sync\"",
                       SLICE_ARG(pg_session_target(c->session)));
    bool ok = lock_tables(c, err) && ask_text(c, TRIGGERS, &triggers, err) &&
              create_missing(c, own, &triggers, err) &&
              foreign_log_everything(c->session, c->deadline_us, err) == SERVER_OK;
    pg_rows_free(&triggers);
    return ok;
}

/* ---- disable ---- */

static bool drop_all(struct coexist *c, struct err *err)
{
    bool ok = true;
    for (unsigned table = 0; ok && table < FOREIGN_TABLES; table++) {
        struct buf sql = {0};
        for (unsigned event = 0; ok && event < FOREIGN_EVENTS; event++) {
            foreign_triggers_drop(table, event, &sql);
            ok = run_text(c, &sql, err);
        }
        if (ok)
            foreign_triggers_drop_function(table, &sql);
        ok = ok && run_text(c, &sql, err);
    }
    return ok;
}

/* Also after berth's tables were dropped. */
static bool disable_locked(struct coexist *c, struct err *err)
{
    struct pg_rows triggers = {0};
    bool ok = ask_text(c, TRIGGERS, &triggers, err);
    bool had_any = pg_rows_count(&triggers) > 0;
    pg_rows_free(&triggers);
    ok = ok && (!had_any || lock_tables(c, err)) && drop_all(c, err);
    if (ok && c->has_own)
        ok = coexist_run(c, "DELETE FROM berth_foreign", err) &&
             (!had_any || foreign_log_everything(c->session, c->deadline_us, err) == SERVER_OK);
    return ok;
}

/* ---- attempts ---- */

static bool coexist_change(struct coexist *c, struct err *err)
{
    struct pg_rows own = {0};
    bool ok = coexist_begin(c, err) && ask_text(c, OWN, &own, err);
    c->has_own = ok && pg_rows_count(&own) == 1;
    ok = ok && (c->enables ? enable_locked(c, &own, err) : disable_locked(c, err)) &&
         tool_session_commit(c->session, c->deadline_us, err) == SERVER_OK;
    pg_rows_free(&own);
    return ok;
}

static bool change_with_patience(struct slice connection, bool enables, struct err *err)
{
    struct pg_session *session = tool_session_open(connection, err);
    const uint64_t until_us = tool_session_patience();
    bool ok = false;
    bool again = session != NULL;
    while (again) {
        struct coexist c = {
            .session = session, .deadline_us = tool_session_deadline(), .enables = enables};
        struct err failed = {.arena = err->arena};
        ok = coexist_change(&c, &failed);
        again = !ok && c.may_pass &&
                tool_session_give_way(session, until_us, c.deadline_us, err->arena);
        if (!ok && !again)
            err_set_text(err, failed.status, failed.code, failed.message);
    }
    pg_session_destroy(session);
    return ok;
}

bool pg_coexist_enable(struct slice connection, struct err *err)
{
    return change_with_patience(connection, true, err);
}

bool pg_coexist_disable(struct slice connection, struct err *err)
{
    return change_with_patience(connection, false, err);
}

/* ---- status ---- */

static bool read_status(struct coexist *c, struct coexist_status *status, struct err *err)
{
    struct pg_rows rows = {0};
    *status = (struct coexist_status){.all = FOREIGN_TRIGGERS_ALL};
    bool ok = ask_text(c, "SELECT " FOREIGN_TRIGGERS ", to_regclass('berth_foreign') IS NOT NULL",
                       &rows, err);
    int64_t has_table = 0;
    ok = ok && pg_figure_read(c->session, &rows, 0, 0, &status->triggers, err) == SERVER_OK &&
         pg_figure_read(c->session, &rows, 0, 1, &has_table, err) == SERVER_OK;
    pg_rows_free(&rows);
    if (!ok || has_table == 0)
        return ok;
    return pg_figure_ask(c->session, FOREIGN_WAITING, &status->waiting, c->deadline_us, err) ==
           SERVER_OK;
}

bool pg_coexist_read_status(struct slice connection, struct coexist_status *status, struct err *err)
{
    struct coexist c = {.session = tool_session_open(connection, err),
                        .deadline_us = tool_session_deadline()};
    bool ok = c.session != NULL && read_status(&c, status, err);
    pg_session_destroy(c.session);
    return ok;
}
