/* Converts the configuration to the settings of the API. */
#include <unistd.h>

#include "api/routes.h"
#include "api/services/expensive.h"
#include "api/services/give_way.h"
#include "api/services/slow_lane.h"
#include "baremetal/api/definition.h"
#include "daemon/daemon.h"
#include "engine/pipeline.h"
#include "placement/api/definition.h"
#include "valet/api/definition.h"

/* On the slow lane: running requests keep memory; a waiting one is little more than a
 * connection. */
enum {
    SLOW_TURNS_LEAST = 2,
    SLOW_TURNS_MOST = 8,
    SLOW_PERMITS = 16,
    SLOW_WAITING = 1024,
    SLOW_SLICE_US = 1000
};

static struct cors_names names_of(struct daemon *daemon, const char *option)
{
    const struct conf_value *value = conf_value(daemon->conf, "cors", option);
    size_t count = value->is_set ? value->items_n : 0;
    struct slice *names = arena_array(daemon->arena, count, sizeof(*names));
    for (size_t i = 0; i < count; i++)
        names[i] = slice_of(value->items[i]);
    return (struct cors_names){names, (unsigned)count};
}

static void fill_cors(struct daemon *daemon)
{
    struct cors_settings *cors = &daemon->api.cors;
    struct cors_names expose = names_of(daemon, "expose_headers");
    struct buf joined = {0};
    for (unsigned i = 0; i < expose.count; i++) {
        if (i > 0)
            buf_append_char(&joined, ',');
        buf_append_slice(&joined, expose.names[i]);
    }
    cors->allowed_origins = names_of(daemon, "allowed_origin");
    cors->allow_methods = names_of(daemon, "allow_methods");
    cors->allow_headers = names_of(daemon, "allow_headers");
    cors->expose_headers = arena_copy(daemon->arena, buf_slice(&joined));
    cors->allow_credentials = conf_value(daemon->conf, "cors", "allow_credentials")->boolean;
    cors->max_age_s = conf_value(daemon->conf, "cors", "max_age")->integer;
    buf_free(&joined);
}

void api_settings_take(struct daemon *daemon, const struct conf *conf)
{
    struct api *api = &daemon->api;
    struct placement_settings *placement = &daemon->placement;
    placement->randomize_candidates = conf->randomize_allocation_candidates;
    placement->max_candidates = conf->max_allocation_candidates;
    placement->spread_candidates = conf->generation_strategy != CONF_STRATEGY_DEPTH_FIRST;
    api->access_log = conf->access_log;
    api->slow_request_us = conf->slow_request_us;
    api->query_deadline_us = conf->query_deadline_us;
    api->max_write_rows = conf->max_write_rows;
    api->staleness_us = conf->staleness_us;
    if (api->pipeline == NULL) /* none without a database */
        return;
    pipeline_set_reads_most(api->pipeline, conf->unavailable_reads_us);
    pipeline_set_scrub_interval(api->pipeline, conf->scrub_interval_us);
}

static struct api_endpoint endpoint_open(struct daemon *daemon,
                                         const struct api_definition *definition,
                                         const void *settings, const struct slice *mount_prefixes,
                                         size_t mount_prefix_count)
{
    return (struct api_endpoint){
        .definition = definition,
        .api = &daemon->api,
        .settings = settings,
        .routes = route_finder_create(definition->routes, definition->route_count, daemon->arena),
        .mount_prefixes = mount_prefixes,
        .mount_prefix_count = (unsigned)mount_prefix_count,
    };
}

/* Half of the processors may work on this. */
static struct slow_lane *slow_lane_of_machine(struct give_way *way)
{
    long half = way->processors / 2;
    if (half < SLOW_TURNS_LEAST)
        half = SLOW_TURNS_LEAST;
    return slow_lane_start(&(struct slow_lane_settings){
        .turns = (unsigned)(half < SLOW_TURNS_MOST ? half : SLOW_TURNS_MOST),
        .permits = SLOW_PERMITS,
        .waiting = SLOW_WAITING,
        .slice_us = SLOW_SLICE_US,
        .rest_us = give_way_rest_us,
        .rest_cls = way,
    });
}

bool api_settings_fill(struct daemon *daemon)
{
    const struct conf *conf = daemon->conf;
    struct api *api = &daemon->api;
    api->endpoints[API_PLACEMENT] = endpoint_open(daemon, &placement_definition, &daemon->placement,
                                                  conf->mount_prefixes, conf->mount_prefix_count);
    api->endpoints[API_BAREMETAL] =
        endpoint_open(daemon, &baremetal_definition, &daemon->baremetal,
                      conf->baremetal.mount_prefixes, conf->baremetal.mount_prefix_count);
    api->endpoints[API_VALET] =
        endpoint_open(daemon, &valet_definition, &daemon->valet, conf->valet.mount_prefixes,
                      conf->valet.mount_prefix_count);
    daemon->baremetal.conf = &conf->baremetal;
    daemon->valet.conf = &conf->valet;
    daemon->placement.incomplete_project_id = slice_of(conf->incomplete_consumer_project_id);
    daemon->placement.incomplete_user_id = slice_of(conf->incomplete_consumer_user_id);
    api->trust_proxies = conf->proxy_headers;
    api->healthcheck = &conf->healthcheck;
    api_settings_take(daemon, conf);
    fill_cors(daemon);
    api->bodies = memory_budget_create(memory_of_bodies(conf));
    api->give_way = arena_zalloc(daemon->arena, sizeof(*api->give_way));
    api->give_way->processors = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
    api->expensive = expensive_create();
    api->slow_lane = slow_lane_of_machine(api->give_way);
    return api->slow_lane != NULL ||
           err_set(&daemon->err, 503, NULL, "cannot start the threads of expensive queries");
}
