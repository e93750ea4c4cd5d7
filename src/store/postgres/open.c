/* Opens the store, and connects its sessions. Writer thread, unless a function says otherwise. */
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "store/postgres/collation.h"
#include "store/postgres/connector.h"
#include "store/postgres/migrate.h"
#include "store/postgres/unknown.h"

enum { START_DEADLINE_S = 600 }; /* an upgrade may build indexes */

/* Any thread. */
bool postgres_knows_connection(struct slice connection, struct err *err)
{
    struct arena *arena = arena_create();
    struct err failure = {.arena = arena};
    struct pg_url url;
    bool ok = pg_url_parse(connection, SLICE_LIT(""), arena, &url, &failure);
    if (!ok)
        err_set(err, failure.status, failure.code, "%.*s", SLICE_ARG(failure.message));
    arena_destroy(arena);
    return ok;
}

static struct pg_session *create_session(struct postgres_store *store,
                                         struct pg_connection_counts *counts)
{
    return pg_session_create(
        &(struct pg_session_options){.url = &store->url,
                                     .lineage = store->lineage,
                                     .idle_in_transaction_ms = (int)(store->stalled_us / 1000),
                                     .lock_timeout_ms = (int)(store->stalled_us / 2000),
                                     .wake_fd = -1,
                                     .counts = counts,
                                     .meanwhile = &store->meanwhile});
}

static bool start_writer(struct postgres_store *store, const struct store_options *options,
                         struct err *err)
{
    if (!postgres_reach_server(store, options->retry, err))
        return false;
    uint64_t deadline_us = clock_monotonic_us() + START_DEADLINE_S * UINT64_C(1000000);
    return pg_migrate_at_start(store->writer, options->sync_schema, deadline_us, err) &&
           pg_collation_check(store->writer, deadline_us, err) &&
           postgres_mend_sequences(store, store->writer, err);
}

static bool start_housekeeping(struct postgres_store *store, struct err *err)
{
    store->housekeeping = housekeeping_start(&store->url, store->lineage, &store->connections,
                                             store->recycle_us, store->head);
    return store->housekeeping != NULL ||
           err_set(err, 503, NULL, "cannot start the thread for housekeeping");
}

struct store *postgres_open(const struct store_options *options, struct err *err)
{
    struct postgres_store *store = calloc(1, sizeof(*store));
    check(store != NULL);
    struct epochs_left left;
    store->arena = arena_create();
    store->scratch = arena_create();
    store->timeout_us = (uint64_t)options->busy_timeout_ms * 1000;
    store->stalled_us =
        options->stalled_ms > 0 ? (uint64_t)options->stalled_ms * 1000 : store->timeout_us;
    store->recycle_us = options->recycle_us;
    store->steps = options->steps;
    postgres_set_meanwhile(&store->base, options->meanwhile);
    store->acknowledged.fd = -1;
    pthread_mutex_init(&store->load_lock, NULL);
    if (!pg_url_parse(options->connection, SLICE_LIT(""), store->arena, &store->url, err)) {
        postgres_close(&store->base);
        return NULL;
    }
    store->followed =
        acknowledged_open(&store->acknowledged, options->state_directory, store->url.target, &left);
    epochs_restore(&store->epochs, &left);
    store->lineage = server_lineage_create();
    store->writer = create_session(store, &store->connections);
    store->follower = create_session(store, &store->connections);
    store->reader = (struct postgres_reader){.session = store->follower,
                                             .target = store->url.target,
                                             .timeout_us = store->timeout_us,
                                             .noting = store};
    store->head = postgres_head_create(&store->url, store->lineage, &store->connections,
                                       store->timeout_us, store->recycle_us);
    store->connector = pg_connector_create(&store->connections, store->timeout_us);
    store->unknown = postgres_unknown_create(store, err);
    if (store->head == NULL || store->connector == NULL)
        err_set(err, 503, NULL, "cannot start the threads that ask for the newest state");
    else if (store->unknown != NULL && getentropy(store->instance, sizeof(store->instance)) == 0 &&
             start_writer(store, options, err) && start_housekeeping(store, err))
        return &store->base;
    postgres_close(&store->base);
    return NULL;
}

void postgres_close(struct store *base)
{
    struct postgres_store *store = postgres_of(base);
    housekeeping_stop(store->housekeeping);
    pg_connector_destroy(store->connector);
    postgres_head_destroy(store->head);
    postgres_unknown_destroy(store->unknown);
    pg_session_destroy(store->writer);
    pg_session_destroy(store->follower);
    server_lineage_destroy(store->lineage);
    postgres_free_read(store);
    locked_news_free(&store->locked_news);
    log_rows_free(&store->head_read.news.newest.rows);
    foreign_view_free(&store->foreign);
    log_entries_free(&store->suspects);
    log_entries_free(&store->refused);
    log_entries_free(&store->unlogged);
    skipped_free(&store->skipped);
    consumer_ids_free(&store->consumer_ids);
    buf_free(&store->touched);
    epochs_free(&store->epochs);
    acknowledged_close(&store->acknowledged);
    postgres_free_ids(store);
    pthread_mutex_destroy(&store->load_lock);
    arena_destroy(store->scratch);
    arena_destroy(store->arena);
    free(store);
}
