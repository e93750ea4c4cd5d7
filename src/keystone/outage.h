/* Tells in the log when Keystone stops answering, why, and when it answers again. One thread. */
#ifndef BERTH_KEYSTONE_OUTAGE_H
#define BERTH_KEYSTONE_OUTAGE_H

#include <stdbool.h>
#include <stdint.h>

enum { KEYSTONE_OUTAGE_REASON_BYTES = 320 };

struct keystone_outage {
    bool is_away;
    bool is_told;     /* and the log says so */
    uint64_t told_us; /* when a reason was told last */
    uint64_t untold;  /* questions that failed since */
    char reason[KEYSTONE_OUTAGE_REASON_BYTES];
};

/* A question was not answered. A reason is told once, and again when another took its place, but
 * not more than one a second. */
void keystone_outage_failed(struct keystone_outage *outage, const char *reason, uint64_t now_us);

/* One was answered. */
void keystone_outage_worked(struct keystone_outage *outage);

#endif
