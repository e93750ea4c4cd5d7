/* Time, as numbers and as text. Any thread. */
#ifndef BERTH_BASE_CLOCK_H
#define BERTH_BASE_CLOCK_H

#include <stdint.h>

/* Microseconds since 1970 UTC. */
int64_t clock_wall_us(void);

/* Microseconds of a clock that never jumps. */
uint64_t clock_monotonic_us(void);

#endif
