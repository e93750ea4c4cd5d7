/* The addresses that are served. */
#include "daemon/daemon.h"

#include <stdio.h>

#include "api/dispatch.h"
#include "base/log.h"

enum { STOP_GRACE_MS = 10000, LARGE_ANSWERS_BYTES = 1 << 30 };

static const char *const purposes[LISTENER_KINDS] = {
    [LISTENER_PLACEMENT] = "Placement API",
    [LISTENER_ADMIN] = "metrics and health",
};

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

static bool open_address(struct daemon *daemon, enum listener_kind kind,
                         const struct conf_listen *address, const struct http_limits *limits,
                         const struct http_service *service)
{
    if (daemon->listener_count == DAEMON_LISTENERS_MAX)
        return err_set(&daemon->err, 500, NULL, "more than %d addresses to listen on",
                       DAEMON_LISTENERS_MAX);
    struct http_server *server =
        http_server_start(address->host, address->port, limits, service, &daemon->err);
    if (server == NULL)
        return false;
    daemon->listeners[daemon->listener_count++] = (struct daemon_listener){kind, server, address};
    log_write(LOG_LEVEL_INFO, "berth", LOG_NO_CONTEXT, "%s on http://%.*s", purposes[kind],
              SLICE_ARG(http_address_text(daemon->arena, address->host, http_server_port(server))));
    return true;
}

/* Opens all addresses of one kind. */
static bool open_kind(struct daemon *daemon, enum listener_kind kind,
                      const struct conf_listen *addresses, size_t count,
                      const struct http_service *service)
{
    struct http_limits limits = limits_of(daemon->conf);
    for (size_t i = 0; i < count; i++)
        if (!open_address(daemon, kind, &addresses[i], &limits, service))
            return false;
    return true;
}

bool listeners_open(struct daemon *daemon)
{
    const struct conf *conf = daemon->conf;
    struct http_service placement = dispatch_service(&daemon->api);
    return open_kind(daemon, LISTENER_PLACEMENT, conf->listen, conf->listen_count, &placement);
}

void listeners_close(struct daemon *daemon)
{
    for (int kind = 0; kind < LISTENER_KINDS; kind++)
        for (size_t i = 0; i < daemon->listener_count; i++)
            if (daemon->listeners[i].kind == (enum listener_kind)kind)
                http_server_stop(daemon->listeners[i].server, STOP_GRACE_MS);
    daemon->listener_count = 0;
    if (daemon->api.slow_lane != NULL)
        slow_lane_stop(daemon->api.slow_lane);
}

void listeners_print_ready(const struct daemon *daemon)
{
    printf("berthd: ready");
    for (size_t i = 0; i < daemon->listener_count; i++) {
        const struct daemon_listener *listener = &daemon->listeners[i];
        if (listener->kind == LISTENER_PLACEMENT)
            printf(" http://%.*s",
                   SLICE_ARG(http_address_text(daemon->arena, listener->address->host,
                                               http_server_port(listener->server))));
    }
    printf("\n");
    fflush(stdout);
}
