/* Connecting to a database server at startup, as often as [placement_database] max_retries and
 * retry_interval say, and reading it, until a signal stops that. */
#ifndef BERTH_DAEMON_REACH_H
#define BERTH_DAEMON_REACH_H

#include <stdbool.h>
#include <stdint.h>

#include "conf/settings.h"
#include "store/store.h"

struct reach {
    struct store_retry retry; /* for store_open() */
    int64_t attempts_left;    /* after the current one; -1: unlimited */
    uint64_t interval_us;
    bool is_stopped;
};

/* The main thread, which blocks SIGTERM and SIGINT; *reach must not move until reach_end(). */
void reach_begin(struct reach *reach, const struct conf *conf);

/* What the store does while it waits: looks for these signals. */
struct store_meanwhile reach_meanwhile(struct reach *reach);

/* Returns whether one of these signals has ended the start. It is then no longer pending. */
bool reach_end(struct reach *reach);

#endif
