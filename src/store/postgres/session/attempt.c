/* PQconnectPoll() with a poll() and a deadline of our own.
 *
 * A failed attempt has no result, only a message, which a server writes in its own language. In its
 * verbose form it has the SQLSTATE, which tells whether trying again can help. Any thread. */
#include "store/postgres/session/attempt.h"

#include <ctype.h>
#include <poll.h>

#include "store/postgres/session/failure.h"
#include "store/server/io.h"
#include "store/store.h"

enum { OWN_PARAMETERS = 12 };

struct parameters {
    const char **names;
    const char **values;
    size_t count;
};

/* Replaces the value, or appends it. */
static void set(struct parameters *all, const char *name, const char *value)
{
    size_t at = 0;
    while (at < all->count && strcmp(all->names[at], name) != 0)
        at++;
    all->names[at] = name;
    all->values[at] = value;
    all->count += at == all->count;
}

/* Unless the URL has it. */
static void set_default(const struct pg_attempt *attempt, struct parameters *all, const char *name,
                        const char *value)
{
    if (pg_url_value(attempt->url, name) == NULL)
        set(all, name, value);
}

/* A dead peer is noticed within 15 seconds even on a connection that waits for nothing. */
static struct parameters parameters_of(const struct pg_attempt *attempt, const struct pg_host *host)
{
    size_t room = attempt->url->count + OWN_PARAMETERS;
    struct parameters all = {
        .names = arena_array(attempt->arena, room, sizeof(char *)),
        .values = arena_array(attempt->arena, room, sizeof(char *)),
        .count = attempt->url->count,
    };
    for (size_t i = 0; i < all.count; i++) {
        all.names[i] = attempt->url->keywords[i];
        all.values[i] = attempt->url->values[i];
    }
    set_default(attempt, &all, "fallback_application_name", attempt->application_name);
    set_default(attempt, &all, "keepalives_idle", "5");
    set_default(attempt, &all, "keepalives_interval", "5");
    set_default(attempt, &all, "keepalives_count", "2");
    set_default(attempt, &all, "tcp_user_timeout", "15000");
    /* all texts are UTF-8, whatever the URL has for Python's sake */
    set(&all, "client_encoding", "UTF8");
    if (host->host != NULL)
        set(&all, "host", host->host);
    if (host->address != NULL)
        set(&all, "hostaddr", host->address);
    if (host->port != NULL)
        set(&all, "port", host->port);
    if (attempt->session_attrs != NULL)
        set(&all, "target_session_attrs", attempt->session_attrs);
    all.names[all.count] = all.values[all.count] = NULL;
    return all;
}

static void ignore_notice(void *cls, const PGresult *notice)
{
    (void)cls;
    (void)notice;
}

/* Finds "FATAL:  57P03: the database system is starting up" in libpq's message: reads the SQLSTATE
 * and skips what is before the text. */
static const char *read_sqlstate(const char *message, char sqlstate[6])
{
    for (const char *at = strstr(message, ":  "); at != NULL; at = strstr(at + 1, ":  ")) {
        size_t len = 0;
        while (isupper((unsigned char)at[3 + len]) || isdigit((unsigned char)at[3 + len]))
            len++;
        if (len == 5 && at[8] == ':' && at[9] == ' ') {
            memcpy(sqlstate, at + 3, 5);
            sqlstate[5] = '\0';
            return at + 10;
        }
    }
    sqlstate[0] = '\0';
    return message;
}

/* Without a SQLSTATE, libpq itself failed: to reach the host, to trust its certificate, or to
 * understand a parameter. The process has no locale, so its messages are not translated. */
static bool is_unreachable(const char *message)
{
    bool is_network = strncmp(message, "connection to server", 20) == 0 ||
                      strncmp(message, "could not translate host name", 29) == 0;
    return is_network && strstr(message, "certificate") == NULL;
}

static enum server_outcome end_attempt(struct pg_attempt *attempt, struct pg_failure *failure,
                                       struct slice *reason)
{
    const char *message = PQerrorMessage(attempt->conn);
    *failure = (struct pg_failure){0};
    *reason = server_failure_line(attempt->arena, read_sqlstate(message, failure->sqlstate));
    enum server_outcome result = pg_failure_classify(failure->sqlstate);
    if (failure->sqlstate[0] == '\0')
        result = is_unreachable(message) ? SERVER_RETRY : SERVER_FAILED;
    else if (result != SERVER_RETRY || strcmp(failure->sqlstate, "08P01") == 0)
        result = SERVER_FAILED; /* 08P01: a pooler does not accept a parameter */
    PQfinish(attempt->conn);
    attempt->conn = NULL;
    return result;
}

static enum server_outcome attempt_timeout(struct pg_attempt *attempt, enum server_io why,
                                           struct slice *reason)
{
    const char *host = PQhost(attempt->conn);
    *reason = why == SERVER_IO_OVER ? SLICE_LIT(STORE_STOPPING)
                                    : arena_printf(attempt->arena, "%s port %s does not answer",
                                                   host == NULL ? "" : host, PQport(attempt->conn));
    PQfinish(attempt->conn);
    attempt->conn = NULL;
    return SERVER_TIMEOUT;
}

enum server_outcome pg_attempt_run(struct pg_attempt *attempt, const struct pg_host *host,
                                   struct pg_failure *failure, struct slice *reason)
{
    struct parameters all = parameters_of(attempt, host);
    attempt->conn = PQconnectStartParams(all.names, all.values, 0);
    check(attempt->conn != NULL);
    PQsetNoticeReceiver(attempt->conn, ignore_notice, NULL);
    PQsetErrorVerbosity(attempt->conn, PQERRORS_VERBOSE);
    if (PQstatus(attempt->conn) == CONNECTION_BAD)
        return end_attempt(attempt, failure, reason);
    PostgresPollingStatusType next = PGRES_POLLING_WRITING;
    while (next != PGRES_POLLING_OK) {
        short events = next == PGRES_POLLING_READING ? POLLIN : POLLOUT;
        enum server_io io = server_io_wait(attempt->meanwhile, PQsocket(attempt->conn), events,
                                           attempt->stop_fd, attempt->deadline_us);
        if (io != SERVER_IO_READY)
            return attempt_timeout(attempt, io, reason);
        next = PQconnectPoll(attempt->conn);
        if (next == PGRES_POLLING_FAILED)
            return end_attempt(attempt, failure, reason);
    }
    check(PQsetnonblocking(attempt->conn, 1) == 0);
    return SERVER_OK;
}
