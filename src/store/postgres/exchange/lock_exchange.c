/* Takes the lock of the next batch, and reads the log's rows in the same round trip. */
#include "store/postgres/exchange/exchanges.h"
#include "store/postgres/log/log_sql.h"
#include "store/postgres/log/write_texts.h"
#include "store/postgres/session/pipeline.h"
#include "store/postgres/session/session_state.h"

/* What is said of all rows comes with each of them. */
static const char SINCE[] =
    "SELECT number, mark, digest, entries, (SELECT max(epoch) FROM berth_epochs) FROM berth_log"
    " WHERE number >= $1::bigint ORDER BY number LIMIT $2::bigint";
enum { EPOCH_COLUMN = 4 };

/* The results: of BEGIN, of the lock, and these. */
enum { SINCE_RESULT = 2 };

enum server_outcome pg_lock_send(struct server_session *base, const struct log_range *since,
                                 struct err *err)
{
    struct pg_session *session = pg_session_of(base);
    const struct pg_parameter range[] = {pg_int8(since->from), pg_int8(since->most)};
    const struct pg_statement lock = {.sql = PG_TAKE_LOCK, .is_prepared = true, .what = "locked"};
    const struct pg_statement rows = {.sql = SINCE,
                                      .parameters = range,
                                      .parameters_n = 2,
                                      .binary_results = true,
                                      .is_prepared = true,
                                      .what = "read"};
    enum server_outcome outcome = pg_pipeline_begin(session, err);
    if (outcome == SERVER_OK)
        outcome = pg_pipeline_queue_begin(session, PG_BEGIN_WRITE, err);
    if (outcome == SERVER_OK)
        outcome = pg_pipeline_queue(session, &lock, err);
    if (outcome == SERVER_OK)
        outcome = pg_pipeline_queue(session, &rows, err);
    return outcome == SERVER_OK ? pg_pipeline_start(session, err) : outcome;
}

enum server_outcome pg_lock_drive(struct server_session *base, struct locked_news *news,
                                  uint64_t until_us, uint64_t deadline_us, struct err *err)
{
    struct pg_session *session = pg_session_of(base);
    struct pg_rows *kept = pg_session_kept(session);
    enum server_outcome outcome = pg_pipeline_drive(session, kept, until_us, deadline_us, err);
    if (outcome != SERVER_OK)
        return outcome;
    struct pg_rows *rows = &kept[SINCE_RESULT];
    *news = (struct locked_news){.is_there = true};
    if (!pg_rows_int(rows, 0, EPOCH_COLUMN, &news->epoch))
        news->epoch = 0;
    pg_log_rows(rows, &news->since);
    return outcome;
}
