/* The log, as oslo.log writes it (operators.md, Logging). settings.h defines where lines go and
 * which form they have. Until it has been applied, they go to standard error, in oslo.log's default
 * form, from level INFO on.
 *
 *     2026-11-20 20:44:08.037 11572 INFO placement.requestlog [None req-... - - - - - -] text
 *
 * One record is one line: control characters in it are written as \xNN. A log that cannot be
 * written loses lines and never holds up or ends the process. */
#ifndef BERTH_LOG_LOG_H
#define BERTH_LOG_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/check.h"
#include "base/slice.h"

enum log_level {
    LOG_LEVEL_DEBUG,
    LOG_LEVEL_INFO,
    LOG_LEVEL_WARNING,
    LOG_LEVEL_ERROR,
    LOG_LEVEL_CRITICAL
};

/* The request that a line belongs to, with oslo.context's names. Missing texts have data == NULL.
 * All texts belong to the caller. */
struct log_context {
    struct slice request_id;
    struct slice global_request_id;
    struct slice user_id;
    struct slice user_name;
    struct slice user_domain_id;
    struct slice user_domain_name;
    struct slice project_id;
    struct slice project_name;
    struct slice project_domain_id;
    struct slice project_domain_name;
    struct slice domain_id;
    struct slice domain_name;
    struct slice system_scope;
    const struct slice *roles;
    unsigned role_count;
    bool has_token;
};

/* A line that belongs to no request. */
#define LOG_NO_CONTEXT ((const struct log_context *)NULL)

/* The place in the source that logs a line. */
struct log_place {
    const char *file; /* as __FILE__ */
    const char *function;
    int line;
};

#define LOG_HERE (&(const struct log_place){__FILE__, __func__, __LINE__})

/* One of the values that a message was built from. */
struct log_argument {
    const char *name; /* NULL: identified by its position */
    unsigned first;
    unsigned count;
    bool is_version; /* 1.39 is shown as [1, 39], like a Python tuple */
};

/* A message in parts, which are concatenated. JSON also shows its origin: `format` as a Python
 * program would have logged it, and the arguments. */
struct log_message {
    const struct slice *parts;
    size_t part_count;
    const char *format; /* NULL: the text itself */
    const struct log_argument *arguments;
    size_t argument_count;
};

/* Whether a line of this logger would be written anywhere. `logger`, here and below, is a literal
 * or at least never freed: threads cache it by its address. Any thread. */
bool log_is_enabled(enum log_level level, const char *logger);

/* Writes one line before the call returns (for syslog and the journal: passes it to their threads).
 * Any thread. */
#define log_write(level, logger, context, ...)                                                     \
    log_write_at(LOG_HERE, (level), (logger), (context), __VA_ARGS__)

void log_write_at(const struct log_place *place, enum log_level level, const char *logger,
                  const struct log_context *context, const char *format, ...) BERTH_PRINTF(5, 6);

/* For frequent lines, one per request: gathered per thread and written every 100 ms, at 64 KB, and
 * when the thread or the process ends. Any thread; threads do not wait for each other. */
#define log_gather(level, logger, context, message)                                                \
    log_gather_at(LOG_HERE, (level), (logger), (context), (message))

void log_gather_at(const struct log_place *place, enum log_level level, const char *logger,
                   const struct log_context *context, const struct log_message *message);

/* Bytes lost because the log could not be written. Any thread. */
uint64_t log_lost_bytes(void);

#endif
