/* See connector.h. */
#include "store/server/connector.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/clock.h"
#include "store/server/io.h"

enum { PAUSE_LEAST_US = 1000000, PAUSE_MOST_US = 60000000 };

struct server_connector {
    const struct server_connection_counts *counts;
    uint64_t timeout_us;
    _Atomic bool is_stopped;
    _Atomic uint64_t again_us;    /* no attempt is worth it before then, */
    _Atomic uint64_t made_before; /* unless another number of sessions has been connected */
    uint64_t pause_us;            /* used by the thread only; 0: the last attempt succeeded */
    pthread_t thread;
    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t wake;
    pthread_cond_t dropped;
    struct server_connecting *waiting[SERVER_CONNECTING_MOST];
    unsigned waiting_count;
    struct server_connecting *connecting; /* NULL: none is */
    bool is_ending;
};

bool server_connector_may_try(const struct server_connector *connector)
{
    return clock_monotonic_us() >= connector->again_us ||
           connector->counts->made != connector->made_before;
}

static void note_attempt(struct server_connector *connector, bool is_connected)
{
    uint64_t pause_us = connector->pause_us * 2;
    if (pause_us < PAUSE_LEAST_US)
        pause_us = PAUSE_LEAST_US;
    if (pause_us > PAUSE_MOST_US)
        pause_us = PAUSE_MOST_US;
    connector->pause_us = is_connected ? 0 : pause_us;
    connector->made_before = connector->counts->made;
    connector->again_us = is_connected ? 0 : clock_monotonic_us() + pause_us;
}

/* The lineage does not know standbys. If one were promoted before the session is first used, nobody
 * would notice when yet another server takes its place. */
static bool connect_to_primary(struct server_session *session, uint64_t deadline_us)
{
    struct err ignored = {.arena = arena_create()};
    bool ok = server_session_connect(session, deadline_us, &ignored) == SERVER_OK;
    arena_destroy(ignored.arena);
    if (ok && session->is_standby) {
        server_session_close(session);
        return false;
    }
    return ok;
}

static void connect_one(struct server_connector *connector, struct server_connecting *connecting)
{
    uint64_t deadline_us = clock_monotonic_us() + connector->timeout_us;
    bool is_connected =
        server_connector_may_try(connector) && connect_to_primary(connecting->session, deadline_us);
    if (is_connected || server_connector_may_try(connector))
        note_attempt(connector, is_connected);
    connecting->done(connecting, is_connected);
}

static void *run_connector(void *cls)
{
    struct server_connector *connector = cls;
    pthread_setname_np(pthread_self(), "connector");
    pthread_mutex_lock(&connector->lock);
    while (!connector->is_ending) {
        if (connector->waiting_count == 0) {
            pthread_cond_wait(&connector->wake, &connector->lock);
            continue;
        }
        connector->connecting = connector->waiting[0];
        connector->waiting_count--;
        memmove(connector->waiting, connector->waiting + 1,
                connector->waiting_count * sizeof(connector->waiting[0]));
        pthread_mutex_unlock(&connector->lock);
        connect_one(connector, connector->connecting);
        pthread_mutex_lock(&connector->lock);
        connector->connecting = NULL;
        pthread_cond_signal(&connector->dropped);
    }
    pthread_mutex_unlock(&connector->lock);
    return NULL;
}

struct server_connector *server_connector_create(const struct server_connection_counts *counts,
                                                 uint64_t timeout_us)
{
    struct server_connector *connector = calloc(1, sizeof(*connector));
    check(connector != NULL);
    connector->counts = counts;
    connector->timeout_us = timeout_us;
    pthread_mutex_init(&connector->lock, NULL);
    pthread_cond_init(&connector->wake, NULL);
    pthread_cond_init(&connector->dropped, NULL);
    if (pthread_create(&connector->thread, NULL, run_connector, connector) == 0)
        return connector;
    free(connector);
    return NULL;
}

void server_connector_stop(struct server_connector *connector)
{
    connector->is_stopped = true;
}

void server_connector_destroy(struct server_connector *connector)
{
    if (connector == NULL)
        return;
    server_connector_stop(connector);
    pthread_mutex_lock(&connector->lock);
    check(connector->waiting_count == 0);
    connector->is_ending = true;
    pthread_mutex_unlock(&connector->lock);
    pthread_cond_signal(&connector->wake);
    pthread_join(connector->thread, NULL);
    pthread_cond_destroy(&connector->dropped);
    pthread_cond_destroy(&connector->wake);
    pthread_mutex_destroy(&connector->lock);
    free(connector);
}

static bool connector_goes_on(void *cls)
{
    const struct server_connector *connector = cls;
    return !connector->is_stopped;
}

struct server_meanwhile server_connector_meanwhile(struct server_connector *connector)
{
    return (struct server_meanwhile){.run = connector_goes_on, .cls = connector};
}

void server_connector_connect(struct server_connector *connector,
                              struct server_connecting *connecting)
{
    pthread_mutex_lock(&connector->lock);
    check(connector->waiting_count < SERVER_CONNECTING_MOST);
    connector->waiting[connector->waiting_count++] = connecting;
    pthread_mutex_unlock(&connector->lock);
    pthread_cond_signal(&connector->wake);
}

void server_connector_drop(struct server_connector *connector,
                           const struct server_connecting *connecting)
{
    unsigned kept = 0;
    pthread_mutex_lock(&connector->lock);
    for (unsigned i = 0; i < connector->waiting_count; i++)
        if (connector->waiting[i] != connecting)
            connector->waiting[kept++] = connector->waiting[i];
    connector->waiting_count = kept;
    while (connector->connecting == connecting)
        pthread_cond_wait(&connector->dropped, &connector->lock);
    pthread_mutex_unlock(&connector->lock);
}
