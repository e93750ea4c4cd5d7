/* See question.h. */
#include "store/server/question.h"

/* Whether what other programs wrote, and memory has, may be gone, although no note says so. */
static bool is_promoted(const struct question *question, const struct server_id *server)
{
    const struct server_id *of_view = &question->foreign.server;
    return question->coexists && question->foreign.text != NULL &&
           (of_view->system != server->system || of_view->timeline != server->timeline);
}

void question_begin(struct question *question, const struct server_id *server)
{
    question->is_promoted = is_promoted(question, server);
    question->is_view_of_server = server_id_equal(&question->foreign.server, server);
}

bool question_state(const struct question *question, const struct question_answer *answer,
                    struct log_state *state, struct store_stamp *stamp)
{
    if (log_newest_state(&answer->newest, &question->known, state) != LOG_FOUND_STATE)
        return false;
    bool went_back = state->number < question->known.number || state->number < question->seen;
    bool is_unlike_memory = answer->has_notes || question->is_promoted || went_back;
    *stamp =
        is_unlike_memory ? log_stamp_of_none() : log_state_stamp(state, question->foreign.taken);
    return true;
}

void question_free(struct question *question)
{
    foreign_view_free(&question->foreign);
}
