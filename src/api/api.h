/* The state that all requests share, whichever API they use. */
#ifndef BERTH_API_API_H
#define BERTH_API_API_H

#include <stdbool.h>
#include <stdint.h>

#include "api/cors.h"
#include "api/definition.h"

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

/* Created by daemon/; lives as long as the listeners. State that only one API needs is in its
 * endpoint's settings. */
struct api {
    struct replica *replica;
    struct pipeline *pipeline;
    struct slow_lane *slow_lane;
    struct expensive *expensive;  /* requests that start on the slow lane */
    struct give_way *give_way;    /* shared by all lanes */
    struct memory_budget *bodies; /* for large request bodies and what is parsed from them */
    struct keystone *keystone;    /* NULL: noauth2 */
    struct policy_keeper *policies;
    struct readiness *readiness;
    const struct conf_healthcheck *healthcheck; /* NULL: no health check is configured */
    struct api_endpoint endpoints[API_COUNT];
    struct cors_settings cors;
    bool trust_proxies; /* [oslo_middleware] enable_proxy_headers_parsing */

    /* Settings that a reload changes while requests are being answered; each is independent of the
     * others. */
    _Atomic bool access_log;
    _Atomic uint64_t query_deadline_us; /* how long a request may stay on the slow lane */
    _Atomic uint64_t max_write_rows;    /* rows that one request may write */
    _Atomic uint64_t staleness_us;      /* of bounded reads; 0: reads are strict */
    _Atomic uint64_t slow_request_us; /* requests that took longer get a line in the log; 0: none */
};

#endif
