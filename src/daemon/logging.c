/* Starts the log and applies a reload to it. conf/log_options.c defines the meaning of the options,
 * logging_ini/logging_config.c that of a logging configuration. */
#include "daemon/logging.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/load.h"
#include "conf/log_options.h"
#include "log/settings.h"
#include "logging_ini/logging_config.h"

static const char LOGGER[] = "berth.log";

/* The settings that the log was started or last changed with; a process has only one log. */
static struct {
    bool debug;
    bool goes_elsewhere; /* not, or not only, to standard error */
    bool by_file;        /* log_config_append */
    struct timespec file_changed;
    char *file;
} applied;

static const char *logging_file(const struct conf *conf)
{
    const struct conf_value *value = conf_value(conf, "DEFAULT", "log_config_append");
    return value->is_set && value->text[0] != '\0' ? value->text : NULL;
}

static bool is_elsewhere(const struct log_handler_settings *handler)
{
    if (handler->to == LOG_TO_DESCRIPTOR)
        return handler->fd != STDERR_FILENO;
    if (handler->to == LOG_TO_JOURNAL)
        return !log_reaches_journal(STDERR_FILENO);
    return handler->to != LOG_TO_NOTHING;
}

static bool start_with(const struct log_settings *settings, struct err *err)
{
    if (!log_start_with(settings, err))
        return false;
    applied.goes_elsewhere = false;
    for (size_t i = 0; i < settings->handler_count; i++)
        applied.goes_elsewhere |= is_elsewhere(&settings->handlers[i]);
    return true;
}

static bool start_by_options(const struct conf *conf, struct arena *arena, struct err *err)
{
    struct log_settings settings;
    return log_options_fill(conf, arena, &settings, err) && start_with(&settings, err);
}

static bool start_by_file(const struct conf *conf, const char *path, struct arena *arena,
                          struct err *err)
{
    struct log_settings settings;
    struct conf_texts warnings;
    struct stat status = {0};
    const struct log_handler_settings common = log_options_handler(conf);
    (void)stat(path,
               &status); /* set before the file is read: a later change is noticed the next time */
    if (!logging_config_read(path, &common, arena, &settings, &warnings, err) ||
        !start_with(&settings, err))
        return false;
    for (size_t i = 0; i < warnings.n; i++)
        log_write(LOG_LEVEL_WARNING, LOGGER, LOG_NO_CONTEXT, "%s", warnings.items[i]);
    applied.by_file = true;
    applied.file_changed = status.st_mtim;
    free(applied.file);
    applied.file = strdup(path);
    check(applied.file != NULL);
    return true;
}

bool logging_start(const struct conf *conf, struct err *err)
{
    struct arena *arena = arena_create();
    const char *file = logging_file(conf);
    bool ok =
        file != NULL ? start_by_file(conf, file, arena, err) : start_by_options(conf, arena, err);
    applied.debug = conf->debug;
    arena_destroy(arena);
    return ok;
}

static bool file_is_new(const char *path)
{
    struct stat status;
    return !applied.by_file || strcmp(applied.file, path) != 0 || stat(path, &status) != 0 ||
           status.st_mtim.tv_sec != applied.file_changed.tv_sec ||
           status.st_mtim.tv_nsec != applied.file_changed.tv_nsec;
}

static bool apply_levels(const struct conf *conf, struct arena *arena, struct err *err)
{
    struct log_settings settings;
    if (!log_options_fill(conf, arena, &settings, err))
        return false;
    log_set_levels(settings.loggers, settings.logger_count);
    return true;
}

bool logging_apply(const struct conf *conf, struct err *err)
{
    struct arena *arena = arena_create();
    const char *file = logging_file(conf);
    bool ok = true;
    log_reopen();
    if (file == NULL && !applied.by_file) {
        ok = apply_levels(conf, arena, err);
    } else {
        if (conf->debug != applied.debug)
            log_set_debug(conf->debug);
        if (file != NULL && file_is_new(file))
            ok = start_by_file(conf, file, arena, err);
    }
    applied.debug = conf->debug;
    arena_destroy(arena);
    return ok;
}

void logging_look_after(void)
{
    log_look_after();
}

void logging_stop(bool has_served)
{
    if (has_served)
        log_write(LOG_LEVEL_INFO, "berth", LOG_NO_CONTEXT, "stopped");
    log_stop();
    free(applied.file);
    applied.file = NULL;
    applied.by_file = false;
}

void logging_tell_failure(struct slice message)
{
    /* journald reads the priority in front of a bare line (sd-daemon(3)) */
    const char *priority = log_reaches_journal(STDERR_FILENO) ? "<3>" : "";
    fprintf(stderr, "%sberthd: %.*s\n", priority, SLICE_ARG(message));
    if (applied.goes_elsewhere)
        log_write(LOG_LEVEL_CRITICAL, "berth", LOG_NO_CONTEXT, "berthd could not start: %.*s",
                  SLICE_ARG(message));
}

void logging_tell_early_failure(const struct conf_inputs *inputs, struct slice message)
{
    struct err ignored = {.arena = arena_create()};
    struct conf *conf = conf_examine(inputs);
    (void)!logging_start(conf, &ignored);
    logging_tell_failure(message);
    logging_stop(false);
    conf_destroy(conf);
    arena_destroy(ignored.arena);
}
