/* The database and the parts that keep it in memory. */
#include <errno.h>
#include <semaphore.h>
#include <string.h>
#include <unistd.h>

#include "api/services/readiness.h"
#include "baremetal/write/conductor.h"
#include "baremetal/write/instance.h"
#include "base/clock.h"
#include "conf/load.h"
#include "conf/url_mask.h"
#include "daemon/daemon.h"
#include "daemon/reach.h"
#include "log/log.h"

enum { BUSY_TIMEOUT_MS = 5000 };

static bool is_on_server(const struct daemon *daemon)
{
    const struct store_stamp any = {{0}};
    return store_currency(daemon->store, &any) == STORE_MUST_ASK;
}

static struct metal metal_of(struct daemon *daemon)
{
    const struct conf *conf = daemon->conf;
    const struct conf_baremetal *baremetal = &conf->baremetal;
    return (struct metal){
        .mirror = baremetal->mirror,
        .provider_has_node_name = baremetal->provider_has_node_name,
        .host = baremetal->host,
        .instance = instance_name(baremetal->host, daemon->arena),
        .is_shared = is_on_server(daemon),
        .takeover_us = (int64_t)baremetal->takeover_us,
        .fake_delay_us = (int64_t)baremetal->fake_delay_us,
        .locked_retry_attempts = baremetal->locked_retry_attempts,
        .locked_retry_interval_us = (int64_t)baremetal->locked_retry_interval_us,
        .incomplete_project_id = slice_of(conf->incomplete_consumer_project_id),
        .incomplete_user_id = slice_of(conf->incomplete_consumer_user_id),
    };
}

/* Only a database on a server goes back. The operator learns at once that its losses could not be
 * written to a file. */
static void report_losses(struct daemon *daemon)
{
    const struct conf *conf = daemon->conf;
    struct err err = {.arena = daemon->arena};
    pipeline_report_losses(daemon->api.pipeline,
                           &(struct loss_report_options){.directory = conf->loss_directory,
                                                         .host = conf->baremetal.host});
    if (!is_on_server(daemon))
        return;
    bool is_usable = conf_make_directory(conf->loss_directory, &err);
    if (is_usable && access(conf->loss_directory, W_OK) != 0)
        is_usable = err_set(&err, 500, NULL, "cannot write to the directory %s: %s",
                            conf->loss_directory, strerror(errno));
    if (!is_usable)
        log_write(LOG_LEVEL_WARNING, "berth", LOG_NO_CONTEXT,
                  "[berth] loss_directory: %.*s. If the database goes back, no file will name what "
                  "is lost",
                  SLICE_ARG(err.message));
}

/* Without it, the store has no file in it, and report_losses() says so. */
static struct slice store_directory(const struct conf *conf)
{
    struct err ignored = {.arena = conf->arena};
    bool is_file = strncmp(conf->connection, "sqlite", strlen("sqlite")) == 0;
    if (is_file || !conf_make_directory(conf->loss_directory, &ignored))
        return (struct slice){NULL, 0};
    return slice_of(conf->loss_directory);
}

/* Until a signal stops it, which counts even if everything is read by then. */
static bool open_and_read(struct daemon *daemon, struct reach *reach)
{
    const struct conf *conf = daemon->conf;
    const struct store_meanwhile meanwhile = reach_meanwhile(reach);
    struct store_options options = {
        .connection = slice_of(conf->connection),
        .busy_timeout_ms = BUSY_TIMEOUT_MS,
        .stalled_ms = (int)conf->stalled_ms,
        .sync_schema = conf->sync_on_startup,
        .create_missing_file = true,
        .retry = &reach->retry,
        .meanwhile = &meanwhile,
        .state_directory = store_directory(conf),
        .completes_consumers = true,
        .owner = {slice_of(conf->incomplete_consumer_project_id),
                  slice_of(conf->incomplete_consumer_user_id)},
        .recycle_us = conf->connection_recycle_us,
        .steps = &daemon->store_steps,
    };
    daemon->store = store_open(&options, &daemon->err);
    if (daemon->store == NULL)
        return false;
    daemon->api.replica = replica_create();
    daemon->metal = metal_of(daemon);
    daemon->api.pipeline =
        pipeline_start(daemon->store, daemon->api.replica,
                       products_open(&daemon->products, &daemon->metal), &daemon->err);
    return daemon->api.pipeline != NULL;
}

static bool open_and_load(struct daemon *daemon)
{
    struct reach reach;
    if (!conf_make_state_directory(daemon->conf, &daemon->err))
        return false;
    reach_begin(&reach, daemon->conf);
    bool is_read = open_and_read(daemon, &reach);
    daemon->is_stopped = reach_end(&reach);
    if (!is_read || daemon->is_stopped ||
        !pipeline_start_pulse(daemon->api.pipeline, &daemon->err) ||
        !pipeline_start_observer(daemon->api.pipeline, &daemon->err))
        return false;
    report_losses(daemon);
    daemon->baremetal.conductor =
        conductor_start(daemon->api.pipeline, daemon->api.replica, &daemon->metal, &daemon->err);
    if (daemon->baremetal.conductor == NULL)
        return false;
    daemon->api.readiness = readiness_start(daemon->api.pipeline, daemon->api.replica);
    return daemon->api.readiness != NULL ||
           err_set(&daemon->err, 503, NULL, "cannot start the thread of the health checks");
}

/* A probe on the writer's thread, and the caller that waits for its result. */
struct waiting_probe {
    struct pipeline_request request; /* first member: the pipeline returns a pointer to it */
    struct pipeline_probe probe;
    sem_t answered;
};

static void probe_done(struct pipeline_request *request)
{
    sem_post(&((struct waiting_probe *)request)->answered);
}

/* "" if the database does not have one. */
static void probe_revision(struct daemon *daemon, char revision[static STORE_REVISION_BYTES])
{
    struct waiting_probe waiting = {
        .request = {.done = probe_done, .err = {.arena = arena_create()}}};
    waiting.request.probe = &waiting.probe;
    sem_init(&waiting.answered, 0, 0);
    pipeline_submit(daemon->api.pipeline, &waiting.request);
    while (sem_wait(&waiting.answered) != 0)
        ;
    memcpy(revision, waiting.probe.revision, STORE_REVISION_BYTES);
    sem_destroy(&waiting.answered);
    arena_destroy(waiting.request.err.arena);
}

/* The first line of the log identifies what is running. */
static void log_served(struct daemon *daemon, uint64_t began_us)
{
    char revision[STORE_REVISION_BYTES];
    probe_revision(daemon, revision);
    double took_s = (double)(clock_monotonic_us() - began_us) / 1e6;
    struct replica_reader *reader = replica_reader_open(daemon->api.replica);
    size_t providers = replica_pin(reader)->provider_by_id.count;
    replica_unpin(reader);
    replica_reader_close(reader);
    log_write(LOG_LEVEL_INFO, "berth", LOG_NO_CONTEXT,
              "berthd %s serves %.*s, revision %s: %zu resource provider%s, loaded in %.2f s",
              BERTH_VERSION, SLICE_ARG(daemon->database), revision, providers,
              providers == 1 ? "" : "s", took_s);
}

static struct slice shown_database(struct daemon *daemon)
{
    struct buf shown = {0};
    url_mask_write(slice_of(daemon->conf->connection), &shown);
    struct slice copy = arena_copy(daemon->arena, buf_slice(&shown));
    buf_free(&shown);
    return copy;
}

bool database_open(struct daemon *daemon)
{
    struct starting starting;
    uint64_t began_us = clock_monotonic_us();
    daemon->database = shown_database(daemon);
    notify_starting(&starting, &daemon->store_steps);
    bool opened = open_and_load(daemon);
    notify_started(&starting);
    if (opened)
        log_served(daemon, began_us);
    return opened;
}

/* The threads that are ended first wait for their requests, which nobody else does by now. */
void database_close(struct daemon *daemon)
{
    if (daemon->api.pipeline != NULL)
        pipeline_give_up(daemon->api.pipeline);
    readiness_stop(daemon->api.readiness);
    if (daemon->baremetal.conductor != NULL)
        conductor_stop(daemon->baremetal.conductor);
    if (daemon->api.pipeline != NULL)
        pipeline_stop(daemon->api.pipeline);
    products_close(&daemon->products);
    replica_destroy(daemon->api.replica);
    if (daemon->store != NULL)
        store_close(daemon->store);
}
