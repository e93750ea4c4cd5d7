/* Listening sockets that the service manager opened for berthd (sd_listen_fds(3)). */
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
    const char *name; /* FileDescriptorName= in the unit; by default the unit's name */
};

struct activation {
    struct activation_socket sockets[ACTIVATION_SOCKETS_MAX];
    size_t count;
};

/* Reads and clears the environment; before any thread is started. False: err has one line. */
bool activation_read(struct activation *activation, struct arena *arena,
                     struct err *err) BERTH_MUST_CHECK;

/* The purpose of a socket, by its name: "admin" is for operators, "baremetal" and
 * "baremetal-https", "valet" and "valet-https" serve those APIs, all others Placement's; "https"
 * and names that end in it use TLS. */
bool activation_is_admin(const struct activation_socket *socket);
bool activation_is_baremetal(const struct activation_socket *socket);
bool activation_is_valet(const struct activation_socket *socket);
bool activation_is_https(const struct activation_socket *socket);

/* Whether the socket listens on `address`; one bound to a wildcard address listens on every address
 * of its family (IPv6's usually on both families) with its port. */
bool activation_is_at(const struct activation_socket *socket, const struct conf_listen *address);

#endif
