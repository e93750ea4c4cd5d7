/* berth's own metrics, in the order of the table. Counters are read one after the other while other
 * threads change them: a scrape is not a snapshot. Nothing here waits for the database or for a
 * query. */
#include <stdlib.h>

#include "api/admin/admin_internal.h"
#include "api/api.h"
#include "api/definition.h"
#include "api/services/meter.h"
#include "api/services/slow_lane.h"
#include "base/arena.h"
#include "base/memory_budget.h"
#include "log/log.h"
#include "store/report.h"

static const double US_PER_S = 1e6;

/* A series of one API in which something has been counted. */
struct counted {
    const struct meter_series *series;
    struct label labels[3]; /* api, route, method */
};

/* Finds the next one after *at; false: there is none. */
static bool next_counted(const struct api *api, const struct meter_totals *totals, unsigned *at,
                         struct counted *counted)
{
    while (*at < API_COUNT * METER_SERIES_MAX) {
        const struct api_definition *definition = api->endpoints[*at / METER_SERIES_MAX].definition;
        unsigned number = *at % METER_SERIES_MAX;
        const char *method;
        const char *route;
        ++*at;
        counted->series = &totals->apis[definition->id].series[number];
        if (!meter_series_name(definition, number, &method, &route) ||
            histogram_count(&counted->series->took_us) == 0)
            continue;
        counted->labels[0] = label_of("api", definition->name);
        counted->labels[1] = label_of("route", route);
        counted->labels[2] = label_of("method", method);
        return true;
    }
    return false;
}

static void write_statuses(struct exposition *exposition, const struct counted *counted)
{
    struct label labels[4] = {counted->labels[0], counted->labels[1], counted->labels[2]};
    for (unsigned i = 0; i < METER_STATUSES; i++) {
        char text[DECIMAL_MAX + 1] = "other";
        if (counted->series->statuses[i] == 0)
            continue;
        if (meter_status(i) != 0)
            text[decimal_write(text, meter_status(i))] = '\0';
        labels[3] = label_of("status", text);
        exposition_count(exposition, labels, 4, counted->series->statuses[i]);
    }
}

static void write_microversions(const struct meter_totals *totals,
                                const struct api_definition *definition,
                                struct exposition *exposition)
{
    const uint64_t *minors = totals->apis[definition->id].minors;
    for (unsigned i = 0; i < METER_MINORS; i++) {
        char text[DECIMAL_MAX + 3] = "none";
        if (minors[i] == 0)
            continue;
        if (i <= definition->max_minor) {
            memcpy(text, "1.", 2);
            text[2 + decimal_write(text + 2, i)] = '\0';
        }
        const struct label labels[] = {label_of("api", definition->name),
                                       label_of("microversion", text)};
        exposition_count(exposition, labels, 2, minors[i]);
    }
}

static void write_requests(const struct api *api, const struct meter_totals *totals,
                           struct exposition *exposition)
{
    struct counted counted;
    exposition_begin(exposition, METRIC_REQUESTS);
    for (unsigned at = 0; next_counted(api, totals, &at, &counted);)
        write_statuses(exposition, &counted);
    exposition_begin(exposition, METRIC_REQUEST_DURATION);
    for (unsigned at = 0; next_counted(api, totals, &at, &counted);)
        exposition_histogram(exposition, counted.labels, 3, &METER_TOOK_SHAPE_US,
                             &counted.series->took_us, US_PER_S);
    exposition_begin(exposition, METRIC_RESPONSE_BYTES);
    for (unsigned at = 0; next_counted(api, totals, &at, &counted);)
        exposition_count(exposition, counted.labels, 3, counted.series->bytes);
    exposition_begin(exposition, METRIC_MICROVERSIONS);
    for (unsigned i = 0; i < API_COUNT; i++)
        write_microversions(totals, api->endpoints[i].definition, exposition);
}

static void write_listeners(struct admin *admin, struct exposition *exposition)
{
    static const enum metric_id IDS[] = {METRIC_IN_FLIGHT, METRIC_CONNECTIONS,
                                         METRIC_CONNECTIONS_ACCEPTED, METRIC_LARGE_RESPONSES};
    struct http_load loads[ADMIN_LISTENERS_MAX];
    pthread_mutex_lock(&admin->lock);
    unsigned count = admin->listener_count;
    pthread_mutex_unlock(&admin->lock);
    for (unsigned l = 0; l < count; l++)
        loads[l] = http_server_load(admin->listeners[l]);
    for (unsigned i = 0; i < sizeof(IDS) / sizeof(IDS[0]); i++) {
        exposition_begin(exposition, IDS[i]);
        for (unsigned l = 0; l < count; l++) {
            struct label label = label_of("listener", http_server_url(admin->listeners[l]));
            const uint64_t values[] = {loads[l].requests, loads[l].connections, loads[l].accepted,
                                       loads[l].large_bytes};
            exposition_count(exposition, &label, 1, values[i]);
        }
    }
}

static void write_slow_lane(const struct admin *admin, struct exposition *exposition)
{
    struct slow_lane_figures figures = slow_lane_figures(admin->api->slow_lane);
    struct label running = label_of("state", "running");
    struct label queued = label_of("state", "queued");
    exposition_begin(exposition, METRIC_SLOW_LANE);
    exposition_count(exposition, &running, 1, figures.running);
    exposition_count(exposition, &queued, 1, figures.queued);
    exposition_single(exposition, METRIC_SLOW_LANE_JOBS, figures.begun);
    struct label too_many = label_of("reason", "too_many");
    struct label late = label_of("reason", "late");
    exposition_begin(exposition, METRIC_SLOW_LANE_REFUSED);
    exposition_count(exposition, &too_many, 1, figures.refused[SLOW_TOO_MANY]);
    exposition_count(exposition, &late, 1, figures.refused[SLOW_NOT_BEGUN]);
}

static void write_candidates(const struct meter_totals *totals, struct exposition *exposition)
{
    exposition_begin(exposition, METRIC_CANDIDATES);
    exposition_histogram(exposition, NULL, 0, &METER_CANDIDATES_SHAPE, &totals->candidates, 1);
    exposition_begin(exposition, METRIC_CANDIDATES_NONE);
    for (int i = AC_NONE_FOUND_SOME + 1; i < AC_NONE_COUNT; i++) {
        struct label label = label_of("reason", ac_none_name((enum ac_none)i));
        exposition_count(exposition, &label, 1, totals->none[i]);
    }
}

static void write_refusals(const struct pipeline_figures *figures, struct exposition *exposition)
{
    static const char *const REASONS[PIPELINE_REFUSAL_COUNT] = {
        [REFUSED_OTHERWISE] = "other",
        [REFUSED_CONSUMER_GENERATION] = "consumer_generation",
        [REFUSED_PROVIDER_GENERATION] = "provider_generation",
        [REFUSED_CAPACITY] = "capacity",
        [REFUSED_LOCKED] = "locked",
        [REFUSED_CHANGED] = "changed",
        [REFUSED_TOO_MANY_ROWS] = "rows",
        [REFUSED_BY_DATABASE] = "database",
    };
    exposition_begin(exposition, METRIC_WRITER_REFUSED);
    for (unsigned i = 0; i < PIPELINE_REFUSAL_COUNT; i++) {
        struct label label = label_of("reason", REASONS[i]);
        exposition_count(exposition, &label, 1, figures->refused[i]);
    }
}

static void write_seconds(struct exposition *exposition, enum metric_id id, uint64_t us)
{
    exposition_begin(exposition, id);
    exposition_value(exposition, NULL, 0, (double)us / US_PER_S);
}

static void write_writer(const struct pipeline_figures *figures, struct exposition *exposition)
{
    exposition_single(exposition, METRIC_WRITER_REQUESTS, figures->requests);
    exposition_single(exposition, METRIC_WRITER_QUEUED, figures->queued);
    exposition_begin(exposition, METRIC_WRITER_BATCH);
    exposition_histogram(exposition, NULL, 0, &PIPELINE_BATCH_SHAPE, &figures->batch_requests, 1);
    exposition_begin(exposition, METRIC_WRITER_COMMIT);
    exposition_histogram(exposition, NULL, 0, &PIPELINE_COMMIT_SHAPE_US, &figures->commit_us,
                         US_PER_S);
    write_refusals(figures, exposition);
    exposition_single(exposition, METRIC_WRITER_REPLANNED, figures->taken);
    exposition_single(exposition, METRIC_WRITER_DIRECT, figures->direct);
    exposition_single(exposition, METRIC_WRITER_FOLLOWS, figures->follows);
    exposition_single(exposition, METRIC_WRITER_LOADS, figures->reloads);
    exposition_single(exposition, METRIC_WRITER_MERGES, figures->merges);
    exposition_single(exposition, METRIC_WRITER_ARENA, figures->arena_bytes);
    write_seconds(exposition, METRIC_WRITER_SILENCE, figures->silent_us);
}

static void write_head_queries(const struct currency_figures *figures,
                               struct exposition *exposition)
{
    exposition_single(exposition, METRIC_HEAD_QUERIES, figures->queries);
    exposition_single(exposition, METRIC_HEAD_QUERIES_FAILED, figures->failed);
    exposition_begin(exposition, METRIC_HEAD_QUERY_DURATION);
    exposition_histogram(exposition, NULL, 0, &CURRENCY_QUERY_SHAPE_US, &figures->query_us,
                         US_PER_S);
    exposition_single(exposition, METRIC_HEAD_QUERY_REQUESTS, figures->requests);
    exposition_single(exposition, METRIC_HEAD_QUERY_OUTDATED, figures->waited);
    exposition_single(exposition, METRIC_READS_UNAVAILABLE, figures->continued);
}

static void write_foreign_kind(const char *found, const uint64_t counts[static ENTITY_COUNT],
                               struct exposition *exposition)
{
    for (int entity = 0; entity < ENTITY_COUNT; entity++) {
        const struct label labels[] = {label_of("found", found),
                                       label_of("kind", observer_kind_name((enum entity)entity))};
        exposition_count(exposition, labels, 2, counts[entity]);
    }
}

static void write_observer(const struct observer_figures *figures, struct exposition *exposition)
{
    exposition_begin(exposition, METRIC_DATABASE_LOOK);
    exposition_histogram(exposition, NULL, 0, &OBSERVER_LOOK_SHAPE_US, &figures->look_us, US_PER_S);
    exposition_single(exposition, METRIC_DATABASE_LOOKS_PUT_OFF, figures->put_off);
    exposition_begin(exposition, METRIC_DATABASE_FOREIGN);
    write_foreign_kind("look", figures->looked, exposition);
    write_foreign_kind("scrub", figures->differed, exposition);
    exposition_single(exposition, METRIC_DATABASE_SCRUBS, figures->scrubs);
    exposition_single(exposition, METRIC_DATABASE_SCRUBBED, figures->scrubbed);
    write_seconds(exposition, METRIC_DATABASE_SCRUB_DURATION, figures->scrub_us);
}

static void write_losses(const struct pipeline_losses *losses, uint64_t lost_batches,
                         struct exposition *exposition)
{
    struct label allocations = label_of("kind", "allocation");
    exposition_single(exposition, METRIC_DATABASE_WENT_BACK, losses->events);
    exposition_single(exposition, METRIC_DATABASE_LOST_BATCHES, lost_batches);
    exposition_begin(exposition, METRIC_DATABASE_LOST);
    exposition_count(exposition, &allocations, 1, losses->allocations);
    for (int entity = 0; entity < ENTITY_COUNT; entity++) {
        const char *kind = losses_kind_name((enum entity)entity);
        if (kind == NULL)
            continue;
        struct label label = label_of("kind", kind);
        exposition_count(exposition, &label, 1, losses->lost[entity]);
    }
    exposition_single(exposition, METRIC_DATABASE_LOST_UNWRITTEN, losses->unwritten);
}

static void write_unknown_commits(const struct store_figures *store, struct exposition *exposition)
{
    struct label committed = label_of("outcome", "committed");
    struct label not_committed = label_of("outcome", "not_committed");
    struct label unknown = label_of("outcome", "unknown");
    exposition_begin(exposition, METRIC_DATABASE_UNKNOWN_COMMITS);
    exposition_count(exposition, &committed, 1, store->unknown_done);
    exposition_count(exposition, &not_committed, 1, store->unknown_undone);
    exposition_count(exposition, &unknown, 1, store->unknown_open);
}

static void write_conflicts(const struct store_figures *store, struct exposition *exposition)
{
    struct label commit = label_of("where", "commit");
    struct label lock = label_of("where", "lock");
    exposition_begin(exposition, METRIC_DATABASE_CONFLICTS);
    exposition_count(exposition, &commit, 1, store->conflicts);
    exposition_count(exposition, &lock, 1, store->lock_conflicts);
}

/* As they were when the server last answered. */
static void write_cluster(const struct store *store, struct exposition *exposition)
{
    const struct store_server server = store_server(store);
    const struct label labels[] = {label_of("node", server.node),
                                   label_of("state", server.node_state)};
    exposition_single(exposition, METRIC_DATABASE_CLUSTER_NODES, server.cluster_size);
    exposition_begin(exposition, METRIC_DATABASE_NODE);
    if (server.cluster_size > 0)
        exposition_count(exposition, labels, 2, 1);
}

/* As of the last report, which is about a minute old. */
static void write_ids(const struct store *store, struct exposition *exposition)
{
    struct arena *arena = arena_create();
    struct store_report report;
    exposition_begin(exposition, METRIC_DATABASE_IDS);
    if (store_report(store, arena, &report))
        for (size_t i = 0; i < report.id_count; i++) {
            struct label label = label_of("table", report.ids[i].table);
            exposition_count(exposition, &label, 1, (uint64_t)report.ids[i].used);
        }
    arena_destroy(arena);
}

static void write_database(const struct admin *admin, const struct pipeline_figures *figures,
                           struct exposition *exposition)
{
    struct store_figures store = store_figures(admin->store);
    struct label writes = label_of("extent", "writes");
    struct label all = label_of("extent", "all");
    write_head_queries(&figures->currency, exposition);
    write_observer(&figures->observer, exposition);
    exposition_begin(exposition, METRIC_DATABASE_OUTAGE);
    exposition_count(exposition, &writes, 1, figures->outage == OUTAGE_WRITES);
    exposition_count(exposition, &all, 1, figures->outage == OUTAGE_ALL);
    exposition_begin(exposition, METRIC_DATABASE_OUTAGES);
    exposition_count(exposition, &writes, 1, figures->outages[OUTAGE_WRITES]);
    exposition_count(exposition, &all, 1, figures->outages[OUTAGE_ALL]);
    exposition_single(exposition, METRIC_DATABASE_READ_ONLY, store.is_read_only);
    exposition_single(exposition, METRIC_DATABASE_CHECKPOINTS, store.checkpoints);
    exposition_single(exposition, METRIC_DATABASE_WAL, store.wal_bytes);
    exposition_single(exposition, METRIC_DATABASE_SKIPPED, store.skipped_rows);
    exposition_single(exposition, METRIC_DATABASE_LOG_HEAD, store.log_head);
    exposition_single(exposition, METRIC_DATABASE_UNREPLICATED, store.unreplicated);
    write_ids(admin->store, exposition);
    exposition_single(exposition, METRIC_DATABASE_EPOCH, store.epoch);
    write_losses(&figures->losses, store.lost_batches, exposition);
    exposition_single(exposition, METRIC_DATABASE_LOG_PRUNED, store.log_pruned);
    exposition_single(exposition, METRIC_DATABASE_FOREIGN_MOVED, store.foreign_moved);
    exposition_single(exposition, METRIC_DATABASE_CONNECTIONS, store.connections);
    exposition_single(exposition, METRIC_DATABASE_CONNECTIONS_FAILED, store.failed_connections);
    write_unknown_commits(&store, exposition);
    write_conflicts(&store, exposition);
    exposition_single(exposition, METRIC_DATABASE_LOCK_TIMEOUTS, store.lock_timeouts);
    exposition_single(exposition, METRIC_DATABASE_STALLED_ENDED, store.stalled_ended);
    write_cluster(admin->store, exposition);
    exposition_single(exposition, METRIC_DATABASE_NODE_CHANGES, store.node_changes);
}

/* Each pair of provider and class is one inventory. */
static uint64_t inventory_count(const struct version *version)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < version->classes.limit; i++)
        count += version_column(version, (struct class_no){i})->holders.count;
    return count;
}

static void write_rows(const struct version *version, struct exposition *exposition)
{
    const struct {
        const char *table;
        uint64_t count;
    } tables[] = {
        {"resource_providers", version->provider_by_id.count},
        {"inventories", inventory_count(version)},
        {"consumers", version->consumers.count},
        {"allocations", version->allocation_count},
        {"resource_classes", version->classes.by_id.count},
        {"traits", version->traits.by_id.count},
        {"placement_aggregates", version->aggregates.by_id.count},
        {"projects", version->projects.by_id.count},
        {"users", version->users.by_id.count},
        {"consumer_types", version->types.by_id.count},
        {"berth_nodes", version->nodes.count},
        {"berth_node_allocations", version->node_allocations.count},
        {"berth_valet_groups", version->valet[VALET_GROUPS].rows.count},
        {"berth_valet_members", version->valet[VALET_MEMBERS].rows.count},
        {"berth_valet_claims", version->valet[VALET_CLAIMS].rows.count},
        {"berth_valet_plans", version->valet[VALET_PLANS].rows.count},
        {"berth_valet_placements", version->valet[VALET_PLACEMENTS].rows.count},
    };
    exposition_begin(exposition, METRIC_REPLICA_ROWS);
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        struct label label = label_of("table", tables[i].table);
        exposition_count(exposition, &label, 1, tables[i].count);
    }
}

static void write_replica(const struct admin *admin, const struct version *version,
                          const struct pipeline_figures *figures, struct exposition *exposition)
{
    struct replica_figures replica = replica_figures(admin->api->replica);
    bool is_current = pipeline_is_current(admin->api->pipeline, version);
    exposition_single(exposition, METRIC_REPLICA_VERSION, version->node.birth);
    write_seconds(exposition, METRIC_REPLICA_AGE, is_current ? 0 : figures->fresh_us);
    exposition_single(exposition, METRIC_REPLICA_BEHIND, store_figures(admin->store).behind);
    write_rows(version, exposition);
    exposition_single(exposition, METRIC_PROVIDERS_OVER_CAPACITY, version->over_capacity_providers);
    exposition_single(exposition, METRIC_REPLICA_MEMORY, replica.bytes);
    exposition_single(exposition, METRIC_REPLICA_RETAINED, replica.retained);
    exposition_single(exposition, METRIC_REPLICA_RETAINED_MEMORY, replica.retained_bytes);
}

static void write_reloads(const struct admin *admin, struct exposition *exposition)
{
    struct label taken = label_of("result", "taken");
    struct label refused = label_of("result", "refused");
    exposition_begin(exposition, METRIC_CONFIG_RELOADS);
    exposition_count(exposition, &taken, 1, atomic_load(&admin->reloads_taken));
    exposition_count(exposition, &refused, 1, atomic_load(&admin->reloads_refused));
}

/* Writes no sample if there is no certificate, because a 0 would trigger every alert. */
static void write_certificate(const struct admin *admin, struct exposition *exposition)
{
    if (admin->about.tls == NULL)
        return;
    exposition_begin(exposition, METRIC_CERTIFICATE_EXPIRY);
    exposition_value(exposition, NULL, 0, (double)http_tls_expires_s(admin->about.tls));
}

static void write_build(struct exposition *exposition)
{
    const struct label labels[] = {label_of("version", BERTH_VERSION),
                                   label_of("compiler", __VERSION__)};
    exposition_begin(exposition, METRIC_BUILD_INFO);
    exposition_count(exposition, labels, 2, 1);
}

void metrics_write(struct admin *admin, const struct version *version,
                   struct exposition *exposition)
{
    struct meter_totals *totals = malloc(sizeof(*totals));
    check(totals != NULL);
    struct pipeline_figures figures = pipeline_figures(admin->api->pipeline);
    meter_read(admin->api->endpoints, totals);
    write_requests(admin->api, totals, exposition);
    write_listeners(admin, exposition);
    write_slow_lane(admin, exposition);
    exposition_single(exposition, METRIC_LARGE_BODIES, memory_budget_used(admin->api->bodies));
    exposition_single(exposition, METRIC_ARENA_MAX, totals->arena_bytes);
    write_candidates(totals, exposition);
    free(totals);
    write_writer(&figures, exposition);
    write_database(admin, &figures, exposition);
    write_replica(admin, version, &figures, exposition);
    exposition_single(exposition, METRIC_LOG_LOST, log_lost_bytes());
    write_reloads(admin, exposition);
    auth_metrics_write(admin, exposition);
    write_certificate(admin, exposition);
    exposition_single(exposition, METRIC_STOPPING, atomic_load(&admin->is_stopping));
    write_build(exposition);
    process_metrics_write(admin, exposition);
}
