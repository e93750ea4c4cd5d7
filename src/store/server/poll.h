/* One look, or one wait, at a socket: only for io.c, whose waits are the ones to use. */
#ifndef BERTH_STORE_SERVER_POLL_H
#define BERTH_STORE_SERVER_POLL_H

#include <stdint.h>

enum server_io {
    SERVER_IO_READY,   /* the socket can be read or written, or has failed */
    SERVER_IO_WOKEN,   /* the other descriptor can be read, and the socket is not ready */
    SERVER_IO_TIMEOUT, /* the deadline has passed */
    SERVER_IO_OVER,    /* there is to be no wait */
};

/* Waits for the socket or the descriptor as server_io_wait() does; never SERVER_IO_OVER. Any
 * thread. */
enum server_io server_io_poll(int socket, short events, int wake_fd, uint64_t deadline_us);

#endif
