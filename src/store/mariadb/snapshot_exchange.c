/* Begins the snapshot of a read, and asks in it for the log's newest row, for those since the one
 * that memory has, and for all epochs. On Galera, the snapshot is not begun before the node has
 * what the cluster has committed. */
#include "store/mariadb/exchanges.h"
#include "store/mariadb/log_sql.h"
#include "store/mariadb/session_internal.h"

#define BEGIN                                                                                      \
    "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;"                                             \
    "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY;"

enum { NEWEST_RESULT = 2, EPOCHS_RESULT, SINCE_RESULT, RESULTS };

enum server_outcome mariadb_snapshot_begin(struct server_session *base,
                                           const struct snapshot_question *question,
                                           struct snapshot_answer *answer, uint64_t deadline_us,
                                           struct err *err)
{
    struct mariadb_session *session = mariadb_session_of(base);
    struct mariadb_rows rows[RESULTS] = {0};
    struct buf sql = {0};
    buf_append_lit(&sql, BEGIN);
    mariadb_log_sql_newest(NULL, &sql);
    mariadb_log_sql_epochs(&sql);
    mariadb_log_sql_since(question->since.from, question->since.most, &sql);
    const struct mariadb_text text = {.sql = buf_slice(&sql), .what = "read"};
    enum server_outcome outcome =
        mariadb_session_execute(session, &text, rows, RESULTS, NULL, deadline_us, err);
    if (outcome == SERVER_OK) {
        mariadb_log_newest(&rows[NEWEST_RESULT], &answer->newest);
        mariadb_epoch_rows(&rows[EPOCHS_RESULT], &answer->epochs);
        mariadb_log_rows(&rows[SINCE_RESULT], &answer->since);
    }
    for (size_t i = 0; i < RESULTS; i++)
        mariadb_rows_free(&rows[i]);
    buf_free(&sql);
    return outcome;
}

enum server_outcome mariadb_snapshot_ask(struct server_session *base,
                                         const struct foreign_view *view, bool is_view_of_server,
                                         struct question_answer *answer, uint64_t deadline_us,
                                         struct err *err)
{
    struct mariadb_session *session = mariadb_session_of(base);
    struct mariadb_rows rows[NEWEST_RESULT + 1] = {0};
    struct buf sql = {0};
    (void)view;
    (void)is_view_of_server;
    buf_append_lit(&sql, BEGIN);
    mariadb_log_sql_newest(NULL, &sql);
    const struct mariadb_text text = {.sql = buf_slice(&sql), .what = "read"};
    enum server_outcome outcome =
        mariadb_session_execute(session, &text, rows, NEWEST_RESULT + 1, NULL, deadline_us, err);
    if (outcome == SERVER_OK)
        mariadb_log_newest(&rows[NEWEST_RESULT], &answer->newest);
    for (size_t i = 0; i <= NEWEST_RESULT; i++)
        mariadb_rows_free(&rows[i]);
    buf_free(&sql);
    return outcome;
}

/* The horizon is the server's time, in seconds. */
enum server_outcome mariadb_snapshot_look(struct server_session *base, struct snapshot_look *look,
                                          uint64_t deadline_us, struct err *err)
{
    struct mariadb_session *session = mariadb_session_of(base);
    struct mariadb_rows rows = {0};
    const struct mariadb_text text = {.sql = SLICE_LIT("SELECT UNIX_TIMESTAMP()"), .what = "read"};
    *look = (struct snapshot_look){0};
    enum server_outcome outcome =
        mariadb_session_execute(session, &text, &rows, 1, NULL, deadline_us, err);
    if (outcome == SERVER_OK && !mariadb_rows_int(&rows, 0, 0, &look->horizon))
        outcome = server_failure_set(SERVER_FAILED, base->target, "read",
                                     SLICE_LIT("the server's answer is not a number"), err);
    mariadb_rows_free(&rows);
    return outcome;
}
