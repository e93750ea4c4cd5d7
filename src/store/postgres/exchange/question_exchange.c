/* The query for the newest state. Usually memory has it, and the server need not send what its
 * batch has changed. */
#include "store/postgres/exchange/exchanges.h"
#include "store/postgres/foreign/foreign_sql.h"
#include "store/postgres/log/log_sql.h"
#include "store/postgres/session/pipeline.h"
#include "store/postgres/session/session_state.h"

static const char NEWEST[] = LOG_NEWEST_UNLESS_KNOWN_SQL;
static const char NEWEST_AND_FOREIGN[] =
    "SELECT n.*, EXISTS (SELECT FROM berth_foreign WHERE " FOREIGN_IS_NEW(
        "$2", "$3") ") FROM (" LOG_NEWEST_UNLESS_KNOWN_SQL ") n";

/* Its parameters are here. */
struct question_statement {
    struct pg_parameter parameters[1 + FOREIGN_PARAMETERS];
    struct pg_statement statement;
};

static void make_statement(const struct question *question, struct question_statement *made)
{
    made->parameters[0] =
        pg_bytes((struct slice){(const char *)question->known.mark, LOG_MARK_LEN});
    made->statement = (struct pg_statement){.sql = question->coexists ? NEWEST_AND_FOREIGN : NEWEST,
                                            .parameters = made->parameters,
                                            .parameters_n = 1,
                                            .binary_results = true,
                                            .is_prepared = true,
                                            .what = "read"};
    if (question->coexists) {
        foreign_view_parameters(&question->foreign, question->is_view_of_server,
                                made->parameters + 1);
        made->statement.parameters_n += FOREIGN_PARAMETERS;
    }
}

static void question_take(const struct question *question, struct pg_rows *rows,
                          struct question_answer *answer)
{
    int64_t has_notes = 0;
    bool is_whole =
        !question->coexists || pg_rows_int(rows, 0, LOG_NEWEST_UNLESS_KNOWN_COLUMNS, &has_notes);
    pg_log_newest(rows, &answer->newest);
    answer->has_notes = has_notes != 0;
    answer->newest.is_primary &= is_whole;
}

enum server_outcome pg_question_ask(struct server_session *base, const struct question *question,
                                    struct question_answer *answer, uint64_t deadline_us,
                                    struct err *err)
{
    struct pg_session *session = pg_session_of(base);
    struct question_statement made;
    struct pg_rows rows = {0};
    make_statement(question, &made);
    enum server_outcome outcome =
        pg_session_execute(session, &made.statement, &rows, deadline_us, err);
    if (outcome == SERVER_OK)
        question_take(question, &rows, answer);
    return outcome;
}

bool pg_question_send(struct server_session *base, const struct question *question, struct err *err)
{
    struct pg_session *session = pg_session_of(base);
    struct question_statement made;
    make_statement(question, &made);
    return pg_pipeline_begin(session, err) == SERVER_OK &&
           pg_pipeline_queue(session, &made.statement, err) == SERVER_OK &&
           pg_pipeline_start(session, err) == SERVER_OK && pg_pipeline_is_sent(session);
}

enum server_outcome pg_question_receive(struct server_session *base,
                                        const struct question *question,
                                        struct question_answer *answer, struct err *err)
{
    struct pg_session *session = pg_session_of(base);
    struct pg_rows *rows = pg_session_kept(session);
    enum server_outcome outcome = pg_pipeline_receive(session, rows, err);
    if (outcome == SERVER_OK)
        question_take(question, rows, answer);
    return outcome;
}
