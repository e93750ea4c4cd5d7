/* Waiting on the monotonic clock: times are those of clock_monotonic_us(). Any thread. */
#ifndef BERTH_BASE_WAIT_H
#define BERTH_BASE_WAIT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Initialises a condition variable whose timed waits use that clock. Destroy it with
 * pthread_cond_destroy(). */
void wait_init(pthread_cond_t *condition);

/* Waits until a signal or a spurious wakeup (true) or until the given time (false). The caller
 * holds the lock. */
bool wait_until(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t until_us);

/* Sleeps at least that long, even if signals arrive. */
void wait_sleep_us(uint64_t us);

#endif
