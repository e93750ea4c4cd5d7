/* See missing_consumers.h. */
#include "store/missing_consumers.h"

#include <stdlib.h>

#include "base/buf.h"
#include "log/log.h"

enum { NAMED_MOST = 5 };

void missing_consumers_add(struct missing_consumers *missing, struct slice uuid)
{
    if (missing->arena == NULL)
        missing->arena = arena_create();
    missing->uuids = arena_grow(missing->arena, missing->uuids, missing->count, &missing->capacity,
                                sizeof(*missing->uuids));
    missing->uuids[missing->count++] = arena_copy(missing->arena, uuid);
}

static int missing_compare(const void *a, const void *b)
{
    return slice_compare(a, b);
}

void missing_consumers_end(struct missing_consumers *missing)
{
    size_t kept = 0;
    if (missing->count > 0)
        qsort(missing->uuids, missing->count, sizeof(*missing->uuids), missing_compare);
    for (size_t i = 0; i < missing->count; i++)
        if (kept == 0 || !slice_equal(missing->uuids[kept - 1], missing->uuids[i]))
            missing->uuids[kept++] = missing->uuids[i];
    missing->count = kept;
}

void missing_consumers_free(struct missing_consumers *missing)
{
    if (missing->arena != NULL)
        arena_destroy(missing->arena);
    *missing = (struct missing_consumers){0};
}

bool missing_consumers_are_none(const struct missing_consumers *missing, struct slice database,
                                struct err *err)
{
    return missing->count == 0 ||
           err_set(err, 503, NULL,
                   "the database '%.*s' has allocations of consumers without a row, which is being "
                   "created",
                   SLICE_ARG(database));
}

void missing_consumers_log(const struct missing_consumers *missing, uint64_t created,
                           struct slice database)
{
    struct buf names = {0};
    for (size_t i = 0; i < missing->count && i < NAMED_MOST; i++)
        buf_printf(&names, "%s%.*s", i == 0 ? "" : ", ", SLICE_ARG(missing->uuids[i]));
    log_write(
        LOG_LEVEL_WARNING, "berth", LOG_NO_CONTEXT,
        "the database '%.*s' had allocations of consumers without a row (%llu, such as %.*s), "
        "as the Python service leaves them if its connection breaks while it commits a claim; "
        "these consumers now have one, with [placement] incomplete_consumer_project_id and "
        "incomplete_consumer_user_id",
        SLICE_ARG(database), (unsigned long long)created, SLICE_ARG(buf_slice(&names)));
    buf_free(&names);
}
