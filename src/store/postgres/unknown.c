/* See unknown.h.
 *
 * The server may still be executing the batch, or may not even have read all of it. So it does not
 * suffice to look for its row: the row may be missing now and committed later. With the lock held,
 * the batch is either before us, and its row is there, or it has to come after us; then its number
 * is taken by a row of ours, and the batch can only be refused. Writer thread only. */
#include "store/postgres/unknown.h"

#include "base/clock.h"
#include "base/wait.h"

enum { RESOLVE_FOR_S = 10, TRY_AGAIN_US = 20000 };

enum found { FOUND_NOTHING, FOUND_OURS, FOUND_OTHER };

static const char MARK[] = "SELECT mark FROM berth_log WHERE number = $1::bigint";
static const char TAKE[] = "INSERT INTO berth_log (number, mark, digest, written_at, entries)"
                           " SELECT $1::bigint, $2::bytea, $3::bytea, $4::timestamp, ''::bytea"
                           " WHERE CASE WHEN $1::bigint > 1 THEN EXISTS (SELECT FROM berth_log"
                           " WHERE number = $1::bigint - 1 AND mark = $5::bytea)"
                           " ELSE NOT EXISTS (SELECT FROM berth_log) END";

static bool look(struct postgres_store *store, const struct log_row *row, enum found *found,
                 struct err *err)
{
    const struct pg_parameter number = pg_int8(row->number);
    const struct pg_statement statement = {.sql = MARK,
                                           .parameters = &number,
                                           .parameters_n = 1,
                                           .binary_results = true,
                                           .what = "read"};
    struct pg_rows rows = {0};
    bool ok = pg_session_execute(store->writer, &statement, &rows, postgres_deadline(store), err) ==
              PG_OK;
    *found = pg_rows_count(&rows) == 0                            ? FOUND_NOTHING
             : slice_equal(pg_rows_bytes(&rows, 0, 0), row->mark) ? FOUND_OURS
                                                                  : FOUND_OTHER;
    pg_rows_free(&rows);
    return ok;
}

/* An empty batch of ours takes the number. If the row before is gone, the database went back, and
 * the lost batch is refused as well; so is a first batch once there are others. */
static bool unknown_take_number(struct postgres_store *store, const struct log_row *row,
                                struct err *err)
{
    unsigned char mark[LOG_MARK_LEN];
    postgres_make_mark(store, mark);
    const struct pg_parameter parameters[] = {
        pg_int8(row->number),
        pg_bytes((struct slice){(const char *)mark, sizeof(mark)}),
        pg_bytes(row->before),
        pg_timestamp(clock_wall_us()),
        pg_bytes((struct slice){(const char *)store->followed.mark, LOG_MARK_LEN}),
    };
    const struct pg_statement take = {
        .sql = TAKE, .parameters = parameters, .parameters_n = 5, .what = "written"};
    const struct pg_statement commit = {.sql = "COMMIT", .is_commit = true, .what = "written"};
    return pg_session_execute(store->writer, &take, NULL, postgres_deadline(store), err) == PG_OK &&
           pg_session_execute(store->writer, &commit, NULL, postgres_deadline(store), err) == PG_OK;
}

/* False: try again. */
static bool resolve_once(struct postgres_store *store, const struct log_row *row,
                         enum store_result *result, struct err *err)
{
    enum found found;
    if (!postgres_begin_locked(store, err) || !look(store, row, &found, err))
        return false;
    *result = found == FOUND_OURS ? STORE_OK : STORE_FAILED;
    return found != FOUND_NOTHING || unknown_take_number(store, row, err);
}

enum store_result postgres_resolve(struct postgres_store *store, const struct log_row *row,
                                   struct arena *arena)
{
    uint64_t deadline_us = clock_monotonic_us() + RESOLVE_FOR_S * UINT64_C(1000000);
    enum store_result result = STORE_UNKNOWN;
    while (clock_monotonic_us() < deadline_us) {
        struct err ignored = {.arena = arena};
        if (resolve_once(store, row, &result, &ignored))
            return result;
        pg_session_close(store->writer);
        wait_sleep_us(TRY_AGAIN_US);
    }
    return STORE_UNKNOWN;
}
