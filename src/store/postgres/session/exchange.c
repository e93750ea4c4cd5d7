/* The socket never blocks; each wait is a poll() until the caller's deadline. When a deadline has
 * passed, the connection is closed: a late answer cannot be mistaken for the next one, and the
 * server notices the end of the connection. No cancel request is sent, which would need a
 * connection of its own to a server that does not answer. One thread at a time. */
#include "store/postgres/session/exchange.h"

#include <poll.h>
#include <stdlib.h>

#include "store/postgres/session/failure.h"
#include "store/server/io.h"
#include "store/store.h"

void pg_exchange_free_kept(struct pg_session *session)
{
    for (size_t i = 0; i < PG_KEPT_MOST; i++)
        pg_rows_free(&session->kept[i]);
}

void pg_exchange_drop(struct pg_session *session)
{
    pg_exchange_free_kept(session);
    if (session->base.commit == SERVER_COMMIT_SENT)
        session->base.commit = SERVER_COMMIT_UNKNOWN;
    session->queue.is_open = false;
    session->queue.count = session->queue.next = 0;
    PQclear(session->queue.failed);
    session->queue.failed = NULL;
    session->prepared_n = 0;
    session->is_identified = false;
    PQfinish(session->conn);
    session->conn = NULL;
}

enum server_outcome pg_exchange_lose(struct pg_session *session, const char *what, struct err *err)
{
    const char *reason = session->conn == NULL ? "not connected" : PQerrorMessage(session->conn);
    if (reason[0] == '\0')
        reason = "the connection is broken";
    server_failure_set(SERVER_LOST, session->url.target, what,
                       server_failure_line(err->arena, reason), err);
    pg_exchange_drop(session);
    return SERVER_LOST;
}

/* Waits for the socket, or for a descriptor (-1: none). */
static enum server_io await_socket(struct pg_session *session, short events, int wake_fd,
                                   uint64_t until_us)
{
    return server_io_wait(session->base.options.meanwhile, PQsocket(session->conn), events, wake_fd,
                          until_us);
}

static enum server_outcome time_out(struct pg_session *session, const char *what,
                                    enum server_io why, struct err *err)
{
    server_failure_set(SERVER_TIMEOUT, session->url.target, what,
                       why == SERVER_IO_OVER ? SLICE_LIT(STORE_STOPPING)
                                             : SLICE_LIT("the server has not answered in time"),
                       err);
    pg_exchange_drop(session);
    return SERVER_TIMEOUT;
}

enum server_outcome pg_exchange_flush(struct pg_session *session, const char *what,
                                      uint64_t deadline_us, struct err *err)
{
    int unsent;
    while ((unsent = PQflush(session->conn)) > 0) {
        enum server_io ready = await_socket(session, POLLIN | POLLOUT, -1, deadline_us);
        if (ready != SERVER_IO_READY)
            return time_out(session, what, ready, err);
        if (PQconsumeInput(session->conn) == 0)
            return pg_exchange_lose(session, what, err);
    }
    return unsent == 0 ? SERVER_OK : pg_exchange_lose(session, what, err);
}

/* A result that comes before everything is sent is an error, after which the server reads the rest
 * without an answer. */
enum server_outcome pg_exchange_poll(struct pg_session *session, const char *what,
                                     uint64_t until_us, uint64_t deadline_us, struct err *err)
{
    uint64_t end_us = until_us < deadline_us ? until_us : deadline_us;
    int unsent;
    while ((unsent = PQflush(session->conn)) > 0 || PQisBusy(session->conn) != 0) {
        short events = unsent > 0 ? POLLIN | POLLOUT : POLLIN;
        if (unsent < 0)
            break;
        enum server_io ready = await_socket(session, events, -1, end_us);
        if (ready == SERVER_IO_TIMEOUT && end_us < deadline_us)
            return SERVER_WOKEN;
        if (ready != SERVER_IO_READY)
            return time_out(session, what, ready, err);
        if (PQconsumeInput(session->conn) == 0)
            return pg_exchange_lose(session, what, err);
    }
    return unsent == 0 ? SERVER_OK : pg_exchange_lose(session, what, err);
}

enum server_outcome pg_exchange_result(struct pg_session *session, const char *what, int wake_fd,
                                       uint64_t deadline_us, PGresult **result, struct err *err)
{
    while (PQisBusy(session->conn) != 0) {
        enum server_io ready = await_socket(session, POLLIN, wake_fd, deadline_us);
        if (ready == SERVER_IO_WOKEN)
            return SERVER_WOKEN;
        if (ready != SERVER_IO_READY)
            return time_out(session, what, ready, err);
        if (PQconsumeInput(session->conn) == 0)
            return pg_exchange_lose(session, what, err);
    }
    *result = PQgetResult(session->conn);
    return SERVER_OK;
}
