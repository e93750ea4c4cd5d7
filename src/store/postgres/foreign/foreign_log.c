/* See foreign_log.h. The lock keeps batches from being refused; the number of the row decides the
 * order, as it does for them. Only rows that the transaction sees are deleted: what is committed
 * later is found the next time. */
#include "store/postgres/foreign/foreign_log.h"

#include "base/clock.h"
#include "store/postgres/foreign/foreign_sql.h"
#include "store/postgres/log/log_sql.h"
#include "store/postgres/log/write_texts.h"
#include "store/postgres/session/figure.h"
#include "store/server/foreign_row.h"

static const char WAITING[] = "SELECT count(*) FROM (SELECT FROM berth_foreign LIMIT 1) f";

static const char TAKE_OUT[] =
    "WITH gone AS (DELETE FROM berth_foreign WHERE ctid = ANY (ARRAY(SELECT ctid FROM berth_foreign"
    " ORDER BY txid LIMIT $1::bigint)) RETURNING entity, entity_id, consumer_uuid)"
    " SELECT entity, CASE WHEN entity = 'consumer' AND entity_id = 0 THEN coalesce((SELECT c.id"
    " FROM consumers c WHERE c.uuid = g.consumer_uuid), 0) ELSE entity_id END, consumer_uuid,"
    " count(*) FROM gone g GROUP BY 1, entity_id, 3";
enum { TAKE_OUT_COUNT = 3 };

/* Appends a row to the log; NULL: one that names everything. */
static enum server_outcome append_row(struct pg_session *session, const struct foreign_notes *notes,
                                      uint64_t deadline_us, struct err *err)
{
    const struct pg_statement newest = {
        .sql = LOG_NEWEST_SQL, .binary_results = true, .what = "read"};
    struct pg_rows rows = {0};
    struct log_newest found;
    struct foreign_row made;
    enum server_outcome outcome = pg_session_execute(session, &newest, &rows, deadline_us, err);
    if (outcome != SERVER_OK)
        return outcome;
    pg_log_newest(&rows, &found);
    bool is_made = foreign_row_make(&made, &found, notes, pg_session_target(session), err);
    log_rows_free(&found.rows);
    if (is_made) {
        struct pg_parameter parameters[PG_LOG_INSERT_PARAMETERS];
        pg_log_insert_parameters(&made.row, &made.before, parameters);
        const struct pg_statement insert = {.sql = PG_LOG_INSERT,
                                            .parameters = parameters,
                                            .parameters_n = PG_LOG_INSERT_PARAMETERS,
                                            .what = "written"};
        outcome = pg_session_execute(session, &insert, NULL, deadline_us, err);
    }
    foreign_row_free(&made);
    return is_made ? outcome : SERVER_FAILED;
}

enum server_outcome foreign_log_everything(struct pg_session *session, uint64_t deadline_us,
                                           struct err *err)
{
    return append_row(session, NULL, deadline_us, err);
}

static enum server_outcome count_rows(const struct pg_session *session, const struct pg_rows *rows,
                                      uint64_t *all, struct err *err)
{
    enum server_outcome outcome = SERVER_OK;
    *all = 0;
    for (size_t i = 0; i < pg_rows_count(rows) && outcome == SERVER_OK; i++) {
        int64_t count;
        outcome = pg_figure_read(session, rows, i, TAKE_OUT_COUNT, &count, err);
        *all += (uint64_t)count;
    }
    return outcome;
}

/* In the open transaction. *moved: 0: there was nothing, and nothing is written. */
static enum server_outcome move_within(struct pg_session *session, uint64_t *moved,
                                       uint64_t deadline_us, struct err *err)
{
    const struct pg_parameter most = pg_int8(FOREIGN_MOVED_AT_ONCE);
    const struct pg_statement take_out = {.sql = TAKE_OUT,
                                          .parameters = &most,
                                          .parameters_n = 1,
                                          .binary_results = true,
                                          .what = "written"};
    struct pg_rows rows = {0};
    struct foreign_notes notes = {0};
    enum server_outcome outcome = pg_session_execute(session, &take_out, &rows, deadline_us, err);
    *moved = 0;
    if (outcome == SERVER_OK) {
        foreign_notes_read(&rows, 0, &notes);
        outcome = count_rows(session, &rows, moved, err);
        if (outcome == SERVER_OK && *moved > 0)
            outcome = append_row(session, &notes, deadline_us, err);
    }
    foreign_notes_free(&notes);
    pg_rows_free(&rows);
    return outcome;
}

static enum server_outcome move_once(struct pg_session *session, uint64_t *moved,
                                     uint64_t deadline_us, struct err *err)
{
    const struct pg_statement commit = {.sql = "COMMIT", .is_commit = true, .what = "written"};
    enum server_outcome outcome = pg_session_begin(session, PG_BEGIN_WRITE, deadline_us, err);
    if (outcome == SERVER_OK)
        outcome = pg_session_run(session, PG_TAKE_LOCK, "locked", deadline_us, err);
    if (outcome == SERVER_OK)
        outcome = move_within(session, moved, deadline_us, err);
    if (outcome == SERVER_OK)
        outcome = pg_session_execute(session, &commit, NULL, deadline_us, err);
    return outcome;
}

/* The lock is not taken in vain. */
static enum server_outcome is_anything_waiting(struct pg_session *session, bool *is_there,
                                               uint64_t deadline_us, struct err *err)
{
    int64_t count;
    enum server_outcome outcome = pg_figure_ask(session, WAITING, &count, deadline_us, err);
    *is_there = count > 0;
    return outcome;
}

enum server_outcome foreign_log_move(struct pg_session *session, uint64_t *moved,
                                     uint64_t deadline_us, struct err *err)
{
    bool is_there = false;
    uint64_t now = FOREIGN_MOVED_AT_ONCE;
    enum server_outcome outcome = is_anything_waiting(session, &is_there, deadline_us, err);
    while (outcome == SERVER_OK && is_there && now >= FOREIGN_MOVED_AT_ONCE) {
        outcome = move_once(session, &now, deadline_us, err);
        if (outcome == SERVER_OK)
            *moved += now;
    }
    return outcome;
}
