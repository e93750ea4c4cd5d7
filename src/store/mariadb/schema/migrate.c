/* Upstream's migrations (store/migration.h), berth's own tables and the standard names on MariaDB
 * and MySQL.
 *
 * Each DDL statement is its own transaction, and there is no lock that would be held over several
 * of them on all nodes of a Galera cluster. So nothing is locked. Each statement is one that
 * another process may just have executed, or this one before it was killed; the server then says
 * that the table, column or index is there (or is not), and it counts as done. The revision is
 * written last. Until then, a table of berth tells a schema that is being created from tables
 * without a revision that somebody else has left.
 *
 * Rows conflict with those of another process, which is refused to one of the two: it looks again.
 * So it does after a refusal of its own, if the revision has changed since it began. One thread at
 * a time. */
#include "store/mariadb/schema/migrate.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "store/mariadb/schema/own_tables.h"
#include "store/mariadb/schema/standard_names.h"
#include "store/mariadb/schema/upstream_schema.h"
#include "store/mariadb/session/tool_session.h"
#include "store/migration.h"

enum { MIGRATION_ATTEMPTS_MOST = 8, MESSAGE_BYTES_MOST = 512 };

enum migration_task { TASK_SYNC, TASK_STAMP, TASK_START, TASK_START_SYNC };

struct mariadb_migration {
    struct migration steps;
    struct mariadb_session *session;
    uint64_t deadline_us;
    enum migration_task task;
    struct slice revision; /* for TASK_STAMP */
    bool has_conflict;     /* the last failure was with another process */
};

/* ---- statements ---- */

static bool has_code(unsigned code, const unsigned *codes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (codes[i] == code)
            return true;
    return false;
}

#define HAS_CODE(code, codes) has_code((code), (codes), sizeof(codes) / sizeof((codes)[0]))

/* MariaDB has no number of its own for a foreign key that is there already. */
static bool is_done_already(const struct mariadb_failure *failure, struct slice message)
{
    static const unsigned CODES[] = {
        1050, /* the table is there */
        1060, /* the column */
        1061, /* the index */
        1091, /* the index is not there */
        1826, /* MySQL: the foreign key is there */
    };
    static const unsigned CANNOT_CREATE = 1005;
    char text[MESSAGE_BYTES_MOST];
    snprintf(text, sizeof(text), "%.*s", SLICE_ARG(message));
    return HAS_CODE(failure->code, CODES) ||
           (failure->code == CANNOT_CREATE && strstr(text, "errno: 121 ") != NULL);
}

static bool keep_conflict(struct mariadb_migration *m, enum server_outcome outcome)
{
    enum mariadb_kind kind = mariadb_session_failure(m->session)->kind;
    m->has_conflict = outcome != SERVER_OK && mariadb_session_is_open(m->session) &&
                      (kind == MARIADB_DUPLICATE || kind == MARIADB_CONFLICT);
    return outcome == SERVER_OK;
}

static bool mariadb_migrate_execute(void *cls, const char *sql, struct err *err)
{
    struct mariadb_migration *m = cls;
    struct err failed = {.arena = err->arena};
    enum server_outcome outcome;
    if (strcmp(sql, mariadb_migration_texts.end_revision) == 0)
        outcome = mariadb_tool_commit(m->session, "changed", m->deadline_us, &failed);
    else
        outcome = mariadb_session_run(m->session, sql, "changed", m->deadline_us, &failed);
    if (outcome != SERVER_OK && mariadb_session_is_open(m->session) &&
        is_done_already(mariadb_session_failure(m->session), failed.message))
        outcome = SERVER_OK;
    return keep_conflict(m, outcome) ||
           err_set_text(err, failed.status, failed.code, failed.message);
}

static bool mariadb_migrate_query(struct mariadb_migration *m, const char *sql,
                                  struct mariadb_rows *rows, struct err *err)
{
    struct mariadb_text text = {.sql = slice_of(sql), .statements = 1, .what = "read"};
    return keep_conflict(
        m, mariadb_session_execute(m->session, &text, rows, 1, NULL, m->deadline_us, err));
}

static bool mariadb_migrate_query_int(void *cls, const char *sql, int64_t *value, struct err *err)
{
    struct mariadb_migration *m = cls;
    struct mariadb_rows rows = {0};
    bool ok = mariadb_migrate_query(m, sql, &rows, err);
    if (ok && mariadb_rows_count(&rows) > 0 && !mariadb_rows_int(&rows, 0, 0, value))
        ok = err_set(err, 503, NULL, "the database '%.*s' cannot be read: a number is none",
                     SLICE_ARG(m->steps.database));
    mariadb_rows_free(&rows);
    return ok;
}

static bool mariadb_migrate_query_text(void *cls, const char *sql,
                                       char text[static STORE_REVISION_BYTES], int64_t *rows_n,
                                       struct err *err)
{
    struct mariadb_rows rows = {0};
    bool ok = mariadb_migrate_query(cls, sql, &rows, err);
    if (ok)
        *rows_n = (int64_t)mariadb_rows_count(&rows);
    if (ok && *rows_n > 0)
        snprintf(text, STORE_REVISION_BYTES, "%.*s", SLICE_ARG(mariadb_rows_bytes(&rows, 0, 0)));
    mariadb_rows_free(&rows);
    return ok;
}

static void mariadb_migration_init(struct mariadb_migration *m, struct mariadb_session *session,
                                   enum migration_task task, uint64_t deadline_us)
{
    *m = (struct mariadb_migration){
        .steps = {.database = ((const struct server_session *)session)->target,
                  .texts = &mariadb_migration_texts,
                  .execute = mariadb_migrate_execute,
                  .query_int = mariadb_migrate_query_int,
                  .query_text = mariadb_migrate_query_text,
                  .cls = m},
        .session = session,
        .task = task,
        .deadline_us = deadline_us,
    };
}

bool mariadb_migrate_check_served(struct mariadb_session *session, char revision[static 33],
                                  uint64_t deadline_us, struct err *err)
{
    struct mariadb_migration m;
    mariadb_migration_init(&m, session, TASK_START, deadline_us);
    return migration_check_served(&m.steps, revision, err);
}

/* ---- upstream's schema ---- */

static bool sync_upstream(struct mariadb_migration *m, struct err *err)
{
    int64_t creating = 0;
    return migration_sync(&m->steps, err) &&
           mariadb_migrate_query_int(m, mariadb_count_creating, &creating, err) &&
           (creating == 0 || mariadb_migrate_execute(m, mariadb_drop_creating, err));
}

/* ---- berth's own tables ---- */

static bool refuse_own_for_rights(struct mariadb_migration *m, struct slice reason, struct err *err)
{
    return err_set(err, 503, NULL,
                   "the database '%.*s' lacks tables or columns of berth that this user may not "
                   "create: run \"placement-manage db sync\" as a user with all rights on the "
                   "database, or let this user create them (%.*s)",
                   SLICE_ARG(m->steps.database), SLICE_ARG(reason));
}

static bool create_own_tables(struct mariadb_migration *m,
                              const struct mariadb_own_statements *statements, struct err *err)
{
    static const unsigned NO_RIGHTS[] = {1044, 1142, 1143, 1227};
    for (size_t i = 0; i < statements->count; i++) {
        struct err failed = {.arena = err->arena};
        if (mariadb_migrate_execute(m, statements->sql[i], &failed))
            continue;
        if (HAS_CODE(mariadb_session_failure(m->session)->code, NO_RIGHTS))
            return refuse_own_for_rights(m, failed.message, err);
        return err_set_text(err, failed.status, failed.code, failed.message);
    }
    return true;
}

static bool make_own_tables(struct mariadb_migration *m, struct err *err)
{
    struct arena *arena = arena_create();
    struct mariadb_own_statements statements = {0};
    bool ok = keep_conflict(m, mariadb_own_tables_compare(m->session, arena, &statements,
                                                          m->deadline_us, err)) &&
              create_own_tables(m, &statements, err);
    arena_destroy(arena);
    return ok;
}

/* ---- attempts ---- */

static bool do_task(struct mariadb_migration *m, struct err *err)
{
    char revision[STORE_REVISION_BYTES];
    switch (m->task) {
    case TASK_STAMP:
        return migration_stamp(&m->steps, m->revision, err);
    case TASK_SYNC:
        return sync_upstream(m, err) && make_own_tables(m, err);
    case TASK_START:
    case TASK_START_SYNC:
        break;
    }
    return (m->task == TASK_START_SYNC ? sync_upstream(m, err)
                                       : migration_check_served(&m->steps, revision, err)) &&
           make_own_tables(m, err) &&
           keep_conflict(m, mariadb_standard_names_insert(m->session, m->deadline_us, err));
}

/* After a failure: leaves the session without a transaction. */
static void put_back(struct mariadb_migration *m, struct arena *arena)
{
    struct err ignored = {.arena = arena};
    if (mariadb_session_is_open(m->session) &&
        mariadb_session_run(m->session, MARIADB_STANDARD_NAMES_UNDO, "changed", m->deadline_us,
                            &ignored) != SERVER_OK)
        mariadb_session_close(m->session);
}

/* Whether the failure may only be due to another process, which has done the same meanwhile. */
static bool is_worth_repeating(struct mariadb_migration *m, const char *revision_before,
                               struct arena *arena)
{
    char revision[STORE_REVISION_BYTES];
    struct err ignored = {.arena = arena};
    bool has_conflict = m->has_conflict;
    put_back(m, arena);
    return mariadb_session_is_open(m->session) &&
           (has_conflict || (migration_read_revision(&m->steps, revision, &ignored) &&
                             strcmp(revision, revision_before) != 0));
}

static bool do_in_attempts(struct mariadb_migration *m, struct err *err)
{
    for (int attempt = 1;; attempt++) {
        char revision[STORE_REVISION_BYTES];
        struct err failed = {.arena = err->arena};
        if (migration_read_revision(&m->steps, revision, &failed) && do_task(m, &failed))
            return true;
        if (!is_worth_repeating(m, revision, err->arena) || attempt == MIGRATION_ATTEMPTS_MOST)
            return err_set_text(err, failed.status, failed.code, failed.message);
    }
}

bool mariadb_migrate_at_start(struct mariadb_session *session, bool sync, uint64_t deadline_us,
                              struct err *err)
{
    struct mariadb_migration m;
    mariadb_migration_init(&m, session, sync ? TASK_START_SYNC : TASK_START, deadline_us);
    return do_in_attempts(&m, err);
}

/* ---- the tool ---- */

static bool do_for_tool(struct slice connection, enum migration_task task, struct slice revision,
                        struct err *err)
{
    struct mariadb_session *session = mariadb_tool_open(connection, err);
    if (session == NULL)
        return false;
    struct mariadb_migration m;
    mariadb_migration_init(&m, session, task, mariadb_tool_deadline());
    m.revision = revision;
    bool ok = do_in_attempts(&m, err);
    mariadb_session_destroy(session);
    return ok;
}

bool mariadb_migrate_sync(struct slice connection, struct err *err)
{
    return do_for_tool(connection, TASK_SYNC, SLICE_LIT(""), err);
}

bool mariadb_migrate_stamp(struct slice connection, struct slice revision, struct err *err)
{
    return do_for_tool(connection, TASK_STAMP, revision, err);
}

bool mariadb_migrate_version(struct slice connection, char revision[static 33], struct err *err)
{
    struct mariadb_session *session = mariadb_tool_open(connection, err);
    if (session == NULL)
        return false;
    struct mariadb_migration m;
    mariadb_migration_init(&m, session, TASK_SYNC, mariadb_tool_deadline());
    bool ok = migration_read_revision(&m.steps, revision, err);
    mariadb_session_destroy(session);
    return ok;
}
