/* Makes one call of SQLite or of the system fail: the linker puts the functions of failing_calls.c
 * in front of the real ones (meson.build has the list). A failing call does nothing; SQLite then
 * reports the error until the connection's next call. Only calls by the thread that arms it count.
 */
#ifndef BERTH_TESTS_STORE_FAILING_CALLS_H
#define BERTH_TESTS_STORE_FAILING_CALLS_H

#include <stdbool.h>

enum failing_way {
    FAILING_ONCE,
    FAILING_FROM_THEN_ON,
    FAILING_AFTER_COMMIT, /* once: the transaction is committed or rolled back, and an error is
                             reported nevertheless */
    FAILING_WAYS,
    FAILING_AT_COMMIT /* once, of the COMMITs that are prepared; only these count */
};

/* The distance from one failing call to the next. A plain build tries every call. Under
 * AddressSanitizer, which checks the cleanup that neighbouring calls share, some are enough. */
#ifdef __SANITIZE_ADDRESS__
enum { FAILING_STEP = 4 };
#else
enum { FAILING_STEP = 1 };
#endif

/* From now on, the call with number `nth` (1 is the next one) fails in this way: SQLite's calls
 * with this result code, those of the system with EIO. */
void failing_arm(unsigned nth, enum failing_way way, int code);

/* After the one that is armed, another call fails once, `later` calls after it. */
void failing_arm_second(unsigned later);

/* Whether a call that was armed has not failed yet. */
bool failing_is_armed(void);

/* No call fails any more. Returns whether one did. */
bool failing_disarm(void);

#endif
