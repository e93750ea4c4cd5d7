/* What the main thread does while others serve: it waits for signals, and looks after what has to
 * be looked after from time to time. */
#include "daemon/daemon.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "base/log.h"

enum { TICK_MS = 500 };

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

/* SIGHUP. */
static void reload(struct daemon *daemon)
{
    (void)daemon;
}

/* Every TICK_MS. */
static void look_after(struct daemon *daemon)
{
    (void)daemon;
}

void loop_run(struct daemon *daemon)
{
    const struct timespec tick = {.tv_nsec = TICK_MS * 1000000L};
    sigset_t signals = awaited_signals();
    for (;;) {
        switch (sigtimedwait(&signals, NULL, &tick)) {
        case SIGTERM:
        case SIGINT:
            log_write(LOG_LEVEL_INFO, "berth", LOG_NO_CONTEXT, "stopping");
            return;
        case SIGHUP:
            reload(daemon);
            break;
        default: /* nothing came within a tick */
            look_after(daemon);
        }
    }
}
