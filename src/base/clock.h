/* Time, as numbers and as text. Any thread. */
#ifndef BERTH_BASE_CLOCK_H
#define BERTH_BASE_CLOCK_H

#include <stdint.h>

#include "base/check.h"
#include "base/slice.h"

enum {
    CLOCK_RFC1123_BYTES = 30, /* "Sat, 21 Nov 2026 08:14:29 GMT" and a NUL byte */
    CLOCK_ISO_BYTES = 27      /* "2026-11-21 08:14:29.012345" and a NUL byte */
};

/* Microseconds since 1970 UTC. */
int64_t clock_wall_us(void);

/* Microseconds of a clock that never jumps. */
uint64_t clock_monotonic_us(void);

/* Microseconds of processor time that this thread, or all of the process, has had. */
uint64_t clock_thread_us(void);
uint64_t clock_process_us(void);

/* A point in UTC as HTTP writes it (Last-Modified), whole seconds rounded down. Here and below:
 * years 0 to 9999. */
void clock_format_rfc1123(int64_t wall_us, char out[CLOCK_RFC1123_BYTES]);

/* A point in UTC as "YYYY-MM-DD HH:MM:SS.ffffff". */
void clock_format_iso(int64_t wall_us, char out[CLOCK_ISO_BYTES]);

/* Reads "YYYY-MM-DD HH:MM:SS", with a T for the blank and with one to six digits of a fraction if
 * there are any, as UTC. False: the text is not of this form or names no day. */
bool clock_parse_iso(struct slice text, int64_t *wall_us) BERTH_MUST_CHECK;

#endif
