/* What the service manager is told, by systemd's protocol (sd_notify(3)). Without a manager nothing
 * is. */
#ifndef BERTH_DAEMON_NOTIFY_H
#define BERTH_DAEMON_NOTIFY_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/check.h"

/* Whether what has to go on does go on; the main thread's. */
struct watch {
    uint64_t period_us; /* between two words to the watchdog; 0: none is wanted */
    uint64_t next_us;
    uint64_t steps; /* the writer's, when it was last seen to have made one */
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

/* Asks for more time as long as `steps` grows: a start that hangs gets none, nor one that gets no
 * thread for it. */
void notify_starting(struct starting *starting, const _Atomic uint64_t *steps);
void notify_started(struct starting *starting);

void notify_ready(void);
void notify_reloading(void);
void notify_stopping(void);
/* One line that `systemctl status` shows. */
void notify_status(const char *format, ...) BERTH_PRINTF(1, 2);

void watch_begin(struct watch *watch, uint64_t now_us);

/* To be called every second or more often: with how many steps the writer has made so far, and for
 * how long a worker has been in one call at the longest. Tells the watchdog, when it is time,
 * unless the writer has made no step, or a worker has not come back, for a whole period. */
void watch_look(struct watch *watch, uint64_t now_us, uint64_t steps, uint64_t longest_us);

#endif
