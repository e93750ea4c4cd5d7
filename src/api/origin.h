/* Where a request came from and how the client wrote this service's address, proxies in front
 * included. */
#ifndef BERTH_API_ORIGIN_H
#define BERTH_API_ORIGIN_H

#include "base/slice.h"

struct api_request;

struct origin {
    struct slice scheme;  /* "http" or, over TLS, "https", unless a proxy says otherwise */
    struct slice host;    /* with port; empty when there is no Host header */
    struct slice address; /* the client's, for the log */
    struct slice prefix;  /* X-Forwarded-Prefix, to be put before hrefs; without a trailing slash */
};

/* Reads the Host header and, if `trust_proxies` ([oslo_middleware] enable_proxy_headers_parsing),
 * Forwarded (its first element), or else X-Forwarded-Proto, -Host and -For, and X-Forwarded-Prefix,
 * as oslo.middleware takes them; X-Forwarded-Port, which it does not know, completes a host without
 * a port. */
struct origin origin_read(const struct api_request *request, bool trust_proxies);

/* SCHEME://HOST of the origin without a scheme's own port, then the path; the path alone if no host
 * was named (RFC 9110, section 10.2.2). In the request's arena. */
struct slice origin_absolute(const struct api_request *request, struct slice path);

#endif
