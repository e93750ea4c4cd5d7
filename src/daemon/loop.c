/* The main thread while others serve: it waits for signals and does periodic work. */
#include "daemon/daemon.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "base/clock.h"
#include "daemon/logging.h"
#include "engine/pipeline.h"
#include "log/log.h"
#include "policy/keeper.h"
#include "replica/replica.h"

enum { TICK_MS = 500, STATUS_EVERY_US = 10 * 1000 * 1000 };

static sigset_t awaited_signals(void)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    return signals;
}

void loop_block_signals(void)
{
    sigset_t signals = awaited_signals();
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
}

void loop_watch(struct daemon *daemon)
{
    uint64_t longest_us = 0;
    for (size_t i = 0; i < daemon->listener_count; i++) {
        struct http_load load = http_server_load(daemon->listeners[i].server);
        if (load.longest_us > longest_us)
            longest_us = load.longest_us;
    }
    watch_look(&daemon->watch, clock_monotonic_us(),
               atomic_load(&daemon->store_steps) + pipeline_iterations(daemon->api.pipeline),
               longest_us);
}

/* For `systemctl status`. */
static void show_status(struct daemon *daemon, struct replica_reader *reader)
{
    uint64_t now_us = clock_monotonic_us();
    if (now_us < daemon->status_us)
        return;
    daemon->status_us = now_us + STATUS_EVERY_US;
    uint64_t providers = replica_pin(reader)->provider_by_id.count;
    replica_unpin(reader);
    notify_status("serving %llu providers on %zu addresses", (unsigned long long)providers,
                  daemon->listener_count);
}

/* Every TICK_MS. */
static void look_after(struct daemon *daemon)
{
    tls_look_after(daemon);
    policy_keeper_look(daemon->api.policies, false);
    logging_look_after();
}

void loop_run(struct daemon *daemon)
{
    const struct timespec tick = {.tv_nsec = TICK_MS * 1000000L};
    sigset_t signals = awaited_signals();
    struct replica_reader *reader = replica_reader_open(daemon->api.replica);
    notify_ready();
    watch_begin(&daemon->watch, clock_monotonic_us());
    for (;;) {
        loop_watch(daemon);
        show_status(daemon, reader);
        switch (sigtimedwait(&signals, NULL, &tick)) {
        case SIGTERM:
        case SIGINT:
            log_write(LOG_LEVEL_INFO, "berth", LOG_NO_CONTEXT, "stopping");
            replica_reader_close(reader);
            return;
        case SIGHUP:
            daemon_reload(daemon);
            break;
        default: /* no signal arrived within a tick */
            look_after(daemon);
        }
    }
}
