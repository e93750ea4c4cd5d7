/* Logging configurations in Python's format: an accepted configuration names only handlers and
 * formats that the log accepts, or the log reports what is wrong with a format. */
#include "fuzz.h"
#include "log/internal.h"
#include "logging_ini/logging_config.h"

static void try_settings(const struct log_settings *settings, struct arena *arena)
{
    check(settings->handler_count <= LOG_HANDLERS_MAX && settings->logger_count > 0);
    for (size_t i = 0; i < settings->handler_count; i++) {
        const struct log_handler_settings *handler = &settings->handlers[i];
        struct err err = {.arena = arena};
        struct log_unknown_key *unknown = NULL;
        check(handler->to != LOG_TO_FILE || handler->path != NULL);
        check(handler->facility >= 0 && handler->facility < 24);
        check(handler->to != LOG_TO_SYSLOGD || handler->path != NULL || handler->port != NULL);
        if (log_format_compile(&handler->format, handler->color, (unsigned)i, arena, &unknown,
                               &err) == NULL)
            check(err_is_set(&err));
    }
    for (size_t i = 0; i < settings->logger_count; i++)
        for (size_t j = 0; j < settings->loggers[i].handler_count; j++)
            check(settings->loggers[i].handlers[j] < settings->handler_count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    struct err err = {.arena = arena};
    struct log_settings settings;
    struct conf_texts warnings = {0};
    const struct log_handler_settings defaults = {
        .format = log_format_default, .facility = 1, .identity = "berthd"};
    if (logging_config_parse((struct slice){(const char *)data, size}, "f", &defaults, arena,
                             &settings, &warnings, &err)) {
        check(!err_is_set(&err));
        try_settings(&settings, arena);
    } else {
        check(err_is_set(&err));
    }
    arena_destroy(arena);
    return 0;
}
