/* Upstream's migrations (store/migration.h), berth's own tables and the standard names on
 * PostgreSQL.
 *
 * DDL is transactional there, so that every path is one transaction. The advisory lock comes first:
 * what is then read is what the holder before has committed. The Python service's tool takes no
 * such lock; if both create or upgrade the schema at once, the server refuses one of them, and an
 * instance that starts then looks again.
 *
 * A change of the schema locks one table after the other, and services that use them in another
 * order would deadlock with it. So it does not wait long for a lock, and if others have it, the
 * whole transaction is repeated, for a minute. One thread at a time. */
#include "store/postgres/schema/migrate.h"

#include <stdio.h>

#include "base/arena.h"
#include "store/migration.h"
#include "store/postgres/schema/own_tables.h"
#include "store/postgres/schema/standard_names.h"
#include "store/postgres/schema/upstream_schema.h"
#include "store/postgres/session/figure.h"
#include "store/postgres/session/locks.h"
#include "store/postgres/session/tool_session.h"

enum { ATTEMPTS_MOST = 3 };

struct pg_migration {
    struct migration steps;
    struct pg_session *session;
    uint64_t deadline_us;
    uint64_t patient_until_us;   /* until then, what others hold up is repeated */
    enum server_outcome outcome; /* of the last failure; SERVER_OK: there was none on the server */
    bool is_held_up;             /* it was because of a lock that others had */
};

static bool keep_outcome(struct pg_migration *m, enum server_outcome outcome)
{
    m->outcome = outcome;
    m->is_held_up = outcome != SERVER_OK && tool_session_was_held_up(m->session);
    return outcome == SERVER_OK;
}

static bool pg_migrate_execute(void *cls, const char *sql, struct err *err)
{
    struct pg_migration *m = cls;
    return keep_outcome(m, pg_session_run(m->session, sql, "changed", m->deadline_us, err));
}

static bool pg_migrate_query(struct pg_migration *m, const char *sql, struct pg_rows *rows,
                             struct err *err)
{
    struct pg_statement statement = {.sql = sql, .what = "read"};
    return keep_outcome(m, pg_session_execute(m->session, &statement, rows, m->deadline_us, err));
}

static bool pg_migrate_query_int(void *cls, const char *sql, int64_t *value, struct err *err)
{
    struct pg_migration *m = cls;
    struct pg_rows rows = {0};
    bool ok = pg_migrate_query(m, sql, &rows, err) &&
              (pg_rows_count(&rows) == 0 ||
               keep_outcome(m, pg_figure_read(m->session, &rows, 0, 0, value, err)));
    pg_rows_free(&rows);
    return ok;
}

static bool pg_migrate_query_text(void *cls, const char *sql,
                                  char text[static STORE_REVISION_BYTES], int64_t *rows_n,
                                  struct err *err)
{
    struct pg_rows rows = {0};
    if (!pg_migrate_query(cls, sql, &rows, err))
        return false;
    *rows_n = (int64_t)pg_rows_count(&rows);
    if (*rows_n > 0)
        snprintf(text, STORE_REVISION_BYTES, "%.*s", SLICE_ARG(pg_rows_bytes(&rows, 0, 0)));
    pg_rows_free(&rows);
    return true;
}

static void pg_migration_init(struct pg_migration *m, struct pg_session *session,
                              uint64_t deadline_us)
{
    const uint64_t patient_until_us = tool_session_patience();
    *m = (struct pg_migration){
        .steps = {.database = pg_session_target(session),
                  .texts = &pg_migration_texts,
                  .execute = pg_migrate_execute,
                  .query_int = pg_migrate_query_int,
                  .query_text = pg_migrate_query_text,
                  .cls = m},
        .session = session,
        .deadline_us = deadline_us,
        .patient_until_us = patient_until_us < deadline_us ? patient_until_us : deadline_us,
    };
}

bool pg_migrate_check_served(struct pg_session *session, char revision[static 33],
                             uint64_t deadline_us, struct err *err)
{
    struct pg_migration m;
    pg_migration_init(&m, session, deadline_us);
    return migration_check_served(&m.steps, revision, err);
}

/* ---- transactions ---- */

static bool begin_locked(struct pg_migration *m, struct err *err)
{
    return keep_outcome(m, tool_session_begin(m->session, m->deadline_us, err)) &&
           pg_migrate_execute(m, "SELECT pg_advisory_xact_lock(" PG_LOCK_SCHEMA ")", err);
}

/* To change upstream's tables, too. */
static bool begin_change(struct pg_migration *m, struct err *err)
{
    return begin_locked(m, err) &&
           keep_outcome(m, tool_session_hurry(m->session, m->deadline_us, err));
}

static bool commit(struct pg_migration *m, struct err *err)
{
    return keep_outcome(m, tool_session_commit(m->session, m->deadline_us, err));
}

/* After a failure: whether to repeat the transaction now. */
static bool give_way(const struct pg_migration *m, struct arena *arena)
{
    return m->is_held_up &&
           tool_session_give_way(m->session, m->patient_until_us, m->deadline_us, arena);
}

/* ---- berth's own tables ---- */

static bool refuse_for_rights(struct pg_migration *m, struct slice reason, struct err *err)
{
    return err_set(err, 503, NULL,
                   "the database '%.*s' lacks tables or columns of berth that this user may not "
                   "create: run \"placement-manage db sync\" as the owner of the tables, or let "
                   "this user create them (%.*s)",
                   SLICE_ARG(m->steps.database), SLICE_ARG(reason));
}

static bool create_own_tables(struct pg_migration *m, const struct own_statements *statements,
                              struct err *err)
{
    static const char INSUFFICIENT_PRIVILEGE[] = "42501";
    for (size_t i = 0; i < statements->count; i++) {
        struct err failed = {.arena = err->arena};
        if (pg_migrate_execute(m, statements->sql[i], &failed))
            continue;
        if (strcmp(pg_session_failure(m->session)->sqlstate, INSUFFICIENT_PRIVILEGE) == 0)
            return refuse_for_rights(m, failed.message, err);
        return err_set_text(err, failed.status, failed.code, failed.message);
    }
    return true;
}

static bool make_own_tables(struct pg_migration *m, struct err *err)
{
    struct arena *arena = arena_create();
    struct own_statements statements = {0};
    bool ok =
        keep_outcome(m, own_tables_compare(m->session, arena, &statements, m->deadline_us, err)) &&
        create_own_tables(m, &statements, err);
    arena_destroy(arena);
    return ok;
}

/* ---- at the start of an instance ---- */

/* Without the lock: another process may just be making what is missing. */
static bool lacks_nothing(struct pg_migration *m, bool sync, bool *answer, struct err *err)
{
    char revision[STORE_REVISION_BYTES];
    struct own_statements statements = {0};
    int64_t names = 0;
    *answer = false;
    if (sync ? !migration_read_revision(&m->steps, revision, err)
             : !migration_check_served(&m->steps, revision, err))
        return false;
    if (sync && strcmp(revision, schema_revision_ids[SCHEMA_NEWEST]) != 0)
        return true;
    struct arena *arena = arena_create();
    bool ok =
        keep_outcome(m, own_tables_compare(m->session, arena, &statements, m->deadline_us, err)) &&
        keep_outcome(m, standard_names_count_missing(m->session, &names, m->deadline_us, err));
    *answer = statements.count == 0 && names == 0;
    arena_destroy(arena);
    return ok;
}

static bool make_everything(struct pg_migration *m, bool sync, struct err *err)
{
    char revision[STORE_REVISION_BYTES];
    return (sync ? begin_change(m, err) : begin_locked(m, err)) &&
           (sync ? migration_sync(&m->steps, err)
                 : migration_check_served(&m->steps, revision, err)) &&
           make_own_tables(m, err) &&
           keep_outcome(m, standard_names_insert(m->session, m->deadline_us, err)) &&
           commit(m, err);
}

/* Leaves the session without a transaction. */
static bool start_once(struct pg_migration *m, bool sync, struct err *err)
{
    bool is_complete;
    if (!lacks_nothing(m, sync, &is_complete, err))
        return false;
    if (is_complete || make_everything(m, sync, err))
        return true;
    tool_session_roll_back(m->session, m->deadline_us, err->arena);
    return false;
}

bool pg_migrate_at_start(struct pg_session *session, bool sync, uint64_t deadline_us,
                         struct err *err)
{
    struct pg_migration m;
    pg_migration_init(&m, session, deadline_us);
    for (int attempt = 1;;) {
        struct err failed = {.arena = err->arena};
        if (start_once(&m, sync, &failed))
            return true;
        if (give_way(&m, err->arena))
            continue;
        bool may_pass = m.outcome == SERVER_REFUSED || m.outcome == SERVER_RETRY;
        if (!may_pass || attempt++ == ATTEMPTS_MOST || !pg_session_is_open(session))
            return err_set_text(err, failed.status, failed.code, failed.message);
    }
}

/* ---- the tool ---- */

/* NULL: a sync. */
static bool change_once(struct pg_migration *m, const struct slice *stamp, struct err *err)
{
    return begin_change(m, err) &&
           (stamp != NULL ? migration_stamp(&m->steps, *stamp, err)
                          : migration_sync(&m->steps, err) && make_own_tables(m, err)) &&
           commit(m, err);
}

static bool change_with_patience(struct slice connection, const struct slice *stamp,
                                 struct err *err)
{
    struct pg_session *session = tool_session_open(connection, err);
    if (session == NULL)
        return false;
    struct pg_migration m;
    pg_migration_init(&m, session, tool_session_deadline());
    bool ok = false;
    bool again = true;
    while (again) {
        struct err failed = {.arena = err->arena};
        ok = change_once(&m, stamp, &failed);
        again = !ok && give_way(&m, err->arena);
        if (!ok && !again)
            err_set_text(err, failed.status, failed.code, failed.message);
    }
    pg_session_destroy(session);
    return ok;
}

bool pg_migrate_sync(struct slice connection, struct err *err)
{
    return change_with_patience(connection, NULL, err);
}

bool pg_migrate_version(struct slice connection, char revision[static 33], struct err *err)
{
    struct pg_session *session = tool_session_open(connection, err);
    if (session == NULL)
        return false;
    struct pg_migration m;
    pg_migration_init(&m, session, tool_session_deadline());
    bool ok = migration_read_revision(&m.steps, revision, err);
    pg_session_destroy(session);
    return ok;
}

bool pg_migrate_stamp(struct slice connection, struct slice revision, struct err *err)
{
    return change_with_patience(connection, &revision, err);
}
