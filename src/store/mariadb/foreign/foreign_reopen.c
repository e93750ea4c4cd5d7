/* See foreign_reopen.h. FLUSH TABLES needs the right RELOAD, which the user of a service does not
 * have. REPAIR TABLE closes all uses of a table before it finds out that InnoDB has nothing to
 * repair. It does not wait for transactions that use the table, but is sent again: if it waited, a
 * transaction that another node has committed would wait behind it, and those that it waits for
 * would wait for their turn to commit after that one, until the time limit. One thread at a time
 * for each session. */
#include "store/mariadb/foreign/foreign_reopen.h"

#include <string.h>

#include "base/clock.h"
#include "base/wait.h"
#include "log/log.h"
#include "store/mariadb/foreign/foreign_triggers.h"
#include "store/mariadb/session/session_state.h"
#include "store/server/failure.h"

enum { FOR_US = 1000000, PAUSE_US = 5000, AGAIN_US = 1000000 };
enum { TYPE_COLUMN = 2, TEXT_COLUMN = 3, TOO_LONG = 1205 };

/* The server reports in a row that it did not get the lock. */
static bool find_error(const struct mariadb_rows *rows, struct slice *text)
{
    for (size_t i = 0; i < mariadb_rows_count(rows); i++) {
        struct slice type = mariadb_rows_bytes(rows, i, TYPE_COLUMN);
        *text = mariadb_rows_bytes(rows, i, TEXT_COLUMN);
        if (type.len == 5 && strncasecmp(type.data, "error", 5) == 0)
            return true;
    }
    return false;
}

static enum server_outcome reopen_once(struct mariadb_session *session, const char *table,
                                       uint64_t deadline_us, struct err *err)
{
    struct mariadb_rows rows = {0};
    struct slice text;
    struct buf sql = {0};
    buf_printf(&sql, "SET STATEMENT lock_wait_timeout=0 FOR REPAIR NO_WRITE_TO_BINLOG TABLE %s",
               table);
    const struct mariadb_text repair = {.sql = buf_slice(&sql), .what = "changed"};
    enum server_outcome outcome =
        mariadb_session_execute(session, &repair, &rows, 1, NULL, deadline_us, err);
    if (outcome == SERVER_OK && find_error(&rows, &text)) {
        session->failure = (struct mariadb_failure){.code = TOO_LONG, .kind = MARIADB_LOCKED};
        outcome = server_failure_set(SERVER_RETRY, session->base.target, "changed", text, err);
    }
    mariadb_rows_free(&rows);
    buf_free(&sql);
    return outcome;
}

static bool is_in_use(const struct mariadb_session *session)
{
    enum mariadb_kind kind = session->failure.kind;
    return kind == MARIADB_LOCKED || kind == MARIADB_CONFLICT;
}

enum server_outcome mariadb_foreign_reopen(struct mariadb_session *session, const char *table,
                                           uint64_t deadline_us, struct err *err)
{
    const uint64_t until_us = clock_monotonic_us() + FOR_US;
    for (;;) {
        struct err failed = {.arena = err->arena};
        enum server_outcome outcome = reopen_once(session, table, deadline_us, &failed);
        if (outcome == SERVER_OK)
            return SERVER_OK;
        if (!is_in_use(session) || clock_monotonic_us() >= until_us) {
            (void)!err_set_text(err, failed.status, failed.code, failed.message);
            return outcome;
        }
        wait_sleep_us(PAUSE_US);
    }
}

/* Its first trigger; MARIADB_FOREIGN_TRIGGERS: the trigger is not berth's, or not known. */
static unsigned table_of_trigger(const char *trigger)
{
    for (unsigned i = 0; i < MARIADB_FOREIGN_TRIGGERS; i++) {
        struct buf name = {0};
        mariadb_foreign_trigger_name(i, &name);
        bool is_it = strcmp(name.data, trigger) == 0;
        buf_free(&name);
        if (is_it)
            return i - i % MARIADB_FOREIGN_EVENTS;
    }
    return MARIADB_FOREIGN_TRIGGERS;
}

/* The one that has the trigger, or all. */
static bool reopen_tables(struct mariadb_session *session, const char *trigger,
                          uint64_t deadline_us, struct err *err)
{
    bool ok = true;
    const unsigned only = table_of_trigger(trigger);
    for (unsigned i = 0; i < MARIADB_FOREIGN_TRIGGERS; i += MARIADB_FOREIGN_EVENTS)
        if (only == i || only == MARIADB_FOREIGN_TRIGGERS)
            ok &= mariadb_foreign_reopen(session, mariadb_foreign_trigger_table(i), deadline_us,
                                         err) == SERVER_OK;
    return ok;
}

/* A trigger that is wrong in itself is refused again. */
static bool was_mended(const struct mariadb_session *session, const char *trigger)
{
    return session->mended_us != 0 && strcmp(session->mended, trigger) == 0 &&
           clock_monotonic_us() - session->mended_us < AGAIN_US;
}

bool mariadb_foreign_mend(struct mariadb_session *session, uint64_t deadline_us)
{
    const struct mariadb_failure broken = session->failure;
    if (was_mended(session, broken.key))
        return false;
    struct arena *arena = arena_create();
    struct err err = {.arena = arena};
    /* REPAIR TABLE would commit the transaction */
    bool is_mended = mariadb_session_rollback(session, "used", deadline_us, &err) == SERVER_OK &&
                     reopen_tables(session, broken.key, deadline_us, &err);
    log_write(LOG_LEVEL_WARNING, "berth", LOG_NO_CONTEXT,
              "the database '%.*s': the server had a table open without its triggers, and refused "
              "a write to it (error 1064, trigger '%s'); %s%.*s",
              SLICE_ARG(session->base.target), broken.key,
              is_mended ? "it has opened the table again" : "it still does: ",
              SLICE_ARG(is_mended ? SLICE_LIT("") : err.message));
    arena_destroy(arena);
    memcpy(session->mended, broken.key, sizeof(session->mended));
    session->mended_us = is_mended ? clock_monotonic_us() : 0;
    return is_mended || is_in_use(session);
}
