/* The sections of a logging configuration: formatters, then handlers, then loggers, each according
 * to the list of its names. Anything that Python would not start with is an error; features that
 * Python has and berth does not cause a warning. While the process starts and on a reload: one
 * thread. */
#include "logging_ini/logging_config.h"

#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "conf/log_level.h"
#include "conf/whitespace.h"
#include "logging_ini/logging_handler.h"
#include "logging_ini/python_ini.h"

enum { MAX_FILE_BYTES = 1024 * 1024, FORMATTERS_MAX = 64 };

struct formatter {
    struct slice name;
    struct log_format_settings settings;
};

struct reader {
    const char *path;
    struct ini_file file;
    struct arena *arena;
    const struct log_handler_settings *defaults;
    struct texts_builder warnings;
    struct err *err;
    struct formatter formatters[FORMATTERS_MAX];
    size_t formatter_count;
    struct slice handler_names[LOG_HANDLERS_MAX];
    struct log_handler_settings handlers[LOG_HANDLERS_MAX];
    size_t handler_count;
};

static bool wrong(struct reader *r, const struct ini_entry *entry, const char *what)
{
    return err_set(r->err, 500, NULL, "the logging configuration %s:%u: %s", r->path, entry->line,
                   what);
}

/* Finds a section by the two parts of its name. */
static const struct ini_entry *section_of(struct reader *r, const char *kind, struct slice name)
{
    struct slice section = arena_printf(r->arena, "%s%.*s", kind, SLICE_ARG(name));
    for (size_t i = 0; i < r->file.n; i++)
        if (r->file.entries[i].key.len == 0 && slice_equal(r->file.entries[i].section, section))
            return &r->file.entries[i];
    (void)err_set(r->err, 500, NULL, "the logging configuration %s has no section [%.*s]", r->path,
                  SLICE_ARG(section));
    return NULL;
}

/* The value of a key, or data == NULL if it does not exist. False: err is set. */
static bool logging_config_value_of(struct reader *r, const struct ini_entry *section,
                                    const char *key, struct slice *value)
{
    struct ini_error error;
    const struct ini_entry *entry = python_ini_find(&r->file, section->section, key);
    *value = (struct slice){0};
    if (entry == NULL || python_ini_expand(&r->file, entry, r->arena, value, &error))
        return true;
    return wrong(r, entry, error.what);
}

static bool required(struct reader *r, const struct ini_entry *section, const char *key,
                     struct slice *value)
{
    if (!logging_config_value_of(r, section, key, value))
        return false;
    if (value->data != NULL)
        return true;
    return wrong(r, section, arena_printf(r->arena, "no `%s` in this section", key).data);
}

/* A value that is not expanded, as Python reads formats. */
static const char *raw_value(struct reader *r, const struct ini_entry *section, const char *key)
{
    const struct ini_entry *entry = python_ini_find(&r->file, section->section, key);
    return entry == NULL ? NULL : entry->value.data;
}

static bool read_level(struct reader *r, const struct ini_entry *section, int *level)
{
    struct slice name;
    if (!logging_config_value_of(r, section, "level", &name))
        return false;
    if (name.data == NULL || log_level_parse(name, level))
        return true;
    return wrong(r, section, arena_printf(r->arena, "no such level: %.*s", SLICE_ARG(name)).data);
}

static void logging_config_warn(struct reader *r, const struct ini_entry *section,
                                struct slice class_name, const char *what, const char *why)
{
    texts_add(&r->warnings, r->arena,
              arena_printf(r->arena, "%s:%u: [%.*s] %.*s becomes %s: %s", r->path, section->line,
                           SLICE_ARG(section->section), SLICE_ARG(class_name), what, why)
                  .data);
}

static bool read_formatter(struct reader *r, struct slice name)
{
    const struct ini_entry *section = section_of(r, "formatter_", name);
    struct slice class_name;
    if (section == NULL || !logging_config_value_of(r, section, "class", &class_name))
        return false;
    if (r->formatter_count == FORMATTERS_MAX)
        return wrong(r, section, "too many formatters");
    struct formatter *formatter = &r->formatters[r->formatter_count++];
    *formatter = (struct formatter){.name = name, .settings = r->defaults->format};
    struct log_format_settings *settings = &formatter->settings;
    const char *style = raw_value(r, section, "style");
    const char *format = raw_value(r, section, "format");
    settings->date = raw_value(r, section, "datefmt");
    settings->product = "unknown";
    settings->plain = format == NULL || format[0] == '\0' ? "%(message)s" : format;
    settings->form = LOG_FORM_PLAIN;
    if (style != NULL && strcmp(style, "%") != 0)
        return wrong(r, section, "the only supported style of formats is %");
    if (slice_equal(class_name, SLICE_LIT("oslo_log.formatters.ContextFormatter")))
        settings->form = LOG_FORM_CONTEXT;
    else if (slice_equal(class_name, SLICE_LIT("oslo_log.formatters.JSONFormatter")))
        settings->form = LOG_FORM_JSON;
    else if (slice_equal(class_name, SLICE_LIT("oslo_log.formatters.FluentFormatter"))) {
        settings->form = LOG_FORM_JSON;
        logging_config_warn(r, section, class_name, "oslo_log.formatters.JSONFormatter",
                            "fluentd is not supported");
    } else if (class_name.len > 0 && !slice_equal(class_name, SLICE_LIT("logging.Formatter")))
        logging_config_warn(r, section, class_name, "logging.Formatter",
                            "formatters of this class are not supported");
    return settings->form != LOG_FORM_PLAIN || strstr(settings->plain, "%(") != NULL ||
           wrong(r, section, "a format without any %(key)");
}

static bool read_arguments(struct reader *r, const struct ini_entry *section, const char *key,
                           const char *fallback, struct python_value *out, bool *ok)
{
    struct slice text;
    if (!logging_config_value_of(r, section, key, &text))
        return false;
    if (text.data == NULL)
        text = slice_of(fallback);
    *ok = *ok && python_literal_parse(text, r->arena, out);
    return true;
}

static bool set_formatter(struct reader *r, const struct ini_entry *section,
                          struct log_handler_settings *handler)
{
    struct slice name;
    if (!logging_config_value_of(r, section, "formatter", &name))
        return false;
    handler->format.form = LOG_FORM_PLAIN;
    handler->format.plain = "%(message)s";
    if (name.len == 0)
        return true;
    for (size_t i = 0; i < r->formatter_count; i++)
        if (slice_equal(r->formatters[i].name, name)) {
            handler->format = r->formatters[i].settings;
            return true;
        }
    return wrong(r, section, "its formatter is not among the formatters' keys");
}

/* The log would reject its format later, without naming the place. */
static bool check_format(struct reader *r, const struct ini_entry *section,
                         const struct log_handler_settings *handler)
{
    struct err err = {.arena = r->arena};
    const struct log_settings one = {.handlers = handler, .handler_count = 1};
    return log_settings_check(&one, &err) || wrong(r, section, err.message.data);
}

static bool read_handler(struct reader *r, struct slice name)
{
    const struct ini_entry *section = section_of(r, "handler_", name);
    struct slice class_name;
    struct python_value args = {0};
    struct python_value kwargs = {0};
    bool understood = true;
    if (section == NULL || !required(r, section, "class", &class_name) ||
        !read_arguments(r, section, "args", "()", &args, &understood) ||
        !read_arguments(r, section, "kwargs", "{}", &kwargs, &understood))
        return false;
    if (r->handler_count == LOG_HANDLERS_MAX)
        return wrong(r, section, "too many handlers");
    struct log_handler_settings *handler = &r->handlers[r->handler_count];
    r->handler_names[r->handler_count++] = name;
    *handler = *r->defaults;
    handler->level = LOG_NUMBER_UNSET;
    const char *why = "its arguments are not understood";
    if (understood && args.kind == PYTHON_SEQUENCE && kwargs.kind == PYTHON_MAPPING)
        why = logging_handler_fill(class_name, &args, &kwargs, r->arena, handler);
    if (why != NULL) {
        logging_config_warn(r, section, class_name, "standard error", why);
        *handler = *r->defaults;
        handler->to = LOG_TO_DESCRIPTOR;
        handler->fd = STDERR_FILENO;
    }
    return read_level(r, section, &handler->level) && set_formatter(r, section, handler) &&
           check_format(r, section, handler);
}

/* Calls `each` for the names in a list. */
static bool for_each(struct reader *r, struct slice list,
                     bool (*each)(struct reader *r, struct slice name))
{
    while (list.len > 0)
        if (!each(r, whitespace_strip(slice_cut(&list, ','))))
            return false;
    return true;
}

static bool keys_of(struct reader *r, const char *kind, struct slice *keys)
{
    const struct ini_entry *section = section_of(r, kind, (struct slice){0});
    return section != NULL && required(r, section, "keys", keys);
}

static bool set_handlers(struct reader *r, const struct ini_entry *section,
                         struct log_logger_settings *logger)
{
    struct slice list;
    if (!required(r, section, "handlers", &list))
        return false;
    while (list.len > 0) {
        struct slice name = whitespace_strip(slice_cut(&list, ','));
        size_t at = 0;
        while (at < r->handler_count && !slice_equal(r->handler_names[at], name))
            at++;
        if (at == r->handler_count)
            return wrong(r, section, "one of its handlers is not among the handlers' keys");
        bool known = memchr(logger->handlers, (int)at, logger->handler_count) != NULL;
        if (!known)
            logger->handlers[logger->handler_count++] = (unsigned char)at;
    }
    return true;
}

static bool read_propagate(struct reader *r, const struct ini_entry *section,
                           struct log_logger_settings *logger)
{
    struct slice text;
    struct python_value number;
    if (!logging_config_value_of(r, section, "propagate", &text))
        return false;
    if (text.data == NULL)
        return true;
    if (!python_literal_parse(text, r->arena, &number) || number.kind != PYTHON_INTEGER)
        return wrong(r, section, "`propagate` is not a number");
    logger->stops = number.integer == 0;
    return true;
}

static bool read_logger(struct reader *r, struct slice name, struct log_logger_settings *logger)
{
    struct slice qualified = {0};
    bool root = slice_equal(name, SLICE_LIT("root"));
    const struct ini_entry *section = section_of(r, "logger_", name);
    *logger = (struct log_logger_settings){.name = "", .level = LOG_NUMBER_UNSET};
    if (root)
        logger->level = LOG_NUMBER_WARNING; /* the prefix that Python's classes have */
    if (section == NULL || !read_level(r, section, &logger->level) ||
        !set_handlers(r, section, logger))
        return false;
    if (root)
        return true;
    if (!required(r, section, "qualname", &qualified) || !read_propagate(r, section, logger))
        return false;
    logger->name = qualified.data;
    return true;
}

static bool read_loggers(struct reader *r, struct log_settings *out)
{
    struct slice keys;
    struct log_logger_settings *loggers = NULL;
    size_t room = 0;
    bool has_root = false;
    out->logger_count = 0;
    if (!keys_of(r, "loggers", &keys))
        return false;
    while (keys.len > 0) {
        struct slice name = whitespace_strip(slice_cut(&keys, ','));
        loggers = arena_grow(r->arena, loggers, out->logger_count, &room, sizeof(*loggers));
        if (!read_logger(r, name, &loggers[out->logger_count++]))
            return false;
        has_root = has_root || slice_equal(name, SLICE_LIT("root"));
    }
    out->loggers = loggers;
    return has_root ||
           err_set(r->err, 500, NULL,
                   "the logging configuration %s: root is not among the loggers' keys", r->path);
}

bool logging_config_parse(struct slice text, const char *path,
                          const struct log_handler_settings *defaults, struct arena *arena,
                          struct log_settings *out, struct conf_texts *warnings, struct err *err)
{
    struct ini_error error;
    struct slice formatters;
    struct slice handlers;
    struct reader *r = arena_zalloc(arena, sizeof(*r));
    r->path = path;
    r->arena = arena;
    r->defaults = defaults;
    r->err = err;
    *out = (struct log_settings){0};
    if (!python_ini_parse(text, arena, &r->file, &error))
        return err_set(err, 500, NULL, "the logging configuration %s:%u: %s", path, error.line,
                       error.what);
    if (!keys_of(r, "formatters", &formatters) || !for_each(r, formatters, read_formatter) ||
        !keys_of(r, "handlers", &handlers) || !for_each(r, handlers, read_handler) ||
        !read_loggers(r, out))
        return false;
    out->handlers = r->handlers;
    out->handler_count = r->handler_count;
    *warnings = texts_done(&r->warnings);
    return true;
}

bool logging_config_read(const char *path, const struct log_handler_settings *defaults,
                         struct arena *arena, struct log_settings *out, struct conf_texts *warnings,
                         struct err *err)
{
    struct buf text = {0};
    bool ok = file_read(path, "the logging configuration", MAX_FILE_BYTES, &text, err) &&
              logging_config_parse(buf_slice(&text), path, defaults, arena, out, warnings, err);
    buf_free(&text);
    return ok;
}
