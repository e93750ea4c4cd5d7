/* The database and what keeps it in memory. */
#include "conf/load.h"
#include "daemon/daemon.h"

enum { BUSY_TIMEOUT_MS = 5000 };

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
    daemon->api.pipeline = pipeline_start(daemon->store, daemon->api.replica, &daemon->err);
    if (daemon->api.pipeline == NULL)
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
    if (daemon->api.pipeline != NULL)
        pipeline_stop(daemon->api.pipeline);
    replica_destroy(daemon->api.replica);
    if (daemon->store != NULL)
        store_close(daemon->store);
}
