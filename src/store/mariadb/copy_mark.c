/* See copy_mark.h. Each statement is sent by itself: Galera may roll a transaction back between two
 * statements of one text, and would execute the rest of the text without it. One thread. */
#include "store/mariadb/copy_mark.h"

#include <stdio.h>
#include <unistd.h>

#include "base/arena.h"
#include "store/mariadb/session/tool_session.h"
#include "store/revisions.h"

static bool run(struct mariadb_session *session, const char *sql, struct err *err)
{
    return mariadb_session_run(session, sql, "written", mariadb_tool_deadline(), err) == SERVER_OK;
}

static bool execute(struct mariadb_session *session, struct slice sql, uint64_t *affected,
                    struct err *err)
{
    const struct mariadb_text text = {.sql = sql, .statements = 1, .what = "written"};
    struct mariadb_rows rows = {0};
    bool ok = mariadb_session_execute(session, &text, &rows, 1, NULL, mariadb_tool_deadline(),
                                      err) == SERVER_OK;
    if (affected != NULL)
        *affected = rows.affected;
    mariadb_rows_free(&rows);
    return ok;
}

static bool replace(struct mariadb_session *session, struct mariadb_copy_mark *mark,
                    const char *text, struct err *err)
{
    uint64_t affected = 0;
    struct slice sql = arena_printf(
        err->arena, "UPDATE alembic_version SET version_num = '%s' WHERE version_num = '%s'", text,
        mark->text);
    if (!execute(session, sql, &affected, err))
        return false;
    if (affected != 1)
        return err_set(err, 503, NULL,
                       "the target's schema revision was changed by another program, such as "
                       "another copy");
    snprintf(mark->text, sizeof(mark->text), "%s", text);
    return true;
}

static bool advance(struct mariadb_session *session, struct mariadb_copy_mark *mark,
                    struct err *err)
{
    char text[STORE_REVISION_BYTES];
    snprintf(text, sizeof(text), SCHEMA_UNFINISHED_COPY "%08x_%08x", mark->token, ++mark->number);
    return replace(session, mark, text, err);
}

bool mariadb_copy_mark_set(struct mariadb_session *session, struct mariadb_copy_mark *mark,
                           struct err *err)
{
    if (getentropy(&mark->token, sizeof(mark->token)) != 0)
        return err_set(err, 503, NULL, "the system has no random numbers");
    return advance(session, mark, err);
}

bool mariadb_copy_mark_remove(struct mariadb_session *session, struct mariadb_copy_mark *mark,
                              const char *revision, struct err *err)
{
    return replace(session, mark, revision, err);
}

bool mariadb_copy_mark_execute(struct mariadb_session *session, struct mariadb_copy_mark *mark,
                               struct slice sql, uint64_t *affected, struct err *err)
{
    return run(session, "START TRANSACTION", err) && advance(session, mark, err) &&
           execute(session, sql, affected, err) &&
           mariadb_tool_commit(session, "written", mariadb_tool_deadline(), err) == SERVER_OK;
}
