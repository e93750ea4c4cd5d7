/* Begins the snapshot of a read, and asks in it for the log's newest row, for those since the one
 * that memory has, and for all epochs. On Galera, the snapshot is not begun before the node has
 * what the cluster has committed. */
#include "store/mariadb/exchange/exchanges.h"
#include "store/mariadb/foreign/foreign_sql.h"
#include "store/mariadb/log/log_sql.h"
#include "store/mariadb/session/session_state.h"

#define BEGIN                                                                                      \
    "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;"                                             \
    "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY;"

enum {
    NEWEST_RESULT = 2,
    EPOCHS_RESULT,
    SINCE_RESULT,
    NOTES_RESULT,
    RESULTS = NOTES_RESULT + MARIADB_FOREIGN_RESULTS,
};

static enum server_outcome lacks_figure(const struct server_session *base, struct err *err)
{
    return server_failure_set(SERVER_FAILED, base->target, "read",
                              SLICE_LIT("the server's answer is not a number"), err);
}

enum server_outcome mariadb_snapshot_begin(struct server_session *base,
                                           const struct snapshot_question *question,
                                           struct snapshot_answer *answer, uint64_t deadline_us,
                                           struct err *err)
{
    struct mariadb_session *session = mariadb_session_of(base);
    struct mariadb_rows rows[RESULTS] = {0};
    struct buf sql = {0};
    buf_append_lit(&sql, BEGIN);
    mariadb_log_sql_newest(session, NULL, &sql);
    mariadb_log_sql_epochs(&sql);
    mariadb_log_sql_since(session, &question->since, 1, &sql); /* that of memory's own state */
    if (question->view != NULL)
        mariadb_foreign_new(question->view, question->is_view_of_server, &sql);
    const struct mariadb_text text = {.sql = buf_slice(&sql), .what = "read"};
    enum server_outcome outcome =
        mariadb_session_execute(session, &text, rows, RESULTS, NULL, deadline_us, err);
    mariadb_log_since_end(session, outcome);
    if (outcome == SERVER_OK)
        outcome = mariadb_log_newest(session, &rows[NEWEST_RESULT], &answer->newest, err);
    if (outcome == SERVER_OK) {
        mariadb_epoch_rows(&rows[EPOCHS_RESULT], &answer->epochs);
        mariadb_log_rows(&rows[SINCE_RESULT], &answer->since);
    }
    if (outcome == SERVER_OK && question->view != NULL)
        mariadb_foreign_read_new(&rows[NOTES_RESULT], &answer->notes);
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
    enum { HAS_NOTES_RESULT = NEWEST_RESULT + 1, ASK_RESULTS };
    struct mariadb_rows rows[ASK_RESULTS] = {0};
    struct buf sql = {0};
    int64_t has_notes = 0;
    buf_append_lit(&sql, BEGIN);
    mariadb_log_sql_newest(session, NULL, &sql);
    buf_append_lit(&sql, "SELECT ");
    if (view == NULL)
        buf_append_char(&sql, '0');
    else
        mariadb_foreign_exists(view, is_view_of_server, &sql);
    const struct mariadb_text text = {.sql = buf_slice(&sql), .what = "read"};
    enum server_outcome outcome =
        mariadb_session_execute(session, &text, rows, ASK_RESULTS, NULL, deadline_us, err);
    if (outcome == SERVER_OK && !mariadb_rows_int(&rows[HAS_NOTES_RESULT], 0, 0, &has_notes))
        outcome = lacks_figure(base, err);
    if (outcome == SERVER_OK)
        outcome = mariadb_log_newest(session, &rows[NEWEST_RESULT], &answer->newest, err);
    answer->has_notes = has_notes != 0;
    for (size_t i = 0; i < ASK_RESULTS; i++)
        mariadb_rows_free(&rows[i]);
    buf_free(&sql);
    return outcome;
}

/* The horizon is the server's time, in seconds. */
enum server_outcome mariadb_snapshot_look(struct server_session *base, struct snapshot_look *look,
                                          uint64_t deadline_us, struct err *err)
{
    struct mariadb_session *session = mariadb_session_of(base);
    struct mariadb_rows rows[1 + MARIADB_FOREIGN_LOOK_RESULTS] = {0};
    struct buf sql = {0};
    *look = (struct snapshot_look){0};
    buf_append_lit(&sql, "SELECT UNIX_TIMESTAMP();");
    mariadb_foreign_look(&sql);
    const struct mariadb_text text = {.sql = buf_slice(&sql), .what = "read"};
    enum server_outcome outcome = mariadb_session_execute(
        session, &text, rows, 1 + MARIADB_FOREIGN_LOOK_RESULTS, NULL, deadline_us, err);
    if (outcome == SERVER_OK && !mariadb_rows_int(&rows[0], 0, 0, &look->horizon))
        outcome = lacks_figure(base, err);
    if (outcome == SERVER_OK) {
        look->coexists = mariadb_foreign_coexists(&rows[1 + MARIADB_FOREIGN_LOOK]);
        look->view = mariadb_foreign_view(&rows[1 + MARIADB_FOREIGN_LOOK_IDS]);
    }
    for (size_t i = 0; i < 1 + MARIADB_FOREIGN_LOOK_RESULTS; i++)
        mariadb_rows_free(&rows[i]);
    buf_free(&sql);
    return outcome;
}
