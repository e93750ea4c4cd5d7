/* Waiting for a connection's socket, with a deadline. */
#ifndef BERTH_STORE_SERVER_IO_H
#define BERTH_STORE_SERVER_IO_H

#include <stdbool.h>
#include <stdint.h>

#include "store/server/poll.h"

/* How long a wait lasts at most without running what is to be done meanwhile. */
enum { SERVER_IO_SLICE_US = 50000 };

/* What the thread of some sessions does while these wait (store_set_meanwhile()). It belongs to
 * that thread. Initialise it with zeroes. */
struct server_meanwhile {
    bool (*run)(void *cls); /* must not use these sessions. False: no wait goes on, nor does another
                               one begin. NULL: nothing is done meanwhile */
    void *cls;
    uint64_t last_us; /* when it was last run */
    bool is_running;
    bool is_over; /* it has returned false */
};

/* Waits for `events` (POLLIN, POLLOUT) of the socket or for the wake-up descriptor (-1: none) until
 * the deadline, a time of clock_monotonic_us(). After the deadline, it only looks. This is the only
 * wait of sessions, so that none is without `meanwhile` (NULL: of a thread that may wait until the
 * deadline). Any thread. */
enum server_io server_io_wait(struct server_meanwhile *meanwhile, int socket, short events,
                              int wake_fd, uint64_t deadline_us);

#endif
