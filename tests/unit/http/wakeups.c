/* The linker sends the calls of epoll_pwait() and poll() here (--wrap). The library's epoll_wait()
 * is among them, see http/ready_events.c. */
#include "wakeups.h"

#include <poll.h>
#include <stdatomic.h>
#include <sys/epoll.h>

#include "await.h"

enum { WINDOWS = 100, PAUSES = 40, RARE = 20 };

static _Atomic unsigned wakeups;
static _Atomic unsigned delay_ms;

int __real_epoll_pwait(int fd, struct epoll_event *events, int most, int timeout_ms,
                       const sigset_t *mask);
int __wrap_epoll_pwait(int fd, struct epoll_event *events, int most, int timeout_ms,
                       const sigset_t *mask);
int __real_poll(struct pollfd *fds, nfds_t count, int timeout_ms);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms);

int __wrap_epoll_pwait(int fd, struct epoll_event *events, int most, int timeout_ms,
                       const sigset_t *mask)
{
    for (unsigned us = atomic_load(&delay_ms) * 1000; us > 0; us -= AWAIT_PAUSE_US)
        await_pause();
    int ready = __real_epoll_pwait(fd, events, most, timeout_ms, mask);
    atomic_fetch_add(&wakeups, 1);
    return ready;
}

int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
    int ready = __real_poll(fds, count, timeout_ms);
    atomic_fetch_add(&wakeups, 1);
    return ready;
}

static bool are_rare(void)
{
    unsigned before = atomic_load(&wakeups);
    for (unsigned i = 0; i < PAUSES; i++)
        await_pause();
    return atomic_load(&wakeups) - before < RARE;
}

void wakeups_delay_ms(unsigned ms)
{
    atomic_store(&delay_ms, ms);
}

bool wakeups_become_rare(void)
{
    for (unsigned i = 0; i < WINDOWS; i++)
        if (are_rare())
            return true;
    return false;
}
