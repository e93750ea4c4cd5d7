/* Begins the snapshot of a read, and asks in it for the log's newest row, for those since the one
 * that memory has, and for what other programs have written. */
#include "store/postgres/exchange/exchanges.h"
#include "store/postgres/foreign/foreign_sql.h"
#include "store/postgres/log/log_sql.h"
#include "store/postgres/session/figure.h"
#include "store/postgres/session/pipeline.h"
#include "store/postgres/session/session_state.h"

static const char BEGIN[] = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
static const char NEWEST[] = "SELECT n.*, " EPOCHS_COLUMN " FROM (" LOG_NEWEST_SQL ") n";
static const char SINCE[] = "SELECT number, mark, digest, entries FROM berth_log"
                            " WHERE number >= $1::bigint ORDER BY number LIMIT $2::bigint";

static bool queue(struct pg_session *session, const char *sql,
                  const struct pg_parameter *parameters, size_t count, struct err *err)
{
    return pg_pipeline_queue_text(session, sql, parameters, count, "read", err) == SERVER_OK;
}

static enum server_outcome snapshot_send(struct pg_session *session,
                                         const struct snapshot_question *question,
                                         uint64_t deadline_us, struct err *err)
{
    const struct pg_parameter range[] = {pg_int8(question->since.from),
                                         pg_int8(question->since.most)};
    struct pg_parameter view[FOREIGN_PARAMETERS];
    enum server_outcome outcome = pg_pipeline_begin(session, err);
    if (outcome == SERVER_OK)
        outcome = pg_pipeline_queue_begin(session, BEGIN, err);
    if (question->view != NULL)
        foreign_view_parameters(question->view, question->is_view_of_server, view);
    bool is_queued =
        outcome == SERVER_OK && queue(session, NEWEST, NULL, 0, err) &&
        queue(session, SINCE, range, 2, err) &&
        (question->view == NULL || queue(session, FOREIGN_NEW, view, FOREIGN_PARAMETERS, err));
    if (outcome != SERVER_OK)
        return outcome;
    return is_queued ? pg_pipeline_send(session, deadline_us, err) : SERVER_LOST;
}

static enum server_outcome take_newest(struct pg_session *session, struct snapshot_answer *answer,
                                       uint64_t deadline_us, struct err *err)
{
    struct pg_rows rows = {0};
    enum server_outcome outcome = pg_pipeline_next(session, &rows, deadline_us, err);
    if (outcome == SERVER_OK) {
        pg_epoch_rows(pg_rows_bytes(&rows, 0, LOG_NEWEST_COLUMNS), &answer->epochs);
        pg_log_newest(&rows, &answer->newest);
    }
    return outcome;
}

static enum server_outcome take_since(struct pg_session *session, struct snapshot_answer *answer,
                                      uint64_t deadline_us, struct err *err)
{
    struct pg_rows rows = {0};
    enum server_outcome outcome = pg_pipeline_next(session, &rows, deadline_us, err);
    if (outcome == SERVER_OK)
        pg_log_rows(&rows, &answer->since);
    return outcome;
}

static enum server_outcome take_notes(struct pg_session *session, struct snapshot_answer *answer,
                                      uint64_t deadline_us, struct err *err)
{
    struct pg_rows rows = {0};
    enum server_outcome outcome = pg_pipeline_next(session, &rows, deadline_us, err);
    if (outcome == SERVER_OK) {
        answer->notes.were_asked = true;
        answer->notes.view = foreign_view_text(pg_rows_bytes(&rows, 0, 0));
        foreign_notes_read(&rows, 1, &answer->notes);
    }
    pg_rows_free(&rows);
    return outcome;
}

enum server_outcome pg_snapshot_begin(struct server_session *base,
                                      const struct snapshot_question *question,
                                      struct snapshot_answer *answer, uint64_t deadline_us,
                                      struct err *err)
{
    struct pg_session *session = pg_session_of(base);
    enum server_outcome outcome = snapshot_send(session, question, deadline_us, err);
    if (outcome == SERVER_OK)
        outcome = pg_pipeline_next(session, NULL, deadline_us, err);
    if (outcome == SERVER_OK)
        outcome = take_newest(session, answer, deadline_us, err);
    if (outcome == SERVER_OK)
        outcome = take_since(session, answer, deadline_us, err);
    if (outcome == SERVER_OK && question->view != NULL)
        outcome = take_notes(session, answer, deadline_us, err);
    if (outcome == SERVER_OK)
        outcome = pg_pipeline_finish(session, deadline_us, err);
    return outcome;
}

/* ---- of an observer ---- */

static const char STATE[] = LOG_NEWEST_SQL;
static const char STATE_AND_FOREIGN[] =
    "SELECT n.*, EXISTS (SELECT FROM berth_foreign WHERE " FOREIGN_IS_NEW(
        "$1", "$2") ") FROM (" LOG_NEWEST_SQL ") n";

enum server_outcome pg_snapshot_ask(struct server_session *base, const struct foreign_view *view,
                                    bool is_view_of_server, struct question_answer *answer,
                                    uint64_t deadline_us, struct err *err)
{
    struct pg_session *session = pg_session_of(base);
    struct pg_parameter parameters[FOREIGN_PARAMETERS];
    struct pg_rows rows = {0};
    int64_t has_notes = 0;
    if (view != NULL)
        foreign_view_parameters(view, is_view_of_server, parameters);
    enum server_outcome outcome = pg_pipeline_begin(session, err);
    if (outcome == SERVER_OK)
        outcome = pg_pipeline_queue_begin(session, BEGIN, err);
    if (outcome != SERVER_OK)
        return outcome;
    bool is_queued = view == NULL
                         ? queue(session, STATE, NULL, 0, err)
                         : queue(session, STATE_AND_FOREIGN, parameters, FOREIGN_PARAMETERS, err);
    outcome = is_queued ? pg_pipeline_send(session, deadline_us, err) : SERVER_LOST;
    if (outcome == SERVER_OK)
        outcome = pg_pipeline_next(session, NULL, deadline_us, err);
    if (outcome == SERVER_OK)
        outcome = pg_pipeline_next(session, &rows, deadline_us, err);
    if (outcome == SERVER_OK)
        outcome = pg_pipeline_finish(session, deadline_us, err);
    if (outcome == SERVER_OK && view != NULL)
        outcome = pg_figure_read(session, &rows, 0, LOG_NEWEST_COLUMNS, &has_notes, err);
    pg_log_newest(&rows, &answer->newest);
    answer->has_notes = has_notes != 0;
    return outcome;
}

enum server_outcome pg_snapshot_look(struct server_session *base, struct snapshot_look *look,
                                     uint64_t deadline_us, struct err *err)
{
    struct pg_session *session = pg_session_of(base);
    const struct pg_statement statement = {
        .sql = FOREIGN_LOOK, .binary_results = true, .what = "read"};
    struct pg_rows rows = {0};
    int64_t triggers = 0;
    *look = (struct snapshot_look){0};
    enum server_outcome outcome = pg_session_execute(session, &statement, &rows, deadline_us, err);
    if (outcome == SERVER_OK)
        outcome = pg_figure_read(session, &rows, 0, 0, &look->horizon, err);
    if (outcome == SERVER_OK)
        outcome = pg_figure_read(session, &rows, 0, 1, &triggers, err);
    if (outcome == SERVER_OK) {
        look->coexists = triggers > 0;
        look->view = foreign_view_text(pg_rows_bytes(&rows, 0, 2));
    }
    pg_rows_free(&rows);
    return outcome;
}
