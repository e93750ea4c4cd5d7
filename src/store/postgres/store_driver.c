/* The driver of PostgreSQL: the functions of store.h that need no file of their own, and the table.
 * The writer, unless a function says otherwise. */
#include "store/postgres/asker.h"
#include "store/postgres/connector.h"
#include "store/postgres/migrate.h"
#include "store/postgres/store_internal.h"
#include "store/value_limits.h"

static bool is_taken(const struct store *store, enum change_kind kind, unsigned field,
                     struct slice text)
{
    return skipped_has(&postgres_of_const(store)->skipped, kind, field, text);
}

static const struct store_refusal *why_refused(const struct store *store)
{
    return &postgres_of_const(store)->refusal;
}

static bool check_schema(struct store *base, char revision[static STORE_REVISION_BYTES],
                         struct err *err)
{
    struct postgres_store *store = postgres_of(base);
    return postgres_need_snapshot(store, err) &&
           pg_migrate_check_served(store->follower, revision, postgres_deadline(store), err);
}

static bool follows_foreign(const struct store *base)
{
    const struct postgres_store *store = postgres_of_const(base);
    return store->read.has_foreign || store->suspects.count > 0;
}

static struct store_going_back why_went_back(const struct store *store)
{
    return postgres_of_const(store)->gone;
}

/* Any thread. */
static struct store_figures figures(const struct store *base)
{
    const struct postgres_store *store = postgres_of_const(base);
    uint64_t had = (uint64_t)postgres_head_newest(store->head);
    uint64_t seen = (uint64_t)postgres_head_seen(store->head);
    uint64_t head = counter_read(&store->log_head);
    head = seen > head ? seen : head;
    const struct housekeeping_figures kept = housekeeping_figures(store->housekeeping);
    return (struct store_figures){
        .log_head = head,
        .behind = head > had ? head - had : 0,
        .log_pruned = kept.pruned,
        .foreign_moved = kept.moved,
        .epoch = counter_read(&store->epoch),
        .unreplicated = counter_read(&store->unreplicated),
        .skipped_rows = counter_read(&store->skipped_rows),
        .connections = store->connections.made,
        .failed_connections = store->connections.failed,
        .lock_timeouts = store->lock_timeouts,
        .stalled_ended = store->stalled_ended,
        .unknown_done = store->unknown_done,
        .unknown_undone = store->unknown_undone,
        .unknown_open = store->unknown_open,
    };
}

/* Any thread. */
static struct store_server server(const struct store *store)
{
    return postgres_head_server(postgres_of_const(store)->head);
}

/* Any thread. */
static bool report(const struct store *store, struct arena *arena, struct store_report *made)
{
    return housekeeping_report(postgres_of_const(store)->housekeeping, arena, made);
}

/* Any thread. */
static enum store_currency currency(const struct store *store, const struct store_stamp *stamp)
{
    (void)store;
    (void)stamp;
    return STORE_MUST_ASK;
}

static void query_head(struct store *store,
                       void (*answered)(void *cls, const struct store_head *head), void *cls)
{
    postgres_head_query(postgres_of(store)->head, answered, cls);
}

static void stop_queries(struct store *store)
{
    postgres_head_stop(postgres_of(store)->head);
    pg_connector_stop(postgres_of(store)->connector);
}

static struct store_asker *open_asker(struct store *base)
{
    static const struct store_asker_driver driver = {
        .close = postgres_asker_close,
        .ask = postgres_asker_ask,
        .take_answer = postgres_asker_take,
        .forget = postgres_asker_forget,
    };
    struct postgres_store *store = postgres_of(base);
    struct store_asker *asker = (struct store_asker *)postgres_asker_create(
        store->head, store->connector, &store->url, store->lineage, &store->connections,
        store->recycle_us);
    asker->driver = &driver;
    return asker;
}

static bool covers(const struct store *store, const struct store_stamp *have,
                   const struct store_stamp *newest)
{
    return postgres_head_covers(postgres_of_const(store)->head, have, newest);
}

static struct store *driver_open(const struct store_options *options, struct err *err)
{
    struct store *store = postgres_open(options, err);
    if (store != NULL)
        store->driver = &postgres_driver;
    return store;
}

static const struct value_limits limits = {.has_lengths = true, .refuses_nul = true};

static bool can_hold(const struct store *store, const struct change *change, struct err *err)
{
    (void)store;
    return value_limits_fit(&limits, change, err);
}

const struct store_driver postgres_driver = {
    .matches = pg_url_matches,
    .knows_connection = postgres_knows_connection,
    .open = driver_open,
    .close = postgres_close,
    .begin_read = postgres_begin_read,
    .why_went_back = why_went_back,
    .load = postgres_load,
    .merge = postgres_merge,
    .follow = postgres_follow,
    .follow_head = postgres_follow_head,
    .take_head = postgres_take_head,
    .follows_foreign = follows_foreign,
    .suspect = postgres_suspect,
    .should_read = postgres_should_read,
    .observe = postgres_observe,
    .check_schema = check_schema,
    .end_read = postgres_end_read,
    .locks_first = postgres_locks_first,
    .lock = postgres_lock,
    .unlock = postgres_unlock,
    .next_id = postgres_next_id,
    .lacks_id = postgres_lacks_id,
    .reuse_ids = postgres_reuse_ids,
    .can_hold = can_hold,
    .is_taken = is_taken,
    .commit = postgres_commit,
    .await = postgres_await,
    .give_up = postgres_give_up,
    .begin_at_once = postgres_begin_at_once,
    .end_at_once = postgres_end_at_once,
    .pending_descriptor = postgres_pending_descriptor,
    .receive = postgres_receive,
    .why_refused = why_refused,
    .currency = currency,
    .query_head = query_head,
    .stop_queries = stop_queries,
    .open_asker = open_asker,
    .covers = covers,
    .figures = figures,
    .server = server,
    .report = report,
    .upkeep = postgres_upkeep,
    .set_meanwhile = postgres_set_meanwhile,
};
