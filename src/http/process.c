/* State shared by all servers of a process: memory for large answers, and file descriptors.
 *
 * Answers: an answer counts with its length from when it is written until its exchange ends. A
 * client may hold no more than what its answers leave free, so a slow reader gets at most half of
 * the memory, and each further one half of the rest. Clients are identified by a hash, as in
 * shares.h.
 *
 * Descriptors: the limit applies to the whole process, whichever listener uses them. Some are set
 * aside for the database, the log, Keystone and the listeners whose connections are reserved
 * (metrics and health), and each server needs some for its workers: on a machine with many
 * processors these are more than all others.
 *
 * Any thread. */
#include <limits.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "http/http_internal.h"

enum {
    DESCRIPTORS_FOR_OTHERS = 96,
    SERVER_DESCRIPTORS = 4, /* for the listener, the acceptor, and two for handshakes */
    WORKER_DESCRIPTORS = 2, /* the library's epoll set and its wake-up descriptor */
    CONNECTIONS_AT_LEAST = 8,
    RESERVED_PART = 8
};

static unsigned at_most(unsigned wanted, uint64_t possible)
{
    return wanted < possible ? wanted : (unsigned)possible;
}

static void share_out(struct http_process *process)
{
    uint64_t left = 2 * CONNECTIONS_AT_LEAST;
    if (process->descriptors > process->taken_descriptors + left)
        left = process->descriptors - process->taken_descriptors;
    uint64_t part = left / RESERVED_PART;
    unsigned reserved =
        at_most(process->reserved_max, part < CONNECTIONS_AT_LEAST ? CONNECTIONS_AT_LEAST : part);
    atomic_store(&process->connections_max[true], reserved);
    atomic_store(&process->connections_max[false], (unsigned)(left - reserved));
}

static uint64_t descriptors_of(const struct http_server *server)
{
    return SERVER_DESCRIPTORS + (uint64_t)WORKER_DESCRIPTORS * server->exchange_pool_count;
}

struct http_process *http_process_create(uint64_t large_answers_bytes, unsigned reserved_max)
{
    struct http_process *process = calloc(1, sizeof(*process));
    check(process != NULL);
    process->large_answers_bytes = large_answers_bytes;
    process->reserved_max = reserved_max;
    process->taken_descriptors = DESCRIPTORS_FOR_OTHERS;
    struct rlimit files;
    process->descriptors = UINT_MAX;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < UINT_MAX)
        process->descriptors = files.rlim_cur;
    share_out(process);
    pthread_mutex_init(&process->lock, NULL);
    return process;
}

void http_process_destroy(struct http_process *process)
{
    if (process == NULL)
        return;
    check(process->servers == NULL);
    pthread_mutex_destroy(&process->lock);
    free(process);
}

void process_add(struct http_process *process, struct http_server *server)
{
    pthread_mutex_lock(&process->lock);
    server->next_of_process = process->servers;
    process->servers = server;
    process->taken_descriptors += descriptors_of(server);
    share_out(process);
    pthread_mutex_unlock(&process->lock);
}

void process_remove(struct http_process *process, struct http_server *server)
{
    pthread_mutex_lock(&process->lock);
    struct http_server **at = &process->servers;
    while (*at != server)
        at = &(*at)->next_of_process;
    *at = server->next_of_process;
    process->taken_descriptors -= descriptors_of(server);
    share_out(process);
    pthread_mutex_unlock(&process->lock);
}

/* Whether the limit allows an answer of that many bytes, before which all clients and this one hold
 * that many. */
static bool is_room(const struct http_process *process, uint64_t all, uint64_t own, uint64_t bytes)
{
    uint64_t limit = process->large_answers_bytes;
    return all + bytes <= limit && own + bytes <= limit - all;
}

bool process_take_answer(struct http_process *process, uint64_t owner, uint64_t bytes,
                         bool whatever)
{
    /* what cannot fit is not counted even for a moment: others would be refused because of it */
    if (!whatever && !is_room(process, atomic_load(&process->large_bytes),
                              shares_of(&process->by_owner, owner), bytes))
        return false;
    uint64_t all = atomic_fetch_add(&process->large_bytes, bytes);
    uint64_t own = shares_add(&process->by_owner, owner, bytes) - bytes;
    if (whatever || is_room(process, all, own, bytes))
        return true;
    process_give_answer(process, owner, bytes);
    return false;
}

void process_give_answer(struct http_process *process, uint64_t owner, uint64_t bytes)
{
    atomic_fetch_sub(&process->large_bytes, bytes);
    shares_subtract(&process->by_owner, owner, bytes);
}
