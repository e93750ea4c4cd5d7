/* Waiting for a connection's socket, with a deadline. */
#ifndef BERTH_STORE_POSTGRES_IO_H
#define BERTH_STORE_POSTGRES_IO_H

#include <stdint.h>

enum pg_io {
    PG_IO_READY,   /* the socket can be read or written, or has failed */
    PG_IO_WOKEN,   /* the other descriptor can be read, and the socket is not ready */
    PG_IO_TIMEOUT, /* the deadline has passed */
};

/* Waits for `events` (POLLIN, POLLOUT) of the socket or for the wake-up descriptor (-1: none) until
 * the deadline, a time of clock_monotonic_us(). After the deadline, it only looks. Any thread. */
enum pg_io pg_io_wait(int socket, short events, int wake_fd, uint64_t deadline_us);

#endif
