/* The addresses that are served: those of the configuration, and the sockets from the service
 * manager. Such a socket replaces the configured address that it listens on, and has its purpose;
 * if there are any, the default address is not opened in addition. */
#include <errno.h>
#include <stdio.h>

#include "api/dispatch.h"
#include "daemon/daemon.h"
#include "log/log.h"

enum {
    BAREMETAL_BODY_BYTES = 1024 * 1024, /* baremetal-allocations spec, 1.5 */
    VALET_BODY_BYTES = 8 * 1024 * 1024, /* Valet spec, 2.6 */
    ADMIN_WORKERS = 2,
    ADMIN_CONNECTIONS = 256,
    ADMIN_CONNECTIONS_EACH = 64,
    ADMIN_BODY_BYTES = 1024,
    ADMIN_MEMORY_BYTES = 16 * 1024
};

/* The settings of listeners of one kind. */
struct opening {
    enum listener_kind kind;
    const struct conf_listen *addresses;
    size_t address_count;
    bool addresses_are_default;
    struct http_service service;
};

static const char *const purposes[LISTENER_KINDS] = {
    [LISTENER_PLACEMENT] = "Placement API",
    [LISTENER_BAREMETAL] = "bare metal API",
    [LISTENER_VALET] = "Valet API",
    [LISTENER_ADMIN] = "metrics and health",
};

static struct http_limits common_limits_of(const struct daemon *daemon)
{
    const struct conf *conf = daemon->conf;
    return (struct http_limits){
        .process = daemon->http,
        .max_body_bytes = conf->max_body_bytes,
        .bodies = daemon->api.bodies,
        .connection_memory_bytes = (unsigned)conf->connection_memory_bytes,
        .connections_max = conf->max_connections,
        .connections_per_address = conf->max_connections_per_address,
        .idle_timeout_s = conf->idle_timeout_s,
        .header_deadline_ms = conf->header_deadline_s * 1000,
        .body_deadline_ms = conf->body_deadline_s * 1000,
        .worker_threads = conf->worker_threads < 2 ? 2 : conf->worker_threads,
        .product = conf->server_header ? "berth/" BERTH_VERSION : NULL,
    };
}

/* APIs with a limit below [berth] max_body set it themselves. */
static struct http_limits limits_of(const struct daemon *daemon, enum listener_kind kind)
{
    static const size_t BODY_BYTES[LISTENER_KINDS] = {
        [LISTENER_BAREMETAL] = BAREMETAL_BODY_BYTES,
        [LISTENER_VALET] = VALET_BODY_BYTES,
    };
    struct http_limits limits = common_limits_of(daemon);
    if (BODY_BYTES[kind] > 0 && limits.max_body_bytes > BODY_BYTES[kind])
        limits.max_body_bytes = BODY_BYTES[kind];
    return limits;
}

/* These clients are few and request little; but they must get in regardless of the load on other
 * listeners, and regardless of what any one of them does. */
static struct http_limits admin_limits_of(const struct daemon *daemon)
{
    struct http_limits limits = common_limits_of(daemon);
    limits.is_reserved = true;
    limits.max_body_bytes = ADMIN_BODY_BYTES;
    limits.connection_memory_bytes = ADMIN_MEMORY_BYTES;
    limits.connections_max = ADMIN_CONNECTIONS;
    limits.connections_per_address = ADMIN_CONNECTIONS_EACH;
    limits.worker_threads = ADMIN_WORKERS;
    return limits;
}

/* The listener of this process that already has that port or path; NULL: none. */
static const struct daemon_listener *find_open(const struct daemon *daemon,
                                               const struct http_address *address)
{
    for (size_t i = 0; i < daemon->listener_count && !address->is_given; i++) {
        const struct daemon_listener *other = &daemon->listeners[i];
        struct slice url = slice_of(http_server_url(other->server));
        bool same = address->path != NULL
                        ? slice_starts_with(url, SLICE_LIT("unix:")) &&
                              slice_equal(slice_skip(url, 5), slice_of(address->path))
                        : address->port != 0 && address->port == http_server_port(other->server);
        if (same)
            return other;
    }
    return NULL;
}

/* err gives the reason, and reports whether the address conflicts with another one of this
 * process. */
static struct http_server *start_server(struct daemon *daemon, const struct opening *opening,
                                        const struct http_address *address,
                                        const struct http_limits *limits)
{
    struct err why = {.arena = daemon->arena};
    struct http_server *server = http_server_start(address, limits, &opening->service, &why);
    const struct daemon_listener *other = server == NULL ? find_open(daemon, address) : NULL;
    if (other != NULL)
        err_set(&daemon->err, why.status, NULL,
                "%.*s: the %s already listens there, on %s; the %s cannot", SLICE_ARG(why.message),
                purposes[other->kind], http_server_url(other->server), purposes[opening->kind]);
    else if (server == NULL && why.kind == EADDRINUSE && daemon->activation.count > 0)
        err_set(&daemon->err, why.status, NULL,
                "%.*s. If another berthd serves there, the two can share it only as a socket that "
                "the service manager holds.",
                SLICE_ARG(why.message));
    else if (server == NULL)
        err_set_text(&daemon->err, why.status, NULL, why.message);
    return server;
}

static bool open_one(struct daemon *daemon, const struct opening *opening,
                     const struct http_address *address)
{
    bool is_admin = opening->kind == LISTENER_ADMIN;
    struct http_limits limits =
        is_admin ? admin_limits_of(daemon) : limits_of(daemon, opening->kind);
    if (daemon->listener_count == DAEMON_LISTENERS_MAX)
        return err_set(&daemon->err, 500, NULL, "more than %d addresses to listen on",
                       DAEMON_LISTENERS_MAX);
    struct http_server *server = start_server(daemon, opening, address, &limits);
    if (server == NULL)
        return false;
    daemon->listeners[daemon->listener_count++] = (struct daemon_listener){opening->kind, server};
    if (!is_admin)
        admin_add_listener(daemon->admin, server);
    admin_add_address(daemon->admin, purposes[opening->kind], http_server_url(server));
    log_write(LOG_LEVEL_INFO, "berth", LOG_NO_CONTEXT, "%s on %s%s", purposes[opening->kind],
              http_server_url(server),
              address->is_given ? ", a socket from the service manager" : "");
    return true;
}

/* notes_log() only knows configured addresses. */
static void warn_open(const struct daemon *daemon, const struct daemon_listener *listener)
{
    const char *url = http_server_url(listener->server);
    struct conf_listen bound;
    if (!listen_parse(slice_of(url), daemon->arena, &bound) || listen_is_loopback(&bound))
        return;
    if (listener->kind == LISTENER_ADMIN)
        log_write(
            LOG_LEVEL_WARNING, "berth", LOG_NO_CONTEXT,
            "%s is not loopback: anyone who can reach it sees metrics and health without a token",
            url);
    else if (daemon->conf->auth_strategy == CONF_AUTH_NOAUTH2)
        log_write(LOG_LEVEL_WARNING, "berth", LOG_NO_CONTEXT,
                  "auth_strategy is noauth2 and %s is not loopback: anyone who can reach it can "
                  "claim any identity",
                  url);
}

static const struct conf_listen *find_at(const struct activation_socket *socket,
                                         const struct conf_listen *addresses, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (activation_is_at(socket, &addresses[i]))
            return &addresses[i];
    return NULL;
}

/* By its name, or by its address. */
static enum listener_kind listeners_kind_of(const struct conf *conf,
                                            const struct activation_socket *socket)
{
    const struct {
        enum listener_kind kind;
        const struct conf_listen *listen;
        size_t count;
    } all[] = {
        {LISTENER_PLACEMENT, conf->listen, conf->listen_count},
        {LISTENER_ADMIN, conf->admin_listen, conf->admin_listen_count},
        {LISTENER_BAREMETAL, conf->baremetal.listen, conf->baremetal.listen_count},
        {LISTENER_VALET, conf->valet.listen, conf->valet.listen_count},
    };
    if (activation_is_admin(socket))
        return LISTENER_ADMIN;
    if (activation_is_baremetal(socket))
        return LISTENER_BAREMETAL;
    if (activation_is_valet(socket))
        return LISTENER_VALET;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (find_at(socket, all[i].listen, all[i].count) != NULL)
            return all[i].kind;
    return LISTENER_PLACEMENT;
}

static bool open_given(struct daemon *daemon, const struct opening *opening,
                       const struct activation_socket *socket)
{
    const struct conf_listen *configured =
        find_at(socket, opening->addresses, opening->address_count);
    bool tls = activation_is_https(socket) || (configured != NULL && configured->tls);
    if (tls && daemon->tls == NULL)
        return err_set(&daemon->err, 500, NULL,
                       "the socket '%s' from the service manager needs TLS, but [berth] "
                       "tls_cert_file and tls_key_file are not set",
                       socket->name);
    struct http_address address = {
        .is_given = true, .fd = socket->fd, .tls = tls ? daemon->tls : NULL};
    if (!open_one(daemon, opening, &address))
        return false;
    warn_open(daemon, &daemon->listeners[daemon->listener_count - 1]);
    return true;
}

static bool open_all_given(struct daemon *daemon, const struct opening *opening, size_t *count)
{
    for (size_t i = 0; i < daemon->activation.count; i++) {
        const struct activation_socket *socket = &daemon->activation.sockets[i];
        if (listeners_kind_of(daemon->conf, socket) != opening->kind)
            continue;
        if (!open_given(daemon, opening, socket))
            return false;
        ++*count;
    }
    return true;
}

static bool is_given(const struct daemon *daemon, const struct conf_listen *address)
{
    for (size_t i = 0; i < daemon->activation.count; i++)
        if (activation_is_at(&daemon->activation.sockets[i], address))
            return true;
    return false;
}

static bool open_kind(struct daemon *daemon, const struct opening *opening)
{
    size_t given = 0;
    if (!open_all_given(daemon, opening, &given))
        return false;
    for (size_t i = 0; i < opening->address_count; i++) {
        const struct conf_listen *listen = &opening->addresses[i];
        struct http_address address = {
            .path = listen->path,
            .mode = daemon->conf->socket_mode,
            .host = listen->host,
            .port = listen->port,
            .tls = listen->tls ? daemon->tls : NULL,
        };
        if (is_given(daemon, listen) || (given > 0 && opening->addresses_are_default))
            continue;
        if (!open_one(daemon, opening, &address))
            return false;
    }
    return true;
}

bool listeners_open(struct daemon *daemon)
{
    const struct conf *conf = daemon->conf;
    daemon->admin = admin_create(&daemon->api, daemon->store);
    const struct admin_about about = {.files = (const char *const *)conf->files.items,
                                      .file_count = conf->files.n,
                                      .database = daemon->database,
                                      .tls = daemon->tls};
    admin_set_about(daemon->admin, &about);
    daemon->http = http_process_create(conf->answer_memory_bytes, ADMIN_CONNECTIONS);
    const struct opening openings[] = {
        {LISTENER_PLACEMENT, conf->listen, conf->listen_count, conf->listen_is_default,
         dispatch_service(&daemon->api.endpoints[API_PLACEMENT])},
        {LISTENER_BAREMETAL, conf->baremetal.listen, conf->baremetal.listen_count,
         conf->baremetal.listen_is_default,
         dispatch_service(&daemon->api.endpoints[API_BAREMETAL])},
        {LISTENER_VALET, conf->valet.listen, conf->valet.listen_count,
         conf->valet.listen_is_default, dispatch_service(&daemon->api.endpoints[API_VALET])},
        {LISTENER_ADMIN, conf->admin_listen, conf->admin_listen_count, false,
         admin_service(daemon->admin)},
    };
    for (size_t i = 0; i < sizeof(openings) / sizeof(openings[0]); i++)
        if (!open_kind(daemon, &openings[i]))
            return false;
    return true;
}

void listeners_take(struct daemon *daemon, const struct conf *conf)
{
    for (size_t i = 0; i < daemon->listener_count; i++)
        http_server_set_deadlines(daemon->listeners[i].server, conf->header_deadline_s * 1000,
                                  conf->body_deadline_s * 1000);
}

void listeners_print_ready(const struct daemon *daemon)
{
    static const char *const words[LISTENER_KINDS] = {
        [LISTENER_PLACEMENT] = "",
        [LISTENER_BAREMETAL] = " baremetal",
        [LISTENER_VALET] = " valet",
        [LISTENER_ADMIN] = " admin",
    };
    printf("berthd: ready");
    for (size_t i = 0; i < daemon->listener_count; i++)
        printf("%s %s", words[daemon->listeners[i].kind],
               http_server_url(daemon->listeners[i].server));
    printf("\n");
    fflush(stdout);
}
