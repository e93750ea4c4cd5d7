/* Failures of writes and of reads are tracked separately: a failed write does not mean that reads
 * fail, and a successful read does not mean that writes work. Otherwise a full disk would be logged
 * with every request. A cause that affects both (a missing file) is logged once, as long as the
 * reason stays the same. The writer only. */
#include "engine/outage.h"

#include <stdio.h>
#include <string.h>

#include "log/log.h"

static void outage_begin(struct outage *outage, enum outage_extent extent, const struct err *err)
{
    if (outage->extent >= extent)
        return;
    char reason[OUTAGE_REASON_BYTES];
    snprintf(reason, sizeof(reason), "%.*s", SLICE_ARG(err->message));
    bool is_logged = outage->extent != OUTAGE_NONE && strcmp(reason, outage->reason) == 0;
    outage->extent = extent;
    counter_set(&outage->shown_extent, extent);
    counter_add(&outage->begun[extent], 1);
    if (is_logged)
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
    outage_begin(outage, OUTAGE_ALL, err);
}

void outage_write_failed(struct outage *outage, const struct err *err)
{
    outage_begin(outage, OUTAGE_WRITES, err);
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
