/* libsystemd sends the notifications. The main thread, except for a thread during startup, which
 * exists because the main thread is then busy with the database. */
#include "daemon/notify.h"

#include <stdarg.h>
#include <stdio.h>
#include <systemd/sd-daemon.h>

#include "base/clock.h"
#include "base/wait.h"
#include "log/log.h"

enum { START_LOOK_US = 1000 * 1000, START_EXTEND_US = 20 * 1000 * 1000, STATUS_MOST_BYTES = 256 };

static void *extend(void *cls)
{
    struct starting *starting = cls;
    uint64_t seen = 0;
    uint64_t next_us = clock_monotonic_us();
    pthread_mutex_lock(&starting->lock);
    while (!starting->is_over) {
        next_us += START_LOOK_US;
        while (!starting->is_over && wait_until(&starting->wake, &starting->lock, next_us))
            continue;
        uint64_t steps = atomic_load_explicit(starting->steps, memory_order_relaxed);
        if (!starting->is_over && steps != seen)
            (void)sd_notifyf(0, "EXTEND_TIMEOUT_USEC=%d\nSTATUS=reading the database",
                             START_EXTEND_US);
        seen = steps;
    }
    pthread_mutex_unlock(&starting->lock);
    return NULL;
}

void notify_starting(struct starting *starting, const _Atomic uint64_t *steps)
{
    *starting = (struct starting){.steps = steps};
    pthread_mutex_init(&starting->lock, NULL);
    wait_init(&starting->wake);
    starting->has_thread = pthread_create(&starting->thread, NULL, extend, starting) == 0;
}

void notify_started(struct starting *starting)
{
    pthread_mutex_lock(&starting->lock);
    starting->is_over = true;
    pthread_cond_signal(&starting->wake);
    pthread_mutex_unlock(&starting->lock);
    if (starting->has_thread)
        pthread_join(starting->thread, NULL);
    pthread_cond_destroy(&starting->wake);
    pthread_mutex_destroy(&starting->lock);
}

void notify_waiting(uint64_t wait_us)
{
    (void)sd_notifyf(0, "EXTEND_TIMEOUT_USEC=%llu\nSTATUS=waiting for the database",
                     (unsigned long long)(wait_us + START_EXTEND_US));
}

void notify_ready(void)
{
    (void)sd_notify(0, "READY=1");
}

void notify_reloading(void)
{
    (void)sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%llu",
                     (unsigned long long)clock_monotonic_us());
}

void notify_stopping(void)
{
    (void)sd_notify(0, "STOPPING=1");
}

void notify_status(const char *format, ...)
{
    char text[STATUS_MOST_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    (void)sd_notifyf(0, "STATUS=%s", text);
}

void watch_begin(struct watch *watch, uint64_t now_us)
{
    uint64_t allowed_us = 0;
    *watch = (struct watch){.steps_seen_us = now_us, .next_us = now_us};
    if (sd_watchdog_enabled(0, &allowed_us) > 0)
        watch->period_us = allowed_us / 2;
}

static bool goes_on(struct watch *watch, uint64_t now_us, uint64_t longest_us)
{
    uint64_t writer_us = now_us - watch->steps_seen_us;
    bool good = writer_us < watch->period_us && longest_us < watch->period_us;
    if (!good && !watch->complained)
        log_write(LOG_LEVEL_ERROR, "berth", LOG_NO_CONTEXT,
                  "%s for %llu s: the watchdog gets no keep-alive",
                  writer_us < watch->period_us ? "a worker has not responded"
                                               : "the writer has made no progress",
                  (unsigned long long)(watch->period_us / 1000000));
    watch->complained = !good;
    return good;
}

void watch_look(struct watch *watch, uint64_t now_us, uint64_t steps, uint64_t longest_us)
{
    if (steps != watch->steps) {
        watch->steps = steps;
        watch->steps_seen_us = now_us;
    }
    if (watch->period_us == 0 || now_us < watch->next_us || !goes_on(watch, now_us, longest_us))
        return;
    watch->next_us = now_us + watch->period_us;
    (void)sd_notify(0, "WATCHDOG=1");
}
