/* The newest lines at ERROR and above, for operators who inspect a running process. */
#ifndef BERTH_LOG_RECENT_H
#define BERTH_LOG_RECENT_H

#include <stddef.h>
#include <stdint.h>

enum { LOG_RECENT_LINES = 16, LOG_RECENT_LOGGER_BYTES = 64, LOG_RECENT_TEXT_BYTES = 400 };

struct log_recent_line {
    int64_t wall_us;
    char logger[LOG_RECENT_LOGGER_BYTES]; /* both end with a NUL byte, and are truncated if
                                             necessary */
    char text[LOG_RECENT_TEXT_BYTES];     /* only the message; control characters as \xNN */
};

/* Returns the newest lines logged since the process started, the oldest of them first, and their
 * number. Any thread. */
size_t log_recent_read(struct log_recent_line out[static LOG_RECENT_LINES]);

#endif
