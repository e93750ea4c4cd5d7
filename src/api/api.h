/* What all requests share, whichever door they come by. */
#ifndef BERTH_API_API_H
#define BERTH_API_API_H

#include <stdbool.h>
#include <stdint.h>

#include "api/cors.h"
#include "api/door.h"

struct conf_healthcheck;
struct expensive;
struct give_way;
struct keystone;
struct memory_budget;
struct pipeline;
struct policy_keeper;
struct readiness;
struct replica;
struct slow_lane;

/* Made by daemon/, lives as long as the listeners. What only one API needs is in the settings of
 * its doorway. */
struct api {
    struct replica *replica;
    struct pipeline *pipeline;
    struct slow_lane *slow_lane;
    struct expensive *expensive;  /* what begins there */
    struct give_way *give_way;    /* of all lanes */
    struct memory_budget *bodies; /* of large request bodies and what is parsed of them */
    struct keystone *keystone;    /* NULL: noauth2 */
    struct policy_keeper *policies;
    struct readiness *readiness;
    const struct conf_healthcheck *healthcheck; /* NULL: there is none */
    struct doorway doorways[DOOR_COUNT];
    struct cors_settings cors;
    bool trust_proxies; /* [oslo_middleware] enable_proxy_headers_parsing */

    /* Those that a reload changes while requests are answered; each stands alone. */
    _Atomic bool access_log;
    _Atomic uint64_t query_deadline_us; /* how long a request may stay on the slow lane */
    _Atomic uint64_t max_write_rows;    /* that one request may write */
    _Atomic uint64_t slow_request_us; /* requests that took longer get a line in the log; 0: none */
};

#endif
