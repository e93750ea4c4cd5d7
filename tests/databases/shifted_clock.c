/* Loaded before the C library (LD_PRELOAD): the wall clock of the process differs from the
 * machine's by BERTH_TEST_CLOCK_SHIFT seconds. The other clocks are the machine's. */
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *now)
{
    static int (*real)(clockid_t, struct timespec *);
    static time_t shift;
    if (real == NULL) {
        const char *text = getenv("BERTH_TEST_CLOCK_SHIFT");
        shift = text == NULL ? 0 : (time_t)strtol(text, NULL, 10);
        real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    }
    int failed = real(clock, now);
    if (failed == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        now->tv_sec += shift;
    return failed;
}
