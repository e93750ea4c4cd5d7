/* Waiting on the monotonic clock. */
#include "base/wait.h"

#include <errno.h>
#include <time.h>

#include "base/check.h"

enum { US_PER_SECOND = 1000000, NS_PER_US = 1000 };

static struct timespec timespec_of(uint64_t us)
{
    return (struct timespec){
        .tv_sec = (time_t)(us / US_PER_SECOND),
        .tv_nsec = (long)(us % US_PER_SECOND) * NS_PER_US,
    };
}

void wait_init(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    check(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0);
    check(pthread_cond_init(condition, &attributes) == 0);
    pthread_condattr_destroy(&attributes);
}

bool wait_until(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t until_us)
{
    struct timespec until = timespec_of(until_us);
    return pthread_cond_timedwait(condition, lock, &until) != ETIMEDOUT;
}

void wait_sleep_us(uint64_t us)
{
    struct timespec left = timespec_of(us);
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR)
        continue;
}
