/* The edge: HTTP/1.1 listeners over libmicrohttpd. Nothing outside this folder sees that library.
 *
 * A request arrives whole (method, raw target, headers, body) at a service's on_request, on one of
 * the worker threads. The service answers at once (HTTP_ANSWERED) or keeps the exchange
 * (HTTP_PENDING) and lets any thread call http_resume() later, upon which on_resume runs on the
 * exchange's own worker thread. */
#ifndef BERTH_HTTP_HTTP_H
#define BERTH_HTTP_HTTP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/slice.h"

struct arena;
struct http_server;

/* What the edge itself found wrong; the service words the answer. */
enum http_fault {
    HTTP_FAULT_NONE,
    HTTP_FAULT_BODY_TOO_LARGE, /* body is empty; answer 413, the connection is closed afterwards */
    HTTP_FAULT_FRAMING,        /* Content-Length together with Transfer-Encoding, or another
                                  doubt about where the body ends: answer 400, closed afterwards */
};

enum { HTTP_HEADERS_MAX = 24, HTTP_LARGE_BYTES = 1 << 20 };

struct http_header {
    const char *name;
    struct slice value; /* without CR, LF or NUL: anything else is a programmer error */
};

struct http_exchange {
    /* the request; all slices live as long as the exchange */
    struct slice method; /* as sent, any token */
    struct slice target; /* raw, as on the request line, "/path?query" */
    struct slice body;
    enum http_fault fault;
    bool has_content_length; /* a Content-Length or Transfer-Encoding header was sent */
    struct slice peer;       /* the address without port, as text */
    uint64_t started_us;     /* monotonic clock, when the request line had come */
    struct arena *arena;

    /* the answer, filled by the service */
    int status;
    struct http_header response_headers[HTTP_HEADERS_MAX];
    unsigned response_header_count;
    struct buf out; /* the body: empty at first, its memory is the edge's */

    void *state; /* the service's own */
};

enum http_step { HTTP_ANSWERED, HTTP_PENDING };

struct http_service {
    enum http_step (*on_request)(struct http_exchange *exchange, void *cls);
    enum http_step (*on_resume)(struct http_exchange *exchange, void *cls);
    /* The last call for an exchange, after its answer was sent or its connection broke; on its
     * worker thread. A pending exchange is never finished before it was resumed. */
    void (*on_finished)(struct http_exchange *exchange, void *cls);
    void *cls;
};

/* The value of the request's last header of that name (case-insensitive), or data == NULL. */
struct slice http_request_header(const struct http_exchange *exchange, const char *name);

/* Adds a header to the answer; name and value are not copied: a name is static, a value is static
 * or lives in the arena. */
void http_add_header(struct http_exchange *exchange, const char *name, struct slice value);

/* Whether there is room for the exchange's body among the large ones (over HTTP_LARGE_BYTES) that
 * clients are reading; it is taken until the end of the exchange. False: the service answers
 * something small instead. On the exchange's worker, before HTTP_ANSWERED. */
bool http_body_fits(struct http_exchange *exchange);

/* Lets on_resume run for a pending exchange. Any thread, exactly once for each HTTP_PENDING. */
void http_resume(struct http_exchange *exchange);

/* Whether the client of a pending exchange has gone, or the grace of a stop is over; asks the
 * socket, so not for every step of a loop. Any thread, between HTTP_PENDING and http_resume only.
 */
bool http_client_gone(const struct http_exchange *exchange);

struct http_limits {
    uint64_t max_body_bytes;          /* 16 MiB */
    uint64_t large_answers_bytes;     /* 1 GiB: of all bodies over HTTP_LARGE_BYTES together */
    unsigned connection_memory_bytes; /* 64 KiB */
    unsigned connections_max;         /* in all; the longest idle one is closed first */
    unsigned connections_per_address;
    unsigned idle_timeout_s;     /* between requests */
    unsigned header_deadline_ms; /* 30 000: from a request's first byte to the end of its headers;
                                    0: none */
    unsigned body_deadline_ms;   /* 30 000: plus the body's size at 10 KB/s; 0: none */
    unsigned worker_threads;     /* at least 2 (one epoll thread stalls under load) */
};

/* Opens a listener on a host (a numeric address without brackets, or a name) and port (0: any free
 * one) and starts its workers. Returns NULL with one clear line in err if it cannot (address taken,
 * not resolvable). */
struct http_server *http_server_start(const char *host, uint16_t port,
                                      const struct http_limits *limits,
                                      const struct http_service *service, struct err *err);

/* 127.0.0.1:8778, [::1]:8778 */
struct slice http_address_text(struct arena *arena, const char *host, uint16_t port);

/* The port it listens on. */
uint16_t http_server_port(const struct http_server *server);

/* Accepts no more, lets what has begun end (at most grace_ms), and frees the server. */
void http_server_stop(struct http_server *server, unsigned grace_ms);

#endif
