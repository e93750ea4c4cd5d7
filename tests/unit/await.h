/* Waiting in tests for what another thread does: for a condition, never for a time alone. */
#ifndef BERTH_TESTS_AWAIT_H
#define BERTH_TESTS_AWAIT_H

#include <stdint.h>
#include <time.h>

#include "unit.h"

enum { AWAIT_SECONDS = 30, AWAIT_PAUSE_US = 500 };

static inline void await_pause(void)
{
    nanosleep(&(struct timespec){.tv_nsec = AWAIT_PAUSE_US * 1000}, NULL);
}

/* The real clock's seconds, whatever a test does to its own. */
static inline time_t await_now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

/* Evaluates the condition again and again until it holds. Fails after half a minute. */
#define AWAIT(condition)                                                                           \
    do {                                                                                           \
        const time_t await_end_s = await_now_s() + AWAIT_SECONDS;                                  \
        while (!(condition)) {                                                                     \
            if (await_now_s() > await_end_s)                                                       \
                fail_msg("in vain: %s", #condition);                                               \
            await_pause();                                                                         \
        }                                                                                          \
    } while (0)

#endif
