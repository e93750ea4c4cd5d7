/* Stopping: requests in progress are finished within [berth] stop_grace, no accepted client is
 * dropped without an answer, and nodes finish transient states that are about to end. The main
 * thread.
 *
 * A second signal ends the process at once, whatever it is waiting for: see end_at_once(). */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "api/services/expensive.h"
#include "api/services/readiness.h"
#include "api/services/slow_lane.h"
#include "baremetal/write/conductor.h"
#include "base/clock.h"
#include "base/wait.h"
#include "daemon/daemon.h"
#include "log/log.h"

enum {
    LINGER_MS = 250, /* a request already on its way on an idle connection has arrived by then */
    LOOK_MS = 10,
    STATUS_EVERY_US = 500 * 1000,
};

static void end_at_once(int signal)
{
    static const char text[] = "berthd: ended at once by a second signal\n";
    (void)signal;
    ssize_t ignored = write(STDERR_FILENO, text, sizeof(text) - 1);
    (void)ignored;
    _exit(EXIT_CUT_SHORT);
}

static void await_second_signal(void)
{
    struct sigaction action = {.sa_handler = end_at_once};
    sigset_t signals;
    sigemptyset(&action.sa_mask);
    sigemptyset(&signals);
    const int all[] = {SIGTERM, SIGINT};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        sigaction(all[i], &action, NULL);
        sigaddset(&signals, all[i]);
    }
    pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
}

static bool is_admin(const struct daemon *daemon, size_t listener)
{
    return daemon->listeners[listener].kind == LISTENER_ADMIN;
}

/* Of the admin listeners, or of all others. */
static struct http_load load_of(const struct daemon *daemon, bool admin)
{
    struct http_load sum = {0};
    for (size_t i = 0; i < daemon->listener_count; i++) {
        if (is_admin(daemon, i) != admin)
            continue;
        struct http_load load = http_server_load(daemon->listeners[i].server);
        sum.requests += load.requests;
        sum.in_service += load.in_service;
        sum.connections += load.connections;
    }
    return sum;
}

static void stop_look(struct daemon *daemon, bool admin, uint64_t *notified_us)
{
    wait_sleep_us(LOOK_MS * 1000);
    uint64_t now_us = clock_monotonic_us();
    loop_watch(daemon);
    if (now_us - *notified_us < STATUS_EVERY_US)
        return;
    struct http_load load = load_of(daemon, admin);
    notify_status("stopping: %u requests, %u connections", load.requests, load.connections);
    *notified_us = now_us;
}

/* Until no requests are left, or the grace period is over. */
static void drain(struct daemon *daemon, bool admin, uint64_t end_us)
{
    uint64_t notified_us = 0;
    for (size_t i = 0; i < daemon->listener_count; i++)
        if (is_admin(daemon, i) == admin)
            http_server_drain(daemon->listeners[i].server, LINGER_MS);
    struct http_load load = load_of(daemon, admin);
    while ((load.requests > 0 || load.connections > 0) && clock_monotonic_us() < end_us) {
        stop_look(daemon, admin, &notified_us);
        load = load_of(daemon, admin);
    }
    if (load.requests > 0) {
        log_write(LOG_LEVEL_WARNING, "berth", LOG_NO_CONTEXT,
                  "stop_grace is over: %u requests are cut off", load.requests);
        daemon->cut_short = true;
        pipeline_give_up(daemon->api.pipeline);
    }
    for (size_t i = 0; i < daemon->listener_count; i++)
        if (is_admin(daemon, i) == admin)
            http_server_cut(daemon->listeners[i].server);
    while (load_of(daemon, admin).in_service > 0)
        stop_look(daemon, admin, &notified_us);
}

static unsigned count_open(struct daemon *daemon, struct replica_reader *reader, uint64_t left_us)
{
    const struct version *version = replica_pin(reader);
    unsigned count =
        conductor_ends_before(version, &daemon->metal, clock_wall_us() + (int64_t)left_us);
    replica_unpin(reader);
    return count;
}

/* Transient states and power operations that end within the grace period: the next start would mark
 * them as failed. No new ones begin now. */
static void finish_nodes(struct daemon *daemon, uint64_t end_us)
{
    struct replica_reader *reader = replica_reader_open(daemon->api.replica);
    uint64_t notified_us = 0;
    for (uint64_t now_us; (now_us = clock_monotonic_us()) < end_us &&
                          count_open(daemon, reader, end_us - now_us) > 0;)
        stop_look(daemon, false, &notified_us);
    replica_reader_close(reader);
}

void listeners_close(struct daemon *daemon)
{
    uint64_t end_us = clock_monotonic_us() + daemon->conf->stop_grace_s * 1000000ULL;
    await_second_signal();
    notify_stopping();
    if (daemon->api.readiness != NULL)
        readiness_begin_stop(daemon->api.readiness);
    if (daemon->admin != NULL)
        admin_begin_stop(daemon->admin);
    drain(daemon, false, end_us);
    if (daemon->baremetal.conductor != NULL)
        finish_nodes(daemon, end_us);
    drain(daemon, true, end_us);
    for (size_t i = 0; i < daemon->listener_count; i++)
        http_server_stop(daemon->listeners[i].server, 0);
    daemon->listener_count = 0;
    http_process_destroy(daemon->http);
    if (daemon->admin != NULL)
        admin_destroy(daemon->admin);
    daemon->admin = NULL;
    if (daemon->api.slow_lane != NULL)
        slow_lane_stop(daemon->api.slow_lane);
    expensive_destroy(daemon->api.expensive);
    memory_budget_destroy(daemon->api.bodies);
}
