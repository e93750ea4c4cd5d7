/* Tells in the log when the database begins to fail, and when it works again: a line for each, not
 * one for every request that is answered 503. Writer thread only. */
#ifndef BERTH_ENGINE_OUTAGE_H
#define BERTH_ENGINE_OUTAGE_H

#include "base/counter.h"
#include "base/err.h"

enum outage_extent {
    OUTAGE_NONE,
    OUTAGE_WRITES, /* reads go on: memory is or can be made as new as the database */
    OUTAGE_ALL,
    OUTAGE_EXTENT_COUNT
};

enum { OUTAGE_REASON_BYTES = 256 };

struct outage {
    enum outage_extent extent;
    struct counter shown_extent;               /* the same; any thread reads these two */
    struct counter begun[OUTAGE_EXTENT_COUNT]; /* how often, since the start */
    char reason[OUTAGE_REASON_BYTES];          /* that was told last */
};

/* The database was not read; or what it was asked to write was not written. */
void outage_read_failed(struct outage *outage, const struct err *err);
void outage_write_failed(struct outage *outage, const struct err *err);

/* Memory was brought up to date; or a batch was committed. */
void outage_read_worked(struct outage *outage);
void outage_write_worked(struct outage *outage);

#endif
