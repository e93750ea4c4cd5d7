/* The service of an admin listener: metrics and health for operators, without a token.
 *
 *     GET /metrics    ?inventory=1, ?allocations=1
 *     GET /healthz    is the process alive
 *     GET /readyz     can it serve requests
 *     GET /status     what is running, as JSON
 *     GET /           the list of pages */
#ifndef BERTH_API_ADMIN_ADMIN_H
#define BERTH_API_ADMIN_ADMIN_H

#include "api/request.h"

struct admin;
struct store;

/* api and store outlive it; api must be complete. */
struct admin *admin_create(const struct api *api, const struct store *store);

/* Adds a Placement listener whose figures are shown; it must exist while the service answers. */
void admin_add_listener(struct admin *admin, struct http_server *server);

/* The facts about the process that the status page shows and that do not change while it runs. */
struct admin_about {
    const char *const *files; /* configuration files, in the order in which they were read */
    size_t file_count;        /* 0: the process runs embedded */
    struct slice database;    /* the URL without its password */
    struct http_tls *tls;     /* the certificates in use, which may be reloaded; NULL: none */
};

/* Call it before the first listener starts; everything it points to must exist as long as the
 * service. */
void admin_set_about(struct admin *admin, const struct admin_about *about);

/* Adds an address that the process serves, such as "Placement API", "http://127.0.0.1:8778". Both
 * texts must exist as long as the service; addresses beyond ADMIN_ADDRESSES_MAX are left out. */
void admin_add_address(struct admin *admin, const char *purpose, const char *url);

/* Counts a reload of the configuration, accepted or rejected. Any thread. */
void admin_count_reload(struct admin *admin, bool is_taken);

/* Marks that the process drains; any thread. */
void admin_begin_stop(struct admin *admin);

/* Call it after the admin's own listeners have been stopped. */
void admin_destroy(struct admin *admin);

/* The service for an admin listener; admin outlives the listener. */
struct http_service admin_service(struct admin *admin);

#endif
