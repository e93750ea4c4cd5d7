/* The service of an admin listener: metrics and health for operators, without a token.
 *
 *     GET /metrics    ?inventory=1, ?allocations=1
 *     GET /healthz    is the process alive
 *     GET /readyz     can it serve
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

/* The configuration was read again, and taken or not. Any thread. */
void admin_count_reload(struct admin *admin, bool is_taken);

/* The process drains; any thread. */
void admin_begin_stop(struct admin *admin);

/* The admin's own listeners have been stopped. */
void admin_destroy(struct admin *admin);

/* What an admin listener runs; admin outlives the listener. */
struct http_service admin_service(struct admin *admin);

#endif
