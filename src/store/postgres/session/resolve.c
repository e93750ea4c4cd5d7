/* getaddrinfo() has no deadline: with a name server that does not answer, it takes many seconds. It
 * therefore runs in a thread of its own, which is left behind if it takes too long, and then frees
 * what it shares with the waiting thread. Any thread. */
#include "store/postgres/session/resolve.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/wait.h"
#include "store/server/io.h"

/* Shared by two threads; the last one to leave frees it. */
struct lookup {
    pthread_mutex_t lock;
    pthread_cond_t is_done;
    char *host; /* from malloc */
    bool done;
    bool is_left; /* one of the threads has left */
    int error;    /* of getaddrinfo() */
    struct addrinfo *found;
};

bool pg_resolve_is_name(const char *host)
{
    struct in6_addr address;
    return host[0] != '\0' && host[0] != '/' && host[0] != '@' && strchr(host, '%') == NULL &&
           inet_pton(AF_INET, host, &address) != 1 && inet_pton(AF_INET6, host, &address) != 1;
}

static void leave(struct lookup *lookup)
{
    bool is_last = lookup->is_left;
    lookup->is_left = true;
    pthread_mutex_unlock(&lookup->lock);
    if (!is_last)
        return;
    if (lookup->found != NULL)
        freeaddrinfo(lookup->found);
    pthread_cond_destroy(&lookup->is_done);
    pthread_mutex_destroy(&lookup->lock);
    free(lookup->host);
    free(lookup);
}

static void *look_up(void *cls)
{
    struct lookup *lookup = cls;
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    int error = getaddrinfo(lookup->host, NULL, &hints, &found);
    pthread_mutex_lock(&lookup->lock);
    lookup->error = error;
    lookup->found = error == 0 ? found : NULL;
    lookup->done = true;
    pthread_cond_signal(&lookup->is_done);
    leave(lookup);
    return NULL;
}

/* Without signals, which other threads wait for. */
static bool start_thread(struct lookup *lookup)
{
    pthread_attr_t detached;
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    check(pthread_attr_init(&detached) == 0);
    check(pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED) == 0);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&thread, &detached, look_up, lookup) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&detached);
    return started;
}

static const char *address_text(struct arena *arena, const struct addrinfo *one)
{
    char text[NI_MAXHOST];
    if (getnameinfo(one->ai_addr, one->ai_addrlen, text, sizeof(text), NULL, 0, NI_NUMERICHOST) !=
        0)
        return NULL;
    return arena_copy(arena, slice_of(text)).data;
}

static enum pg_resolved take_addresses(const struct lookup *lookup, struct arena *arena,
                                       size_t most, const char **addresses, size_t *count,
                                       const char **reason)
{
    *count = 0;
    if (!lookup->done)
        return PG_RESOLVE_LATE;
    for (const struct addrinfo *one = lookup->found; one != NULL && *count < most;
         one = one->ai_next)
        if ((addresses[*count] = address_text(arena, one)) != NULL)
            ++*count;
    *reason = lookup->error != 0 ? gai_strerror(lookup->error) : "it has no addresses";
    return *count > 0 ? PG_RESOLVED : PG_RESOLVE_FAILS;
}

/* A condition cannot be waited for together with a descriptor. */
static void await(struct lookup *lookup, uint64_t deadline_us, struct server_meanwhile *meanwhile,
                  int stop_fd)
{
    uint64_t now_us;
    while (!lookup->done && (now_us = clock_monotonic_us()) < deadline_us &&
           server_io_wait(meanwhile, -1, 0, stop_fd, now_us) == SERVER_IO_TIMEOUT) {
        uint64_t look_us = now_us + SERVER_IO_SLICE_US;
        (void)wait_until(
            &lookup->is_done, &lookup->lock,
            (stop_fd >= 0 || meanwhile != NULL) && look_us < deadline_us ? look_us : deadline_us);
    }
}

enum pg_resolved pg_resolve(const char *host, uint64_t deadline_us,
                            struct server_meanwhile *meanwhile, int stop_fd, struct arena *arena,
                            size_t most, const char **addresses, size_t *count, const char **reason)
{
    struct lookup *lookup = calloc(1, sizeof(*lookup));
    check(lookup != NULL);
    lookup->host = slice_dup(slice_of(host));
    check(pthread_mutex_init(&lookup->lock, NULL) == 0);
    wait_init(&lookup->is_done);
    pthread_mutex_lock(&lookup->lock);
    if (!start_thread(lookup)) {
        lookup->is_left = lookup->done = true;
        lookup->error = EAI_AGAIN;
    }
    await(lookup, deadline_us, meanwhile, stop_fd);
    enum pg_resolved result = take_addresses(lookup, arena, most, addresses, count, reason);
    leave(lookup);
    return result;
}
