/* Works around a bug of libmicrohttpd 0.9.75: its workers request 128 events from epoll_wait(), and
 * if they get exactly 128 they call it again before processing them, and then sleep until something
 * else happens. With 128 ready connections on a worker, or a multiple of that, all of them hang.
 *
 * Therefore epoll_wait() is defined here, which the dynamic linker prefers to libc's, and returns
 * one event less than requested: the library then never assumes that there are more. Every caller
 * must accept fewer events anyway, so no other code is affected. */
#include <sys/epoll.h>

#include "http/http_internal.h"

int epoll_wait(int epoll_fd, struct epoll_event *events, int events_max, int timeout_ms)
{
    return epoll_pwait(epoll_fd, events, events_max > 1 ? events_max - 1 : events_max, timeout_ms,
                       NULL);
}

void ready_events_limit(void)
{
    /* the linker takes this file out of its archive because of this function */
}
