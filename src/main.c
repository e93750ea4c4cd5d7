/* berthd: the order of start and stop, signals; nothing else. */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "api/dispatch.h"
#include "base/log.h"
#include "conf/command_line.h"
#include "conf/load.h"
#include "conf/notes.h"

enum {
    LISTENERS_MAX = 16,
    SLOW_THREADS = 2,
    STOP_GRACE_MS = 10000,
    BUSY_TIMEOUT_MS = 5000,
    LARGE_ANSWERS_BYTES = 1 << 30,
};

struct berthd {
    struct arena *arena;
    struct err err;
    struct conf *conf;
    struct store *store;
    struct api api;
    struct http_server *servers[LISTENERS_MAX];
    size_t server_count;
};

static bool fail(const struct berthd *berthd)
{
    fprintf(stderr, "berthd: %.*s\n", SLICE_ARG(berthd->err.message));
    return false;
}

static void raise_descriptor_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static bool open_database(struct berthd *berthd)
{
    const struct conf *conf = berthd->conf;
    struct store_options options = {
        .connection = slice_of(conf->connection),
        .busy_timeout_ms = BUSY_TIMEOUT_MS,
        .sync_schema = conf->sync_on_startup,
        .create_missing_file = true,
    };
    if (!conf_make_state_directory(conf, &berthd->err))
        return fail(berthd);
    berthd->store = store_open(&options, &berthd->err);
    if (berthd->store == NULL)
        return fail(berthd);
    berthd->api.replica = replica_create();
    berthd->api.pipeline = pipeline_start(berthd->store, berthd->api.replica, &berthd->err);
    return berthd->api.pipeline != NULL || fail(berthd);
}

static struct cors_names names_of(struct berthd *berthd, const char *option)
{
    const struct conf_value *value = conf_value(berthd->conf, "cors", option);
    size_t count = value->is_set ? value->items_n : 0;
    struct slice *names = arena_array(berthd->arena, count, sizeof(*names));
    for (size_t i = 0; i < count; i++)
        names[i] = slice_of(value->items[i]);
    return (struct cors_names){names, (unsigned)count};
}

static void fill_cors(struct berthd *berthd)
{
    struct cors_settings *cors = &berthd->api.cors;
    struct cors_names expose = names_of(berthd, "expose_headers");
    struct buf joined = {0};
    for (unsigned i = 0; i < expose.count; i++) {
        if (i > 0)
            buf_append_char(&joined, ',');
        buf_append_slice(&joined, expose.names[i]);
    }
    cors->allowed_origins = names_of(berthd, "allowed_origin");
    cors->allow_methods = names_of(berthd, "allow_methods");
    cors->allow_headers = names_of(berthd, "allow_headers");
    cors->expose_headers = arena_copy(berthd->arena, buf_slice(&joined));
    cors->allow_credentials = conf_value(berthd->conf, "cors", "allow_credentials")->boolean;
    cors->max_age_s = conf_value(berthd->conf, "cors", "max_age")->integer;
    buf_free(&joined);
}

static void fill_api(struct berthd *berthd)
{
    const struct conf *conf = berthd->conf;
    struct api *api = &berthd->api;
    api->policy.enforce_new_defaults = conf->enforce_new_defaults;
    api->policy.enforce_scope = conf->enforce_scope;
    api->mount_prefixes = conf->mount_prefixes;
    api->mount_prefix_count = (unsigned)conf->mount_prefix_count;
    api->incomplete_project_id = slice_of(conf->incomplete_consumer_project_id);
    api->incomplete_user_id = slice_of(conf->incomplete_consumer_user_id);
    api->randomize_candidates = conf->randomize_allocation_candidates;
    api->max_candidates = conf->max_allocation_candidates;
    api->spread_candidates = conf->generation_strategy != CONF_STRATEGY_DEPTH_FIRST;
    api->access_log = conf->access_log;
    api->trust_proxies = conf->proxy_headers;
    api->slow_request_us = conf->slow_request_us;
    fill_cors(berthd);
    api->slow_lane = slow_lane_start(SLOW_THREADS);
}

static bool open_listeners(struct berthd *berthd)
{
    const struct conf *conf = berthd->conf;
    struct http_limits limits = {
        .max_body_bytes = conf->max_body_bytes,
        .large_answers_bytes = LARGE_ANSWERS_BYTES,
        .connection_memory_bytes = (unsigned)conf->connection_memory_bytes,
        .connections_max = conf->max_connections,
        .connections_per_address = conf->max_connections_per_address,
        .idle_timeout_s = conf->idle_timeout_s,
        .header_deadline_ms = conf->header_deadline_s * 1000,
        .body_deadline_ms = conf->body_deadline_s * 1000,
        .worker_threads = conf->worker_threads < 2 ? 2 : conf->worker_threads,
    };
    struct http_service service = dispatch_service(&berthd->api);
    for (size_t i = 0; i < conf->listen_count; i++) {
        const struct conf_listen *listen = &conf->listen[i];
        if (berthd->server_count == LISTENERS_MAX) {
            err_set(&berthd->err, 500, NULL, "more than %d addresses to listen on", LISTENERS_MAX);
            return fail(berthd);
        }
        struct http_server *server =
            http_server_start(listen->host, listen->port, &limits, &service, &berthd->err);
        if (server == NULL)
            return fail(berthd);
        berthd->servers[berthd->server_count++] = server;
        log_write(
            LOG_LEVEL_INFO, "berth", LOG_NO_CONTEXT, "Placement API on http://%.*s",
            SLICE_ARG(http_address_text(berthd->arena, listen->host, http_server_port(server))));
    }
    return true;
}

static bool start(struct berthd *berthd)
{
    if (berthd->conf->auth_strategy == CONF_AUTH_KEYSTONE) {
        err_set(&berthd->err, 500, NULL,
                "[api] auth_strategy = keystone (the default with a configuration file) is not "
                "supported yet: set it to noauth2");
        return fail(berthd);
    }
    notes_log(berthd->conf);
    if (!open_database(berthd))
        return false;
    fill_api(berthd);
    return open_listeners(berthd);
}

/* The listeners first: they wait for the answers that the writer and the slow lane still owe. */
static void stop(struct berthd *berthd)
{
    for (size_t i = 0; i < berthd->server_count; i++)
        http_server_stop(berthd->servers[i], STOP_GRACE_MS);
    if (berthd->api.slow_lane != NULL)
        slow_lane_stop(berthd->api.slow_lane);
    if (berthd->api.pipeline != NULL)
        pipeline_stop(berthd->api.pipeline);
    replica_destroy(berthd->api.replica);
    if (berthd->store != NULL)
        store_close(berthd->store);
}

static void print_ready(const struct berthd *berthd)
{
    printf("berthd: ready");
    for (size_t i = 0; i < berthd->server_count; i++) {
        bool is_v6 = strchr(berthd->conf->listen[i].host, ':') != NULL;
        printf(" http://%s%s%s:%u", is_v6 ? "[" : "", berthd->conf->listen[i].host,
               is_v6 ? "]" : "", http_server_port(berthd->servers[i]));
    }
    printf("\n");
    fflush(stdout);
}

static int run(struct berthd *berthd)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &signals, NULL); /* before any thread: they inherit it */
    raise_descriptor_limit();
    log_start(STDERR_FILENO, berthd->conf->debug);
    bool started = start(berthd);
    if (started) {
        print_ready(berthd);
        int signal_no;
        do {
            sigwait(&signals, &signal_no);
        } while (signal_no == SIGHUP);
        log_write(LOG_LEVEL_INFO, "berth", LOG_NO_CONTEXT, "stopping");
    }
    stop(berthd);
    log_stop();
    return started ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    struct command_line line;
    command_line_parse_all(command_line_berthd, argc, argv, &line);
    switch (line.action) {
    case COMMAND_LINE_HELP:
        printf("usage: berthd [switches]\n\nServes the Placement API.\n\n");
        command_line_print_switches(command_line_berthd, stdout);
        return EXIT_SUCCESS;
    case COMMAND_LINE_VERSION:
        printf("berthd %s\n", BERTH_VERSION);
        return EXIT_SUCCESS;
    case COMMAND_LINE_WRONG:
        fprintf(stderr, "berthd: %s\nberthd --help tells more\n", line.error);
        return 2;
    case COMMAND_LINE_RUN:
        break;
    }
    struct berthd berthd = {.arena = arena_create()};
    berthd.err.arena = berthd.arena;
    berthd.conf = conf_load(&line.inputs, &berthd.err);
    int code = EXIT_FAILURE;
    if (berthd.conf == NULL)
        fail(&berthd);
    else
        code = run(&berthd);
    conf_destroy(berthd.conf);
    arena_destroy(berthd.arena);
    return code;
}
