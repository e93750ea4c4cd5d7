/* What log.c (lines) and log_output.c (the descriptor) share. */
#ifndef BERTH_BASE_LOG_INTERNAL_H
#define BERTH_BASE_LOG_INTERNAL_H

#include "base/slice.h"

/* Where lines go from now on. */
void log_output_open(int fd);

/* Between begin and end the output is the caller's; others wait. Any thread. */
void log_output_begin(void);
void log_output_end(void);

/* Writes whole lines, or loses some. */
void log_output_write(struct slice lines);

#endif
