/* Time as numbers and as text. The program reads clocks only here, so that tests can replace them.
 * Any thread. */
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

/* Microseconds on a clock that never jumps. */
uint64_t clock_monotonic_us(void);

/* The same clock as of the kernel's last tick: some milliseconds late, but cheaper to read. */
uint64_t clock_coarse_us(void);

/* Microseconds since the machine started, including the time it was suspended. */
uint64_t clock_boot_us(void);

/* Microseconds of processor time used by this thread, or by the whole process. */
uint64_t clock_thread_us(void);
uint64_t clock_process_us(void);

/* Formats a UTC time as in HTTP (Last-Modified), rounded down to whole seconds. Here and below,
 * years are 0 to 9999. */
void clock_format_rfc1123(int64_t wall_us, char out[CLOCK_RFC1123_BYTES]);

/* Formats a UTC time as "YYYY-MM-DD HH:MM:SS.ffffff". */
void clock_format_iso(int64_t wall_us, char out[CLOCK_ISO_BYTES]);

/* Parses "YYYY-MM-DD HH:MM:SS" as UTC; a T may replace the space, and a fraction of one to six
 * digits may follow. False: the text does not have this form or is not a valid date. */
bool clock_parse_iso(struct slice text, int64_t *wall_us) BERTH_MUST_CHECK;

#endif
