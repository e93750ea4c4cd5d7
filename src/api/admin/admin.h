/* The service of an admin listener: metrics and health for operators, without a token.
 *
 *     GET /metrics    ?inventory=1, ?allocations=1
 *     GET /healthz    is the process alive
 *     GET /readyz     can it serve
 *     GET /status     what is running, as JSON
 *     GET /           what there is */
#ifndef BERTH_API_ADMIN_ADMIN_H
#define BERTH_API_ADMIN_ADMIN_H

#include "api/request.h"

struct admin;
struct store;

/* Api and store outlive it; api is filled. */
struct admin *admin_create(const struct api *api, const struct store *store);

/* A Placement listener whose figures are shown; it lives as long as the service answers. */
void admin_add_listener(struct admin *admin, struct http_server *server);

/* What the status page says of the process that does not change while it runs. */
struct admin_about {
    const char *const *files; /* of the configuration, in the order in which they were read */
    size_t file_count;        /* 0: it runs embedded */
    struct slice database;    /* the URL, without its password */
    struct http_tls *tls;     /* the certificates served, which may be reloaded; NULL: none */
};

/* Before the first listener; what it points to lives as long as the service. */
void admin_set_about(struct admin *admin, const struct admin_about *about);

/* An address that the process serves: "Placement API", "http://127.0.0.1:8778". Both live as long
 * as the service; beyond ADMIN_ADDRESSES_MAX they are left out. */
void admin_add_address(struct admin *admin, const char *purpose, const char *url);

/* The configuration was read again, and taken or not. Any thread. */
void admin_count_reload(struct admin *admin, bool is_taken);

/* The process drains; any thread. */
void admin_begin_stop(struct admin *admin);

/* The admin's own listeners have been stopped. */
void admin_destroy(struct admin *admin);

/* What an admin listener runs; admin outlives the listener. */
struct http_service admin_service(struct admin *admin);

#endif
