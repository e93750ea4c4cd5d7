/* Logs when Keystone stops answering, for what reason, and when it answers again. One thread. */
#ifndef BERTH_KEYSTONE_OUTAGE_H
#define BERTH_KEYSTONE_OUTAGE_H

#include <stdbool.h>
#include <stdint.h>

enum { KEYSTONE_OUTAGE_REASON_BYTES = 320 };

struct keystone_outage {
    bool is_unavailable;
    bool is_logged;      /* the failure has been logged */
    uint64_t logged_us;  /* when a reason was last logged */
    uint64_t not_logged; /* queries that have failed since */
    char reason[KEYSTONE_OUTAGE_REASON_BYTES];
};

/* Called when a query was not answered. A reason is logged once, and again after a different one,
 * but at most one line a second. */
void keystone_outage_failed(struct keystone_outage *outage, const char *reason, uint64_t now_us);

/* Called when a query was answered. */
void keystone_outage_worked(struct keystone_outage *outage);

#endif
