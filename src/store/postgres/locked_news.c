/* The log's rows that are read in the round trip that takes the lock of the next batch. While the
 * lock is held, nobody adds any, so that the last of them is the newest. They are ordinary rows of
 * the log; what a snapshot finds out besides makes no difference here: a standby does not let
 * anybody begin a transaction that writes, and where other programs' writes are noted (foreign.c),
 * there always is a snapshot. The writer only. */
#include "store/postgres/store_internal.h"

/* Whether the first of the rows is that of the state that memory has. It was when the lock was
 * asked for; while it was awaited, memory may have followed others. */
static bool begin_with_state(const struct postgres_store *store, const struct log_rows *since)
{
    return since->count > 0 && since->at[0].number == store->followed.number;
}

/* Epochs are only added. */
static bool have_same_epochs(const struct postgres_store *store, const struct locked_news *news)
{
    return news->epoch == epochs_newest(&store->epochs).epoch;
}

static bool read_last(const struct log_rows *since, struct log_state *state)
{
    return since->count <= POSTGRES_FOLLOWED_ROWS_MOST &&
           log_row_state(&since->at[since->count - 1], state);
}

bool postgres_take_locked_news(struct postgres_store *store)
{
    struct locked_news *news = &store->locked_news;
    struct log_state newest;
    bool will_do = store->is_locked && news->is_there && store->has_state &&
                   store->suspects.count == 0 && !postgres_head_coexists(store->head) &&
                   begin_with_state(store, &news->since) && have_same_epochs(store, news) &&
                   read_last(&news->since, &newest);
    if (will_do) {
        epochs_note_same(&store->epochs);
        store->read.head = newest;
        store->read.since = news->since;
        news->since = (struct log_rows){0};
    }
    locked_news_free(news);
    return will_do;
}
