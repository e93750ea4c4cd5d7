/* The query for the newest state. Usually memory has it, and the server need not send what its
 * batch has changed. On Galera, it waits until the node has what the cluster has committed,
 * whichever node that is. */
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
                                     const struct question *question)
{
    session->sql.len = 0;
    if (question->coexists) {
        buf_append_lit(&session->sql, "SELECT ");
        mariadb_foreign_exists(&question->foreign, question->is_view_of_server, &session->sql);
        buf_append_char(&session->sql, ';');
    }
    mariadb_log_sql_newest(session, &question->known, &session->sql);
    return (struct mariadb_text){.sql = buf_slice(&session->sql), .what = "read"};
}

static enum server_outcome question_take(struct mariadb_session *session,
                                         const struct question *question, struct mariadb_rows *rows,
                                         struct question_answer *answer, struct err *err)
{
    int64_t has_notes = 0;
    bool is_whole = !question->coexists || mariadb_rows_int(&rows[NOTES_RESULT], 0, 0, &has_notes);
    enum server_outcome outcome =
        mariadb_log_newest(session, &rows[newest_result(question)], &answer->newest, err);
    answer->has_notes = has_notes != 0;
    answer->newest.is_primary &= is_whole;
    return outcome;
}

enum server_outcome mariadb_question_ask(struct server_session *base,
                                         const struct question *question,
                                         struct question_answer *answer, uint64_t deadline_us,
                                         struct err *err)
{
    struct mariadb_session *session = mariadb_session_of(base);
    const struct mariadb_text text = make_text(session, question);
    struct mariadb_rows rows[RESULTS_MOST] = {0};
    enum server_outcome outcome = mariadb_session_execute(
        session, &text, rows, newest_result(question) + 1, NULL, deadline_us, err);
    if (outcome == SERVER_OK)
        outcome = question_take(session, question, rows, answer, err);
    for (size_t i = 0; i < RESULTS_MOST; i++)
        mariadb_rows_free(&rows[i]);
    return outcome;
}

bool mariadb_question_send(struct server_session *base, const struct question *question,
                           struct err *err)
{
    struct mariadb_session *session = mariadb_session_of(base);
    const struct mariadb_text text = make_text(session, question);
    mariadb_session_free_kept(session);
    return mariadb_text_start(session, &text, session->kept, newest_result(question) + 1, err) ==
               SERVER_OK &&
           mariadb_text_is_sent(session);
}

enum server_outcome mariadb_question_receive(struct server_session *base,
                                             const struct question *question,
                                             struct question_answer *answer, struct err *err)
{
    struct mariadb_session *session = mariadb_session_of(base);
    enum server_outcome outcome = mariadb_text_receive(session, err);
    if (outcome == SERVER_OK)
        outcome = question_take(session, question, session->kept, answer, err);
    return outcome;
}
