/* A fault of libmicrohttpd 0.9.75 worked round: its workers ask epoll_wait() for 128 events, and if
 * they get exactly 128 they ask again before they look at what they got, and then sleep until
 * something else happens. With 128 ready connections a worker, or a multiple, all of them hang.
 *
 * So epoll_wait() is defined here, which the dynamic linker prefers to libc's, and gives one event
 * less than it was asked for: the library then never thinks that there are more. A caller must be
 * ready for fewer events anyway, so this changes nothing for anybody else. */
#include <sys/epoll.h>

#include "http/http_internal.h"

int epoll_wait(int epoll_fd, struct epoll_event *events, int events_max, int timeout_ms)
{
    return epoll_pwait(epoll_fd, events, events_max > 1 ? events_max - 1 : events_max, timeout_ms,
                       NULL);
}

void ready_events_limit(void)
{
    /* the linker takes this file out of its archive for the sake of this function */
}
