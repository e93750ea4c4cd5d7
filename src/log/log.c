/* Passes lines to the outputs. The idea: a write() costs a microsecond, a line a few dozen
 * nanoseconds; so a thread appends to buffers of its own, one for each output, whose mutex is
 * contended only at the moment when the flusher exchanges them for empty ones.
 *
 * Invariants: a buffer contains whole lines (or frames, queue.c); a gatherer is in the list from
 * its thread's first line until the thread ends, and has the configuration in force. Locks are
 * taken in the order configuration, list, output, gatherer, so that bytes are written in the order
 * in which they leave a buffer, and no thread waits for an output that another one is writing
 * to. */
#include "log/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "log/internal.h"

enum { LOG_FLUSH_BYTES = 64 * 1024 };

static pthread_key_t at_thread_end;
static _Thread_local struct log_gatherer *own;

/* Called on the gatherer's own thread, which holds the configuration's lock shared. */
static void write_out(struct log_gatherer *gatherer)
{
    const struct log_sinks *sinks = gatherer->config->sinks;
    for (size_t i = 0; i < sinks->output_count; i++) {
        log_output_begin(sinks->outputs[i]);
        pthread_mutex_lock(&gatherer->lock);
        log_flush_lines(sinks->outputs[i], &gatherer->lines[i]);
        pthread_mutex_unlock(&gatherer->lock);
        log_output_end(sinks->outputs[i]);
    }
}

static void end_gatherer(void *argument)
{
    struct log_gatherer *gatherer = argument;
    log_begin_shared();
    pthread_mutex_lock(&log_state.lock);
    struct log_gatherer **at = &log_state.first;
    while (*at != gatherer)
        at = &(*at)->next;
    *at = gatherer->next;
    pthread_mutex_unlock(&log_state.lock);
    write_out(gatherer);
    log_end_shared();
    for (size_t i = 0; i < LOG_HANDLERS_MAX; i++)
        buf_free(&gatherer->lines[i]);
    pthread_mutex_destroy(&gatherer->lock);
    free(gatherer);
    own = NULL;
}

static void make_key(void)
{
    check(pthread_key_create(&at_thread_end, end_gatherer) == 0);
}

static struct log_gatherer *own_gatherer(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (own != NULL)
        return own;
    log_run_once();
    pthread_once(&once, make_key);
    own = calloc(1, sizeof(*own));
    check(own != NULL);
    pthread_mutex_init(&own->lock, NULL);
    check(pthread_setspecific(at_thread_end, own) == 0);
    own->scratch.process_id = getpid();
    own->scratch.thread_id = gettid();
    pthread_getname_np(pthread_self(), own->scratch.thread_name, sizeof(own->scratch.thread_name));
    log_forget_times(&own->scratch);
    pthread_mutex_lock(&log_state.lock);
    own->config = log_state.config;
    own->next = log_state.first;
    log_state.first = own;
    pthread_mutex_unlock(&log_state.lock);
    return own;
}

/* The caller holds the gatherer's lock. */
static const struct log_route *find_route(struct log_gatherer *gatherer, const char *logger)
{
    struct log_known_route *known = &gatherer->routes[(uintptr_t)logger / 8 % LOG_ROUTES];
    if (known->logger != logger) {
        known->logger = logger;
        known->route = log_config_route(gatherer->config, slice_of(logger));
    }
    return &known->route;
}

bool log_is_enabled(enum log_level level, const char *logger)
{
    int number = log_level_number(level);
    if (number < atomic_load_explicit(&log_state.lowest, memory_order_relaxed))
        return false;
    struct log_gatherer *gatherer = own_gatherer();
    pthread_mutex_lock(&gatherer->lock);
    const struct log_route *route = find_route(gatherer, logger);
    bool enabled = number >= route->level && route->handler_count > 0;
    pthread_mutex_unlock(&gatherer->lock);
    return enabled;
}

static void append_to(struct log_gatherer *gatherer, const struct log_handler *handler,
                      const struct log_record *record)
{
    struct buf *out = &gatherer->lines[handler->output];
    switch (handler->to) {
    case LOG_TO_NOTHING:
        return;
    case LOG_TO_DESCRIPTOR:
    case LOG_TO_FILE:
        log_format_render(handler->format, record, &gatherer->scratch, out);
        buf_append_char(out, '\n');
        return;
    case LOG_TO_SYSLOG:
    case LOG_TO_SYSLOGD:
        log_syslog_render(&handler->syslog, handler->format, record, &gatherer->scratch, out);
        return;
    case LOG_TO_JOURNAL:
        log_journal_render(handler->syslog.facility, handler->syslog.identity, handler->format,
                           record, &gatherer->scratch, out);
        return;
    }
}

static void append_by_route(struct log_gatherer *gatherer, const struct log_route *route,
                            const struct log_record *record)
{
    const struct log_sinks *sinks = gatherer->config->sinks;
    int number = log_level_number(record->level);
    for (size_t i = 0; i < route->handler_count; i++) {
        const struct log_handler *handler = &sinks->handlers[route->handlers[i]];
        if (number >= handler->level)
            append_to(gatherer, handler, record);
    }
}

static void report_rate(struct log_gatherer *gatherer, const struct log_record *about)
{
    char text[96];
    const struct log_rate_settings *rate = &gatherer->config->rate->settings;
    int len = snprintf(text, sizeof(text), "Logging rate limit: drop after %u records/%u sec",
                       rate->burst, rate->interval_s);
    const struct slice part = {text, (size_t)len};
    const struct log_message message = {.parts = &part, .part_count = 1};
    struct log_record record = *about;
    record.level = LOG_LEVEL_ERROR;
    record.logger = SLICE_LIT("root");
    record.place = LOG_HERE;
    record.message = &message;
    append_by_route(gatherer, find_route(gatherer, "root"), &record);
}

/* Whether any of the thread's buffers must be written now. The caller holds the gatherer's lock. */
static bool is_due(const struct log_gatherer *gatherer)
{
    for (size_t i = 0; i < gatherer->config->sinks->output_count; i++)
        if (gatherer->lines[i].len >= LOG_FLUSH_BYTES)
            return true;
    return !atomic_load_explicit(&log_state.running, memory_order_relaxed);
}

/* Appends the line to the thread's buffers; true: they must be written now. */
static bool log_append(struct log_gatherer *gatherer, struct log_record *record, const char *logger)
{
    bool due = false;
    int number = log_level_number(record->level);
    pthread_mutex_lock(&gatherer->lock);
    const struct log_route *route = find_route(gatherer, logger);
    if (number >= route->level) {
        struct log_rate *rate = gatherer->config->rate;
        enum log_rate_verdict verdict = LOG_RATE_PASS;
        if (rate->settings.burst > 0)
            verdict = log_rate_ask(rate, number, clock_monotonic_us());
        record->wall_us = clock_wall_us();
        record->logger = slice_of(logger);
        if (number >= LOG_NUMBER_ERROR)
            log_recent_add(record);
        if (verdict == LOG_RATE_PASS)
            append_by_route(gatherer, route, record);
        else if (verdict == LOG_RATE_DROP_AND_TELL)
            report_rate(gatherer, record);
        due = is_due(gatherer);
    }
    pthread_mutex_unlock(&gatherer->lock);
    return due;
}

void log_write_at(const struct log_place *place, enum log_level level, const char *logger,
                  const struct log_context *context, const char *format, ...)
{
    if (!log_is_enabled(level, logger))
        return;
    char *text = NULL;
    va_list args;
    va_start(args, format);
    int len = vasprintf(&text, format, args);
    va_end(args);
    check(len >= 0);
    const struct slice part = {text, (size_t)len};
    const struct log_message message = {.parts = &part, .part_count = 1};
    struct log_record record = {
        .level = level, .place = place, .context = context, .message = &message};
    struct log_gatherer *gatherer = own_gatherer();
    log_begin_shared();
    (void)log_append(gatherer, &record, logger);
    write_out(gatherer);
    log_end_shared();
    free(text);
}

void log_gather_at(const struct log_place *place, enum log_level level, const char *logger,
                   const struct log_context *context, const struct log_message *message)
{
    struct log_record record = {
        .level = level, .place = place, .context = context, .message = message};
    struct log_gatherer *gatherer = own_gatherer();
    if (!log_append(gatherer, &record, logger))
        return;
    log_begin_shared();
    write_out(gatherer);
    log_end_shared();
}
