/* Waiting on the monotonic clock: instants are those of clock_monotonic_us(). Any thread. */
#ifndef BERTH_BASE_WAIT_H
#define BERTH_BASE_WAIT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* A condition variable whose timed waits go by that clock. It ends with pthread_cond_destroy(). */
void wait_init(pthread_cond_t *condition);

/* Waits under the lock until somebody signals, or wakes for no reason: true; or until the instant:
 * false. */
bool wait_until(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t until_us);

/* Sleeps so long at least, whatever signals come. */
void wait_sleep_us(uint64_t us);

#endif
