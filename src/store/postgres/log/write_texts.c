/* See write_texts.h. */
#include "store/postgres/log/write_texts.h"

#include "base/clock.h"
#include "store/postgres/session/locks.h"

const char PG_BEGIN_WRITE[] = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE";

/* The second part keeps what the transaction writes out of berth_foreign (foreign_triggers.h).
 * Once the lock is held, only other programs hold locks that matter, and all instances wait: not
 * for long, but longer than the server waits before it looks for a deadlock. */
const char PG_TAKE_LOCK[] =
    "SELECT pg_advisory_xact_lock(" PG_LOCK_BATCHES "), set_config('berth.writer', 'on', true),"
    " set_config('lock_timeout', '1500', true)";

/* The number becomes NULL, which is refused, unless the row before is there: a database that went
 * back would otherwise take the batch on top of a state that it does not have. */
const char PG_LOG_INSERT[] =
    "INSERT INTO berth_log (number, mark, digest, written_at, entries)"
    " VALUES (CASE WHEN CASE WHEN $1::bigint > 1 THEN EXISTS (SELECT FROM berth_log WHERE number ="
    " $1::bigint - 1 AND mark = $6::bytea) ELSE NOT EXISTS (SELECT FROM berth_log) END"
    " THEN $1::bigint END, $2::bytea, $3::bytea, $4::timestamp, $5::bytea)";

void pg_log_insert_parameters(const struct log_row *row, const struct log_state *before,
                              struct pg_parameter parameters[static PG_LOG_INSERT_PARAMETERS])
{
    parameters[0] = pg_int8(row->number);
    parameters[1] = pg_bytes(row->mark);
    parameters[2] = pg_bytes(row->before);
    parameters[3] = pg_timestamp(clock_wall_us());
    parameters[4] = pg_bytes(row->entries);
    parameters[5] = pg_bytes((struct slice){(const char *)before->mark, LOG_MARK_LEN});
}
