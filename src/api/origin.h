/* The origin of a request, and the address of this service as the client wrote it, taking proxies
 * into account. */
#ifndef BERTH_API_ORIGIN_H
#define BERTH_API_ORIGIN_H

#include "base/slice.h"

struct api_request;

struct origin {
    struct slice scheme;  /* "http", or "https" over TLS, unless a proxy header overrides it */
    struct slice host;    /* with port; empty if there is no Host header */
    struct slice address; /* of the client, for the log */
    struct slice prefix;  /* X-Forwarded-Prefix, which is prefixed to hrefs; without a trailing
                           * slash */
};

/* Reads the Host header and, with `trust_proxies` ([oslo_middleware] enable_proxy_headers_parsing),
 * Forwarded (its first element), or else X-Forwarded-Proto, -Host and -For, and X-Forwarded-Prefix,
 * as oslo.middleware reads them. X-Forwarded-Port, which oslo.middleware does not know, adds the
 * port to a host without one. */
struct origin origin_read(const struct api_request *request, bool trust_proxies);

/* SCHEME://HOST of the origin, without the scheme's default port, then the path; only the path if
 * the request named no host (RFC 9110, section 10.2.2). In the request's arena. */
struct slice origin_absolute(const struct api_request *request, struct slice path);

#endif
