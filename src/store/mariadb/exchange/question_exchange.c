/* The query for the newest state. Nearly always memory has it, so at first only the mark of the
 * newest row is asked for, and the row with what its batch has changed only if memory has another
 * one. On Galera, each waits until the node has what the cluster has committed, whichever node that
 * is; the later answer alone counts. */
#include "store/mariadb/exchange/exchanges.h"
#include "store/mariadb/foreign/foreign_sql.h"
#include "store/mariadb/log/log_sql.h"
#include "store/mariadb/session/session_state.h"

/* Notes that are moved into the log between the two are seen in one of them. Each result costs a
 * wait for the cluster, so that of notes is left out where there are none. */
enum { NOTES_RESULT, RESULTS_MOST = 2 };

static size_t newest_result(const struct question *question)
{
    return question->coexists ? NOTES_RESULT + 1 : 0;
}

/* The text stays in the session. */
static struct mariadb_text make_text(struct mariadb_session *session,
                                     const struct question *question, bool asks_mark)
{
    session->sql.len = 0;
    if (question->coexists) {
        buf_append_lit(&session->sql, "SELECT ");
        mariadb_foreign_exists(&question->foreign, question->is_view_of_server, &session->sql);
        buf_append_char(&session->sql, ';');
    }
    session->asks_mark = asks_mark;
    if (asks_mark)
        mariadb_log_sql_newest_mark(session, &question->known, &session->sql);
    else
        mariadb_log_sql_newest(session, &question->known, &session->sql);
    return (struct mariadb_text){.sql = buf_slice(&session->sql), .what = "read"};
}

/* *is_left_open: the question for the whole row has to follow. */
static enum server_outcome question_take(struct mariadb_session *session,
                                         const struct question *question, struct mariadb_rows *rows,
                                         struct question_answer *answer, bool *is_left_open,
                                         struct err *err)
{
    struct mariadb_rows *newest = &rows[newest_result(question)];
    int64_t has_notes = 0;
    bool is_known = true;
    bool is_whole = !question->coexists || mariadb_rows_int(&rows[NOTES_RESULT], 0, 0, &has_notes);
    enum server_outcome outcome = session->asks_mark
                                      ? mariadb_log_newest_mark(session, newest, &question->known,
                                                                &answer->newest, &is_known, err)
                                      : mariadb_log_newest(session, newest, &answer->newest, err);
    answer->has_notes = has_notes != 0;
    answer->newest.is_primary &= is_whole;
    *is_left_open = !is_known;
    return outcome;
}

static enum server_outcome question_execute(struct mariadb_session *session,
                                            const struct question *question, bool asks_mark,
                                            struct question_answer *answer, bool *is_left_open,
                                            uint64_t deadline_us, struct err *err)
{
    const struct mariadb_text text = make_text(session, question, asks_mark);
    struct mariadb_rows rows[RESULTS_MOST] = {0};
    enum server_outcome outcome = mariadb_session_execute(
        session, &text, rows, newest_result(question) + 1, NULL, deadline_us, err);
    if (outcome == SERVER_OK)
        outcome = question_take(session, question, rows, answer, is_left_open, err);
    for (size_t i = 0; i < RESULTS_MOST; i++)
        mariadb_rows_free(&rows[i]);
    return outcome;
}

enum server_outcome mariadb_question_ask(struct server_session *base,
                                         const struct question *question,
                                         struct question_answer *answer, uint64_t deadline_us,
                                         struct err *err)
{
    struct mariadb_session *session = mariadb_session_of(base);
    bool is_left_open = false;
    enum server_outcome outcome =
        question_execute(session, question, true, answer, &is_left_open, deadline_us, err);
    return outcome == SERVER_OK && is_left_open
               ? question_execute(session, question, false, answer, &is_left_open, deadline_us, err)
               : outcome;
}

static enum server_outcome send_text(struct mariadb_session *session,
                                     const struct question *question, bool asks_mark,
                                     struct err *err)
{
    const struct mariadb_text text = make_text(session, question, asks_mark);
    mariadb_session_free_kept(session);
    return mariadb_text_start(session, &text, session->kept, newest_result(question) + 1, err);
}

bool mariadb_question_send(struct server_session *base, const struct question *question,
                           struct err *err)
{
    struct mariadb_session *session = mariadb_session_of(base);
    return send_text(session, question, true, err) == SERVER_OK && mariadb_text_is_sent(session);
}

enum server_outcome mariadb_question_receive(struct server_session *base,
                                             const struct question *question,
                                             struct question_answer *answer, struct err *err)
{
    struct mariadb_session *session = mariadb_session_of(base);
    bool is_left_open = false;
    enum server_outcome outcome = mariadb_text_receive(session, err);
    if (outcome == SERVER_OK)
        outcome = question_take(session, question, session->kept, answer, &is_left_open, err);
    if (outcome == SERVER_OK && is_left_open) {
        outcome = send_text(session, question, false, err);
        return outcome == SERVER_OK ? mariadb_question_receive(base, question, answer, err)
                                    : outcome;
    }
    return outcome;
}
