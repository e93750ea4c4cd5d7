/* Decides which connection is closed when the server has as many as allowed and another one
 * arrives.
 *
 * Connections are grouped by the address of their client, IPv6 addresses by their first 64 bits,
 * because a single host can use all addresses with the same prefix. A connection may be closed
 * while it waits for its client: when it is idle, when its request is incomplete, or when its
 * client has not read the answer for some seconds. The group with the most such connections loses
 * one: the one that has been idle for longest, or else the one with the oldest incomplete request.
 * A crowd of slow clients therefore closes its own connections, however many addresses it has, and
 * a client with few connections keeps them. Behind a proxy, all clients are one group, but a
 * connection whose request is being served is not closed, so a busy proxy loses only idle and slow
 * ones. The exception: if nothing else can be closed, connections are closed whose clients have
 * disconnected before their answer.
 *
 * Called under the server's lock, on any worker; the process-wide counts are atomic. */
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "http/http_internal.h"

enum {
    UNREAD_US = 5 * 1000 * 1000,
    STALE_US = 1000 * 1000, /* those that have waited that long are closed several at a time: a
                             * search scans all */
    AT_ONCE_MAX = 16,
    AT_ONCE_PART = 128, /* at most one in this many of all connections */
    ACCEPTED_BEYOND = 32,
};

uint64_t peer_key(const struct sockaddr *address)
{
    if (address != NULL && address->sa_family == AF_INET)
        return ((uint64_t)1 << 32) + ((const struct sockaddr_in *)address)->sin_addr.s_addr;
    if (address == NULL || address->sa_family != AF_INET6)
        return 0;
    const struct in6_addr *in6 = &((const struct sockaddr_in6 *)address)->sin6_addr;
    if (IN6_IS_ADDR_V4MAPPED(in6)) {
        uint32_t in4;
        memcpy(&in4, &in6->s6_addr[12], sizeof(in4));
        return ((uint64_t)1 << 32) + in4;
    }
    return hash_text((struct slice){(const char *)in6->s6_addr, 8});
}

static struct peer **peer_place(struct http_server *server, uint64_t key)
{
    struct peer **at = &server->peers[(key ^ key >> 8 ^ key >> 16 ^ key >> 24) % PEER_BUCKETS];
    while (*at != NULL && (*at)->key != key)
        at = &(*at)->next;
    return at;
}

struct peer *peer_enter(struct http_server *server, uint64_t key)
{
    struct peer **at = peer_place(server, key);
    if (*at == NULL) {
        *at = calloc(1, sizeof(**at));
        check(*at != NULL);
        (*at)->key = key;
    }
    (*at)->open++;
    return *at;
}

void peer_leave(struct http_server *server, struct peer *peer)
{
    if (--peer->open > 0)
        return;
    *peer_place(server, peer->key) = peer->next;
    free(peer);
}

bool peer_is_full(struct http_server *server, const struct sockaddr *address)
{
    pthread_mutex_lock(&server->lock);
    const struct peer *peer = *peer_place(server, peer_key(address));
    bool is_full = peer != NULL && peer->open >= server->limits.connections_per_address;
    pthread_mutex_unlock(&server->lock);
    return is_full;
}

/* Lower ranks are closed first. */
enum rank { RANK_IDLE, RANK_RECEIVING, RANK_UNREAD, RANK_KEPT };

struct candidate {
    struct connection *connection;
    enum rank rank;
    uint64_t since_us;
};

static struct candidate rate_connection(struct connection *connection, uint64_t now_us)
{
    uint64_t idle = atomic_load_explicit(&connection->idle_since_us, memory_order_relaxed);
    uint64_t receiving = atomic_load_explicit(&connection->receiving_us, memory_order_relaxed);
    uint64_t sending = atomic_load_explicit(&connection->sending_us, memory_order_relaxed);
    if (connection->shut)
        return (struct candidate){connection, RANK_KEPT, 0};
    if (idle != 0)
        return (struct candidate){connection, RANK_IDLE, idle};
    if (receiving != 0)
        return (struct candidate){connection, RANK_RECEIVING, receiving};
    if (sending != 0 && now_us > sending + UNREAD_US)
        return (struct candidate){connection, RANK_UNREAD, sending};
    return (struct candidate){connection, RANK_KEPT, 0};
}

static bool goes_before(const struct candidate *a, const struct candidate *b)
{
    return a->rank != b->rank ? a->rank < b->rank : a->since_us < b->since_us;
}

/* The group with the most connections that may be closed; of equal groups, the one with the oldest
 * such connection. NULL: none may be closed. */
static const struct peer *find_group(struct http_server *server, uint64_t now_us)
{
    struct peer *found = NULL;
    server->eviction_pass++;
    for (struct connection *at = server->connections; at != NULL; at = at->next) {
        struct candidate candidate = rate_connection(at, now_us);
        struct peer *peer = at->peer_group;
        if (candidate.rank == RANK_KEPT)
            continue;
        if (peer->pass != server->eviction_pass) {
            peer->pass = server->eviction_pass;
            peer->closable = 0;
            peer->since_us = UINT64_MAX;
        }
        peer->closable++;
        if (candidate.since_us < peer->since_us)
            peer->since_us = candidate.since_us;
        if (found == NULL || peer->closable > found->closable ||
            (peer->closable == found->closable && peer->since_us < found->since_us))
            found = peer;
    }
    return found;
}

/* Keeps those that are to be closed first, sorted. */
static size_t keep_first(struct candidate *first, size_t count, size_t most,
                         struct candidate candidate)
{
    if (count == most && !goes_before(&candidate, &first[count - 1]))
        return count;
    if (count < most)
        count++;
    size_t at = count - 1;
    for (; at > 0 && goes_before(&candidate, &first[at - 1]); at--)
        first[at] = first[at - 1];
    first[at] = candidate;
    return count;
}

/* Shuts down connections whose request the service has and whose clients have disconnected, or have
 * at least closed their sending side. Only used when nothing else can be closed, because the latter
 * may still read. */
static bool shut_gone(struct http_server *server)
{
    unsigned count = 0;
    for (struct connection *at = server->connections; at != NULL && count < AT_ONCE_MAX;
         at = at->next) {
        struct pollfd socket = {.fd = at->fd, .events = POLLRDHUP};
        if (at->shut || poll(&socket, 1, 0) <= 0 ||
            (socket.revents & (POLLRDHUP | POLLHUP | POLLERR)) == 0)
            continue;
        connection_shut(server, at);
        count++;
    }
    return count > 0;
}

bool connection_limit_evict(struct http_server *server)
{
    uint64_t now_us = clock_monotonic_us();
    const struct peer *group = find_group(server, now_us);
    if (group == NULL)
        return shut_gone(server);
    struct candidate first[AT_ONCE_MAX];
    size_t most = 1 + server->limits.connections_max / AT_ONCE_PART;
    size_t count = 0;
    if (most > AT_ONCE_MAX)
        most = AT_ONCE_MAX;
    for (struct connection *at = server->connections; at != NULL; at = at->next) {
        struct candidate candidate = {at, RANK_KEPT, 0};
        if (at->peer_group == group)
            candidate = rate_connection(at, now_us);
        if (candidate.rank != RANK_KEPT)
            count = keep_first(first, count, most, candidate);
    }
    for (size_t i = 0; i < count; i++)
        if (i == 0 || first[i].since_us + STALE_US < now_us)
            connection_shut(server, first[i].connection);
    return count > 0; /* a connection that was answered meanwhile is no candidate any more */
}

bool connection_limit_is_reached(const struct http_server *server)
{
    const struct http_process *process = server->process;
    unsigned open = atomic_load(&process->connections[server->limits.is_reserved]);
    uint64_t handed =
        atomic_load(&server->connections_handed) - atomic_load(&server->connections_taken);
    unsigned most = atomic_load(&process->connections_max[server->limits.is_reserved]);
    return most < UINT_MAX - ACCEPTED_BEYOND && open + handed >= most + ACCEPTED_BEYOND;
}

static struct http_server *find_fullest(struct http_process *process, bool is_reserved)
{
    struct http_server *fullest = NULL;
    for (struct http_server *at = process->servers; at != NULL; at = at->next_of_process)
        if (at->limits.is_reserved == is_reserved &&
            (fullest == NULL ||
             atomic_load(&at->connection_count) > atomic_load(&fullest->connection_count)))
            fullest = at;
    return fullest;
}

bool connection_limit_enter_process(struct http_server *server)
{
    struct http_process *process = server->process;
    bool is_reserved = server->limits.is_reserved;
    if (atomic_fetch_add(&process->connections[is_reserved], 1) <
        atomic_load(&process->connections_max[is_reserved]))
        return true;
    pthread_mutex_lock(&process->lock);
    struct http_server *fullest = find_fullest(process, is_reserved);
    pthread_mutex_lock(&fullest->lock);
    bool has_room = connection_limit_evict(fullest);
    pthread_mutex_unlock(&fullest->lock);
    pthread_mutex_unlock(&process->lock);
    return has_room;
}

void connection_limit_leave_process(struct http_server *server)
{
    atomic_fetch_sub(&server->process->connections[server->limits.is_reserved], 1);
}
