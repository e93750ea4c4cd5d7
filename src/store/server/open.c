/* Opens the store, and connects its sessions. Writer thread, unless a function says otherwise. */
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "log/log.h"
#include "store/server/connector.h"
#include "store/server/dialects.h"
#include "store/server/unknown.h"

enum { START_DEADLINE_S = 600 }; /* an upgrade may build indexes */

/* In the arena. */
static bool find_address(struct slice connection, struct arena *arena,
                         struct server_address *address, struct err *err)
{
    *address = (struct server_address){.dialect = server_dialect_of(connection)};
    check(address->dialect != NULL);
    address->url = address->dialect->url_parse(connection, arena, &address->target, err);
    return address->url != NULL;
}

/* Any thread. */
bool server_knows_connection(struct slice connection, struct err *err)
{
    struct arena *arena = arena_create();
    struct err failure = {.arena = arena};
    struct server_address address;
    bool ok = find_address(connection, arena, &address, &failure);
    if (!ok)
        err_set(err, failure.status, failure.code, "%.*s", SLICE_ARG(failure.message));
    arena_destroy(arena);
    return ok;
}

static struct slice ignored_of(const struct server_address *address)
{
    const struct server_dialect *dialect = address->dialect;
    return dialect->url_ignored == NULL ? SLICE_LIT("") : dialect->url_ignored(address->url);
}

/* Any thread. */
struct slice server_ignored_parameters(struct slice connection, struct arena *arena)
{
    struct err failure = {.arena = arena};
    struct server_address address;
    bool ok = find_address(connection, arena, &address, &failure);
    return ok ? ignored_of(&address) : SLICE_LIT("");
}

static void tell_ignored(const struct server_address *address)
{
    struct slice ignored = ignored_of(address);
    if (ignored.len > 0)
        log_write(LOG_LEVEL_INFO, "berth", LOG_NO_CONTEXT,
                  "parameters of the database connection that have no effect here: %.*s",
                  SLICE_ARG(ignored));
}

static struct server_session *create_session(struct server_store *store,
                                             struct server_connection_counts *counts)
{
    return server_session_create(
        &(struct server_session_options){.address = &store->address,
                                         .lineage = store->lineage,
                                         .idle_in_transaction_ms = (int)(store->stalled_us / 1000),
                                         .lock_timeout_ms = (int)(store->stalled_us / 2000),
                                         .wake_fd = -1,
                                         .counts = counts,
                                         .meanwhile = &store->meanwhile});
}

static bool read_limits(struct server_store *store, struct err *err)
{
    const struct server_dialect *dialect = store->address.dialect;
    store->limits = *dialect->limits;
    return dialect->limits_read == NULL ||
           dialect->limits_read(store->writer, &store->limits, server_deadline(store), err) ==
               SERVER_OK;
}

static bool start_writer(struct server_store *store, const struct store_options *options,
                         struct err *err)
{
    if (!server_reach_server(store, options->retry, err))
        return false;
    uint64_t deadline_us = clock_monotonic_us() + START_DEADLINE_S * UINT64_C(1000000);
    return store->writer->dialect->start(store->writer, options->sync_schema, deadline_us, err) &&
           read_limits(store, err) && server_mend_sequences(store, store->writer, err);
}

static bool start_housekeeping(struct server_store *store, struct err *err)
{
    store->housekeeping = housekeeping_start(&store->address, store->lineage, &store->connections,
                                             store->recycle_us, store->head);
    return store->housekeeping != NULL ||
           err_set(err, 503, NULL, "cannot start the thread for housekeeping");
}

struct store *server_open(const struct store_options *options, struct err *err)
{
    struct server_store *store = calloc(1, sizeof(*store));
    check(store != NULL);
    struct epochs_left left;
    store->arena = arena_create();
    store->scratch = arena_create();
    store->timeout_us = (uint64_t)options->busy_timeout_ms * 1000;
    store->stalled_us =
        options->stalled_ms > 0 ? (uint64_t)options->stalled_ms * 1000 : store->timeout_us;
    store->recycle_us = options->recycle_us;
    store->steps = options->steps;
    server_set_meanwhile(&store->base, options->meanwhile);
    store->acknowledged.fd = -1;
    pthread_mutex_init(&store->load_lock, NULL);
    if (!find_address(options->connection, store->arena, &store->address, err)) {
        server_close(&store->base);
        return NULL;
    }
    tell_ignored(&store->address);
    store->followed = acknowledged_open(&store->acknowledged, options->state_directory,
                                        store->address.target, &left);
    epochs_restore(&store->epochs, &left);
    store->lineage = server_lineage_create();
    store->writer = create_session(store, &store->connections);
    store->follower = create_session(store, &store->connections);
    store->reader = (struct server_reader){.session = store->follower,
                                           .target = store->address.target,
                                           .timeout_us = store->timeout_us,
                                           .noting = store};
    store->head = server_head_create(&store->address, store->lineage, &store->connections,
                                     store->timeout_us, store->recycle_us);
    store->connector = server_connector_create(&store->connections, store->timeout_us);
    store->unknown = server_unknown_create(store, err);
    if (store->head == NULL || store->connector == NULL)
        err_set(err, 503, NULL, "cannot start the threads that ask for the newest state");
    else if (store->unknown != NULL && getentropy(&store->instance, sizeof(store->instance)) == 0 &&
             start_writer(store, options, err) && start_housekeeping(store, err)) {
        server_set_owner(store, options);
        return &store->base;
    }
    server_close(&store->base);
    return NULL;
}

void server_close(struct store *base)
{
    struct server_store *store = server_store_of(base);
    housekeeping_stop(store->housekeeping);
    server_connector_destroy(store->connector);
    server_unknown_destroy(store->unknown); /* its thread uses the head */
    server_head_destroy(store->head);
    server_session_destroy(store->writer);
    server_session_destroy(store->follower);
    server_lineage_destroy(store->lineage);
    server_free_read(store);
    locked_news_free(&store->locked_news);
    log_rows_free(&store->head_read.news.newest.rows);
    foreign_view_free(&store->foreign);
    log_entries_free(&store->suspects);
    log_entries_free(&store->refused);
    log_entries_free(&store->unlogged);
    skipped_free(&store->skipped);
    missing_consumers_free(&store->missing);
    alikes_free(&store->alikes);
    consumer_ids_free(&store->consumer_ids);
    buf_free(&store->touched);
    epochs_free(&store->epochs);
    acknowledged_close(&store->acknowledged);
    server_free_ids(store);
    pthread_mutex_destroy(&store->load_lock);
    arena_destroy(store->scratch);
    arena_destroy(store->arena);
    free(store);
}
