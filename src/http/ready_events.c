/* Defines epoll_wait(), which the dynamic linker prefers to libc's, for two reasons.
 *
 * One is a bug of libmicrohttpd 0.9.75: its workers request 128 events from epoll_wait(), and if
 * they get exactly 128 they call it again before processing them, and then sleep until something
 * else happens. With 128 ready connections on a worker, or a multiple of that, all of them hang. So
 * one event less than requested is returned: the library then never assumes that there are more.
 *
 * The other is that workers wait for descriptors of the service as well (base/event_loop.h), and
 * the library has no function for that.
 *
 * Every caller must accept fewer events, and no events before the time is over, so no other code is
 * affected. */
#include <sys/epoll.h>

#include "base/event_loop.h"
#include "http/http_internal.h"

int epoll_wait(int epoll_fd, struct epoll_event *events, int events_max, int timeout_ms)
{
    return event_loop_wait(epoll_fd, events, events_max > 1 ? events_max - 1 : events_max,
                           timeout_ms);
}

void ready_events_limit(void)
{
    /* the linker takes this file out of its archive because of this function */
}
