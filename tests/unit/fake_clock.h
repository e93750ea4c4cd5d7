/* A clock that a test moves: the program's deadlines pass at once, and none passes by itself
 * because the machine is slow. For programs that are linked with fake_clock_dep, whose
 * clock_monotonic_us() and clock_coarse_us() are this clock, and whose wait_until() and
 * wait_sleep_us() wait for it. */
#ifndef BERTH_TESTS_FAKE_CLOCK_H
#define BERTH_TESTS_FAKE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Stops the clock, which otherwise runs as the real one does, and lets it run again. Sleeps still
 * end when their real time is over. */
void fake_clock_stop(void);
void fake_clock_run(void);

/* Puts it forward. Returns when those whose wait has ended have done what they waited for and wait
 * again, or after a second. One thread. */
void fake_clock_advance_ms(unsigned ms);

/* Puts it forward and returns at once. Any thread. */
void fake_clock_add_us(uint64_t us);

/* Whether this thread's waits and sleeps take no time: each puts the clock forward to its end,
 * unless it is a wait that somebody ends within a millisecond. */
void fake_clock_rush(bool rushes);

/* How many sleeps (wait_sleep_us) have begun, of all threads. */
uint64_t fake_clock_sleeps(void);

/* Whether a thread last waited for a time that is so far from now. */
bool fake_clock_is_awaited_in_ms(unsigned least_ms, unsigned most_ms);

#endif
