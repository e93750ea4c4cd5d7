/* libpq applies its connect_timeout only in the functions that block, and gives up on an address
 * that swallows packets only when TCP does; looking up a name blocks in it, too. So each address of
 * each host gets an attempt of its own here, with its share of the time, and libpq sees addresses
 * only. Any thread. */
#include "store/postgres/session/connect.h"

#include <stdlib.h>

#include "base/clock.h"
#include "store/postgres/session/attempt.h"
#include "store/postgres/session/failure.h"
#include "store/postgres/session/hosts.h"
#include "store/postgres/session/resolve.h"

enum { ADDRESSES_MOST = 16, SECOND_US = 1000000 };

/* All attempts, and what became of them. */
struct tries {
    struct pg_attempt attempt; /* the current one */
    struct pg_failure *failure;
    struct slice reasons;
    enum server_outcome outcome; /* of all so far */
    size_t count;
    bool are_many; /* hosts: each reason names its own */
};

static uint64_t share_of(uint64_t deadline_us, size_t others)
{
    uint64_t now_us = clock_monotonic_us();
    return now_us + (deadline_us > now_us ? (deadline_us - now_us) / (others + 1) : 0);
}

/* libpq's connect_timeout, or a share of what is left for this address and `others`. */
static uint64_t deadline_of_address(const struct pg_url *url, uint64_t host_us, uint64_t all_us,
                                    size_t others)
{
    const char *given = pg_url_value(url, "connect_timeout");
    unsigned long seconds = given == NULL ? 0 : strtoul(given, NULL, 10);
    if (seconds == 0 || seconds > UINT32_MAX)
        return share_of(host_us, others);
    uint64_t end_us = clock_monotonic_us() + seconds * SECOND_US;
    return end_us < all_us ? end_us : all_us;
}

/* Counts a failed attempt. What can pass for one host can pass for all; the deadline of all has
 * passed only if there is one. */
static enum server_outcome add_failure(struct tries *tries, enum server_outcome outcome,
                                       const char *name, struct slice reason)
{
    bool names_host = !tries->are_many || name == NULL ||
                      memmem(reason.data, reason.len, name, strlen(name)) != NULL;
    struct slice parts[] = {tries->reasons, SLICE_LIT("; "),
                            names_host ? SLICE_LIT("") : slice_of(name),
                            names_host ? SLICE_LIT("") : SLICE_LIT(": "), reason};
    size_t from = tries->count == 0 ? 2 : 0;
    tries->reasons = arena_join(tries->attempt.arena, parts + from, 5 - from);
    bool all_failed = outcome == SERVER_FAILED && tries->outcome == SERVER_FAILED;
    tries->outcome = tries->count == 0 ? outcome : all_failed ? SERVER_FAILED : SERVER_RETRY;
    tries->count++;
    return tries->outcome;
}

static enum server_outcome try_address(struct tries *tries, const struct pg_host *host,
                                       uint64_t deadline_us)
{
    struct slice reason;
    tries->attempt.deadline_us = deadline_us;
    enum server_outcome outcome = pg_attempt_run(&tries->attempt, host, tries->failure, &reason);
    return outcome == SERVER_OK ? SERVER_OK : add_failure(tries, outcome, host->host, reason);
}

static enum server_outcome try_name(struct tries *tries, const struct pg_host *host,
                                    uint64_t host_us, uint64_t all_us)
{
    struct arena *arena = tries->attempt.arena;
    const char *addresses[ADDRESSES_MOST];
    const char *reason;
    size_t count;
    enum pg_resolved resolved =
        pg_resolve(host->host, host_us, tries->attempt.meanwhile, tries->attempt.stop_fd, arena,
                   ADDRESSES_MOST, addresses, &count, &reason);
    if (resolved == PG_RESOLVE_LATE)
        return add_failure(
            tries, SERVER_TIMEOUT, host->host,
            arena_printf(arena, "the name %s cannot be resolved in time", host->host));
    if (resolved == PG_RESOLVE_FAILS)
        return add_failure(
            tries, SERVER_RETRY, host->host,
            arena_printf(arena, "the name %s cannot be resolved: %s", host->host, reason));
    enum server_outcome outcome = SERVER_RETRY;
    for (size_t i = 0; i < count && outcome != SERVER_OK; i++) {
        struct pg_host one = {.host = host->host, .address = addresses[i], .port = host->port};
        outcome = try_address(
            tries, &one, deadline_of_address(tries->attempt.url, host_us, all_us, count - 1 - i));
    }
    return outcome;
}

/* `others`: hosts to be tried after this one. */
static enum server_outcome try_host(struct tries *tries, const struct pg_host *host,
                                    uint64_t deadline_us, size_t others)
{
    uint64_t host_us = share_of(deadline_us, others);
    if (host->host != NULL && host->address == NULL && pg_resolve_is_name(host->host))
        return try_name(tries, host, host_us, deadline_us);
    return try_address(tries, host,
                       deadline_of_address(tries->attempt.url, host_us, deadline_us, 0));
}

enum server_outcome pg_connect(const struct pg_url *url, const char *application_name,
                               uint64_t deadline_us, struct server_meanwhile *meanwhile,
                               int stop_fd, size_t *attempt, PGconn **conn,
                               struct pg_failure *failure, struct err *err)
{
    struct pg_host hosts[PG_HOSTS_MOST];
    size_t count;
    const char *unfit;
    if (!pg_hosts_list(url, err->arena, hosts, &count, &unfit))
        return server_failure_set(SERVER_FAILED, url->target, "reached", slice_of(unfit), err);
    struct tries tries = {
        .attempt = {.url = url,
                    .application_name = application_name,
                    .arena = err->arena,
                    .meanwhile = meanwhile,
                    .stop_fd = stop_fd},
        .failure = failure,
        .reasons = SLICE_LIT(""),
        .outcome = SERVER_RETRY, /* if no host is left */
        .are_many = count > 1,
    };
    const char *attrs = pg_url_value(url, "target_session_attrs");
    bool twice = attrs != NULL && strcmp(attrs, "prefer-standby") == 0;
    size_t attempts = twice ? 2 * count : count;
    for (size_t i = *attempt; i < attempts; i++) {
        if (twice)
            tries.attempt.session_attrs = i < count ? "standby" : "any";
        if (try_host(&tries, &hosts[i % count], deadline_us, attempts - 1 - i) == SERVER_OK) {
            *conn = tries.attempt.conn;
            *attempt = i + 1;
            return SERVER_OK;
        }
    }
    return server_failure_set(tries.outcome, url->target, "reached", tries.reasons, err);
}
