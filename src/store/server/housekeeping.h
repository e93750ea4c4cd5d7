/* What an instance does about once a minute, beside its work: it writes its row of berth_instances,
 * deletes old rows of the log, and makes a report for operators. On a thread and a session of its
 * own, so that no request waits for it, and nothing fails if it does. */
#ifndef BERTH_STORE_SERVER_HOUSEKEEPING_H
#define BERTH_STORE_SERVER_HOUSEKEEPING_H

#include <stdint.h>

#include "store/report.h"
#include "store/server/head.h"

struct housekeeping;

/* Begins at once. The lineage, the counts and the head outlive it. NULL: no thread could be
 * started. */
struct housekeeping *housekeeping_start(const struct server_address *address,
                                        struct server_lineage *lineage,
                                        struct server_connection_counts *counts,
                                        uint64_t recycle_us, struct server_head *head);

/* Deletes the instance's row, if the server answers within a second, and frees everything. NULL is
 * allowed. */
void housekeeping_stop(struct housekeeping *housekeeping);

/* The last report, copied to the arena. False: there is none yet. Any thread. */
bool housekeeping_report(struct housekeeping *housekeeping, struct arena *arena,
                         struct store_report *report);

/* For metrics. */
struct housekeeping_figures {
    uint64_t pruned; /* rows of the log that this instance has deleted */
    uint64_t moved;  /* rows of berth_foreign that it has moved into the log */
};

/* Any thread. */
struct housekeeping_figures housekeeping_figures(const struct housekeeping *housekeeping);

#endif
