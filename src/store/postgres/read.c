/* The news: a snapshot in a session of its own, and what has happened since memory last read the
 * database. Writer thread only.
 *
 * The log is read from the row that memory has on. If that row is no longer there, or not the same,
 * the database went back: a backup was restored, or a failover has lost commits. If it is there,
 * each later row has to contain the digest of the one before it. */
#include "store/postgres/store_internal.h"

#include "base/clock.h"
#include "log/log.h"
#include "store/load.h"
#include "store/merge.h"
#include "store/reread.h"

enum { FOLLOWED_ROWS_MOST = 10000 };

static const char NEWEST[] = "SELECT n.*, " EPOCHS_COLUMN " FROM (" LOG_NEWEST_SQL ") n";
static const char SINCE[] = "SELECT number, mark, digest, entries FROM berth_log"
                            " WHERE number >= $1::bigint ORDER BY number LIMIT $2::bigint";

static bool queue(struct postgres_store *store, const char *sql,
                  const struct pg_parameter *parameters, size_t count, struct err *err)
{
    const struct pg_statement statement = {.sql = sql,
                                           .parameters = parameters,
                                           .parameters_n = count,
                                           .binary_results = true,
                                           .is_prepared = true,
                                           .what = "read"};
    return pg_pipeline_queue(store->follower, &statement, err) == PG_OK;
}

/* Begins the snapshot and reads the log's newest row and those since the one that memory has. */
static bool take_snapshot(struct postgres_store *store, struct pg_rows *head, struct pg_rows *since,
                          struct err *err)
{
    struct pg_session *session = store->follower;
    uint64_t deadline_us = postgres_deadline(store);
    int64_t from = store->followed.number > 0 ? store->followed.number : INT64_MAX;
    const struct pg_parameter range[] = {pg_int8(from), pg_int8(FOLLOWED_ROWS_MOST + 1)};
    bool ok = pg_pipeline_begin(session, err) == PG_OK &&
              pg_pipeline_queue_begin(session, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
                                      err) == PG_OK &&
              queue(store, NEWEST, NULL, 0, err) && queue(store, SINCE, range, 2, err) &&
              pg_pipeline_send(session, deadline_us, err) == PG_OK &&
              pg_pipeline_next(session, NULL, deadline_us, err) == PG_OK &&
              pg_pipeline_next(session, head, deadline_us, err) == PG_OK &&
              pg_pipeline_next(session, since, deadline_us, err) == PG_OK &&
              pg_pipeline_finish(session, deadline_us, err) == PG_OK;
    if (!ok)
        pg_session_close(session);
    return ok;
}

/* A connection that was idle may have ended: then a new one serves as well. */
static bool begin_snapshot(struct postgres_store *store, struct pg_rows *head,
                           struct pg_rows *since, struct err *err)
{
    struct pg_session *session = store->follower;
    pg_session_notice_end(session);
    bool was_open = pg_session_is_open(session);
    uint64_t soon_us = clock_monotonic_us() + store->timeout_us / 2;
    if (!postgres_ensure_session(store, session, err))
        return false;
    if (take_snapshot(store, head, since, err))
        return true;
    if (!was_open || clock_monotonic_us() > soon_us)
        return false;
    pg_rows_free(head);
    pg_rows_free(since);
    *err = (struct err){.arena = err->arena};
    return postgres_ensure_session(store, session, err) && take_snapshot(store, head, since, err);
}

/* The state of the snapshot. */
static bool read_head(struct postgres_store *store, const struct pg_rows *rows, struct err *err)
{
    enum log_newest newest = log_newest_state(rows, &store->read.head);
    epochs_note(&store->epochs, pg_rows_bytes(rows, 0, LOG_NEWEST_COLUMNS));
    if (newest == LOG_NEWEST_STANDBY)
        pg_session_close(store->follower); /* the next one may lead to the primary */
    if (newest != LOG_NEWEST_FOREIGN)
        return newest == LOG_NEWEST_KNOWN || postgres_refuse_standby(store, err);
    return err_set(err, 503, NULL,
                   "the database '%.*s' cannot be used: another program wrote to berth_log; delete "
                   "its rows",
                   SLICE_ARG(store->url.target));
}

/* Whether the transactions that have been looked at were numbered by another cluster. */
static bool is_other_cluster(const struct postgres_store *store)
{
    return pg_session_server(store->follower)->id.system != store->examined_system;
}

/* Once for each state: until memory has been read again, each read finds the same. */
static void tell_gone(struct postgres_store *store)
{
    if (store->told_gone == store->followed.number)
        return;
    store->told_gone = store->followed.number;
    store->gone = (struct store_going_back){.had = store->followed.number,
                                            .has = store->read.head.number,
                                            .database = store->url.target};
    log_write(LOG_LEVEL_ERROR, "berth", LOG_NO_CONTEXT,
              "the database '%.*s' went back: it no longer has batch %lld, which %s; its newest "
              "batch is %lld",
              SLICE_ARG(store->url.target), (long long)store->followed.number,
              store->has_read ? "memory has" : "this berthd had before it was restarted",
              (long long)store->read.head.number);
}

static void note_seen(struct postgres_store *store, const struct log_state *next)
{
    if (store->seen.at_us != 0)
        return;
    store->seen.at_us = clock_monotonic_us();
    store->seen.number = next->number;
    memcpy(store->seen.mark, next->mark, LOG_MARK_LEN);
}

/* Whether the rows follow from the state that memory has, one from the other; collects the entries
 * of all but the first, which is that state's own. */
static bool explains(struct postgres_store *store, const struct pg_rows *since)
{
    struct log_state state = {0};
    for (size_t i = 0; i < pg_rows_count(since); i++) {
        struct log_row row;
        struct log_state next;
        if (!log_row_read(since, i, &row) || !log_row_state(&row, &next))
            return false;
        if (i == 0 && !log_state_equal(&next, &store->followed))
            return false;
        if (i == 1)
            note_seen(store, &next);
        if (i > 0 && (next.number != state.number + 1 ||
                      memcmp(row.before.data, state.digest, LOG_DIGEST_LEN) != 0 ||
                      !log_parse(row.entries, &store->read.to_follow)))
            return false;
        state = next;
    }
    return state.number > 0 && log_state_equal(&state, &store->read.head);
}

/* Whether the database no longer has the state that memory has. If only newer rows are there, the
 * state's own has been pruned, and that is not known. */
static bool is_gone(const struct postgres_store *store, const struct pg_rows *since)
{
    struct log_row row;
    struct log_state first;
    if (store->followed.number == 0)
        return false;
    if (pg_rows_count(since) == 0)
        return true;
    return log_row_read(since, 0, &row) && row.number == store->followed.number &&
           !(log_row_state(&row, &first) && log_state_equal(&first, &store->followed));
}

/* An empty log that memory has read has no row of its own. */
static bool is_still_empty(const struct postgres_store *store)
{
    return store->followed.number == 0 && store->read.head.number == 0;
}

static enum store_news examine(struct postgres_store *store, const struct pg_rows *since)
{
    bool is_same = is_still_empty(store) || log_state_equal(&store->read.head, &store->followed);
    if (store->has_state && is_same)
        return store->suspects.count > 0 ? STORE_NEWS_FOLLOW : STORE_NEWS_NONE;
    if (store->has_state && explains(store, since))
        return STORE_NEWS_FOLLOW;
    store->read.went_back = is_gone(store, since);
    if (!store->read.went_back)
        return STORE_NEWS_RELOAD;
    tell_gone(store);
    return STORE_NEWS_WENT_BACK;
}

enum store_news postgres_begin_read(struct store *base, struct err *err)
{
    struct postgres_store *store = postgres_of(base);
    struct pg_rows head = {0};
    struct pg_rows since = {0};
    enum store_news news = STORE_NEWS_FAILED;
    check(!store->read.is_open);
    if (store->must_remember)
        postgres_remember(store);
    log_entries_free(&store->read.to_follow);
    store->read.went_back = false;
    store->read.has_followed = false;
    if (begin_snapshot(store, &head, &since, err) && read_head(store, &head, err)) {
        store->has_state &= !is_other_cluster(store);
        news = examine(store, &since);
        store->read.is_open = true;
        if (store->is_locked && store->read.head.number > store->followed.number)
            store->crowded = POSTGRES_CROWDED;
        counter_set(&store->log_head, (uint64_t)store->read.head.number);
    }
    if (news == STORE_NEWS_FAILED)
        postgres_put_off_examination(store);
    pg_rows_free(&head);
    pg_rows_free(&since);
    return news;
}

/* Memory has what was read. False: it must not have it, because the server has been replaced. */
static bool mark_read(struct postgres_store *store, bool is_continued, struct err *err)
{
    check(store->sending == NULL);
    if (!postgres_head_note(store->head, &store->read.head, store->follower, is_continued))
        return postgres_refuse_replaced(store, "read", err);
    if (!is_continued)
        postgres_distrust_ids(store); /* it may have gone back, and its sequences with it */
    epochs_take(&store->epochs, store->read.went_back ? store->followed.number : 0);
    store->told_gone = 0;
    counter_set(&store->epoch, (uint64_t)epochs_newest(&store->epochs).epoch);
    store->followed = store->read.head;
    store->has_read = true;
    if (store->read.went_back)
        store->must_remember = true;
    else
        postgres_remember(store);
    store->has_state = true;
    return true;
}

static bool stream_all(struct postgres_store *store, struct tree_order *forest, store_sink *sink,
                       void *cls, struct err *err)
{
    const struct row_reader reader = postgres_row_reader(store);
    check(store->read.is_open);
    store->examined_system = pg_session_server(store->follower)->id.system;
    bool ok = postgres_read_horizon(store, &store->examined_from, err) &&
              load_stream(&reader, forest, &store->skipped, sink, cls, err);
    counter_set(&store->skipped_rows, store->skipped.rows.count);
    store->has_state &= ok;
    return ok;
}

enum store_result postgres_load(struct store *base, store_sink *sink, void *cls, struct err *err)
{
    struct postgres_store *store = postgres_of(base);
    struct tree_order forest = {0};
    bool ok = stream_all(store, &forest, sink, cls, err);
    tree_order_free(&forest);
    log_entries_free(&store->suspects);
    ok = ok && mark_read(store, false, err);
    return ok ? STORE_OK : STORE_FAILED;
}

/* Passes on what a merge reads, and names consumers that memory does not know: the comparison has
 * only their ids. */
struct naming {
    struct postgres_store *store;
    store_sink *sink;
    void *cls;
};

static void name_and_pass(void *cls, const struct change *change)
{
    const struct naming *naming = cls;
    if (change->kind == CHANGE_CONSUMER_INSERT) {
        const struct difference consumer = {ENTITY_CONSUMER, .id = change->consumer.id,
                                            .uuid = change->consumer.uuid};
        postgres_name_in_log(naming->store, &consumer);
    }
    naming->sink(naming->cls, change);
}

enum store_result postgres_merge(struct store *base, const struct store_comparer *comparer,
                                 store_sink *sink, void *cls, bool *merged, struct err *err)
{
    struct postgres_store *store = postgres_of(base);
    struct tree_order forest = {0};
    *merged = false;
    bool ok = stream_all(store, &forest, comparer->compare, comparer->cls, err);
    const struct differences *differences = ok ? comparer->end(comparer->cls) : NULL;
    log_entries_free(&store->suspects);
    if (differences != NULL) {
        for (size_t i = 0; i < differences->count; i++)
            postgres_name_in_log(store, &differences->items[i]);
        const struct row_reader reader = postgres_row_reader(store);
        struct naming naming = {store, sink, cls};
        ok = merge_read(&reader, &forest, differences, name_and_pass, &naming, err);
        *merged = ok;
    }
    tree_order_free(&forest);
    ok = ok && (!*merged || mark_read(store, false, err));
    *merged &= ok;
    store->has_state &= ok;
    return ok ? STORE_OK : STORE_FAILED;
}

enum store_result postgres_follow(struct store *base, const struct memory_view *memory,
                                  store_sink *sink, void *cls, struct err *err)
{
    struct postgres_store *store = postgres_of(base);
    const struct row_reader reader = postgres_row_reader(store);
    check(store->read.is_open);
    if (!reread_entries(&reader, &store->read.to_follow, &store->suspects, memory, sink, cls,
                        err) ||
        !mark_read(store, true, err)) {
        store->has_state &= !store->read.has_followed; /* memory does not have what that sent */
        return STORE_FAILED;
    }
    store->read.has_followed = true;
    return STORE_OK;
}

bool postgres_end_read(struct store *base, struct store_stamp *stamp)
{
    struct postgres_store *store = postgres_of(base);
    struct err ignored = postgres_ignored(store);
    check(store->read.is_open);
    store->read.is_open = false;
    if (store->read.has_followed)
        postgres_end_suspicion(store);
    *stamp = log_state_stamp(&store->read.head);
    if (pg_session_in_transaction(store->follower) &&
        pg_session_run(store->follower, "ROLLBACK", "read", postgres_deadline(store), &ignored) !=
            PG_OK)
        pg_session_close(store->follower);
    return store->has_state && log_state_equal(&store->followed, &store->read.head);
}
