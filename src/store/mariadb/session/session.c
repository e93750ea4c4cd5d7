/* A connection with what belongs to it: settings, facts about the server, texts, and streams. Whole
 * texts, texts in steps and streams are the same exchange (exchange.c). One thread at a time. */
#include "store/mariadb/session/session.h"

#include <poll.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/wait.h"
#include "store/mariadb/session/attempt.h"
#include "store/mariadb/session/backend.h"
#include "store/mariadb/session/exchange.h"
#include "store/mariadb/session/session_settings.h"
#include "store/server/failure.h"

enum { SECOND_US = 1000000, AGAIN_US = 2000 };

struct mariadb_session *mariadb_session_create(const struct server_session_options *options)
{
    struct mariadb_session *session = calloc(1, sizeof(*session));
    check(session != NULL);
    session->arena = arena_create();
    session->url = mariadb_url_copy(options->address->url, session->arena);
    session->sync_wait = MARIADB_SYNC_WAIT_READS;
    server_session_init(&session->base, options, session->arena);
    return session;
}

void mariadb_session_set_sync_wait(struct mariadb_session *session, int sync_wait)
{
    session->sync_wait = sync_wait;
}

void mariadb_session_close(struct mariadb_session *session)
{
    mariadb_exchange_drop(session);
}

void mariadb_session_destroy(struct mariadb_session *session)
{
    if (session == NULL)
        return;
    mariadb_exchange_drop(session);
    mariadb_session_free_kept(session);
    buf_free(&session->sql);
    arena_destroy(session->arena);
    free(session);
}

void mariadb_session_free_kept(struct mariadb_session *session)
{
    for (size_t i = 0; i < MARIADB_KEPT_MOST; i++)
        mariadb_rows_free(&session->kept[i]);
}

bool mariadb_session_is_open(const struct mariadb_session *session)
{
    return session->conn != NULL;
}

int mariadb_session_socket(const struct mariadb_session *session)
{
    return mysql_get_socket(session->conn);
}

/* An idle connection that can be read has a message, such as why it will be ended, or its end. */
void mariadb_session_notice_end(struct mariadb_session *session)
{
    if (session->conn == NULL || session->progress.is_open)
        return;
    if (server_io_wait(session->base.options.meanwhile, mysql_get_socket(session->conn), POLLIN, -1,
                       0) == SERVER_IO_READY)
        mariadb_exchange_drop(session);
}

bool mariadb_session_in_transaction(const struct mariadb_session *session)
{
    unsigned status = 0;
    if (session->conn == NULL)
        return false;
    if (session->progress.is_open)
        return true;
    return mariadb_get_infov(session->conn, MARIADB_CONNECTION_SERVER_STATUS, &status) == 0 &&
           ((status & SERVER_STATUS_IN_TRANS) != 0 || (status & SERVER_STATUS_AUTOCOMMIT) == 0);
}

const struct mariadb_failure *mariadb_session_failure(const struct mariadb_session *session)
{
    return &session->failure;
}

enum server_reason mariadb_session_reason(const struct mariadb_session *session)
{
    static const enum server_reason reasons[] = {
        [MARIADB_OTHER] = SERVER_REASON_OTHER,
        [MARIADB_DUPLICATE] = SERVER_REASON_DUPLICATE,
        [MARIADB_REFERENCE] = SERVER_REASON_REFERENCE,
        [MARIADB_CANNOT_HOLD] = SERVER_REASON_CANNOT_HOLD,
        [MARIADB_NOT_FOUND] = SERVER_REASON_NOT_FOUND,
        [MARIADB_LOCKED] = SERVER_REASON_LOCKED,
        [MARIADB_CONFLICT] = SERVER_REASON_CONFLICT,
        [MARIADB_READ_ONLY] = SERVER_REASON_READ_ONLY,
        [MARIADB_PASSES] = SERVER_REASON_OTHER,
    };
    return reasons[session->failure.kind];
}

const struct mariadb_server *mariadb_session_server(const struct mariadb_session *session)
{
    return &session->server;
}

/* ---- texts ---- */

enum server_outcome mariadb_text_start(struct mariadb_session *session,
                                       const struct mariadb_text *text, struct mariadb_rows *rows,
                                       size_t rows_n, struct err *err)
{
    enum server_outcome outcome = mariadb_exchange_begin(session, text, rows, rows_n, err);
    return outcome == SERVER_OK ? mariadb_exchange_send(session, err) : outcome;
}

bool mariadb_text_is_sent(const struct mariadb_session *session)
{
    return session->progress.is_open && session->progress.step != MARIADB_STEP_SEND;
}

enum server_outcome mariadb_text_drive(struct mariadb_session *session, uint64_t until_us,
                                       uint64_t deadline_us, struct err *err)
{
    enum server_outcome outcome = mariadb_exchange_drive(session, -1, until_us, deadline_us, err);
    return outcome == SERVER_END ? SERVER_OK : outcome;
}

enum server_outcome mariadb_text_receive(struct mariadb_session *session, struct err *err)
{
    return mariadb_text_drive(session, 0, UINT64_MAX, err);
}

enum server_outcome mariadb_session_execute(struct mariadb_session *session,
                                            const struct mariadb_text *text,
                                            struct mariadb_rows *rows, size_t rows_n,
                                            size_t *results, uint64_t deadline_us, struct err *err)
{
    enum server_outcome outcome = mariadb_exchange_begin(session, text, rows, rows_n, err);
    if (outcome == SERVER_OK)
        outcome = mariadb_text_drive(session, UINT64_MAX, deadline_us, err);
    if (outcome == SERVER_OK && results != NULL)
        *results = session->progress.results;
    return outcome;
}

bool mariadb_session_tries_again(const struct mariadb_session *session, enum server_outcome outcome,
                                 uint64_t deadline_us)
{
    if (outcome != SERVER_RETRY || session->failure.kind != MARIADB_CONFLICT ||
        clock_monotonic_us() + AGAIN_US >= deadline_us)
        return false;
    wait_sleep_us(AGAIN_US);
    return true;
}

enum server_outcome mariadb_session_run(struct mariadb_session *session, const char *sql,
                                        const char *what, uint64_t deadline_us, struct err *err)
{
    struct mariadb_text text = {.sql = slice_of(sql), .what = what};
    return mariadb_session_execute(session, &text, NULL, 0, NULL, deadline_us, err);
}

enum server_outcome mariadb_session_rollback(struct mariadb_session *session, const char *what,
                                             uint64_t deadline_us, struct err *err)
{
    return mariadb_session_run(session, MARIADB_ROLLBACK, what, deadline_us, err);
}

/* ---- streams ---- */

enum server_outcome mariadb_stream_begin(struct mariadb_session *session,
                                         const struct mariadb_text *text, struct err *err)
{
    enum server_outcome outcome = mariadb_exchange_begin(session, text, NULL, 0, err);
    session->progress.is_stream = outcome == SERVER_OK;
    return outcome == SERVER_OK ? mariadb_exchange_send(session, err) : outcome;
}

enum server_outcome mariadb_stream_next(struct mariadb_session *session, struct mariadb_rows *row,
                                        uint64_t deadline_us, struct err *err)
{
    session->progress.streamed = row;
    return mariadb_exchange_drive(session, session->base.options.wake_fd, UINT64_MAX, deadline_us,
                                  err);
}

enum server_outcome mariadb_stream_finish(struct mariadb_session *session, uint64_t deadline_us,
                                          struct err *err)
{
    if (!session->progress.is_open)
        return SERVER_OK;
    session->progress.is_stream = false;
    return mariadb_text_drive(session, UINT64_MAX, deadline_us, err);
}

/* ---- connecting ---- */

/* The URL's connect_timeout, or all of the time. */
static uint64_t deadline_of_attempt(const struct mariadb_session *session, uint64_t deadline_us)
{
    uint64_t seconds = session->url.connect_timeout_s;
    uint64_t end_us = clock_monotonic_us() + seconds * SECOND_US;
    return seconds > 0 && end_us < deadline_us ? end_us : deadline_us;
}

static enum server_outcome reach(struct mariadb_session *session, uint64_t deadline_us,
                                 struct err *err)
{
    struct mariadb_login login;
    struct slice reason;
    if (!mariadb_login_read(&session->url, err->arena, &login, &reason) ||
        !mariadb_login_check_files(&login, err->arena, &reason))
        return server_failure_set(SERVER_FAILED, session->url.target, "reached", reason, err);
    struct mariadb_attempt attempt = {
        .login = &login,
        .program_name = session->base.options.application_name,
        .arena = err->arena,
        .deadline_us = deadline_of_attempt(session, deadline_us),
        .meanwhile = session->base.options.meanwhile,
        .stop_fd = session->base.stop_fd,
    };
    enum server_outcome outcome = mariadb_attempt_run(&attempt, &session->failure, &reason);
    session->conn = attempt.conn;
    session->uses_tls = outcome == SERVER_OK && mysql_get_ssl_cipher(attempt.conn) != NULL;
    if (outcome == SERVER_OK)
        return SERVER_OK;
    return server_failure_set(outcome, session->url.target, "reached", reason, err);
}

static enum server_outcome read_facts(struct mariadb_session *session,
                                      const struct mariadb_rows *rows, uint64_t deadline_us,
                                      struct err *err)
{
    bool passes;
    uint64_t accepted_id = mysql_thread_id(session->conn);
    const char *wrong =
        mariadb_settings_read(rows, accepted_id, &session->server, err->arena, &passes);
    if (wrong != NULL)
        return server_failure_set(passes ? SERVER_RETRY : SERVER_FAILED, session->url.target, NULL,
                                  slice_of(wrong), err);
    session->server.uses_tls = session->uses_tls;
    session->base.id = session->server.id;
    session->base.node = session->server.node;
    session->base.is_standby = session->server.is_read_only;
    struct buf sql = {0};
    mariadb_settings_sync_wait(session->sync_wait, &rows[MARIADB_SETTINGS_VARIABLES], &sql);
    mariadb_backend_sign(session, &sql);
    struct mariadb_text text = {.sql = buf_slice(&sql), .what = "configured"};
    enum server_outcome outcome =
        sql.len == 0 ? SERVER_OK
                     : mariadb_session_execute(session, &text, NULL, 0, NULL, deadline_us, err);
    buf_free(&sql);
    return outcome;
}

/* The server is at work now: that it does not answer is no reason to wait any longer for it. */
static enum server_outcome configure(struct mariadb_session *session, uint64_t deadline_us,
                                     struct err *err)
{
    struct mariadb_rows rows[MARIADB_SETTINGS_RESULTS] = {0};
    struct mariadb_text text = {
        .sql = mariadb_settings_text(&session->base.options, err->arena),
        .what = "configured",
    };
    size_t results = 0;
    session->server.text_bytes_most = 0; /* not known yet */
    enum server_outcome outcome = mariadb_session_execute(
        session, &text, rows, MARIADB_SETTINGS_RESULTS, &results, deadline_us, err);
    if (outcome == SERVER_OK)
        outcome = read_facts(session, rows, deadline_us, err);
    for (size_t i = 0; i < MARIADB_SETTINGS_RESULTS; i++)
        mariadb_rows_free(&rows[i]);
    return outcome == SERVER_LOST ? SERVER_RETRY : outcome;
}

enum server_outcome mariadb_session_connect(struct mariadb_session *session, uint64_t deadline_us,
                                            struct err *err)
{
    struct server_old_primary old;
    mariadb_exchange_drop(session);
    session->failure = (struct mariadb_failure){0};
    enum server_outcome outcome = reach(session, deadline_us, err);
    if (outcome == SERVER_OK)
        outcome = configure(session, deadline_us, err);
    if (outcome != SERVER_OK) {
        mariadb_exchange_drop(session);
        return outcome;
    }
    if (session->base.options.lineage != NULL)
        check(server_lineage_join(session->base.options.lineage, &session->server.id, &old));
    return SERVER_OK;
}
