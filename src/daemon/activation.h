/* Listening sockets that the service manager opened for us (sd_listen_fds(3)). */
#ifndef BERTH_DAEMON_ACTIVATION_H
#define BERTH_DAEMON_ACTIVATION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "conf/listen.h"

enum { ACTIVATION_SOCKETS_MAX = 16 };

struct activation_socket {
    int fd;
    const char *name; /* FileDescriptorName= of the unit, its own name by default */
    bool is_taken;
};

struct activation {
    struct activation_socket sockets[ACTIVATION_SOCKETS_MAX];
    size_t count;
};

/* Reads and clears the environment; before any thread is started. False: err has one line. */
bool activation_read(struct activation *activation, struct arena *arena,
                     struct err *err) BERTH_MUST_CHECK;

/* By its name: "admin" is for those who run berth, "baremetal" and "baremetal-https", "valet"
 * and "valet-https" serve those APIs, all others Placement's; "https" and those that end so have
 * TLS. */
bool activation_is_admin(const struct activation_socket *socket);
bool activation_is_baremetal(const struct activation_socket *socket);
bool activation_is_valet(const struct activation_socket *socket);
bool activation_is_https(const struct activation_socket *socket);

/* Whether the socket listens where `address` says; one that listens everywhere does so for every
 * address of its family (IPv6's mostly has both) with its port. */
bool activation_is_at(const struct activation_socket *socket, const struct conf_listen *address);

#endif
