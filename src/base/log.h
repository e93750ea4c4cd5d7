/* The log, in oslo.log's default form, on one file descriptor:
 *
 *     2026-11-20 20:44:08.037 11572 INFO placement.requestlog [None req-... - - - - - -] text
 *
 * local time, process, level, logger, context (operators.md, Logging). One record is one line:
 * control characters in it are written as \xNN. A log that cannot be written loses lines and never
 * holds up or ends the process. */
#ifndef BERTH_BASE_LOG_H
#define BERTH_BASE_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/check.h"
#include "base/slice.h"

enum log_level { LOG_LEVEL_DEBUG, LOG_LEVEL_INFO, LOG_LEVEL_WARNING, LOG_LEVEL_ERROR };

/* What stands in the brackets of a line that belongs to no request. */
#define LOG_NO_CONTEXT ((struct slice){"-", 1})

/* Before log_start the log goes to standard error, from INFO on, unbuffered. */

/* Directs the log to `fd` (not owned), sets whether DEBUG lines are written, starts the thread that
 * writes gathered lines, and has the process ignore SIGPIPE. The main thread, once, or again after
 * log_stop. */
void log_start(int fd, bool debug);

/* Writes what is gathered and ends the thread. Lines logged later are written at once. The main
 * thread. */
void log_stop(void);

void log_set_debug(bool debug);
bool log_is_enabled(enum log_level level);

/* One line, written before the call returns. `context` is what stands in the brackets. Any thread.
 */
void log_write(enum log_level level, const char *logger, struct slice context, const char *format,
               ...) BERTH_PRINTF(4, 5);

/* One line of level INFO for each of many requests: gathered per thread and written every 100 ms,
 * at 64 KB, and when the thread or the process ends. Any thread; threads do not wait for each
 * other. */
void log_gather(const char *logger, struct slice context, struct slice text);

/* Bytes lost because the log could not be written. Any thread. */
uint64_t log_lost_bytes(void);

#endif
