/* Defines epoll_wait() and epoll_ctl(), which the dynamic linker prefers to libc's.
 *
 * epoll_wait() has two reasons. One is a bug of libmicrohttpd 0.9.75: its workers request 128
 * events from epoll_wait(), and if they get exactly 128 they call it again before processing them,
 * and then sleep until something else happens. With 128 ready connections on a worker, or a
 * multiple of that, all of them hang. So one event less than requested is returned: the library
 * then never assumes that there are more.
 *
 * The other is that workers wait for descriptors of the service as well (base/event_loop.h), and
 * the library has no function for that.
 *
 * Every caller of it must accept fewer events, and no events before the time is over, so no other
 * code is affected.
 *
 * epoll_ctl() has one: the library calls it twice to suspend and resume a connection, and the
 * kernel hardly ever needs to know (base/event_set.h). Sets that are not a worker's are not
 * affected. */
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/event_loop.h"
#include "base/event_set.h"
#include "http/http_internal.h"

int epoll_wait(int epoll_fd, struct epoll_event *events, int events_max, int timeout_ms)
{
    return event_loop_wait(epoll_fd, events, events_max > 1 ? events_max - 1 : events_max,
                           timeout_ms);
}

int epoll_ctl(int epoll_fd, int operation, int fd, struct epoll_event *event)
{
    return event_loop_waits_for(epoll_fd)
               ? event_set_change(epoll_fd, operation, fd, event)
               : (int)syscall(SYS_epoll_ctl, epoll_fd, operation, fd, event);
}

void ready_events_limit(void)
{
    /* the linker takes this file out of its archive because of this function */
}
