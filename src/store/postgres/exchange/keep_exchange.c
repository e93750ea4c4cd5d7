/* What housekeeping writes: the row of the instance, and deletes of old rows of the log. Times are
 * the server's, so that the clocks of instances need not agree. */
#include "store/postgres/exchange/exchanges.h"
#include "store/postgres/session/session_state.h"

/* ---- the row of an instance ---- */

static const char WRITE[] =
    "INSERT INTO berth_instances AS i"
    " (instance, host, pid, version, first_seen, last_seen, followed)"
    " VALUES ($1::text, $2::text, $3::int, $4::text, now() AT TIME ZONE 'UTC',"
    " now() AT TIME ZONE 'UTC', $5::bigint)"
    " ON CONFLICT (instance) DO UPDATE SET last_seen = excluded.last_seen,"
    " followed = excluded.followed";
static const char DELETE_OLD[] = "DELETE FROM berth_instances"
                                 " WHERE last_seen < now() AT TIME ZONE 'UTC' - interval '1 day'";
static const char DELETE_ONE[] = "DELETE FROM berth_instances WHERE instance = $1::text";

enum server_outcome pg_instance_write(struct server_session *base, const struct instance_row *row,
                                      int64_t followed, uint64_t deadline_us, struct err *err)
{
    struct pg_session *session = pg_session_of(base);
    const struct pg_parameter parameters[] = {
        pg_text(slice_of(row->name)),
        pg_text(slice_of(row->host)),
        pg_int4(row->pid),
        pg_text(SLICE_LIT(BERTH_VERSION)),
        pg_int8(followed),
    };
    const struct pg_statement write = {
        .sql = WRITE, .parameters = parameters, .parameters_n = 5, .what = "written"};
    enum server_outcome outcome = pg_session_execute(session, &write, NULL, deadline_us, err);
    if (outcome == SERVER_OK)
        outcome = pg_session_run(session, DELETE_OLD, "written", deadline_us, err);
    return outcome;
}

enum server_outcome pg_instance_delete(struct server_session *base, const struct instance_row *row,
                                       uint64_t deadline_us, struct err *err)
{
    struct pg_session *session = pg_session_of(base);
    const struct pg_parameter name = pg_text(slice_of(row->name));
    const struct pg_statement statement = {
        .sql = DELETE_ONE, .parameters = &name, .parameters_n = 1, .what = "written"};
    return pg_session_execute(session, &statement, NULL, deadline_us, err);
}

/* ---- old rows of the log ---- */

static const char OLDEST[] =
    "SELECT max(number), count(*) = $2::bigint AND max(written_at) < $3::timestamp,"
    " (SELECT max(number) FROM berth_log) FROM (SELECT number, written_at FROM berth_log WHERE "
    "number > $1::bigint"
    " ORDER BY number LIMIT $2::bigint) oldest";
static const char DELETE[] =
    "DELETE FROM berth_log WHERE number > $1::bigint AND number <= $2::bigint";

enum server_outcome pg_log_oldest(struct server_session *base, int64_t after, int64_t most,
                                  int64_t before_us, struct log_oldest *oldest,
                                  uint64_t deadline_us, struct err *err)
{
    struct pg_session *session = pg_session_of(base);
    const struct pg_parameter parameters[] = {pg_int8(after), pg_int8(most),
                                              pg_timestamp(before_us)};
    const struct pg_statement statement = {
        .sql = OLDEST, .parameters = parameters, .parameters_n = 3, .what = "read"};
    struct pg_rows rows = {0};
    int64_t are_old = 0;
    *oldest = (struct log_oldest){0};
    enum server_outcome outcome = pg_session_execute(session, &statement, &rows, deadline_us, err);
    if (outcome == SERVER_OK && pg_rows_int(&rows, 0, 1, &are_old) &&
        pg_rows_int(&rows, 0, 2, &oldest->newest) && !pg_rows_int(&rows, 0, 0, &oldest->last))
        oldest->last = 0;
    oldest->are_old = are_old != 0;
    pg_rows_free(&rows);
    return outcome;
}

enum server_outcome pg_log_delete(struct server_session *base, int64_t after, int64_t last,
                                  uint64_t *deleted, uint64_t deadline_us, struct err *err)
{
    struct pg_session *session = pg_session_of(base);
    const struct pg_parameter range[] = {pg_int8(after), pg_int8(last)};
    const struct pg_statement statement = {
        .sql = DELETE, .parameters = range, .parameters_n = 2, .what = "written"};
    struct pg_rows rows = {0};
    enum server_outcome outcome = pg_session_execute(session, &statement, &rows, deadline_us, err);
    *deleted = pg_rows_affected(&rows);
    pg_rows_free(&rows);
    return outcome;
}
