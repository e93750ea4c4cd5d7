/* One look, or one wait, at a socket: only for io.c, whose waits are the ones to use. */
#ifndef BERTH_STORE_POSTGRES_POLL_H
#define BERTH_STORE_POSTGRES_POLL_H

#include <stdint.h>

enum pg_io {
    PG_IO_READY,   /* the socket can be read or written, or has failed */
    PG_IO_WOKEN,   /* the other descriptor can be read, and the socket is not ready */
    PG_IO_TIMEOUT, /* the deadline has passed */
    PG_IO_OVER,    /* there is to be no wait */
};

/* Waits for the socket or the descriptor as pg_io_wait() does; never PG_IO_OVER. Any thread. */
enum pg_io pg_io_poll(int socket, short events, int wake_fd, uint64_t deadline_us);

#endif
