/* A write that fails says nothing of reads, and a read that works nothing of writes: a full disk
 * would otherwise be told with every request. What makes both fail (a file that is gone) is told
 * once, if the reason is the same. Writer thread only. */
#include "engine/outage.h"

#include <stdio.h>
#include <string.h>

#include "log/log.h"

static void begin(struct outage *outage, enum outage_extent extent, const struct err *err)
{
    if (outage->extent >= extent)
        return;
    char reason[OUTAGE_REASON_BYTES];
    snprintf(reason, sizeof(reason), "%.*s", SLICE_ARG(err->message));
    bool is_told = outage->extent != OUTAGE_NONE && strcmp(reason, outage->reason) == 0;
    outage->extent = extent;
    counter_set(&outage->shown_extent, extent);
    counter_add(&outage->begun[extent], 1);
    if (is_told)
        return;
    memcpy(outage->reason, reason, sizeof(reason));
    log_write(LOG_LEVEL_ERROR, "berth", LOG_NO_CONTEXT, "%s answered 503 from now on: %.*s",
              extent == OUTAGE_ALL ? "reads and writes are" : "writes are",
              SLICE_ARG(err->message));
}

static void end(struct outage *outage)
{
    outage->extent = OUTAGE_NONE;
    counter_set(&outage->shown_extent, OUTAGE_NONE);
    log_write(LOG_LEVEL_INFO, "berth", LOG_NO_CONTEXT, "the database works again");
}

void outage_read_failed(struct outage *outage, const struct err *err)
{
    begin(outage, OUTAGE_ALL, err);
}

void outage_write_failed(struct outage *outage, const struct err *err)
{
    begin(outage, OUTAGE_WRITES, err);
}

void outage_read_worked(struct outage *outage)
{
    if (outage->extent == OUTAGE_ALL)
        end(outage);
}

void outage_write_worked(struct outage *outage)
{
    if (outage->extent != OUTAGE_NONE)
        end(outage);
}
