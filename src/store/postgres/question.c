/* See question.h. */
#include "store/postgres/question.h"

static const char NEWEST_AND_FOREIGN[] =
    "SELECT n.*, EXISTS (SELECT FROM berth_foreign WHERE " FOREIGN_IS_NEW(
        "$2", "$3") ") FROM (" LOG_NEWEST_UNLESS_KNOWN_SQL ") n";

/* Whether what other programs wrote, and memory has, may be gone, although no note says so. */
static bool is_promoted(const struct question *question, const struct server_id *server)
{
    const struct server_id *of_view = &question->foreign.server;
    return question->coexists && question->foreign.snapshot != NULL &&
           (of_view->system != server->system || of_view->timeline != server->timeline);
}

/* Usually memory has the newest state, and the server need not send what its batch has changed. */
void question_state(struct question *question, const struct server_id *server,
                    struct question_statement *made)
{
    made->parameters[0] =
        pg_bytes((struct slice){(const char *)question->known.mark, LOG_MARK_LEN});
    made->statement = (struct pg_statement){.sql = LOG_NEWEST_UNLESS_KNOWN,
                                            .parameters = made->parameters,
                                            .parameters_n = 1,
                                            .binary_results = true,
                                            .is_prepared = true,
                                            .what = "read"};
    question->is_promoted = is_promoted(question, server);
    if (question->coexists) {
        foreign_view_parameters(&question->foreign,
                                server_id_equal(&question->foreign.server, server),
                                made->parameters + 1);
        made->statement.sql = NEWEST_AND_FOREIGN;
        made->statement.parameters_n += FOREIGN_PARAMETERS;
    }
}

bool question_answer(const struct question *question, const struct pg_rows *rows,
                     struct log_state *state, struct store_stamp *stamp)
{
    int64_t is_foreign = 0;
    *state = (struct log_state){0};
    if (log_newest_state(rows, &question->known, state) != LOG_NEWEST_KNOWN ||
        (question->coexists && !pg_rows_int(rows, 0, LOG_NEWEST_UNLESS_KNOWN_COLUMNS, &is_foreign)))
        return false;
    bool is_unlike_memory =
        is_foreign != 0 || question->is_promoted || state->number < question->known.number;
    *stamp =
        is_unlike_memory ? log_stamp_of_none() : log_state_stamp(state, question->foreign.taken);
    return true;
}

void question_free(struct question *question)
{
    foreign_view_free(&question->foreign);
}
