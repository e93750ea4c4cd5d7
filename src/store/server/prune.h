/* Deletes old rows of the log. */
#ifndef BERTH_STORE_SERVER_PRUNE_H
#define BERTH_STORE_SERVER_PRUNE_H

#include <stdint.h>

#include "base/err.h"
#include "store/server/session.h"

enum {
    PRUNE_KEPT_LEAST = 1000,  /* newest rows that are kept at any age */
    PRUNE_KEPT_S = 3600,      /* rows that are younger are kept */
    PRUNE_KEPT_MOST = 100000, /* unless there are more */
    PRUNE_AT_ONCE = 1000,     /* rows in one transaction */
    PRUNE_CHUNKS_MOST = 1000  /* transactions in one call */
};

struct prune {
    int64_t until;  /* the rows up to that number have been deleted, by whichever instance */
    int64_t newest; /* of the last call */
};

/* Deletes the oldest rows, as far as they need not be kept, by a statement for each PRUNE_AT_ONCE.
 * `newest` is the number of a recent row. Adds to *deleted the rows that this call deleted. */
enum server_outcome prune_log(struct prune *prune, struct server_session *session, int64_t newest,
                              uint64_t *deleted, uint64_t deadline_us,
                              struct err *err) BERTH_MUST_CHECK;

#endif
