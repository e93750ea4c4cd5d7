/* What log.c (lines) and log_output.c (the descriptor) share. */
#ifndef BERTH_BASE_LOG_INTERNAL_H
#define BERTH_BASE_LOG_INTERNAL_H

#include "base/slice.h"

/* Where lines go from now on. */
void log_output_open(int fd);

/* Writes whole lines, or loses some. Any thread; one at a time gets through. */
void log_output_write(struct slice lines);

#endif
