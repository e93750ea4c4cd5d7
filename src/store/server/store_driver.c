/* The driver of PostgreSQL: the functions of store.h that need no file of their own, and the table.
 * The writer, unless a function says otherwise. */
#include "base/clock.h"
#include "store/server/asker.h"
#include "store/server/connector.h"
#include "store/server/dialects.h"
#include "store/server/store_internal.h"
#include "store/value_limits.h"

static bool is_taken(const struct store *store, enum change_kind kind, unsigned field,
                     struct slice text)
{
    return skipped_has(&server_store_of_const(store)->skipped, kind, field, text);
}

static bool find_alike(const struct store *store, enum change_kind insert, unsigned field,
                       struct slice text, struct store_alike *alike)
{
    return alikes_find(&server_store_of_const(store)->alikes, insert, field, text, alike);
}

static const struct store_refusal *why_refused(const struct store *store)
{
    return &server_store_of_const(store)->refusal;
}

static bool check_schema(struct store *base, char revision[static STORE_REVISION_BYTES],
                         struct err *err)
{
    struct server_store *store = server_store_of(base);
    return server_need_snapshot(store, err) &&
           store->follower->dialect->check_schema(store->follower, revision, server_deadline(store),
                                                  err);
}

static bool follows_foreign(const struct store *base)
{
    const struct server_store *store = server_store_of_const(base);
    return store->read.has_foreign || store->suspects.count > 0;
}

static struct store_going_back why_went_back(const struct store *store)
{
    return server_store_of_const(store)->gone;
}

/* Any thread. */
static struct store_figures figures(const struct store *base)
{
    const struct server_store *store = server_store_of_const(base);
    uint64_t had = (uint64_t)server_head_newest(store->head);
    uint64_t seen = (uint64_t)server_head_seen(store->head);
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
        .conflicts = counter_read(&store->conflicts),
        .lock_conflicts = counter_read(&store->lock_conflicts),
        .lost_batches = counter_read(&store->lost_batches),
        .node_changes = server_lineage_nodes(store->lineage).changes,
        .stalled_ended = store->stalled_ended,
        .unknown_done = store->unknown_done,
        .unknown_undone = store->unknown_undone,
        .unknown_open = store->unknown_open,
    };
}

/* Any thread. */
static struct store_server server(const struct store *store)
{
    return server_head_server(server_store_of_const(store)->head);
}

enum { NODE_CHANGES_USUAL = 5 }; /* in an hour */

/* Those of now, while the rest of the report may be a minute old. */
static void add_nodes(struct server_lineage *lineage, struct arena *arena,
                      struct store_report *report)
{
    const struct node_history history = server_lineage_nodes(lineage);
    uint64_t now_us = clock_monotonic_us();
    unsigned count = node_history_recent(&history, now_us);
    for (unsigned i = 0; i < count; i++)
        report_add_node(report, arena, slice_of(history.nodes[i].name),
                        i == 0 ? 0 : (int64_t)((now_us - history.nodes[i].left_us) / 1000000));
    report->node_changes = node_history_changes(&history, now_us);
    if (report->node_changes > NODE_CHANGES_USUAL)
        report_warn(report, arena,
                    "the node through which this instance writes has changed %lld times in the "
                    "last hour",
                    (long long)report->node_changes);
}

/* Any thread. */
static bool report(const struct store *base, struct arena *arena, struct store_report *made)
{
    const struct server_store *store = server_store_of_const(base);
    if (!housekeeping_report(store->housekeeping, arena, made))
        return false;
    add_nodes(store->lineage, arena, made);
    return true;
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
    server_head_query(server_store_of(store)->head, answered, cls);
}

static void stop_queries(struct store *store)
{
    server_head_stop(server_store_of(store)->head);
    server_connector_stop(server_store_of(store)->connector);
}

static struct store_asker *open_asker(struct store *base)
{
    static const struct store_asker_driver driver = {
        .close = server_asker_close,
        .ask = server_asker_ask,
        .take_answer = server_asker_take,
        .forget = server_asker_forget,
    };
    struct server_store *store = server_store_of(base);
    struct store_asker *asker = (struct store_asker *)server_asker_create(
        store->head, store->connector, &store->address, store->lineage, &store->connections,
        store->recycle_us);
    asker->driver = &driver;
    return asker;
}

static bool covers(const struct store *store, const struct store_stamp *have,
                   const struct store_stamp *newest)
{
    return server_head_covers(server_store_of_const(store)->head, have, newest);
}

static bool has_dialect(struct slice url)
{
    const struct server_dialect *dialect = server_dialect_of(url);
    return dialect != NULL && dialect->is_served;
}

static struct store *driver_open(const struct store_options *options, struct err *err)
{
    struct store *store = server_open(options, err);
    if (store != NULL)
        store->driver = &server_driver;
    return store;
}

static void adapt(const struct store *store, struct change *change)
{
    value_forms_apply(server_store_of_const(store)->address.dialect->forms, change);
}

static bool can_hold(const struct store *store, const struct change *change, struct err *err)
{
    return value_limits_fit(&server_store_of_const(store)->limits, change, err);
}

const struct store_driver server_driver = {
    .matches = has_dialect,
    .knows_connection = server_knows_connection,
    .ignored_parameters = server_ignored_parameters,
    .open = driver_open,
    .close = server_close,
    .begin_read = server_begin_read,
    .why_went_back = why_went_back,
    .load = server_load,
    .merge = server_merge,
    .follow = server_follow,
    .follow_head = server_follow_head,
    .take_head = server_take_head,
    .follows_foreign = follows_foreign,
    .suspect = server_suspect,
    .should_read = server_should_read,
    .observe = server_observe,
    .check_schema = check_schema,
    .end_read = server_end_read,
    .locks_first = server_locks_first,
    .reads_first = server_reads_first,
    .turn = server_turn,
    .lock = server_lock,
    .unlock = server_unlock,
    .next_id = server_next_id,
    .lacks_id = server_lacks_id,
    .reuse_ids = server_reuse_ids,
    .adapt = adapt,
    .can_hold = can_hold,
    .is_taken = is_taken,
    .find_alike = find_alike,
    .commit = server_commit,
    .await = server_await,
    .give_up = server_give_up,
    .begin_at_once = server_begin_at_once,
    .end_at_once = server_end_at_once,
    .pending_descriptor = server_pending_descriptor,
    .receive = server_receive,
    .why_refused = why_refused,
    .currency = currency,
    .query_head = query_head,
    .stop_queries = stop_queries,
    .open_asker = open_asker,
    .covers = covers,
    .figures = figures,
    .server = server,
    .report = report,
    .upkeep = server_upkeep,
    .set_meanwhile = server_set_meanwhile,
};
