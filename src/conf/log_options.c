/* Converts oslo.log's options to settings of the log. The combination of destinations was measured
 * on oslo.log: a file, standard error and the journal if requested; standard error if there is
 * neither of these (oslo.log then uses standard output, which a WSGI server merges with it); and
 * syslog in addition to any of the others. While the process starts and on a reload: one thread. */
#include "conf/log_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/log_level.h"

enum { DESTINATIONS_MAX = 4 };

static const struct conf_value *option(const struct conf *conf, const char *name)
{
    return conf_value(conf, "DEFAULT", name);
}

/* As in oslo.log, "" means unset. */
static const char *text(const struct conf *conf, const char *name)
{
    const struct conf_value *value = option(conf, name);
    return value->is_set && value->text[0] != '\0' ? value->text : NULL;
}

static bool log_options_refuse(struct err *err, const struct conf_value *value, const char *what)
{
    return err_set(err, 500, NULL, "%s%s[%s] %s %s", value->where,
                   value->where[0] == '\0' ? "" : ": ", value->option->section, value->option->name,
                   what);
}

static struct log_format_settings format_of(const struct conf *conf)
{
    struct log_format_settings format = log_format_default;
    format.form = option(conf, "use_json")->boolean ? LOG_FORM_JSON : LOG_FORM_CONTEXT;
    format.context = option(conf, "logging_context_format_string")->text;
    format.without = option(conf, "logging_default_format_string")->text;
    format.debug_suffix = option(conf, "logging_debug_format_suffix")->text;
    format.identity = option(conf, "logging_user_identity_format")->text;
    format.date = option(conf, "log_date_format")->text;
    return format;
}

/* Those that oslo.log accepts: kern is not for programs. */
static bool facility_of(const struct conf *conf, int *facility, struct err *err)
{
    static const struct {
        const char *name;
        int facility;
    } NAMES[] = {{"USER", 1},    {"MAIL", 2},    {"DAEMON", 3},  {"AUTH", 4},    {"SYSLOG", 5},
                 {"LPR", 6},     {"NEWS", 7},    {"UUCP", 8},    {"CRON", 9},    {"AUTHPRIV", 10},
                 {"FTP", 11},    {"LOCAL0", 16}, {"LOCAL1", 17}, {"LOCAL2", 18}, {"LOCAL3", 19},
                 {"LOCAL4", 20}, {"LOCAL5", 21}, {"LOCAL6", 22}, {"LOCAL7", 23}};
    const struct conf_value *value = option(conf, "syslog_log_facility");
    const char *name = value->text;
    if (strncasecmp(name, "LOG_", 4) == 0)
        name += 4;
    for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++)
        if (strcasecmp(name, NAMES[i].name) == 0) {
            *facility = NAMES[i].facility;
            return true;
        }
    return log_options_refuse(
        err, value,
        "must be one of LOG_USER, LOG_MAIL, LOG_DAEMON, LOG_AUTH, LOG_SYSLOG, LOG_LPR, "
        "LOG_NEWS, LOG_UUCP, LOG_CRON, LOG_AUTHPRIV, LOG_FTP, LOG_LOCAL0 to LOG_LOCAL7");
}

static bool interval_of(const struct conf *conf, struct log_rotation_settings *rotation,
                        struct err *err)
{
    static const struct {
        const char *name;
        enum log_rotation when;
    } TYPES[] = {{"seconds", LOG_ROTATION_SECONDS}, {"minutes", LOG_ROTATION_MINUTES},
                 {"hours", LOG_ROTATION_HOURS},     {"days", LOG_ROTATION_DAYS},
                 {"weekday", LOG_ROTATION_WEEKDAY}, {"midnight", LOG_ROTATION_MIDNIGHT}};
    const struct conf_value *interval = option(conf, "log_rotate_interval");
    const char *type = option(conf, "log_rotate_interval_type")->text;
    for (size_t i = 0; i < sizeof(TYPES) / sizeof(TYPES[0]); i++)
        if (strcasecmp(type, TYPES[i].name) == 0)
            rotation->when = TYPES[i].when;
    bool weekday = rotation->when == LOG_ROTATION_WEEKDAY;
    if (weekday && (interval->integer < 0 || interval->integer > 6))
        return log_options_refuse(err, interval, "must be a day from 0 (Monday) to 6");
    if (!weekday && (interval->integer < 1 || interval->integer > INT32_MAX))
        return log_options_refuse(err, interval, "must be at least 1");
    rotation->interval = (unsigned)interval->integer;
    rotation->weekday = weekday ? (unsigned)interval->integer : 0;
    return true;
}

static bool rotation_of(const struct conf *conf, struct log_rotation_settings *rotation,
                        struct err *err)
{
    const char *type = option(conf, "log_rotation_type")->text;
    int64_t keep = option(conf, "max_logfile_count")->integer;
    int64_t size_mb = option(conf, "max_logfile_size_mb")->integer;
    *rotation = (struct log_rotation_settings){.when = LOG_ROTATION_NONE};
    if (option(conf, "watch_log_file")->boolean || strcasecmp(type, "none") == 0)
        return true; /* in oslo.log, too, watching excludes rotation */
    if (keep > 0)
        rotation->keep = keep > INT32_MAX ? INT32_MAX : (unsigned)keep;
    if (strcasecmp(type, "interval") == 0)
        return interval_of(conf, rotation, err);
    rotation->when = LOG_ROTATION_SIZE;
    if (size_mb > 0)
        rotation->max_bytes = size_mb > INT32_MAX ? INT64_MAX / 2 : size_mb << 20;
    return true;
}

/* log_file, relative to log_dir if that is set; if only log_dir is set, PROGRAM.log in it. NULL: no
 * file. */
static const char *path_of(const struct conf *conf, struct arena *arena)
{
    const char *file = text(conf, "log_file");
    const char *directory = text(conf, "log_dir");
    if (directory == NULL || (file != NULL && file[0] == '/'))
        return file;
    if (file == NULL)
        file = arena_printf(arena, "%s.log", program_invocation_short_name).data;
    const char *slash = directory[strlen(directory) - 1] == '/' ? "" : "/";
    return arena_printf(arena, "%s%s%s", directory, slash, file).data;
}

struct destinations {
    struct log_handler_settings handlers[DESTINATIONS_MAX];
    size_t count;
};

static struct log_handler_settings *log_options_add(struct destinations *to,
                                                    const struct log_handler_settings *common,
                                                    enum log_destination kind)
{
    struct log_handler_settings *handler = &to->handlers[to->count++];
    *handler = *common;
    handler->to = kind;
    return handler;
}

static void add_stderr(struct destinations *to, const struct log_handler_settings *common,
                       const struct conf *conf)
{
    struct log_handler_settings *handler = log_options_add(to, common, LOG_TO_DESCRIPTOR);
    handler->fd = STDERR_FILENO;
    handler->color = option(conf, "log_color")->boolean;
}

struct log_handler_settings log_options_handler(const struct conf *conf)
{
    return (struct log_handler_settings){.format = format_of(conf),
                                         .facility = LOG_FACILITY_USER,
                                         .identity = program_invocation_short_name};
}

static bool set_destinations(const struct conf *conf, struct arena *arena, struct destinations *to,
                             struct err *err)
{
    const char *path = path_of(conf, arena);
    bool use_stderr = option(conf, "use_stderr")->boolean;
    bool use_journal = option(conf, "use_journal")->boolean;
    bool use_syslog = option(conf, "use_syslog")->boolean;
    struct log_handler_settings common = log_options_handler(conf);
    if ((use_journal || use_syslog) && !facility_of(conf, &common.facility, err))
        return false;
    if (path != NULL) {
        struct log_handler_settings *file = log_options_add(to, &common, LOG_TO_FILE);
        file->path = path;
        if (!rotation_of(conf, &file->rotation, err))
            return false;
    }
    if (use_stderr || (path == NULL && !use_journal))
        add_stderr(to, &common, conf);
    if (use_journal)
        (void)log_options_add(to, &common, LOG_TO_JOURNAL);
    if (use_syslog)
        log_options_add(to, &common, LOG_TO_SYSLOG)->path = "/dev/log";
    return true;
}

static bool read_level(struct slice name, struct arena *arena, int *level)
{
    if (log_level_parse(name, level))
        return true;
    const char *digits = arena_copy(arena, name).data;
    char *end;
    errno = 0;
    long number = strtol(digits, &end, 10);
    *level = (int)number;
    return errno == 0 && end != digits && *end == '\0' && number >= 0 && number <= INT32_MAX;
}

/* The root logger, and those of default_log_levels. */
static bool set_levels(const struct conf *conf, size_t handler_count, struct arena *arena,
                       struct log_settings *settings, struct err *err)
{
    const struct conf_value *levels = option(conf, "default_log_levels");
    size_t n = levels->is_set ? levels->items_n : 0;
    struct log_logger_settings *loggers = arena_array(arena, n + 1, sizeof(*loggers));
    loggers[0] = (struct log_logger_settings){
        .name = "", .level = conf->debug ? LOG_NUMBER_DEBUG : LOG_NUMBER_INFO};
    for (size_t i = 0; i < handler_count; i++)
        loggers[0].handlers[i] = (unsigned char)i;
    loggers[0].handler_count = handler_count;
    for (size_t i = 0; i < n; i++) {
        struct slice level = slice_of(levels->items[i]);
        struct slice name = slice_cut(&level, '=');
        loggers[i + 1] = (struct log_logger_settings){.name = arena_copy(arena, name).data};
        if (!read_level(level, arena, &loggers[i + 1].level))
            return log_options_refuse(
                err, levels,
                arena_printf(arena, "must be a list of LOGGER=LEVEL, not '%s'", levels->items[i])
                    .data);
        if (loggers[i + 1].name[0] == '\0' || strcmp(loggers[i + 1].name, "root") == 0) {
            loggers[0].level = loggers[i + 1].level;
            loggers[i + 1] = loggers[0];
        }
    }
    settings->loggers = loggers;
    settings->logger_count = n + 1;
    return true;
}

static bool set_rate(const struct conf *conf, struct log_rate_settings *rate, struct err *err)
{
    int64_t burst = option(conf, "rate_limit_burst")->integer;
    int64_t interval = option(conf, "rate_limit_interval")->integer;
    const struct conf_value *except = option(conf, "rate_limit_except_level");
    if (burst < 1 || interval < 1)
        return true;
    rate->burst = burst > INT32_MAX ? INT32_MAX : (unsigned)burst;
    rate->interval_s = interval > INT32_MAX ? INT32_MAX : (unsigned)interval;
    rate->except_level = INT32_MAX;
    if (except->text[0] == '\0' || log_level_parse(slice_of(except->text), &rate->except_level))
        return true;
    return log_options_refuse(err, except,
                              "must be CRITICAL, ERROR, WARNING, INFO, DEBUG or empty");
}

bool log_options_fill(const struct conf *conf, struct arena *arena, struct log_settings *out,
                      struct err *err)
{
    struct destinations *to = arena_zalloc(arena, sizeof(*to));
    *out = (struct log_settings){0};
    if (!set_destinations(conf, arena, to, err) || !set_levels(conf, to->count, arena, out, err) ||
        !set_rate(conf, &out->rate, err))
        return false;
    out->handlers = to->handlers;
    out->handler_count = to->count;
    return true;
}

bool log_options_check(struct conf *conf, struct err *err)
{
    struct log_settings settings;
    if (text(conf, "log_config_append") != NULL)
        return true;
    return log_options_fill(conf, conf->arena, &settings, err) &&
           log_settings_check(&settings, err);
}
