/* Waits in slices, and runs what is to be done meanwhile between them. Any thread. */
#include "store/server/io.h"

#include "base/check.h"
#include "base/clock.h"

/* False: nothing is to be waited for any more. Also where sockets are always ready, as while a
 * table is read. */
static bool run_if_due(struct server_meanwhile *meanwhile)
{
    uint64_t now_us = clock_monotonic_us();
    check(!meanwhile->is_running);
    if (meanwhile->is_over || now_us - meanwhile->last_us < SERVER_IO_SLICE_US)
        return !meanwhile->is_over;
    meanwhile->is_running = true;
    meanwhile->is_over = !meanwhile->run(meanwhile->cls);
    meanwhile->is_running = false;
    meanwhile->last_us = clock_monotonic_us();
    return !meanwhile->is_over;
}

enum server_io server_io_wait(struct server_meanwhile *meanwhile, int socket, short events,
                              int wake_fd, uint64_t deadline_us)
{
    if (meanwhile == NULL || meanwhile->run == NULL)
        return server_io_poll(socket, events, wake_fd, deadline_us);
    while (run_if_due(meanwhile)) {
        uint64_t slice_us = meanwhile->last_us + SERVER_IO_SLICE_US;
        uint64_t until_us = slice_us < deadline_us ? slice_us : deadline_us;
        enum server_io found = server_io_poll(socket, events, wake_fd, until_us);
        if (found != SERVER_IO_TIMEOUT || until_us == deadline_us)
            return found;
    }
    return SERVER_IO_OVER;
}
