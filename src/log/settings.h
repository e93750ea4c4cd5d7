/* The settings of the log: destinations, formats, levels. Plain data that a caller fills from its
 * configuration; everything is copied. */
#ifndef BERTH_LOG_SETTINGS_H
#define BERTH_LOG_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "log/log.h"

/* Python's numbers of levels; numbers between them are legal. */
enum {
    LOG_NUMBER_UNSET = 0,
    LOG_NUMBER_TRACE = 5,
    LOG_NUMBER_DEBUG = 10,
    LOG_NUMBER_INFO = 20,
    LOG_NUMBER_WARNING = 30,
    LOG_NUMBER_ERROR = 40,
    LOG_NUMBER_CRITICAL = 50
};

enum { LOG_HANDLERS_MAX = 16 };

/* Formats in the syntax of Python's % operator over a log record (Python library reference,
 * LogRecord attributes; oslo.log, ContextFormatter). */
enum log_form {
    LOG_FORM_CONTEXT, /* oslo_log.formatters.ContextFormatter */
    LOG_FORM_PLAIN,   /* logging.Formatter: `plain` for all lines */
    LOG_FORM_JSON     /* oslo_log.formatters.JSONFormatter */
};

struct log_format_settings {
    enum log_form form;
    const char *context;      /* for lines with a request */
    const char *without;      /* for lines without one */
    const char *debug_suffix; /* appended to lines of level DEBUG, after a blank; "": none */
    const char *identity;     /* for %(user_identity)s */
    const char *plain;
    const char *date;    /* strftime's; NULL or "": 2026-11-20 20:44:08,037 */
    const char *product; /* %(project)s in lines without a request */
};

/* oslo.log's defaults, and the product `placement`. */
extern const struct log_format_settings log_format_default;

enum log_rotation {
    LOG_ROTATION_NONE,
    LOG_ROTATION_SIZE,
    LOG_ROTATION_SECONDS,
    LOG_ROTATION_MINUTES,
    LOG_ROTATION_HOURS,
    LOG_ROTATION_DAYS,
    LOG_ROTATION_MIDNIGHT,
    LOG_ROTATION_WEEKDAY
};

/* The parameters of Python's RotatingFileHandler and TimedRotatingFileHandler. */
struct log_rotation_settings {
    enum log_rotation when;
    unsigned interval; /* units of `when`; for LOG_ROTATION_WEEKDAY weeks */
    unsigned weekday;  /* 0: Monday */
    unsigned keep;     /* rotated files to keep; 0: by time all, by size no rotation */
    int64_t max_bytes; /* LOG_ROTATION_SIZE; 0: none */
};

enum { LOG_FACILITY_USER = 1, LOG_FACILITY_DAEMON = 3 };

enum log_destination {
    LOG_TO_NOTHING,
    LOG_TO_DESCRIPTOR, /* not owned */
    LOG_TO_FILE,
    LOG_TO_SYSLOG,  /* as syslog(3): <priority>time identity: line */
    LOG_TO_SYSLOGD, /* as Python's SysLogHandler: <priority>line and a NUL byte */
    LOG_TO_JOURNAL  /* as oslo_log.handlers.OSJournalHandler */
};

struct log_handler_settings {
    enum log_destination to;
    int level;  /* a number; this handler ignores lines below it */
    bool color; /* %(color)s is an escape sequence, and another one ends each line */
    struct log_format_settings format;
    int fd;
    const char *path; /* of the file, or of syslog's socket */
    struct log_rotation_settings rotation;
    const char *host; /* LOG_TO_SYSLOGD over UDP, then path is NULL */
    const char *port;
    int facility;         /* numbered as in syslog(3), without the shift */
    const char *identity; /* the program's name in syslog and journal */
};

struct log_logger_settings {
    const char *name; /* "": the root */
    int level;        /* a number; LOG_NUMBER_UNSET: that of the nearest parent that has one */
    bool stops;       /* lines do not go to the handlers of parents */
    unsigned char handlers[LOG_HANDLERS_MAX]; /* indices into log_settings.handlers */
    size_t handler_count;
};

/* At most `burst` lines in `interval_s` seconds are logged at levels below `except_level`; one more
 * line reports that lines were dropped. burst or interval_s 0: no limit. */
struct log_rate_settings {
    unsigned burst;
    unsigned interval_s;
    int except_level;
};

struct log_settings {
    const struct log_handler_settings *handlers;
    size_t handler_count;
    /* The root is one of them. Names form a tree by their dots, but `berth` and everything below it
     * counts as a child of `placement`, so that settings for placement apply to it, too. */
    const struct log_logger_settings *loggers;
    size_t logger_count;
    struct log_rate_settings rate;
};

/* Whether log_start_with would accept the formats. False: err names the invalid one. */
bool log_settings_check(const struct log_settings *settings, struct err *err) BERTH_MUST_CHECK;

/* Whether the descriptor is the stream to the journal that systemd opened for the process
 * (systemd.exec(5), JOURNAL_STREAM), and the journal also accepts lines with fields. Any thread. */
bool log_reaches_journal(int fd);

/* Opens the destinations (a descriptor that reaches the journal becomes LOG_TO_JOURNAL, so that
 * lines have their priorities), starts the thread that writes gathered lines, and makes the process
 * ignore SIGPIPE and SIGXFSZ. While the log runs: replaces everything, once all is open. False: err
 * names the format or file at fault, and the log is unchanged. The main thread. */
bool log_start_with(const struct log_settings *settings, struct err *err) BERTH_MUST_CHECK;

/* The same with one descriptor, oslo.log's default format, and the root's level. */
void log_start(int fd, bool debug);

/* Writes gathered lines and ends the threads. Lines logged later are written at once, or lost if
 * they are for syslog or the journal. The main thread. */
void log_stop(void);

/* Replaces the loggers' levels. Handlers stay as they are; the handlers that the new loggers name
 * are ignored: each logger keeps its own. The main thread. */
void log_set_levels(const struct log_logger_settings *loggers, size_t logger_count);

/* Changes only the root's level. Any one thread at a time. */
void log_set_debug(bool debug);

/* Reopens the files, as after a rotation by another program. The main thread. */
void log_reopen(void);

/* Checks whether files were moved or removed, and logs a line if lines were lost. The main thread,
 * periodically. */
void log_look_after(void);

#endif
