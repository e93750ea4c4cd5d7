/* Lines, and the threads' buffers. The idea: a write() costs a microsecond, a line some dozens of
 * nanoseconds; so a thread appends to a buffer of its own, whose mutex is contended only in the
 * moment when the flusher exchanges it for an empty one.
 *
 * Invariants: a buffer holds whole lines; it is in the list from its thread's first line until the
 * thread ends. Locks are taken in the order list, output, buffer, so that what leaves a buffer
 * first is written first, and no thread waits for an output that another one writes to. */
#include "base/log.h"

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/log_internal.h"
#include "base/swar.h"
#include "base/utf8.h"

enum {
    LOG_FLUSH_MS = 100,
    LOG_FLUSH_BYTES = 64 * 1024,
    LOG_KEEP_BYTES = 256 * 1024, /* a buffer that grew larger for a long line is given back */
    LOG_TIME_BYTES = sizeof("2026-11-20 20:44:08") - 1
};

struct gatherer {
    pthread_mutex_t lock;
    struct buf lines;
    struct gatherer *next;
};

static struct {
    pthread_mutex_t lock; /* the list and the flusher's life */
    pthread_cond_t wake;
    struct gatherer *first;
    pthread_t flusher;
    pthread_key_t at_thread_end;
    bool stopping;
    atomic_bool running;
    atomic_bool debug;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static _Thread_local struct gatherer *own;

/* The text of a thread's last second: a thread that logs much asks for the local time once a
 * second. */
static _Thread_local struct {
    int64_t second;
    char time[LOG_TIME_BYTES + 1];
    int process;
} last = {.second = -1};

static void append_prefix(struct buf *out, const char *level, const char *logger)
{
    int64_t now_us = clock_wall_us();
    int64_t second = now_us / 1000000;
    unsigned ms = (unsigned)(now_us / 1000 % 1000);
    if (second != last.second) {
        time_t at = (time_t)second;
        struct tm local;
        localtime_r(&at, &local);
        strftime(last.time, sizeof(last.time), "%Y-%m-%d %H:%M:%S", &local);
        last.second = second;
        last.process = getpid();
    }
    const char point[] = {'.', (char)('0' + ms / 100), (char)('0' + ms / 10 % 10),
                          (char)('0' + ms % 10), ' '};
    buf_append(out, last.time, LOG_TIME_BYTES);
    buf_append(out, point, sizeof(point));
    buf_append_int(out, last.process);
    buf_append_char(out, ' ');
    buf_append_slice(out, slice_of(level));
    buf_append_char(out, ' ');
    buf_append_slice(out, slice_of(logger));
    buf_append_lit(out, " [");
}

static bool is_control(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7f;
}

/* Whoever chooses the text must not be able to forge another line, nor to make the log a file that
 * is no text. */
static void append_clean(struct buf *out, struct slice text)
{
    static const char digits[] = "0123456789abcdef";
    size_t from = 0;
    size_t i = 0;
    while (text.len - i >= sizeof(uint64_t)) {
        uint64_t word = swar_load(text.data + i);
        if ((swar_below(word, 0x20) | swar_equal(word, 0x7f) | swar_high(word)) != 0)
            break;
        i += sizeof(uint64_t);
    }
    while (i < text.len) {
        size_t len = utf8_length(text.data + i, text.len - i);
        if (len > 0 && (!is_control(text.data[i]) || text.data[i] == '\t')) {
            i += len;
            continue;
        }
        unsigned char c = (unsigned char)text.data[i];
        const char escaped[] = {'\\', 'x', digits[c >> 4], digits[c & 15]};
        buf_append(out, text.data + from, i - from);
        buf_append(out, escaped, sizeof(escaped));
        from = ++i;
    }
    buf_append(out, text.data + from, text.len - from);
}

static void append_line(struct buf *out, const char *level, const char *logger,
                        struct slice context, struct slice text)
{
    append_prefix(out, level, logger);
    append_clean(out, context);
    buf_append_lit(out, "] ");
    append_clean(out, text);
    buf_append_char(out, '\n');
}

void log_set_debug(bool debug)
{
    atomic_store_explicit(&state.debug, debug, memory_order_relaxed);
}

bool log_is_enabled(enum log_level level)
{
    return level > LOG_LEVEL_DEBUG || atomic_load_explicit(&state.debug, memory_order_relaxed);
}

void log_write(enum log_level level, const char *logger, struct slice context, const char *format,
               ...)
{
    static const char *const names[] = {"DEBUG", "INFO", "WARNING", "ERROR"};
    if (!log_is_enabled(level))
        return;
    char *text = NULL;
    va_list args;
    va_start(args, format);
    int len = vasprintf(&text, format, args);
    va_end(args);
    check(len >= 0);
    struct buf line = {0};
    append_line(&line, names[level], logger, context, (struct slice){text, (size_t)len});
    log_output_begin();
    log_output_write(buf_slice(&line));
    log_output_end();
    buf_free(&line);
    free(text);
}

/* By the gatherer's own thread. */
static void write_out(struct gatherer *gatherer)
{
    log_output_begin();
    pthread_mutex_lock(&gatherer->lock);
    log_output_write(buf_slice(&gatherer->lines));
    gatherer->lines.len = 0;
    if (gatherer->lines.cap > LOG_KEEP_BYTES)
        buf_free(&gatherer->lines);
    pthread_mutex_unlock(&gatherer->lock);
    log_output_end();
}

static void end_gatherer(void *argument)
{
    struct gatherer *gatherer = argument;
    pthread_mutex_lock(&state.lock);
    struct gatherer **at = &state.first;
    while (*at != gatherer)
        at = &(*at)->next;
    *at = gatherer->next;
    pthread_mutex_unlock(&state.lock);
    write_out(gatherer);
    buf_free(&gatherer->lines);
    pthread_mutex_destroy(&gatherer->lock);
    free(gatherer);
    own = NULL;
}

static void make_key(void)
{
    check(pthread_key_create(&state.at_thread_end, end_gatherer) == 0);
}

static struct gatherer *own_gatherer(void)
{
    if (own != NULL)
        return own;
    pthread_once(&key_once, make_key);
    own = calloc(1, sizeof(*own));
    check(own != NULL);
    pthread_mutex_init(&own->lock, NULL);
    check(pthread_setspecific(state.at_thread_end, own) == 0);
    pthread_mutex_lock(&state.lock);
    own->next = state.first;
    state.first = own;
    pthread_mutex_unlock(&state.lock);
    return own;
}

void log_gather(const char *logger, struct slice context, struct slice text)
{
    struct gatherer *gatherer = own_gatherer();
    pthread_mutex_lock(&gatherer->lock);
    append_line(&gatherer->lines, "INFO", logger, context, text);
    bool is_due = gatherer->lines.len >= LOG_FLUSH_BYTES ||
                  !atomic_load_explicit(&state.running, memory_order_relaxed);
    pthread_mutex_unlock(&gatherer->lock);
    if (is_due)
        write_out(gatherer);
}

/* Exchanges each thread's buffer for an empty one and writes it while the thread goes on. The
 * caller holds the list's lock. */
static void flush_all(struct buf *spare)
{
    for (struct gatherer *at = state.first; at != NULL; at = at->next) {
        log_output_begin();
        pthread_mutex_lock(&at->lock);
        struct buf full = at->lines;
        at->lines = *spare;
        pthread_mutex_unlock(&at->lock);
        log_output_write(buf_slice(&full));
        log_output_end();
        full.len = 0;
        *spare = full;
    }
    if (spare->cap > LOG_KEEP_BYTES)
        buf_free(spare);
}

static void *flush_until_stopped(void *argument)
{
    struct buf spare = {0};
    (void)argument;
    pthread_mutex_lock(&state.lock);
    while (!state.stopping) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += LOG_FLUSH_MS * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&state.wake, &state.lock, &until);
        flush_all(&spare);
    }
    flush_all(&spare);
    pthread_mutex_unlock(&state.lock);
    buf_free(&spare);
    return NULL;
}

static void stop_at_exit(void)
{
    check(atexit(log_stop) == 0);
}

void log_start(int fd, bool debug)
{
    static pthread_once_t exit_once = PTHREAD_ONCE_INIT;
    pthread_condattr_t monotonic;
    check(!atomic_load(&state.running));
    pthread_once(&exit_once, stop_at_exit);
    signal(SIGPIPE, SIG_IGN);
    tzset();
    log_output_open(fd);
    log_set_debug(debug);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&state.wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    state.stopping = false;
    check(pthread_create(&state.flusher, NULL, flush_until_stopped, NULL) == 0);
    atomic_store(&state.running, true);
}

void log_stop(void)
{
    if (!atomic_load(&state.running))
        return;
    atomic_store(&state.running, false);
    pthread_mutex_lock(&state.lock);
    state.stopping = true;
    pthread_cond_signal(&state.wake);
    pthread_mutex_unlock(&state.lock);
    pthread_join(state.flusher, NULL);
    pthread_cond_destroy(&state.wake);
}
