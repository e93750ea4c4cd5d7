/* The log's life: the configuration in force, the flusher, start and stop. How a change works:
 * under both locks, each thread's buffers are taken away and its gatherer gets the new
 * configuration; the gathered lines go to the outputs that they were meant for, and nothing uses
 * the old configuration any more.
 *
 * The main thread, except for code that runs once and at the ends of threads. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/wait.h"
#include "log/internal.h"

enum {
    LOG_FLUSH_MS = 100,
    LOG_KEEP_BYTES = 256 * 1024, /* a buffer that has grown for a long line is shrunk again */
    LOG_TELL_LOST_US = 10 * 1000000
};

/* A change has priority over later lines: otherwise threads that log continuously, and wait for
 * each other at an output, would delay it for ever. Therefore no thread may take the shared lock
 * twice. */
struct log_state log_state = {.config_lock = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP,
                              .lock = PTHREAD_MUTEX_INITIALIZER,
                              .lowest = LOG_NUMBER_INFO};

static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Only used by the main thread, in report_lost. */
static struct {
    uint64_t seen;
    uint64_t reported;
    uint64_t reported_us;
} lost_bytes;

void log_begin_shared(void)
{
    pthread_rwlock_rdlock(&log_state.config_lock);
}

void log_end_shared(void)
{
    pthread_rwlock_unlock(&log_state.config_lock);
}

/* Out of memory, or one of our own formats is malformed: nothing else can fail here. */
static struct log_config *one_descriptor(int fd, bool debug)
{
    struct err err = {.arena = arena_create()};
    const struct log_handler_settings handler = {
        .to = LOG_TO_DESCRIPTOR, .fd = fd, .format = log_format_default};
    const struct log_logger_settings root = {
        .name = "", .level = debug ? LOG_NUMBER_DEBUG : LOG_NUMBER_INFO, .handler_count = 1};
    const struct log_settings settings = {
        .handlers = &handler, .handler_count = 1, .loggers = &root, .logger_count = 1};
    struct log_config *config = log_config_create(&settings, false, &err);
    check(config != NULL);
    arena_destroy(err.arena);
    return config;
}

void log_flush_lines(struct log_output *output, struct buf *lines)
{
    log_output_write(output, buf_slice(lines));
    lines->len = 0;
    if (lines->cap > LOG_KEEP_BYTES)
        buf_free(lines);
}

static void begin_log(void)
{
    check(atexit(log_stop) == 0);
    log_state.config = one_descriptor(STDERR_FILENO, false);
    (void)log_relative_us(clock_wall_us());
}

void log_run_once(void)
{
    pthread_once(&once, begin_log);
}

void log_forget_times(struct log_scratch *scratch)
{
    for (size_t i = 0; i < LOG_HANDLERS_MAX; i++)
        scratch->times[i].second = -1;
}

/* Exchanges each thread's buffers for empty ones and writes them while the thread continues. The
 * caller holds the configuration's lock shared, and the list's lock. */
static void flush_all(struct buf *spare)
{
    const struct log_sinks *sinks = log_state.config->sinks;
    for (struct log_gatherer *at = log_state.first; at != NULL; at = at->next)
        for (size_t i = 0; i < sinks->output_count; i++) {
            log_output_begin(sinks->outputs[i]);
            pthread_mutex_lock(&at->lock);
            struct buf full = at->lines[i];
            at->lines[i] = *spare;
            pthread_mutex_unlock(&at->lock);
            log_flush_lines(sinks->outputs[i], &full);
            log_output_end(sinks->outputs[i]);
            *spare = full;
        }
}

static void wait_for_next_flush(void)
{
    wait_until(&log_state.wake, &log_state.lock, clock_monotonic_us() + LOG_FLUSH_MS * 1000);
}

static void *flush_until_stopped(void *argument)
{
    struct buf spare = {0};
    bool stopping = false;
    (void)argument;
    while (!stopping) {
        pthread_mutex_lock(&log_state.lock);
        if (!log_state.stopping)
            wait_for_next_flush();
        stopping = log_state.stopping;
        pthread_mutex_unlock(&log_state.lock);
        log_begin_shared();
        pthread_mutex_lock(&log_state.lock);
        flush_all(&spare);
        pthread_mutex_unlock(&log_state.lock);
        log_end_shared();
    }
    buf_free(&spare);
    return NULL;
}

/* The lines that a thread has gathered so far go to the outputs that they were gathered for. */
static void change_gatherer(struct log_gatherer *gatherer, struct log_config *config)
{
    struct buf lines[LOG_HANDLERS_MAX];
    pthread_mutex_lock(&gatherer->lock);
    const struct log_sinks *sinks = gatherer->config->sinks;
    memcpy(lines, gatherer->lines, sizeof(lines));
    memset(gatherer->lines, 0, sizeof(gatherer->lines));
    memset(gatherer->routes, 0, sizeof(gatherer->routes));
    log_forget_times(&gatherer->scratch);
    gatherer->config = config;
    pthread_mutex_unlock(&gatherer->lock);
    for (size_t i = 0; i < LOG_HANDLERS_MAX; i++) {
        if (i < sinks->output_count) {
            log_output_begin(sinks->outputs[i]);
            log_output_write(sinks->outputs[i], buf_slice(&lines[i]));
            log_output_end(sinks->outputs[i]);
        }
        buf_free(&lines[i]);
    }
}

static void change_config(struct log_config *config)
{
    log_run_once();
    pthread_rwlock_wrlock(&log_state.config_lock);
    pthread_mutex_lock(&log_state.lock);
    struct log_config *old = log_state.config;
    log_state.config = config;
    atomic_store_explicit(&log_state.lowest, config->lowest, memory_order_relaxed);
    for (struct log_gatherer *at = log_state.first; at != NULL; at = at->next)
        change_gatherer(at, config);
    pthread_mutex_unlock(&log_state.lock);
    pthread_rwlock_unlock(&log_state.config_lock);
    log_config_destroy(old, old->sinks != config->sinks);
}

static void start_flusher(void)
{
    wait_init(&log_state.wake);
    log_state.stopping = false;
    check(pthread_create(&log_state.flusher, NULL, flush_until_stopped, NULL) == 0);
    atomic_store(&log_state.running, true);
}

static void start_with(struct log_config *config)
{
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* exceeding a file size limit is an error of write(), as in Python */
    tzset();
    change_config(config);
    if (!atomic_load(&log_state.running))
        start_flusher();
}

bool log_start_with(const struct log_settings *settings, struct err *err)
{
    struct log_config *config = log_config_create(settings, true, err);
    if (config == NULL)
        return false;
    start_with(config);
    for (const struct log_unknown_key *at = config->sinks->unknown; at != NULL; at = at->next)
        log_write(LOG_LEVEL_WARNING, "berth.log", LOG_NO_CONTEXT,
                  "%s: no line has %%(%.*s): nothing is written for it", at->format,
                  SLICE_ARG(at->key));
    return true;
}

void log_start(int fd, bool debug)
{
    start_with(one_descriptor(fd, debug));
}

void log_stop(void)
{
    if (!atomic_load(&log_state.running))
        return;
    atomic_store(&log_state.running, false);
    pthread_mutex_lock(&log_state.lock);
    log_state.stopping = true;
    pthread_cond_signal(&log_state.wake);
    pthread_mutex_unlock(&log_state.lock);
    pthread_join(log_state.flusher, NULL);
    pthread_cond_destroy(&log_state.wake);
    for (size_t i = 0; i < log_state.config->sinks->output_count; i++)
        log_output_stop(log_state.config->sinks->outputs[i]);
}

void log_set_levels(const struct log_logger_settings *loggers, size_t logger_count)
{
    log_run_once();
    change_config(log_config_with_levels(log_state.config, loggers, logger_count));
}

void log_set_debug(bool debug)
{
    log_run_once();
    change_config(
        log_config_with_root_level(log_state.config, debug ? LOG_NUMBER_DEBUG : LOG_NUMBER_INFO));
}

static void follow_files(bool always)
{
    log_run_once();
    const struct log_sinks *sinks = log_state.config->sinks;
    for (size_t i = 0; i < sinks->output_count; i++)
        log_output_follow(sinks->outputs[i], always);
}

void log_reopen(void)
{
    follow_files(true);
}

static bool all_outputs_are_well(void)
{
    const struct log_sinks *sinks = log_state.config->sinks;
    for (size_t i = 0; i < sinks->output_count; i++)
        if (!log_output_is_well(sinks->outputs[i]))
            return false;
    return true;
}

/* Only when no more lines are being lost, and not too often, because this line may be lost, too. */
static void report_lost(void)
{
    uint64_t lost = log_lost_bytes();
    bool over = lost == lost_bytes.seen;
    uint64_t now_us = clock_monotonic_us();
    lost_bytes.seen = lost;
    if (!over || lost == lost_bytes.reported || !all_outputs_are_well() ||
        now_us - lost_bytes.reported_us < LOG_TELL_LOST_US)
        return;
    uint64_t since = lost - lost_bytes.reported;
    lost_bytes.reported = lost;
    lost_bytes.reported_us = now_us;
    log_write(LOG_LEVEL_WARNING, "berth.log", LOG_NO_CONTEXT,
              "%llu bytes of the log could not be written and are lost", (unsigned long long)since);
}

static void report_files(void)
{
    const struct log_sinks *sinks = log_state.config->sinks;
    const char *what;
    const char *path;
    int error;
    for (size_t i = 0; i < sinks->output_count; i++)
        if (log_output_complains(sinks->outputs[i], &what, &path, &error))
            log_write(LOG_LEVEL_WARNING, "berth.log", LOG_NO_CONTEXT,
                      "the log file %s cannot be %s: %s", path, what, strerror(error));
}

void log_look_after(void)
{
    follow_files(false);
    report_files();
    report_lost();
}
