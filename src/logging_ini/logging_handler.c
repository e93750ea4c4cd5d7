/* The handlers of Python's logging and of oslo.log: the destination of each class, and the meaning
 * of its arguments. While the process starts and on a reload: one thread. */
#include "logging_ini/logging_handler.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct arguments {
    const struct python_value *positional;
    const struct python_value *named;
};

/* The argument at a position or with a name; NULL: it is not given. */
static const struct python_value *get(const struct arguments *arguments, size_t position,
                                      const char *name)
{
    if (position < arguments->positional->count)
        return &arguments->positional->items[position];
    for (size_t i = 0; i < arguments->named->count; i += 2)
        if (slice_equal(arguments->named->items[i].text, slice_of(name)))
            return &arguments->named->items[i + 1];
    return NULL;
}

static bool is_given(const struct python_value *value)
{
    return value != NULL && value->kind != PYTHON_NONE;
}

static bool ends_with(struct slice text, const char *end)
{
    size_t len = strlen(end);
    return text.len >= len && memcmp(text.data + text.len - len, end, len) == 0;
}

/* A non-negative whole number within 32 bits. */
static bool get_count(const struct arguments *arguments, size_t position, const char *name,
                      int64_t max, int64_t *out)
{
    const struct python_value *value = get(arguments, position, name);
    if (!is_given(value))
        return true;
    *out = value->integer;
    return value->kind == PYTHON_INTEGER && value->integer >= 0 && value->integer <= max;
}

static const char *fill_stream(const struct arguments *arguments, struct log_handler_settings *out)
{
    const struct python_value *stream = get(arguments, 0, "stream");
    out->to = LOG_TO_DESCRIPTOR;
    out->fd = STDERR_FILENO;
    if (!is_given(stream))
        return NULL;
    if (stream->kind == PYTHON_NAME && ends_with(stream->text, "stdout"))
        out->fd = STDOUT_FILENO;
    else if (stream->kind != PYTHON_NAME || !ends_with(stream->text, "stderr"))
        return "its stream is neither sys.stdout nor sys.stderr";
    return NULL;
}

static const char *fill_file(const struct arguments *arguments, struct log_handler_settings *out)
{
    const struct python_value *path = get(arguments, 0, "filename");
    if (path == NULL || path->kind != PYTHON_TEXT || path->text.len == 0)
        return "its file name is not a plain string";
    out->to = LOG_TO_FILE;
    out->path = path->text.data;
    return NULL;
}

static const char *fill_rotating(const struct arguments *arguments,
                                 struct log_handler_settings *out)
{
    int64_t keep = 0;
    out->rotation.when = LOG_ROTATION_SIZE;
    if (!get_count(arguments, 2, "maxBytes", INT64_MAX / 2, &out->rotation.max_bytes) ||
        !get_count(arguments, 3, "backupCount", INT32_MAX, &keep))
        return "maxBytes or backupCount is not a valid number";
    out->rotation.keep = (unsigned)keep;
    return fill_file(arguments, out);
}

static bool read_when(struct slice when, struct log_rotation_settings *rotation)
{
    static const struct {
        const char *name;
        enum log_rotation when;
    } NAMES[] = {{"S", LOG_ROTATION_SECONDS},
                 {"M", LOG_ROTATION_MINUTES},
                 {"H", LOG_ROTATION_HOURS},
                 {"D", LOG_ROTATION_DAYS},
                 {"MIDNIGHT", LOG_ROTATION_MIDNIGHT}};
    for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++)
        if (slice_equal_nocase(when, slice_of(NAMES[i].name))) {
            rotation->when = NAMES[i].when;
            return true;
        }
    if (when.len != 2 || (when.data[0] != 'W' && when.data[0] != 'w') || when.data[1] < '0' ||
        when.data[1] > '6')
        return false;
    rotation->when = LOG_ROTATION_WEEKDAY;
    rotation->weekday = (unsigned)(when.data[1] - '0');
    return true;
}

static const char *fill_timed(const struct arguments *arguments, struct log_handler_settings *out)
{
    const struct python_value *when = get(arguments, 1, "when");
    const struct python_value *utc = get(arguments, 6, "utc");
    int64_t interval = 1;
    int64_t keep = 0;
    out->rotation.when = LOG_ROTATION_HOURS;
    if (is_given(when) && (when->kind != PYTHON_TEXT || !read_when(when->text, &out->rotation)))
        return "`when` is not one of S, M, H, D, midnight, W0 to W6";
    if (!get_count(arguments, 2, "interval", INT32_MAX, &interval) || interval == 0 ||
        !get_count(arguments, 3, "backupCount", INT32_MAX, &keep))
        return "interval or backupCount is not a valid number";
    if ((is_given(utc) && utc->integer != 0) || is_given(get(arguments, 7, "atTime")))
        return "utc and atTime are not supported";
    out->rotation.interval = (unsigned)interval;
    out->rotation.keep = (unsigned)keep;
    return fill_file(arguments, out);
}

/* LOG_LOCAL3, handlers.SysLogHandler.LOG_LOCAL3, "local3", 19. */
static bool read_facility(const struct python_value *value, int *facility)
{
    static const char *const NAMES[] = {
        "kern",   "user",   "mail",     "daemon", "auth",   "syslog",   "lpr",     "news",
        "uucp",   "cron",   "authpriv", "ftp",    "ntp",    "security", "console", "solaris-cron",
        "local0", "local1", "local2",   "local3", "local4", "local5",   "local6",  "local7"};
    if (!is_given(value))
        return true;
    *facility = (int)value->integer;
    if (value->kind == PYTHON_INTEGER)
        return value->integer >= 0 && value->integer < 24;
    if (value->kind != PYTHON_TEXT && value->kind != PYTHON_NAME)
        return false;
    const char *underscore = memrchr(value->text.data, '_', value->text.len);
    const char *name =
        value->kind == PYTHON_NAME && underscore != NULL ? underscore + 1 : value->text.data;
    for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++)
        if (strcasecmp(NAMES[i], name) == 0) {
            *facility = (int)i;
            return true;
        }
    return false;
}

static const char *fill_address(const struct python_value *address, struct arena *arena,
                                struct log_handler_settings *out)
{
    out->host = "localhost";
    out->port = "514";
    if (!is_given(address))
        return NULL;
    if (address->kind == PYTHON_TEXT) {
        out->path = address->text.data;
        return NULL;
    }
    if (address->kind != PYTHON_SEQUENCE || address->count != 2 ||
        address->items[0].kind != PYTHON_TEXT)
        return "its address is neither a path nor (host, port)";
    const struct python_value *port = &address->items[1];
    out->host = address->items[0].text.data;
    if (port->kind == PYTHON_INTEGER && port->integer > 0 && port->integer < 65536)
        out->port = arena_printf(arena, "%d", (int)port->integer).data;
    else if (port->kind != PYTHON_NAME || !ends_with(port->text, "SYSLOG_UDP_PORT"))
        return "its address is neither a path nor (host, port)";
    return NULL;
}

static const char *fill_syslogd(const struct arguments *arguments, struct arena *arena,
                                struct log_handler_settings *out)
{
    const struct python_value *type = get(arguments, 2, "socktype");
    out->to = LOG_TO_SYSLOGD;
    if (!read_facility(get(arguments, 1, "facility"), &out->facility))
        return "its facility is unknown";
    if (is_given(type) && (type->kind != PYTHON_NAME || !ends_with(type->text, "SOCK_DGRAM")))
        return "TCP is not supported";
    return fill_address(get(arguments, 0, "address"), arena, out);
}

/* oslo.log's own two classes take syslog(3)'s numbers, which are eight times as large. */
static const char *fill_oslo(const struct arguments *arguments, enum log_destination to,
                             struct log_handler_settings *out)
{
    const struct python_value *facility = get(arguments, 0, "facility");
    out->to = to;
    out->path = "/dev/log";
    if (is_given(facility) && facility->kind == PYTHON_INTEGER && facility->integer % 8 == 0 &&
        facility->integer / 8 < 24 && facility->integer >= 0)
        out->facility = (int)(facility->integer / 8);
    else if (!read_facility(facility, &out->facility))
        return "its facility is unknown";
    return NULL;
}

enum handler_class {
    CLASS_NULL,
    CLASS_STREAM,
    CLASS_COLOR,
    CLASS_FILE,
    CLASS_ROTATING,
    CLASS_TIMED,
    CLASS_SYSLOGD,
    CLASS_SYSLOG,
    CLASS_JOURNAL,
    CLASS_UNKNOWN
};

/* logging's classes may be written with or without their module's name. */
static enum handler_class logging_handler_class_of(struct slice name)
{
    static const struct {
        const char *name;
        enum handler_class class;
    } CLASSES[] = {
        {"NullHandler", CLASS_NULL},
        {"StreamHandler", CLASS_STREAM},
        {"FileHandler", CLASS_FILE},
        {"handlers.WatchedFileHandler", CLASS_FILE},
        {"handlers.RotatingFileHandler", CLASS_ROTATING},
        {"handlers.TimedRotatingFileHandler", CLASS_TIMED},
        {"handlers.SysLogHandler", CLASS_SYSLOGD},
        {"oslo_log.handlers.NullHandler", CLASS_NULL},
        {"oslo_log.handlers.ColorHandler", CLASS_COLOR},
        {"oslo_log.watchers.FastWatchedFileHandler", CLASS_FILE},
        {"oslo_log.handlers.OSSysLogHandler", CLASS_SYSLOG},
        {"oslo_log.handlers.OSJournalHandler", CLASS_JOURNAL},
    };
    if (slice_starts_with(name, SLICE_LIT("logging.")))
        name = slice_skip(name, strlen("logging."));
    for (size_t i = 0; i < sizeof(CLASSES) / sizeof(CLASSES[0]); i++)
        if (slice_equal(name, slice_of(CLASSES[i].name)))
            return CLASSES[i].class;
    return CLASS_UNKNOWN;
}

const char *logging_handler_fill(struct slice class_name, const struct python_value *args,
                                 const struct python_value *kwargs, struct arena *arena,
                                 struct log_handler_settings *out)
{
    struct arguments arguments = {args, kwargs};
    switch (logging_handler_class_of(class_name)) {
    case CLASS_NULL:
        out->to = LOG_TO_NOTHING;
        return NULL;
    case CLASS_COLOR:
        out->color = true;
        return fill_stream(&arguments, out);
    case CLASS_STREAM:
        return fill_stream(&arguments, out);
    case CLASS_FILE:
        return fill_file(&arguments, out);
    case CLASS_ROTATING:
        return fill_rotating(&arguments, out);
    case CLASS_TIMED:
        return fill_timed(&arguments, out);
    case CLASS_SYSLOGD:
        return fill_syslogd(&arguments, arena, out);
    case CLASS_SYSLOG:
        return fill_oslo(&arguments, LOG_TO_SYSLOG, out);
    case CLASS_JOURNAL:
        return fill_oslo(&arguments, LOG_TO_JOURNAL, out);
    case CLASS_UNKNOWN:
        break;
    }
    return "handlers of this class are not supported";
}
