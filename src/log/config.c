/* Turns settings into the configuration in force: outputs are opened, formats compiled, logger
 * names put in order. The main thread; all threads read the result. */
#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "log/internal.h"

const struct log_format_settings log_format_default = {
    .form = LOG_FORM_CONTEXT,
    .context = "%(asctime)s.%(msecs)03d %(process)d %(levelname)s %(name)s [%(global_request_id)s "
               "%(request_id)s %(user_identity)s] %(instance)s%(message)s",
    .without =
        "%(asctime)s.%(msecs)03d %(process)d %(levelname)s %(name)s [-] %(instance)s%(message)s",
    .debug_suffix = "%(funcName)s %(pathname)s:%(lineno)d",
    .identity =
        "%(user)s %(project)s %(domain)s %(system_scope)s %(user_domain)s %(project_domain)s",
    .plain = "%(message)s",
    .date = "%Y-%m-%d %H:%M:%S",
    .product = "placement",
};

/* An output that an earlier handler has opened, or a new one; if it equals the number of outputs,
 * err is set. */
static size_t find_output(struct log_sinks *sinks, const struct log_handler_settings *settings,
                          struct err *err)
{
    for (size_t i = 0; i < sinks->output_count; i++)
        if (log_output_is(sinks->outputs[i], settings))
            return i;
    struct log_output *output = log_output_open(settings, err);
    if (output == NULL)
        return LOG_HANDLERS_MAX;
    sinks->outputs[sinks->output_count] = output;
    return sinks->output_count++;
}

/* A descriptor that is the journal's stream accepts only bare lines of one priority. The settings
 * are changed to the journal's native protocol; false: another handler already uses it, and this
 * one would repeat each line. */
static bool prefer_journal(const struct log_settings *all, struct log_handler_settings *settings)
{
    if (settings->to != LOG_TO_DESCRIPTOR || !log_reaches_journal(settings->fd))
        return true;
    for (size_t i = 0; i < all->handler_count; i++)
        if (all->handlers[i].to == LOG_TO_JOURNAL)
            return false;
    settings->to = LOG_TO_JOURNAL;
    settings->color = false;
    settings->facility = LOG_FACILITY_DAEMON;
    if (settings->identity == NULL)
        settings->identity = program_invocation_short_name;
    return true;
}

static bool add_handler(struct log_sinks *sinks, const struct log_handler_settings *settings,
                        struct err *err)
{
    struct log_handler *handler = &sinks->handlers[sinks->handler_count];
    handler->to = settings->to;
    handler->level = settings->level;
    handler->format =
        log_format_compile(&settings->format, settings->color, (unsigned)sinks->handler_count,
                           sinks->arena, &sinks->unknown, err);
    if (handler->format == NULL)
        return false;
    size_t output = find_output(sinks, settings, err);
    if (output == LOG_HANDLERS_MAX)
        return false;
    handler->output = (unsigned)output;
    handler->syslog.facility = settings->facility;
    handler->syslog.raw = settings->to == LOG_TO_SYSLOGD;
    if (settings->identity != NULL)
        handler->syslog.identity = arena_copy(sinks->arena, slice_of(settings->identity));
    sinks->handler_count++;
    return true;
}

static void destroy_sinks(struct log_sinks *sinks)
{
    for (size_t i = 0; i < sinks->output_count; i++)
        log_output_close(sinks->outputs[i]);
    arena_destroy(sinks->arena);
}

static struct log_sinks *create_sinks(const struct log_settings *settings, bool to_journal,
                                      struct err *err)
{
    struct arena *arena = arena_create();
    struct log_sinks *sinks = arena_zalloc(arena, sizeof(*sinks));
    sinks->arena = arena;
    bool ok = settings->handler_count <= LOG_HANDLERS_MAX ||
              err_set(err, 500, NULL, "more than %d log destinations", LOG_HANDLERS_MAX);
    for (size_t i = 0; ok && i < settings->handler_count; i++) {
        struct log_handler_settings handler = settings->handlers[i];
        if (to_journal && !prefer_journal(settings, &handler))
            handler.to = LOG_TO_NOTHING;
        ok = add_handler(sinks, &handler, err);
    }
    if (ok)
        return sinks;
    destroy_sinks(sinks);
    return NULL;
}

bool log_settings_check(const struct log_settings *settings, struct err *err)
{
    struct arena *arena = arena_create();
    struct log_unknown_key *unknown = NULL;
    bool ok = true;
    for (size_t i = 0; ok && i < settings->handler_count; i++)
        ok = log_format_compile(&settings->handlers[i].format, settings->handlers[i].color, 0,
                                arena, &unknown, err) != NULL;
    arena_destroy(arena);
    return ok;
}

static bool is_root(const char *name)
{
    return name[0] == '\0' || strcmp(name, "root") == 0;
}

/* If a name occurs several times, the last one is used; the root comes first. */
static void set_loggers(struct log_config *config, const struct log_logger_settings *settings,
                        size_t count)
{
    struct log_logger *loggers = arena_array(config->arena, count + 1, sizeof(*loggers));
    size_t n = 1;
    loggers[0] = (struct log_logger){.name = SLICE_LIT(""), .level = LOG_NUMBER_WARNING};
    for (size_t i = 0; i < count; i++) {
        struct slice name = is_root(settings[i].name) ? SLICE_LIT("") : slice_of(settings[i].name);
        size_t at = 0;
        while (at < n && !slice_equal(loggers[at].name, name))
            at++;
        if (at == n)
            loggers[n++] = (struct log_logger){.name = arena_copy(config->arena, name)};
        loggers[at].level = settings[i].level;
        loggers[at].stops = settings[i].stops;
        loggers[at].handler_count = settings[i].handler_count;
        memcpy(loggers[at].handlers, settings[i].handlers, sizeof(loggers[at].handlers));
    }
    config->loggers = loggers;
    config->logger_count = n;
}

static void set_lowest(struct log_config *config)
{
    config->lowest = config->loggers[0].level;
    for (size_t i = 1; i < config->logger_count; i++)
        if (config->loggers[i].level != LOG_NUMBER_UNSET &&
            config->loggers[i].level < config->lowest)
            config->lowest = config->loggers[i].level;
}

static struct log_config *create(struct log_sinks *sinks, struct log_rate *rate)
{
    struct arena *arena = arena_create();
    struct log_config *config = arena_zalloc(arena, sizeof(*config));
    config->arena = arena;
    config->sinks = sinks;
    config->rate = rate;
    return config;
}

struct log_config *log_config_create(const struct log_settings *settings, bool to_journal,
                                     struct err *err)
{
    struct log_sinks *sinks = create_sinks(settings, to_journal, err);
    if (sinks == NULL)
        return NULL;
    struct log_rate *rate = arena_alloc(sinks->arena, sizeof(*rate));
    log_rate_init(rate, &settings->rate, clock_monotonic_us());
    struct log_config *config = create(sinks, rate);
    set_loggers(config, settings->loggers, settings->logger_count);
    set_lowest(config);
    return config;
}

struct log_config *log_config_with_levels(const struct log_config *config,
                                          const struct log_logger_settings *loggers,
                                          size_t logger_count)
{
    const struct log_logger *root = &config->loggers[0];
    struct log_config *other = create(config->sinks, config->rate);
    set_loggers(other, loggers, logger_count);
    struct log_logger *copies = arena_array(other->arena, other->logger_count, sizeof(*copies));
    for (size_t i = 0; i < other->logger_count; i++) {
        copies[i] = other->loggers[i];
        copies[i].stops = false;
        copies[i].handler_count = 0;
    }
    copies[0].handler_count = root->handler_count;
    memcpy(copies[0].handlers, root->handlers, sizeof(root->handlers));
    other->loggers = copies;
    set_lowest(other);
    return other;
}

struct log_config *log_config_with_root_level(const struct log_config *config, int level)
{
    struct log_config *other = create(config->sinks, config->rate);
    struct log_logger *copies = arena_array(other->arena, config->logger_count, sizeof(*copies));
    memcpy(copies, config->loggers, config->logger_count * sizeof(*copies));
    for (size_t i = 0; i < config->logger_count; i++)
        copies[i].name = arena_copy(other->arena, copies[i].name);
    copies[0].level = level;
    other->loggers = copies;
    other->logger_count = config->logger_count;
    set_lowest(other);
    return other;
}

void log_config_destroy(struct log_config *config, bool sinks)
{
    if (sinks) {
        pthread_mutex_destroy(&config->rate->lock);
        destroy_sinks(config->sinks);
    }
    arena_destroy(config->arena);
}

static const struct log_logger *find_logger(const struct log_config *config, struct slice name)
{
    for (size_t i = 0; i < config->logger_count; i++)
        if (slice_equal(config->loggers[i].name, name))
            return &config->loggers[i];
    return NULL;
}

/* The parent name: up to the last dot; for `berth` it is `placement`, for others the root, "". */
static struct slice name_above(struct slice name)
{
    const char *dot = memrchr(name.data, '.', name.len);
    if (dot != NULL)
        return (struct slice){name.data, (size_t)(dot - name.data)};
    return slice_equal(name, SLICE_LIT("berth")) ? SLICE_LIT("placement") : SLICE_LIT("");
}

struct log_route log_config_route(const struct log_config *config, struct slice logger)
{
    struct log_route route = {.level = LOG_NUMBER_UNSET};
    bool stopped = false;
    struct slice name = slice_equal(logger, SLICE_LIT("root")) ? SLICE_LIT("") : logger;
    for (;;) {
        const struct log_logger *at = find_logger(config, name);
        if (at != NULL && route.level == LOG_NUMBER_UNSET)
            route.level = at->level;
        for (size_t i = 0; at != NULL && !stopped && i < at->handler_count; i++)
            if (route.handler_count < sizeof(route.handlers))
                route.handlers[route.handler_count++] = at->handlers[i];
        stopped = stopped || (at != NULL && at->stops);
        if (name.len == 0)
            return route;
        name = name_above(name);
    }
}
