/* See event_loop.h. A loop's state belongs to its thread. Watched descriptors are in the library's
 * own epoll set, so that one wait serves both. */
#include "base/event_loop.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/epoll.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/event_set.h"

enum { WATCHERS_MOST = 8, POSTPONED_MOST_US = 200 };

struct event_loop {
    uint64_t number; /* 0: the thread has none */
    int epoll_fd;    /* of the last wait */
    unsigned watcher_count;
    struct event_watcher *watchers[WATCHERS_MOST]; /* those that were used; they stay */
    int fds[WATCHERS_MOST]; /* the last ones that they have watched; -1: none */
    bool wants_idle[WATCHERS_MOST];
    unsigned wanted;
    uint64_t since_us;  /* when the first of these was */
    uint64_t gather_us; /* how long, from then on, the thread waits for more events before it is
                           idle */
};

static _Thread_local struct event_loop here;

void event_loop_begin(void)
{
    static _Atomic uint64_t numbers;
    if (here.number == 0)
        here.number = atomic_fetch_add(&numbers, 1) + 1;
}

void event_loop_end(void)
{
    event_set_end();
    here = (struct event_loop){0};
}

uint64_t event_loop_number(void)
{
    return here.number;
}

bool event_loop_waits_for(int epoll_fd)
{
    return here.number != 0 && here.epoll_fd == epoll_fd;
}

/* WATCHERS_MOST: it was never used on this thread. */
static unsigned event_loop_find(const void *watcher)
{
    for (unsigned i = 0; i < here.watcher_count; i++)
        if (here.watchers[i] == watcher)
            return i;
    return WATCHERS_MOST;
}

static unsigned find_or_add(struct event_watcher *watcher)
{
    unsigned at = event_loop_find(watcher);
    check(here.number != 0);
    if (at < WATCHERS_MOST)
        return at;
    check(here.watcher_count < WATCHERS_MOST);
    here.watchers[here.watcher_count] = watcher;
    here.fds[here.watcher_count] = -1;
    return here.watcher_count++;
}

void event_loop_when_idle(struct event_watcher *watcher, uint64_t gather_us)
{
    unsigned at = find_or_add(watcher);
    if (!here.wants_idle[at] && here.wanted++ == 0) {
        here.since_us = clock_monotonic_us();
        here.gather_us = gather_us;
    }
    here.wants_idle[at] = true;
    if (gather_us < here.gather_us)
        here.gather_us = gather_us;
}

bool event_loop_watch(struct event_watcher *watcher, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = watcher};
    here.fds[find_or_add(watcher)] = fd;
    return epoll_ctl(here.epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0 || errno == EEXIST;
}

bool event_loop_watch_once(struct event_watcher *watcher, int fd)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data.ptr = watcher};
    here.fds[find_or_add(watcher)] = fd;
    return epoll_ctl(here.epoll_fd, EPOLL_CTL_MOD, fd, &event) == 0 ||
           (errno == ENOENT && epoll_ctl(here.epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0);
}

static void run_idle(void)
{
    here.wanted = 0;
    for (unsigned i = 0; i < here.watcher_count; i++) {
        if (!here.wants_idle[i])
            continue;
        here.wants_idle[i] = false;
        here.watchers[i]->idle(here.watchers[i]);
    }
}

/* Calls the watchers of these events, and leaves the others. */
static int take_own(struct epoll_event *events, int count)
{
    bool is_readable[WATCHERS_MOST] = {false};
    bool is_any = false;
    int kept = 0;
    count = event_set_told(events, count);
    for (int i = 0; i < count; i++) {
        unsigned at = here.watcher_count == 0 ? WATCHERS_MOST : event_loop_find(events[i].data.ptr);
        if (at == WATCHERS_MOST) {
            events[kept++] = events[i];
        } else {
            is_readable[at] = true;
            is_any = true;
        }
    }
    for (unsigned i = 0; is_any && i < here.watcher_count; i++)
        if (is_readable[i])
            here.watchers[i]->readable(here.watchers[i]);
    return kept;
}

/* A descriptor that is closed, or that has another meaning by now, does no harm. */
void event_loop_run_own(void)
{
    run_idle();
    for (unsigned i = 0; i < here.watcher_count; i++) {
        struct pollfd polled = {.fd = here.fds[i], .events = POLLIN};
        if (polled.fd >= 0 && poll(&polled, 1, 0) > 0)
            here.watchers[i]->readable(here.watchers[i]);
    }
}

/* What is ready now, or while the thread still gathers events before it is idle. */
static int wait_a_little(int epoll_fd, struct epoll_event *events, int events_max, uint64_t left_us)
{
    const struct timespec left = {.tv_nsec = (long)left_us * 1000};
    return left_us == 0 ? epoll_pwait(epoll_fd, events, events_max, 0, NULL)
                        : epoll_pwait2(epoll_fd, events, events_max, &left, NULL);
}

int event_loop_wait(int epoll_fd, struct epoll_event *events, int events_max, int timeout_ms)
{
    int count = 0;
    here.epoll_fd = epoll_fd;
    if (here.wanted > 0) {
        /* a timeout of 0: the library itself has more to do */
        uint64_t passed_us = clock_monotonic_us() - here.since_us;
        bool gathers = timeout_ms != 0 && passed_us < here.gather_us;
        bool is_late = passed_us >= POSTPONED_MOST_US;
        if (!is_late)
            count = wait_a_little(epoll_fd, events, events_max,
                                  gathers ? here.gather_us - passed_us : 0);
        if (is_late || (count <= 0 && timeout_ms != 0))
            run_idle();
        else if (count <= 0)
            return count;
    }
    if (count <= 0)
        count = epoll_pwait(epoll_fd, events, events_max, here.wanted > 0 ? 0 : timeout_ms, NULL);
    return count <= 0 ? count : take_own(events, count);
}
