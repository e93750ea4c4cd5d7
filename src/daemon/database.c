/* The database and what keeps it in memory. */
#include "api/services/readiness.h"
#include "baremetal/write/conductor.h"
#include "baremetal/write/instance.h"
#include "conf/load.h"
#include "daemon/daemon.h"

enum { BUSY_TIMEOUT_MS = 5000 };

static struct metal metal_of(struct daemon *daemon)
{
    const struct conf *conf = daemon->conf;
    const struct conf_baremetal *baremetal = &conf->baremetal;
    return (struct metal){
        .mirror = baremetal->mirror,
        .provider_has_node_name = baremetal->provider_has_node_name,
        .host = baremetal->host,
        .instance = instance_name(baremetal->host, daemon->arena),
        .fake_delay_us = (int64_t)baremetal->fake_delay_us,
        .locked_retry_attempts = baremetal->locked_retry_attempts,
        .locked_retry_interval_us = (int64_t)baremetal->locked_retry_interval_us,
        .incomplete_project_id = slice_of(conf->incomplete_consumer_project_id),
        .incomplete_user_id = slice_of(conf->incomplete_consumer_user_id),
    };
}

static bool open_and_load(struct daemon *daemon)
{
    const struct conf *conf = daemon->conf;
    struct store_options options = {
        .connection = slice_of(conf->connection),
        .busy_timeout_ms = BUSY_TIMEOUT_MS,
        .sync_schema = conf->sync_on_startup,
        .create_missing_file = true,
        .steps = &daemon->store_steps,
    };
    if (!conf_make_state_directory(conf, &daemon->err))
        return false;
    daemon->store = store_open(&options, &daemon->err);
    if (daemon->store == NULL)
        return false;
    daemon->api.replica = replica_create();
    daemon->metal = metal_of(daemon);
    daemon->api.pipeline =
        pipeline_start(daemon->store, daemon->api.replica,
                       products_open(&daemon->products, &daemon->metal), &daemon->err);
    if (daemon->api.pipeline == NULL)
        return false;
    daemon->baremetal.conductor =
        conductor_start(daemon->api.pipeline, daemon->api.replica, &daemon->metal, &daemon->err);
    if (daemon->baremetal.conductor == NULL)
        return false;
    daemon->api.readiness = readiness_start(daemon->api.pipeline, daemon->api.replica);
    return daemon->api.readiness != NULL ||
           err_set(&daemon->err, 503, NULL, "cannot start the thread of the health checks");
}

bool database_open(struct daemon *daemon)
{
    struct starting starting;
    notify_starting(&starting, &daemon->store_steps);
    bool opened = open_and_load(daemon);
    notify_started(&starting);
    return opened;
}

void database_close(struct daemon *daemon)
{
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
