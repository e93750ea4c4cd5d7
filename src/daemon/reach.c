/* The rules are those of oslo.db (oslo_db.sqlalchemy.engines): max_retries counts attempts, not
 * retries, and only failures to connect are retried. Unlike oslo.db, nothing waits after the last
 * attempt, and the number of attempts left does not include the one that has just failed.
 *
 * A blocked signal makes a signalfd readable as soon as it is pending, so each wait, including
 * those of the attempt itself, can poll it. */
#include "daemon/reach.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/notify.h"
#include "log/log.h"

/* Reads the signal: if it stayed pending, it would count as the second one later (stop.c). */
static bool take_signal(struct reach *reach)
{
    struct signalfd_siginfo taken;
    if (!reach->is_stopped && reach->retry.stop_fd >= 0 &&
        read(reach->retry.stop_fd, &taken, sizeof(taken)) == (ssize_t)sizeof(taken)) {
        log_write(LOG_LEVEL_INFO, "berth", LOG_NO_CONTEXT, "stopping");
        reach->is_stopped = true;
    }
    return reach->is_stopped;
}

static void log_failure(const struct reach *reach, struct slice reason)
{
    unsigned long long interval_s = reach->interval_us / 1000000;
    if (reach->attempts_left < 0)
        log_write(LOG_LEVEL_WARNING, "berth", LOG_NO_CONTEXT,
                  "SQL connection failed, next attempt in %llu s: %.*s", interval_s,
                  SLICE_ARG(reason));
    else
        log_write(LOG_LEVEL_WARNING, "berth", LOG_NO_CONTEXT,
                  "SQL connection failed, %lld attempt%s left, next attempt in %llu s: %.*s",
                  (long long)reach->attempts_left, reach->attempts_left == 1 ? "" : "s", interval_s,
                  SLICE_ARG(reason));
}

/* Until the time of the next attempt, or a signal. */
static void wait_for_next(const struct reach *reach)
{
    uint64_t end_us = clock_monotonic_us() + reach->interval_us;
    for (uint64_t now_us; (now_us = clock_monotonic_us()) < end_us;) {
        struct pollfd stop = {.fd = reach->retry.stop_fd, .events = POLLIN};
        uint64_t left_us = end_us - now_us;
        struct timespec limit = {.tv_sec = (time_t)(left_us / 1000000),
                                 .tv_nsec = (long)(left_us % 1000000) * 1000};
        if (ppoll(&stop, 1, &limit, NULL) > 0)
            return;
    }
}

static bool connect_again(void *cls, struct slice reason)
{
    struct reach *reach = cls;
    if (take_signal(reach) || reach->attempts_left == 0)
        return false;
    log_failure(reach, reason);
    notify_waiting(reach->interval_us);
    wait_for_next(reach);
    reach->attempts_left -= reach->attempts_left > 0;
    return !take_signal(reach);
}

void reach_begin(struct reach *reach, const struct conf *conf)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    *reach = (struct reach){
        .retry = {.again = connect_again,
                  .cls = reach,
                  .stop_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK)},
        .attempts_left = conf->connect_attempts < 0 ? -1 : conf->connect_attempts - 1,
        .interval_us = conf->connect_interval_us,
    };
}

static bool goes_on(void *cls)
{
    return !take_signal(cls);
}

struct store_meanwhile reach_meanwhile(struct reach *reach)
{
    return (struct store_meanwhile){goes_on, reach};
}

bool reach_end(struct reach *reach)
{
    if (reach->retry.stop_fd >= 0)
        close(reach->retry.stop_fd);
    return reach->is_stopped;
}
