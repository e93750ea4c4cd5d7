/* Notifications to the service manager, by systemd's protocol (sd_notify(3)). Without a service
 * manager, none are sent. */
#ifndef BERTH_DAEMON_NOTIFY_H
#define BERTH_DAEMON_NOTIFY_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/check.h"

/* Whether everything makes progress; the main thread. */
struct watch {
    uint64_t period_us; /* between two keep-alives; 0: none are wanted */
    uint64_t next_us;
    uint64_t steps; /* the writer's progress, and when it was last seen */
    uint64_t steps_seen_us;
    bool complained;
};

/* While the process starts. */
struct starting {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    const _Atomic uint64_t *steps;
    bool is_over;
    bool has_thread;
};

/* Requests more time as long as `steps` grows: a startup that hangs gets none, nor does one for
 * which this thread cannot be started. */
void notify_starting(struct starting *starting, const _Atomic uint64_t *steps);
void notify_started(struct starting *starting);

/* The process starts, and waits for a database server; says so, and requests time for a wait of
 * that length and for the attempt to connect after it. */
void notify_waiting(uint64_t wait_us);

void notify_ready(void);
void notify_reloading(void);
void notify_stopping(void);
/* One line that `systemctl status` shows. */
void notify_status(const char *format, ...) BERTH_PRINTF(1, 2);

void watch_begin(struct watch *watch, uint64_t now_us);

/* Must be called at least once per second, with the number of steps that the writer has made so
 * far, and the longest time that a worker has currently spent in one call. Sends the watchdog a
 * keep-alive when one is due, unless the writer has made no step, or a worker has not returned, for
 * a whole period. */
void watch_look(struct watch *watch, uint64_t now_us, uint64_t steps, uint64_t longest_us);

#endif
