/* Logs when the database begins to fail and when it works again: one line for each, not one for
 * every request that is answered 503. The writer only. */
#ifndef BERTH_ENGINE_OUTAGE_H
#define BERTH_ENGINE_OUTAGE_H

#include "base/counter.h"
#include "base/err.h"

enum outage_extent {
    OUTAGE_NONE,
    OUTAGE_WRITES, /* reads continue: memory is up to date or can be updated */
    OUTAGE_ALL,
    OUTAGE_EXTENT_COUNT
};

enum { OUTAGE_REASON_BYTES = 256 };

struct outage {
    enum outage_extent extent;
    struct counter shown_extent;               /* the same; any thread may read this and `begun` */
    struct counter begun[OUTAGE_EXTENT_COUNT]; /* number since the start */
    char reason[OUTAGE_REASON_BYTES];          /* of the last line that was logged */
};

/* The database could not be read; or changes could not be written to it. */
void outage_read_failed(struct outage *outage, const struct err *err);
void outage_write_failed(struct outage *outage, const struct err *err);

/* Memory was brought up to date; or a batch was committed. */
void outage_read_worked(struct outage *outage);
void outage_write_worked(struct outage *outage);

#endif
