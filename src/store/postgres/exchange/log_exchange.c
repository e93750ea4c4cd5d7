/* Finds out what became of a batch, and makes sure that it stays so (store/server/unknown.h). Each
 * statement is a round trip of its own, whose wait the session's wake-up descriptor ends. */
#include "base/clock.h"
#include "store/postgres/exchange/exchanges.h"
#include "store/postgres/log/log_sql.h"
#include "store/postgres/log/write_texts.h"
#include "store/postgres/session/pipeline.h"
#include "store/postgres/session/session_state.h"

static const char FROM[] = "SELECT number, mark FROM berth_log WHERE number >= $1::bigint"
                           " ORDER BY number LIMIT 1";
static const char TAKE[] = "INSERT INTO berth_log (number, mark, digest, written_at, entries)"
                           " SELECT $1::bigint, $2::bytea, $3::bytea, $4::timestamp, ''::bytea"
                           " WHERE CASE WHEN $1::bigint > 1 THEN EXISTS (SELECT FROM berth_log"
                           " WHERE number = $1::bigint - 1 AND mark = $5::bytea)"
                           " ELSE NOT EXISTS (SELECT FROM berth_log) END";

/* Executes one statement (NULL: BEGIN). */
static enum server_outcome execute(struct pg_session *session, const struct pg_statement *statement,
                                   struct pg_rows *rows, uint64_t timeout_us, struct err *err)
{
    uint64_t deadline_us = clock_monotonic_us() + timeout_us;
    enum server_outcome outcome = pg_pipeline_begin(session, err);
    if (outcome == SERVER_OK)
        outcome = statement == NULL ? pg_pipeline_queue_begin(session, PG_BEGIN_WRITE, err)
                                    : pg_pipeline_queue(session, statement, err);
    if (outcome == SERVER_OK)
        outcome = pg_pipeline_send(session, deadline_us, err);
    if (outcome == SERVER_OK)
        outcome = pg_pipeline_next(session, rows, deadline_us, err);
    return outcome == SERVER_OK ? pg_pipeline_finish(session, deadline_us, err) : outcome;
}

enum server_outcome pg_log_first(struct server_session *base, int64_t number,
                                 struct log_rows *found, uint64_t timeout_us, struct err *err)
{
    struct pg_session *session = pg_session_of(base);
    const struct pg_parameter from = pg_int8(number);
    const struct pg_statement statement = {.sql = FROM,
                                           .parameters = &from,
                                           .parameters_n = 1,
                                           .binary_results = true,
                                           .what = "read"};
    struct pg_rows rows = {0};
    enum server_outcome outcome = execute(session, &statement, &rows, timeout_us, err);
    pg_log_rows(&rows, found);
    return outcome;
}

enum server_outcome pg_lock_wait(struct server_session *base, uint64_t timeout_us, struct err *err)
{
    struct pg_session *session = pg_session_of(base);
    const struct pg_statement lock = {.sql = PG_TAKE_LOCK, .what = "locked"};
    enum server_outcome outcome = execute(session, NULL, NULL, timeout_us, err);
    return outcome == SERVER_OK ? execute(session, &lock, NULL, timeout_us, err) : outcome;
}

enum server_outcome pg_lock_leave(struct server_session *base, uint64_t timeout_us, struct err *err)
{
    struct pg_session *session = pg_session_of(base);
    const struct pg_statement rollback = {.sql = "ROLLBACK", .what = "unlocked"};
    return execute(session, &rollback, NULL, timeout_us, err);
}

enum server_outcome pg_number_take(struct server_session *base, const struct log_row *row,
                                   const struct log_state *before, uint64_t timeout_us,
                                   struct err *err)
{
    struct pg_session *session = pg_session_of(base);
    const struct pg_parameter parameters[] = {
        pg_int8(row->number),
        pg_bytes(row->mark),
        pg_bytes(row->before),
        pg_timestamp(clock_wall_us()),
        pg_bytes((struct slice){(const char *)before->mark, LOG_MARK_LEN}),
    };
    const struct pg_statement take = {
        .sql = TAKE, .parameters = parameters, .parameters_n = 5, .what = "written"};
    const struct pg_statement commit = {.sql = "COMMIT", .is_commit = true, .what = "written"};
    enum server_outcome outcome = execute(session, &take, NULL, timeout_us, err);
    return outcome == SERVER_OK ? execute(session, &commit, NULL, timeout_us, err) : outcome;
}
