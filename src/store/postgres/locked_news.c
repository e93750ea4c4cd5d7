/* The log's rows that are read in the round trip that takes the lock of the next batch. While the
 * lock is held, nobody adds any, so that the last of them is the newest. They are ordinary rows of
 * the log; what a snapshot finds out besides makes no difference here: a standby does not let
 * anybody begin a transaction that writes, and where other programs' writes are noted (foreign.c),
 * there always is a snapshot. The writer only. */
#include "store/postgres/store_internal.h"

/* What is said of all rows comes with each of them. */
static const char SINCE[] =
    "SELECT number, mark, digest, entries, (SELECT max(epoch) FROM berth_epochs) FROM berth_log"
    " WHERE number >= $1::bigint ORDER BY number LIMIT $2::bigint";
enum { EPOCH_COLUMN = 4 };

bool postgres_queue_locked_news(struct postgres_store *store, struct err *err)
{
    return postgres_queue_since(store, store->writer, SINCE, err);
}

/* Whether the first of the rows is that of the state that memory has. It was when the lock was
 * asked for; while it was awaited, memory may have followed others. */
static bool begin_with_state(const struct postgres_store *store, const struct pg_rows *since)
{
    struct log_row row;
    return pg_rows_count(since) > 0 && log_row_read(since, 0, &row) &&
           row.number == store->followed.number;
}

/* Epochs are only added. */
static bool have_same_epochs(const struct postgres_store *store, const struct pg_rows *since)
{
    int64_t epoch = 0;
    (void)!pg_rows_int(since, 0, EPOCH_COLUMN, &epoch);
    return epoch == epochs_newest(&store->epochs).epoch;
}

static bool read_last(const struct pg_rows *since, struct log_state *state)
{
    struct log_row row;
    size_t count = pg_rows_count(since);
    return count <= POSTGRES_FOLLOWED_ROWS_MOST && log_row_read(since, count - 1, &row) &&
           log_row_state(&row, state);
}

bool postgres_take_locked_news(struct postgres_store *store)
{
    struct pg_rows *since = &store->locked_rows[POSTGRES_LOCKED_SINCE];
    struct log_state newest;
    bool will_do = store->is_locked && since->result != NULL && store->has_state &&
                   store->suspects.count == 0 && !postgres_head_coexists(store->head) &&
                   begin_with_state(store, since) && have_same_epochs(store, since) &&
                   read_last(since, &newest);
    if (will_do) {
        epochs_note_same(&store->epochs);
        store->read.head = newest;
        store->read.since = *since;
        *since = (struct pg_rows){0};
    }
    postgres_free_locked(store);
    return will_do;
}

void postgres_free_locked(struct postgres_store *store)
{
    for (size_t i = 0; i < POSTGRES_LOCKED_ROWS; i++)
        pg_rows_free(&store->locked_rows[i]);
}
