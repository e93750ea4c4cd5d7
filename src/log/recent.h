/* The newest lines at ERROR and above, for those who look at a running process. */
#ifndef BERTH_LOG_RECENT_H
#define BERTH_LOG_RECENT_H

#include <stddef.h>
#include <stdint.h>

enum { LOG_RECENT_LINES = 16, LOG_RECENT_LOGGER_BYTES = 64, LOG_RECENT_TEXT_BYTES = 400 };

struct log_recent_line {
    int64_t wall_us;
    char logger[LOG_RECENT_LOGGER_BYTES]; /* both end with a NUL byte, and are cut where need be */
    char text[LOG_RECENT_TEXT_BYTES];     /* of the message alone; control characters as \xNN */
};

/* Fills in the newest lines that went to the log since the process began, the oldest of them first;
 * returns their number. Any thread. */
size_t log_recent_read(struct log_recent_line out[static LOG_RECENT_LINES]);

#endif
