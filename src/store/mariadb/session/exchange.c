/* libmariadb's non-blocking functions: each runs on a stack of its own until it would block, and
 * then returns what it waits for. The session waits, with its deadline, and lets it continue. When
 * a deadline has passed, the connection is closed: a late answer cannot be mistaken for the next
 * one, and the server notices the end of the connection. No KILL is sent, which would need a
 * connection of its own to a server that does not answer.
 *
 * A text may have many statements, and each result but the last says that another one follows. An
 * error is the last result: the server executes nothing behind it, so an error of a statement
 * before a COMMIT proves that the COMMIT was not executed. That is not so for errors that proxies
 * send when they have lost the server (failure.c), and an error of the COMMIT itself proves it only
 * if it is known to.
 *
 * Rows are read one by one and copied, so that a result is limited although the server decides its
 * size. One thread at a time. */
#include "store/mariadb/session/exchange.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "store/mariadb/session/tls_errors.h"
#include "store/server/failure.h"
#include "store/server/io.h"
#include "store/store.h"

enum {
    RESULT_BYTES_MOST = 64 * 1024 * 1024,
    STEPS_BETWEEN_LOOKS = 256, /* at the clock, if nothing is waited for */
    UNWINDS_MOST = 1000,
};

/* ---- steps ---- */

static int start_step(struct mariadb_session *session)
{
    struct mariadb_progress *progress = &session->progress;
    switch (progress->step) {
    case MARIADB_STEP_SEND:
        return mysql_send_query_start(&progress->failed, session->conn, progress->text.sql.data,
                                      progress->text.sql.len);
    case MARIADB_STEP_ANSWER:
        return mysql_read_query_result_start(&progress->answered, session->conn);
    case MARIADB_STEP_ROW:
        return mysql_fetch_row_start(&progress->row, progress->result);
    default:
        return mysql_next_result_start(&progress->failed, session->conn);
    }
}

static int resume_step(struct mariadb_session *session, int events)
{
    struct mariadb_progress *progress = &session->progress;
    switch (progress->step) {
    case MARIADB_STEP_SEND:
        return mysql_send_query_cont(&progress->failed, session->conn, events);
    case MARIADB_STEP_ANSWER:
        return mysql_read_query_result_cont(&progress->answered, session->conn, events);
    case MARIADB_STEP_ROW:
        return mysql_fetch_row_cont(&progress->row, progress->result, events);
    default:
        return mysql_next_result_cont(&progress->failed, session->conn, events);
    }
}

/* Begins the step, or continues it after these events. Returns what it waits for; 0: it has
 * ended. */
static int run_on(struct mariadb_session *session, int events)
{
    bool has_begun = session->progress.has_begun;
    if (session->uses_tls)
        mariadb_tls_errors_clear();
    session->progress.has_begun = true;
    return has_begun ? resume_step(session, events) : start_step(session);
}

/* ---- the end of a connection ---- */

/* With a COM_QUIT, so that the server does not count and log an aborted connection. */
static void quit(MYSQL *conn)
{
    int fd = mysql_get_socket(conn);
    int events = mysql_close_start(conn);
    if (events != 0)
        shutdown(fd, SHUT_RDWR);
    for (int i = 0; events != 0 && i < UNWINDS_MOST; i++)
        events = mysql_close_cont(conn, MYSQL_WAIT_TIMEOUT);
}

/* Lets what libmariadb is doing end, which fails at once, so that nothing of it stays allocated. */
static void abort_connection(struct mariadb_session *session)
{
    struct mariadb_progress *progress = &session->progress;
    shutdown(mysql_get_socket(session->conn), SHUT_RDWR);
    for (int i = 0; progress->waits_for != 0 && i < UNWINDS_MOST; i++)
        progress->waits_for = run_on(session, MYSQL_WAIT_TIMEOUT);
    if (progress->result != NULL) {
        progress->result->handle = NULL; /* otherwise the rest of the rows would be read first */
        mysql_free_result(progress->result);
    }
    mysql_close(session->conn);
}

void mariadb_exchange_drop(struct mariadb_session *session)
{
    if (session->base.commit == SERVER_COMMIT_SENT)
        session->base.commit = SERVER_COMMIT_UNKNOWN;
    if (session->uses_tls)
        mariadb_tls_errors_clear();
    if (session->conn != NULL && session->progress.is_open)
        abort_connection(session);
    else if (session->conn != NULL)
        quit(session->conn);
    session->progress = (struct mariadb_progress){0};
    session->conn = NULL;
    session->uses_tls = false;
}

enum server_outcome mariadb_exchange_lose(struct mariadb_session *session, const char *what,
                                          struct err *err)
{
    const char *reason = session->conn == NULL ? "not connected" : mysql_error(session->conn);
    if (reason[0] == '\0')
        reason = "the connection is broken";
    server_failure_set(SERVER_LOST, session->url.target, what,
                       server_failure_line(err->arena, reason), err);
    session->progress.is_open = session->conn != NULL; /* nothing can be sent */
    mariadb_exchange_drop(session);
    return SERVER_LOST;
}

static enum server_outcome time_out(struct mariadb_session *session, enum server_io why,
                                    struct err *err)
{
    server_failure_set(SERVER_TIMEOUT, session->url.target, session->progress.text.what,
                       why == SERVER_IO_OVER ? SLICE_LIT(STORE_STOPPING)
                                             : SLICE_LIT("the server has not answered in time"),
                       err);
    mariadb_exchange_drop(session);
    return SERVER_TIMEOUT;
}

/* ---- results ---- */

/* What is left of the text is nothing. */
static void end_text(struct mariadb_session *session)
{
    struct mariadb_progress *progress = &session->progress;
    if (progress->result != NULL)
        mysql_free_result(progress->result);
    *progress = (struct mariadb_progress){.results = progress->results};
}

/* What the error says of the text's COMMIT: NONE, UNKNOWN, or, if it has to be asked again, SENT. A
 * cluster may answer to the COMMIT of a transaction that it has rolled back as if nothing were
 * wrong, and with a deadlock to what follows; so may the end of what follows itself. */
static enum server_commit commit_after(const struct mariadb_progress *progress, unsigned code)
{
    size_t commit = progress->text.commit;
    size_t failed = progress->results + 1;
    enum mariadb_kind kind = mariadb_failure_kind(code);
    if (commit == 0 || failed < commit)
        return SERVER_COMMIT_NONE;
    if (failed == commit)
        return mariadb_failure_of_commit_is_certain(code) ? SERVER_COMMIT_NONE
                                                          : SERVER_COMMIT_UNKNOWN;
    return kind == MARIADB_NOT_FOUND  ? SERVER_COMMIT_NONE
           : kind == MARIADB_CONFLICT ? SERVER_COMMIT_SENT
                                      : SERVER_COMMIT_UNKNOWN;
}

static enum server_outcome take_error(struct mariadb_session *session, struct err *err)
{
    struct mariadb_progress *progress = &session->progress;
    unsigned code = mysql_errno(session->conn);
    const char *message = mysql_error(session->conn);
    const char *what = progress->text.what;
    enum server_outcome outcome =
        mariadb_failure_read(&session->failure, code, mysql_sqlstate(session->conn), message);
    session->failure.result = progress->results;
    enum server_commit commit = commit_after(progress, code);
    if (outcome == SERVER_LOST || code == 0 || commit == SERVER_COMMIT_UNKNOWN)
        return mariadb_exchange_lose(session, what, err);
    if (session->base.commit == SERVER_COMMIT_SENT)
        session->base.commit = commit;
    server_failure_set(outcome, session->url.target, what, server_failure_line(err->arena, message),
                       err);
    end_text(session);
    return outcome;
}

static struct mariadb_rows *rows_of_result(const struct mariadb_progress *progress)
{
    return progress->results < progress->rows_n ? &progress->rows[progress->results] : NULL;
}

/* SERVER_OK: the text goes on. SERVER_END: that was the last one. */
static enum server_outcome end_result(struct mariadb_session *session)
{
    struct mariadb_progress *progress = &session->progress;
    if (progress->result != NULL)
        mysql_free_result(progress->result);
    progress->result = NULL;
    progress->results++;
    progress->step = MARIADB_STEP_NEXT;
    if (mysql_more_results(session->conn))
        return SERVER_OK;
    if (session->base.commit == SERVER_COMMIT_SENT)
        session->base.commit = SERVER_COMMIT_DONE;
    end_text(session);
    return SERVER_END;
}

/* Of a statement without rows, or the columns of one with rows. */
static enum server_outcome begin_result(struct mariadb_session *session, struct err *err)
{
    struct mariadb_progress *progress = &session->progress;
    struct mariadb_rows *rows = rows_of_result(progress);
    if (mysql_field_count(session->conn) > 0) {
        progress->result = mysql_use_result(session->conn);
        if (progress->result == NULL)
            return take_error(session, err);
        if (rows != NULL)
            mariadb_rows_begin(rows, progress->result);
        if (progress->is_stream && progress->streamed != NULL)
            mariadb_rows_begin(progress->streamed, progress->result);
        progress->step = MARIADB_STEP_ROW;
        return SERVER_OK;
    }
    if (rows != NULL) {
        mariadb_rows_free(rows);
        rows->affected = mysql_affected_rows(session->conn);
        rows->insert_id = mysql_insert_id(session->conn);
    }
    return end_result(session);
}

static enum server_outcome fail_size(struct mariadb_session *session, size_t most, struct err *err)
{
    session->failure =
        (struct mariadb_failure){.result = session->progress.results, .is_too_large = true};
    server_failure_set(
        SERVER_FAILED, session->url.target, session->progress.text.what,
        arena_printf(err->arena, "the server's answer is larger than %zu bytes", most), err);
    mariadb_exchange_drop(session);
    return SERVER_FAILED;
}

/* *is_row: a stream has one. */
static enum server_outcome take_row(struct mariadb_session *session, bool *is_row, struct err *err)
{
    struct mariadb_progress *progress = &session->progress;
    struct mariadb_rows *rows = rows_of_result(progress);
    if (progress->row == NULL && mysql_errno(session->conn) != 0)
        return take_error(session, err);
    if (progress->row == NULL)
        return end_result(session);
    const unsigned long *lengths = mysql_fetch_lengths(progress->result);
    unsigned columns = mysql_num_fields(progress->result);
    *is_row = progress->is_stream && progress->streamed != NULL;
    if (*is_row) {
        mariadb_rows_clear(progress->streamed);
        mariadb_rows_append(progress->streamed, progress->row, lengths);
        return SERVER_OK;
    }
    if (rows == NULL)
        return SERVER_OK;
    size_t most = progress->text.result_bytes_most;
    most = most == 0 ? (size_t)RESULT_BYTES_MOST : most;
    progress->bytes += columns * sizeof(struct slice);
    for (unsigned i = 0; i < columns; i++)
        progress->bytes += lengths[i];
    if (progress->bytes > most)
        return fail_size(session, most, err);
    mariadb_rows_append(rows, progress->row, lengths);
    return SERVER_OK;
}

/* The step has ended. SERVER_OK: the text goes on. */
static enum server_outcome take_step(struct mariadb_session *session, bool *is_row, struct err *err)
{
    struct mariadb_progress *progress = &session->progress;
    switch (progress->step) {
    case MARIADB_STEP_SEND:
        progress->step = MARIADB_STEP_ANSWER;
        return progress->failed == 0 ? SERVER_OK : take_error(session, err);
    case MARIADB_STEP_ANSWER:
        return progress->answered == 0 ? begin_result(session, err) : take_error(session, err);
    case MARIADB_STEP_NEXT:
        return progress->failed == 0 ? begin_result(session, err) : take_error(session, err);
    default:
        return take_row(session, is_row, err);
    }
}

/* ---- texts ---- */

/* Reading a row may not wait even once, as while the socket is always ready. */
static enum server_io look_around(struct mariadb_session *session, uint64_t deadline_us)
{
    struct mariadb_progress *progress = &session->progress;
    if (progress->steps++ < STEPS_BETWEEN_LOOKS)
        return SERVER_IO_READY;
    progress->steps = 0;
    uint64_t now_us = clock_monotonic_us();
    if (now_us >= deadline_us)
        return SERVER_IO_TIMEOUT;
    return server_io_wait(session->base.options.meanwhile, -1, 0, -1, now_us) == SERVER_IO_OVER
               ? SERVER_IO_OVER
               : SERVER_IO_READY;
}

static enum server_io await(struct mariadb_session *session, int wake_fd, uint64_t until_us)
{
    int waits_for = session->progress.waits_for;
    short events = (short)((waits_for & MYSQL_WAIT_READ ? POLLIN : 0) |
                           (waits_for & MYSQL_WAIT_WRITE ? POLLOUT : 0) |
                           (waits_for & MYSQL_WAIT_EXCEPT ? POLLPRI : 0));
    return server_io_wait(session->base.options.meanwhile, mysql_get_socket(session->conn), events,
                          wake_fd, until_us);
}

/* Without a wait. A call of libmariadb's own shows whether the socket is ready. SERVER_OK: the step
 * has ended. */
static enum server_outcome try_step(struct mariadb_session *session)
{
    struct mariadb_progress *progress = &session->progress;
    int events = progress->waits_for & (MYSQL_WAIT_READ | MYSQL_WAIT_WRITE);
    progress->waits_for = run_on(session, progress->has_begun ? events : 0);
    if (progress->waits_for != 0)
        return SERVER_WOKEN;
    progress->has_begun = false;
    return SERVER_OK;
}

/* SERVER_OK: the step has ended. */
static enum server_outcome run_step(struct mariadb_session *session, int wake_fd, uint64_t until_us,
                                    uint64_t deadline_us, struct err *err)
{
    struct mariadb_progress *progress = &session->progress;
    uint64_t end_us = until_us < deadline_us ? until_us : deadline_us;
    if (until_us == 0)
        return try_step(session);
    if (!progress->has_begun)
        progress->waits_for = run_on(session, 0);
    while (progress->waits_for != 0) {
        enum server_io ready = await(session, wake_fd, end_us);
        if (ready == SERVER_IO_WOKEN || (ready == SERVER_IO_TIMEOUT && end_us < deadline_us))
            return SERVER_WOKEN;
        if (ready != SERVER_IO_READY)
            return time_out(session, ready, err);
        progress->waits_for =
            run_on(session, progress->waits_for & (MYSQL_WAIT_READ | MYSQL_WAIT_WRITE));
    }
    progress->has_begun = false;
    return SERVER_OK;
}

enum server_outcome mariadb_exchange_drive(struct mariadb_session *session, int wake_fd,
                                           uint64_t until_us, uint64_t deadline_us, struct err *err)
{
    if (!session->progress.is_open)
        return mariadb_exchange_lose(session, NULL, err);
    for (;;) {
        enum server_io looked = look_around(session, deadline_us);
        if (looked != SERVER_IO_READY)
            return time_out(session, looked, err);
        enum server_outcome outcome = run_step(session, wake_fd, until_us, deadline_us, err);
        bool is_row = false;
        if (outcome == SERVER_OK)
            outcome = take_step(session, &is_row, err);
        if (outcome != SERVER_OK || is_row)
            return outcome;
    }
}

/* libmariadb sets the mode of the socket as it likes. */
static void set_nonblocking(MYSQL *conn)
{
    int fd = mysql_get_socket(conn);
    int flags = fcntl(fd, F_GETFL);
    if (flags >= 0 && (flags & O_NONBLOCK) == 0)
        (void)fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

enum server_outcome mariadb_exchange_begin(struct mariadb_session *session,
                                           const struct mariadb_text *text,
                                           struct mariadb_rows *rows, size_t rows_n,
                                           struct err *err)
{
    check(!session->progress.is_open);
    session->failure = (struct mariadb_failure){0};
    if (session->conn == NULL)
        return mariadb_exchange_lose(session, text->what, err);
    uint64_t most = session->server.text_bytes_most;
    if (most > 0 && text->sql.len > most) {
        session->failure =
            (struct mariadb_failure){.kind = MARIADB_CANNOT_HOLD, .before_sending = true};
        return server_failure_set(
            SERVER_REFUSED, session->url.target, text->what,
            arena_printf(err->arena,
                         "the text has %zu bytes, and the server accepts %llu "
                         "(max_allowed_packet)",
                         text->sql.len, (unsigned long long)most),
            err);
    }
    session->progress = (struct mariadb_progress){
        .is_open = true, .text = *text, .rows = rows, .rows_n = rows == NULL ? 0 : rows_n};
    if (text->commit > 0)
        session->base.commit = SERVER_COMMIT_SENT;
    set_nonblocking(session->conn);
    return SERVER_OK;
}

enum server_outcome mariadb_exchange_send(struct mariadb_session *session, struct err *err)
{
    bool is_row = false;
    enum server_outcome outcome = run_step(session, -1, 0, UINT64_MAX, err);
    if (outcome == SERVER_WOKEN)
        return SERVER_OK;
    return outcome == SERVER_OK ? take_step(session, &is_row, err) : outcome;
}
