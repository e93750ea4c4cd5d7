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

static const char OLDEST[] =
    "SELECT max(number), count(*) = $2::bigint AND max(written_at) < $3::timestamp,"
    " (SELECT max(number) FROM berth_log) FROM (SELECT number, written_at FROM berth_log WHERE "
    "number > $1::bigint"
    " ORDER BY number LIMIT $2::bigint) oldest";
static const char DELETE[] =
    "DELETE FROM berth_log WHERE number > $1::bigint AND number <= $2::bigint";

/* The last of the oldest rows, if they need not be kept; 0: they must be, or there are none. */
static enum server_outcome find_chunk(const struct prune *prune, struct pg_session *session,
                                      int64_t *last, uint64_t deadline_us, struct err *err)
{
    const struct pg_parameter parameters[] = {
        pg_int8(prune->until),
        pg_int8(PRUNE_AT_ONCE),
        pg_timestamp(clock_wall_us() - PRUNE_KEPT_S * INT64_C(1000000)),
    };
    const struct pg_statement statement = {
        .sql = OLDEST, .parameters = parameters, .parameters_n = 3, .what = "read"};
    struct pg_rows rows = {0};
    int64_t is_old = 0;
    int64_t newest = 0;
    enum server_outcome outcome = pg_session_execute(session, &statement, &rows, deadline_us, err);
    if (outcome != SERVER_OK || !pg_rows_int(&rows, 0, 0, last) ||
        !pg_rows_int(&rows, 0, 1, &is_old) || !pg_rows_int(&rows, 0, 2, &newest) ||
        *last > newest - PRUNE_KEPT_LEAST || (is_old == 0 && *last > newest - PRUNE_KEPT_MOST))
        *last = 0;
    pg_rows_free(&rows);
    return outcome;
}

static enum server_outcome delete_chunk(struct prune *prune, struct pg_session *session,
                                        int64_t last, uint64_t *deleted, uint64_t deadline_us,
                                        struct err *err)
{
    const struct pg_parameter range[] = {pg_int8(prune->until), pg_int8(last)};
    const struct pg_statement statement = {
        .sql = DELETE, .parameters = range, .parameters_n = 2, .what = "written"};
    struct pg_rows rows = {0};
    enum server_outcome outcome = pg_session_execute(session, &statement, &rows, deadline_us, err);
    if (outcome == SERVER_OK) {
        *deleted += pg_rows_affected(&rows);
        prune->until = last;
    }
    pg_rows_free(&rows);
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
