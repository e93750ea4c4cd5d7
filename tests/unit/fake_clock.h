/* A clock that a test moves: the program's deadlines pass at once, and none passes by itself
 * because the machine is slow. For programs that are linked with fake_clock_dep, whose
 * clock_monotonic_us() and clock_coarse_us() are this clock, and whose wait_until() and
 * wait_sleep_us() wait for it. */
#ifndef BERTH_TESTS_FAKE_CLOCK_H
#define BERTH_TESTS_FAKE_CLOCK_H

/* Stops the clock, which otherwise runs as the real one does, and lets it run again. Sleeps still
 * end when their real time is over. */
void fake_clock_stop(void);
void fake_clock_run(void);

/* Puts it forward. Returns when those whose wait has ended have done what they waited for and wait
 * again, or after a second. One thread. */
void fake_clock_advance_ms(unsigned ms);

#endif
