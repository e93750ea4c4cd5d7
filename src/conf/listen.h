/* The addresses of listeners, as in --listen and [berth] listen. */
#ifndef BERTH_CONF_LISTEN_H
#define BERTH_CONF_LISTEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/slice.h"

struct conf_listen {
    const char *path; /* of a unix socket, absolute; NULL: the fields below apply */
    const char *host; /* a numeric address without brackets, or a name such as localhost */
    uint16_t port;    /* 0: any free port */
    bool tls;
};

#define LISTEN_FORMS "ADDRESS:PORT, https://ADDRESS:PORT or unix:/PATH"

/* Parses 127.0.0.1:8778, localhost:8778, [::1]:8778; the same after http:// or https://;
 * unix:/run/x. Texts are copied into the arena. False: the text is none of these. */
bool listen_parse(struct slice text, struct arena *arena, struct conf_listen *out) BERTH_MUST_CHECK;

/* Whether only this machine can reach it: localhost, 127.0.0.0/8, ::1, a unix socket. */
bool listen_is_loopback(const struct conf_listen *listen);

/* Whether the two addresses conflict, so that they cannot both be opened: the same port at the same
 * address, or at one that includes it, such as 0.0.0.0 or ::; or the same path. Names are compared
 * as text, except localhost. */
bool listen_collides(const struct conf_listen *one, const struct conf_listen *other);

#endif
