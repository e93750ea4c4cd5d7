/* PQconnectPoll() with a poll() and a deadline of our own. libpq applies its connect_timeout only
 * in the functions that block, and gives up on a host that swallows packets only when TCP does.
 * Each host therefore gets a connection attempt of its own, with its share of the time.
 *
 * A failed attempt has no result, only a message, which is translated. In its verbose form it has
 * the SQLSTATE, which tells whether trying again can help. Any thread. */
#include "store/postgres/connect.h"

#include <ctype.h>
#include <poll.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/clock.h"
#include "store/postgres/failure.h"
#include "store/postgres/io.h"

enum { HOSTS_MOST = 32, OWN_PARAMETERS = 12, SECOND_US = 1000000 };

/* Values for one attempt; NULL: as the URL has it. */
struct host {
    const char *host;
    const char *address;
    const char *port;
};

struct attempt {
    const struct pg_url *url;
    const char *application_name;
    const char *session_attrs; /* NULL: the URL's */
    struct arena *arena;
    uint64_t deadline_us;
    PGconn *conn;
};

static size_t parts_of_list(const char *list)
{
    size_t n = list == NULL ? 0 : 1;
    for (; n > 0 && *list != '\0'; list++)
        n += *list == ',';
    return n;
}

/* The part of a list of `n`; a single part is that of all hosts, and an empty one is no value. */
static const char *part(struct arena *arena, const char *list, size_t at)
{
    if (list == NULL)
        return NULL;
    struct slice rest = slice_of(list);
    struct slice found = slice_cut(&rest, ',');
    for (bool is_list = parts_of_list(list) > 1; is_list && at > 0; at--)
        found = slice_cut(&rest, ',');
    return arena_copy(arena, found).data;
}

/* The hosts of the URL; one without values, if libpq is to find it in its environment. */
static bool list_hosts(const struct pg_url *url, struct arena *arena,
                       struct host hosts[static HOSTS_MOST], size_t *count, const char **reason)
{
    const char *names = pg_url_value(url, "host");
    const char *addresses = pg_url_value(url, "hostaddr");
    const char *ports = pg_url_value(url, "port");
    *count = parts_of_list(addresses != NULL ? addresses : names);
    if (*count <= 1) {
        *count = 1;
        hosts[0] = (struct host){0};
        return true;
    }
    bool fits = *count <= HOSTS_MOST &&
                (parts_of_list(ports) <= 1 || parts_of_list(ports) == *count) &&
                (names == NULL || addresses == NULL || parts_of_list(names) == *count);
    *reason =
        *count > HOSTS_MOST ? "there are too many hosts" : "there are not as many ports as hosts";
    for (size_t i = 0; i < *count && fits; i++)
        hosts[i] = (struct host){.host = part(arena, names, i),
                                 .address = part(arena, addresses, i),
                                 .port = part(arena, ports, i)};
    return fits;
}

/* ---- the parameters of one attempt ---- */

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
static void set_default(const struct attempt *attempt, struct parameters *all, const char *name,
                        const char *value)
{
    if (pg_url_value(attempt->url, name) == NULL)
        set(all, name, value);
}

/* A dead peer is noticed within 15 seconds even on a connection that waits for nothing. */
static struct parameters parameters_of(const struct attempt *attempt, const struct host *host)
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

/* ---- one attempt ---- */

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

/* Without a SQLSTATE, libpq itself failed: to reach the host, or to understand a parameter. The
 * process has no locale, so its messages are not translated. */
static bool is_unreachable(const char *message)
{
    return strncmp(message, "connection to server", 20) == 0 ||
           strncmp(message, "could not translate host name", 29) == 0;
}

static enum pg_outcome end_attempt(struct attempt *attempt, struct pg_failure *failure,
                                   struct slice *reason)
{
    const char *message = PQerrorMessage(attempt->conn);
    *failure = (struct pg_failure){0};
    *reason = pg_failure_line(attempt->arena, read_sqlstate(message, failure->sqlstate));
    enum pg_outcome result = pg_failure_classify(failure->sqlstate);
    if (failure->sqlstate[0] == '\0')
        result = is_unreachable(message) ? PG_RETRY : PG_FAILED;
    else if (result != PG_RETRY || strcmp(failure->sqlstate, "08P01") == 0)
        result = PG_FAILED; /* 08P01: a pooler does not accept a parameter */
    PQfinish(attempt->conn);
    attempt->conn = NULL;
    return result;
}

static enum pg_outcome attempt_timeout(struct attempt *attempt, struct slice *reason)
{
    const char *host = PQhost(attempt->conn);
    *reason = arena_printf(attempt->arena, "%s port %s does not answer", host == NULL ? "" : host,
                           PQport(attempt->conn));
    PQfinish(attempt->conn);
    attempt->conn = NULL;
    return PG_TIMEOUT;
}

static enum pg_outcome try_host(struct attempt *attempt, const struct host *host,
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
        if (pg_io_wait(PQsocket(attempt->conn), events, -1, attempt->deadline_us) == PG_IO_TIMEOUT)
            return attempt_timeout(attempt, reason);
        next = PQconnectPoll(attempt->conn);
        if (next == PGRES_POLLING_FAILED)
            return end_attempt(attempt, failure, reason);
    }
    PQsetErrorVerbosity(attempt->conn, PQERRORS_DEFAULT);
    check(PQsetnonblocking(attempt->conn, 1) == 0);
    return PG_OK;
}

/* ---- all hosts ---- */

/* libpq's connect_timeout, or an equal share of what is left for this attempt and `others`. */
static uint64_t deadline_of_attempt(const struct pg_url *url, uint64_t deadline_us, size_t others)
{
    uint64_t now_us = clock_monotonic_us();
    uint64_t left_us = deadline_us > now_us ? deadline_us - now_us : 0;
    const char *given = pg_url_value(url, "connect_timeout");
    unsigned long seconds = given == NULL ? 0 : strtoul(given, NULL, 10);
    uint64_t share_us = left_us / (others + 1);
    if (seconds > 0 && seconds < UINT32_MAX)
        share_us = seconds * SECOND_US < left_us ? seconds * SECOND_US : left_us;
    return now_us + share_us;
}

/* Of several attempts: what can pass, passes. */
static enum pg_outcome worse(enum pg_outcome all, enum pg_outcome one, size_t attempts)
{
    if (attempts == 1)
        return one;
    return all == PG_FAILED && one == PG_FAILED ? PG_FAILED : PG_RETRY;
}

static struct slice add_reason(struct arena *arena, struct slice all, struct slice one,
                               const struct host *host)
{
    const char *name = host->host != NULL ? host->host : host->address;
    struct slice parts[] = {all, SLICE_LIT("; "), name == NULL ? SLICE_LIT("") : slice_of(name),
                            SLICE_LIT(": "), one};
    size_t from = all.len == 0 ? 2 : 0;
    return name == NULL ? one : arena_join(arena, parts + from, 5 - from);
}

enum pg_outcome pg_connect(const struct pg_url *url, const char *application_name,
                           uint64_t deadline_us, PGconn **conn, struct pg_failure *failure,
                           struct err *err)
{
    struct host hosts[HOSTS_MOST];
    size_t count;
    const char *unfit;
    struct slice reasons = {0};
    enum pg_outcome result = PG_FAILED;
    if (!list_hosts(url, err->arena, hosts, &count, &unfit))
        return pg_failure_set(PG_FAILED, url->target, "reached", slice_of(unfit), err);
    const char *attrs = pg_url_value(url, "target_session_attrs");
    bool twice = attrs != NULL && strcmp(attrs, "prefer-standby") == 0;
    size_t attempts = twice ? 2 * count : count;
    for (size_t i = 0; i < attempts; i++) {
        struct attempt attempt = {
            .url = url,
            .application_name = application_name,
            .session_attrs = !twice      ? NULL
                             : i < count ? "standby"
                                         : "any",
            .arena = err->arena,
            .deadline_us = deadline_of_attempt(url, deadline_us, attempts - 1 - i),
        };
        struct slice reason;
        enum pg_outcome one = try_host(&attempt, &hosts[i % count], failure, &reason);
        *conn = attempt.conn;
        if (one == PG_OK)
            return PG_OK;
        result = i == 0 ? one : worse(result, one, attempts);
        reasons = add_reason(err->arena, reasons, reason, &hosts[i % count]);
    }
    return pg_failure_set(result, url->target, "reached", reasons, err);
}
