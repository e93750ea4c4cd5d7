/* One poll() on a socket and a wake-up descriptor. Any thread. The simulation of the fleet replaces
 * this file. */
#include "store/server/poll.h"

#include <errno.h>
#include <poll.h>

#include "base/check.h"
#include "base/clock.h"

enum server_io server_io_poll(int socket, short events, int wake_fd, uint64_t deadline_us)
{
    struct pollfd polled[] = {{.fd = socket, .events = events}, {.fd = wake_fd, .events = POLLIN}};
    for (;;) {
        uint64_t now_us = clock_monotonic_us();
        uint64_t left_us = deadline_us > now_us ? deadline_us - now_us : 0;
        struct timespec limit = {.tv_sec = (time_t)(left_us / 1000000),
                                 .tv_nsec = (long)(left_us % 1000000) * 1000};
        int ready = ppoll(polled, wake_fd >= 0 ? 2 : 1, &limit, NULL);
        check(ready >= 0 || errno == EINTR || errno == ENOMEM);
        if (ready > 0)
            return polled[0].revents != 0 ? SERVER_IO_READY : SERVER_IO_WOKEN;
        if (left_us == 0)
            return SERVER_IO_TIMEOUT;
    }
}
