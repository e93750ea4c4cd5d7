/* The HTTP/1.1 listeners, over libmicrohttpd. Only this folder uses that library.
 *
 * A complete request (method, raw target, headers, body) is passed to a service's on_request, on
 * one of the worker threads. The service either answers at once (HTTP_ANSWERED) or keeps the
 * exchange (HTTP_PENDING). In the latter case any thread calls http_resume() later, after which
 * on_resume runs on the exchange's own worker thread. */
#ifndef BERTH_HTTP_HTTP_H
#define BERTH_HTTP_HTTP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/memory_budget.h"
#include "base/slice.h"

struct arena;
struct http_process;
struct http_server;
struct http_tls;

/* Errors found by the HTTP server itself; the service writes the text of the answer. */
enum http_fault {
    HTTP_FAULT_NONE,
    HTTP_FAULT_SYNTAX,         /* a line is not valid HTTP: answer 400; the connection is closed
                                * afterwards */
    HTTP_FAULT_BODY_TOO_LARGE, /* body is empty; answer 413, the connection is closed afterwards */
    HTTP_FAULT_NO_MEMORY,      /* body is empty: too many large bodies in memory; answer 503 */
    HTTP_FAULT_FRAMING,        /* Content-Length together with Transfer-Encoding, or any other doubt
                                * about where the body ends: answer 400; the connection is closed
                                * afterwards */
};

enum {
    HTTP_HEADERS_MAX = 24,
    HTTP_LARGE_BYTES = 1 << 20,
    /* Larger bodies are read only after the service has agreed, and only as many at a time as
     * http_limits allow. */
    HTTP_SMALL_BODY_BYTES = 16 * 1024,
};

struct http_header {
    const char *name;
    struct slice value; /* without CR, LF or NUL: anything else is a programmer error */
};

struct http_exchange {
    /* the request; all slices are valid as long as the exchange */
    struct slice method; /* as sent, any token */
    struct slice target; /* raw, as on the request line, "/path?query" */
    struct slice body;
    uint64_t body_bytes; /* the body's length, even if it was not kept; while the body has yet to be
                          * read, as far as it is known */
    enum http_fault fault;
    bool has_content_length; /* a Content-Length or Transfer-Encoding header was sent */
    bool tls;                /* the request arrived over TLS */
    struct slice peer;       /* the address without port, as text; "-" on a unix socket */
    uint16_t port;           /* the local port; 0 on a unix socket */
    uint64_t started_us;     /* monotonic clock, when the request line was complete */
    struct arena *arena;

    /* The holder charged for the memory of the body. The HTTP server fills in the budget and the
     * address, the service fills in the owner. */
    struct memory_share share;
    uint64_t held_bytes;             /* the sum of all shares of the request */
    struct memory_share arena_share; /* the same for the arena's memory; if `over` is set, the
                                      * request must end soon */

    /* the answer, filled in by the service */
    int status;
    struct http_header response_headers[HTTP_HEADERS_MAX];
    unsigned response_header_count;
    struct buf out; /* the body: empty at first, owned by the HTTP server */
    bool goes_on;   /* `out` is the first piece; on_more writes the others */
    uint64_t owner; /* a hash: the holder whose share of the memory for large answers is used; 0:
                     * the peer */

    void *state; /* for the service's use */
};

enum http_step {
    HTTP_ANSWERED,
    HTTP_PENDING,
    /* results of on_large_body, and of on_resume after it */
    HTTP_READ_BODY,
    HTTP_SKIP_BODY,
};

/* The result of the call for the next piece of an answer. */
enum http_piece {
    HTTP_PIECE_WRITTEN,
    HTTP_PIECE_PENDING, /* it is written when http_resume() is called; no on_resume follows */
    HTTP_PIECE_BREAKS,  /* the answer cannot continue: the connection is closed */
};

struct http_service {
    enum http_step (*on_request)(struct http_exchange *exchange, void *cls);
    enum http_step (*on_resume)(struct http_exchange *exchange, void *cls);
    /* Only for an answer with goes_on: the previous piece has been sent. Writes the next one to
     * `out`, which is empty, and clears goes_on if that piece is the last. */
    enum http_piece (*on_more)(struct http_exchange *exchange, void *cls);
    /* The last call for an exchange that was passed to the service, after its answer was sent or
     * its connection broke; on its worker thread. A pending exchange is never finished before it is
     * resumed. */
    void (*on_finished)(struct http_exchange *exchange, void *cls);
    void *cls;

    /* The headers have arrived, and a body of more than HTTP_SMALL_BODY_BYTES follows, or that much
     * of a chunked body has arrived. HTTP_READ_BODY: read it, on behalf of share.owner.
     * HTTP_SKIP_BODY: read and discard it. HTTP_PENDING: on_resume decides. Afterwards on_request
     * is called as for any other request, with what the service has stored in `state`. NULL: all
     * bodies are read. */
    enum http_step (*on_large_body)(struct http_exchange *exchange, void *cls);
};

/* The value of the request's last header with that name (case-insensitive), or data == NULL. */
struct slice http_request_header(const struct http_exchange *exchange, const char *name);

/* The local address at which the request arrived, as in a URL: "127.0.0.1:8778", "[::1]:8778";
 * "localhost" on a unix socket. In the arena. On the exchange's worker. */
struct slice http_own_address(const struct http_exchange *exchange);

/* Adds a header to the answer. Name and value are not copied: the name must be static, the value
 * static or in the arena. */
void http_add_header(struct http_exchange *exchange, const char *name, struct slice value);

/* Whether there is room for the exchange's body, at its current length, among the large ones (over
 * HTTP_LARGE_BYTES) that clients have yet to read. If so, the room is taken until the end of the
 * exchange. Call this also while a body grows, so that no memory is used before it is charged.
 * False: the service must send a small answer instead. Before HTTP_ANSWERED, by the thread that
 * writes the body. */
bool http_body_fits(struct http_exchange *exchange);

/* The same for memory that is held while an answer is sent in pieces: `bytes` in all. */
bool http_memory_fits(struct http_exchange *exchange, uint64_t bytes);

/* Takes that room whether it is available or not, for answers that must be sent. Same thread. */
void http_body_take(struct http_exchange *exchange);

/* Frees the request's body before the end of the exchange. Any thread that holds the exchange. */
void http_release_body(struct http_exchange *exchange);

/* Hands over the exchange's arena and answer buffer, which are large: the caller frees them where
 * this delays no other request. Call it in on_finished, as the last operation on the exchange. */
struct http_memory {
    struct arena *arena;
    struct memory_share share; /* of the arena, which points to it */
    struct buf out;
};
void http_take_memory(struct http_exchange *exchange, struct http_memory *memory);

/* Sets the owner charged for memory from now on (a hash), unless something has already been
 * charged. */
void http_set_owner(struct http_exchange *exchange, uint64_t owner);

/* Makes on_resume run for a pending exchange. Any thread, exactly once for each HTTP_PENDING. */
void http_resume(struct http_exchange *exchange);

/* Whether the grace period of a stop has ended: pending work must be abandoned and answered. Any
 * thread. */
bool http_is_cut(const struct http_exchange *exchange);

/* Whether the client of a pending exchange has disconnected, or the grace period of a stop is over.
 * It reads the socket state, so do not call it for every step of a loop. Any thread, between
 * HTTP_PENDING and http_resume only. */
bool http_client_gone(const struct http_exchange *exchange);

/* State shared by all servers of a process: memory for answers over HTTP_LARGE_BYTES, and file
 * descriptors, of which up to reserved_max are reserved for servers with is_reserved. Create it
 * after the limit of descriptors has been set. */
struct http_process *http_process_create(uint64_t large_answers_bytes, unsigned reserved_max);
void http_process_destroy(struct http_process *process); /* NULL is allowed */

struct http_limits {
    uint64_t max_body_bytes;          /* 16 MiB */
    struct memory_budget *bodies;     /* the budget for request bodies over HTTP_SMALL_BODY_BYTES;
                                       * outlives the server; NULL: no limit */
    struct http_process *process;     /* shared with other servers and outlives them; NULL: the
                                       * server creates its own */
    uint64_t large_answers_bytes;     /* used without process: for all bodies over
                                       * HTTP_LARGE_BYTES */
    bool is_reserved;                 /* its connections use the reserve of process */
    unsigned connection_memory_bytes; /* 64 KiB */
    unsigned connections_max;         /* in total; the longest idle one is closed first */
    unsigned connections_per_address;
    unsigned idle_timeout_s;             /* between requests */
    _Atomic unsigned header_deadline_ms; /* 30 000: from a request's first byte to the end of the
                                          * request line, and from there to the end of its headers;
                                          * 0: none */
    _Atomic unsigned body_deadline_ms;   /* 30 000: plus the transfer time of a body at 10 KB/s, or
                                          * of an answer over HTTP_LARGE_BYTES at 250 KB/s; 0:
                                          * none */
    unsigned worker_threads;             /* at least 2 (one epoll thread stalls under load) */
    const char *product; /* of a Server header on each answer; NULL: none. A literal */
};

/* The address of a server: an inherited socket, a path, or a host and port. */
struct http_address {
    bool is_given;
    int fd;           /* given: an inherited listening stream socket. A stop closes this descriptor,
                       * but other processes' descriptors stay open, and waiting connections are
                       * left to them */
    const char *path; /* unix socket; an existing file on which no process listens is replaced */
    unsigned mode;    /* the socket file's permissions */
    const char *host; /* a numeric address without brackets, or a name */
    uint16_t port;    /* 0: any free port */
    struct http_tls *tls; /* NULL: no TLS; otherwise it outlives the server */
};

/* Opens a listener and starts its workers. On failure (address in use, not resolvable) returns NULL
 * with one clear line in err, whose kind is then the errno of an address that could not be
 * opened. */
struct http_server *http_server_start(const struct http_address *address,
                                      const struct http_limits *limits,
                                      const struct http_service *service, struct err *err);

/* For example http://127.0.0.1:8778, https://[::1]:8778, unix:/run/berth/api.sock; valid as long as
 * the server exists. */
const char *http_server_url(const struct http_server *server);

/* Sets the deadlines for requests that begin from now on, and soon for others. Any thread. */
void http_server_set_deadlines(struct http_server *server, unsigned header_ms, unsigned body_ms);

/* 127.0.0.1:8778, [::1]:8778 */
struct slice http_address_text(struct arena *arena, const char *host, uint16_t port);

/* The port it listens on; 0 on a unix socket. */
uint16_t http_server_port(const struct http_server *server);

/* The server's load: for a stop that waits until it is 0, for watchdogs and for metrics. Any
 * thread, until http_server_stop() is called. */
struct http_load {
    unsigned requests;    /* from request line to the last byte of the answer */
    unsigned in_service;  /* of these, passed to the service and not yet answered */
    unsigned connections; /* open, or accepted and not yet assigned to a worker */
    uint64_t longest_us;  /* the longest current call of the service by a worker */
    uint64_t accepted;    /* connections since the start */
    uint64_t large_bytes; /* of the large bodies that clients are reading, see http_limits */
};
struct http_load http_server_load(struct http_server *server);

/* The steps of a stop, all by one thread.
 *
 * drain: accepts no more connections. Answers carry "Connection: close" from now on. A connection
 * that stays idle for linger_ms is closed, unless a request begins to arrive on it in that time. A
 * new connection is given two seconds for its first request.
 * When requests and connections are 0, no client is left.
 * cut: no further request reaches the service, and for pending ones http_client_gone() is true.
 * stop: waits until the service holds no request, and frees the server. If the server has not been
 * drained and cut, stop does both, with at most grace_ms between them. */
void http_server_drain(struct http_server *server, unsigned linger_ms);
void http_server_cut(struct http_server *server);
void http_server_stop(struct http_server *server, unsigned grace_ms);

/* The certificates of listeners; shared by any number of servers. Files are PEM. */
struct http_tls_files {
    const char *cert_file; /* the certificate, then its chain */
    const char *key_file;
    const char *ca_file;    /* NULL: clients need no certificate */
    const char *priorities; /* GnuTLS's priority string */
};

/* NULL with one clear line in err if the files cannot be used. */
struct http_tls *http_tls_create(const struct http_tls_files *files, struct err *err);

/* Reads the files again; their names may have changed. Open connections keep the certificate they
 * were established with. False: err has one line, and the old certificates stay in use. One
 * thread. */
bool http_tls_load(struct http_tls *tls, const struct http_tls_files *files,
                   struct err *err) BERTH_MUST_CHECK;

/* Whether the files have changed since they were last read (successfully or not), and have not
 * changed since the last call. Same thread as http_tls_load. */
bool http_tls_have_changed(struct http_tls *tls);

/* A description of the certificate, such as "CN=api.example.org, valid until 2027-11-21", and a
 * warning about anything except its expiry that an operator should know. Both are in the arena; the
 * warning is empty if there is none. Same thread. */
struct slice http_tls_describe(const struct http_tls *tls, struct arena *arena);
struct slice http_tls_warning(const struct http_tls *tls, struct arena *arena);

/* The earliest expiry of a certificate in the chain in cert_file, in seconds since 1970. The
 * server's own certificate is part of that chain. Any thread. */
int64_t http_tls_expires_s(struct http_tls *tls);

enum { HTTP_TLS_WARNING_DAYS = 14 };
enum http_tls_expiry {
    HTTP_TLS_GOOD,         /* valid for longer than HTTP_TLS_WARNING_DAYS */
    HTTP_TLS_EXPIRES_SOON, /* "the certificate in PATH expires in 9 days, on 2026-12-02" */
    HTTP_TLS_EXPIRED,      /* "the certificate in PATH expired on 2026-12-02" */
};

/* The state of the certificate at now_s (seconds since 1970), and as text in the arena: empty if it
 * is good. Days are rounded down, dates are in UTC. Same thread as http_tls_load. */
enum http_tls_expiry http_tls_check_expiry(const struct http_tls *tls, int64_t now_s,
                                           struct arena *arena, struct slice *text);

/* Call it when no server uses the certificates any more. */
void http_tls_destroy(struct http_tls *tls);

#endif
