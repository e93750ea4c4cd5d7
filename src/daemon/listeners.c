/* The addresses that are served. */
#include "daemon/daemon.h"

#include <stdio.h>

#include "api/dispatch.h"
#include "base/log.h"

enum { STOP_GRACE_MS = 10000, LARGE_ANSWERS_BYTES = 1 << 30 };

static struct http_limits limits_of(const struct conf *conf)
{
    return (struct http_limits){
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
}

static bool open_address(struct daemon *daemon, const struct conf_listen *listen,
                         const struct http_limits *limits, const struct http_service *service)
{
    if (daemon->server_count == DAEMON_LISTENERS_MAX)
        return err_set(&daemon->err, 500, NULL, "more than %d addresses to listen on",
                       DAEMON_LISTENERS_MAX);
    struct http_server *server =
        http_server_start(listen->host, listen->port, limits, service, &daemon->err);
    if (server == NULL)
        return false;
    daemon->servers[daemon->server_count++] = server;
    log_write(LOG_LEVEL_INFO, "berth", LOG_NO_CONTEXT, "Placement API on http://%.*s",
              SLICE_ARG(http_address_text(daemon->arena, listen->host, http_server_port(server))));
    return true;
}

bool listeners_open(struct daemon *daemon)
{
    const struct conf *conf = daemon->conf;
    struct http_limits limits = limits_of(conf);
    struct http_service service = dispatch_service(&daemon->api);
    for (size_t i = 0; i < conf->listen_count; i++)
        if (!open_address(daemon, &conf->listen[i], &limits, &service))
            return false;
    return true;
}

void listeners_close(struct daemon *daemon)
{
    for (size_t i = 0; i < daemon->server_count; i++)
        http_server_stop(daemon->servers[i], STOP_GRACE_MS);
    daemon->server_count = 0;
    if (daemon->api.slow_lane != NULL)
        slow_lane_stop(daemon->api.slow_lane);
}

void listeners_print_ready(const struct daemon *daemon)
{
    printf("berthd: ready");
    for (size_t i = 0; i < daemon->server_count; i++)
        printf(" http://%.*s",
               SLICE_ARG(http_address_text(daemon->arena, daemon->conf->listen[i].host,
                                           http_server_port(daemon->servers[i]))));
    printf("\n");
    fflush(stdout);
}
