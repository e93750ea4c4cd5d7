/* See prune.h. An instance whose newest row has been deleted compares all rows again (read.c), so
 * rows are kept for the time that an instance may be stopped, as long as they are not too many: a
 * follow reads at most ten thousand of them.
 *
 * Only the oldest rows are deleted, so that the log has no gaps. Rows are looked for from the last
 * one that was deleted on, because the scan would otherwise begin with the dead index entries of
 * all earlier prunings, as long as an old snapshot keeps them. Several instances may do this at
 * once: they delete in the same order, and those that come later find nothing. One thread at a
 * time. */
#include "store/postgres/prune.h"

#include "base/clock.h"
#include "store/postgres/exchanges.h"

/* The last of the oldest rows, if they need not be kept; 0: they must be, or there are none. */
static enum server_outcome find_chunk(const struct prune *prune, struct pg_session *session,
                                      int64_t *last, uint64_t deadline_us, struct err *err)
{
    struct log_oldest oldest;
    int64_t before_us = clock_wall_us() - PRUNE_KEPT_S * INT64_C(1000000);
    enum server_outcome outcome =
        pg_log_oldest(session, prune->until, PRUNE_AT_ONCE, before_us, &oldest, deadline_us, err);
    bool must_be_kept = oldest.last > oldest.newest - PRUNE_KEPT_LEAST ||
                        (!oldest.are_old && oldest.last > oldest.newest - PRUNE_KEPT_MOST);
    *last = must_be_kept ? 0 : oldest.last;
    return outcome;
}

static enum server_outcome delete_chunk(struct prune *prune, struct pg_session *session,
                                        int64_t last, uint64_t *deleted, uint64_t deadline_us,
                                        struct err *err)
{
    uint64_t count = 0;
    enum server_outcome outcome =
        pg_log_delete(session, prune->until, last, &count, deadline_us, err);
    *deleted += count;
    if (outcome == SERVER_OK)
        prune->until = last;
    return outcome;
}

enum server_outcome prune_log(struct prune *prune, struct pg_session *session, int64_t newest,
                              uint64_t *deleted, uint64_t deadline_us, struct err *err)
{
    if (newest < prune->newest || newest < prune->until)
        prune->until = 0; /* the database went back, and has old rows again */
    prune->newest = newest;
    for (unsigned i = 0; i < PRUNE_CHUNKS_MOST; i++) {
        int64_t last = 0;
        enum server_outcome outcome = find_chunk(prune, session, &last, deadline_us, err);
        if (outcome == SERVER_OK && last > 0)
            outcome = delete_chunk(prune, session, last, deleted, deadline_us, err);
        if (outcome != SERVER_OK || last == 0)
            return outcome;
    }
    return SERVER_OK;
}
