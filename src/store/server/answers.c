/* See answers.h. Any thread. */
#include "store/server/answers.h"

void snapshot_answer_free(struct snapshot_answer *answer)
{
    log_rows_free(&answer->newest.rows);
    epoch_rows_free(&answer->epochs);
    log_rows_free(&answer->since);
    foreign_notes_free(&answer->notes);
    *answer = (struct snapshot_answer){0};
}

void locked_news_free(struct locked_news *news)
{
    log_rows_free(&news->since);
    *news = (struct locked_news){0};
}
