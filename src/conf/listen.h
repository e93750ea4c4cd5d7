/* ADDRESS:PORT, as --listen and [berth] listen write it. */
#ifndef BERTH_CONF_LISTEN_H
#define BERTH_CONF_LISTEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/slice.h"

struct conf_listen {
    const char *host; /* a numeric address without brackets, or a name such as localhost */
    uint16_t port;    /* 0: any free port */
};

/* 127.0.0.1:8778, localhost:8778, [::1]:8778. The host is copied into the arena. False: the text is
 * none of these. */
bool listen_parse(struct slice text, struct arena *arena, struct conf_listen *out) BERTH_MUST_CHECK;

/* Is it reached from this machine only: localhost, 127.0.0.0/8, ::1. */
bool listen_is_loopback(const struct conf_listen *listen);

#endif
