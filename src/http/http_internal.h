/* What the files of this folder share: the server, its connections and its exchanges.
 *
 * Threads: one acceptor; MHD's workers (each owns its connections, their exchanges and one pool);
 * one watcher of deadlines; with TLS one that waits for handshakes; and whoever calls http_resume()
 * or http_server_stop(). */
#ifndef BERTH_HTTP_HTTP_INTERNAL_H
#define BERTH_HTTP_HTTP_INTERNAL_H

#include <gnutls/gnutls.h>
#include <limits.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <time.h>

#include "base/pages.h"
#include "http/http.h"

enum {
    EXCHANGE_POOL_EXCHANGES_MAX = 32,
    NAP_US = 1000,                         /* between two looks at what ends soon */
    BODY_BYTES_PER_S = 10 * 1000,          /* what a client must manage, either way */
    LARGE_ANSWER_BYTES_PER_S = 250 * 1000, /* of answers over HTTP_LARGE_BYTES: they hold memory */
    ANSWER_SHARES = 1024,
    PEER_BUCKETS = 256,
    /* Of a body that is too large, beyond what is allowed: read and thrown away before the answer,
     * for who is still writing when the connection is closed may never read the answer. */
    DISCARDED_BYTES = 16 * 1024 * 1024,
};

struct exchange;

/* process.c */
struct http_process {
    uint64_t large_answers_bytes;
    _Atomic uint64_t large_bytes; /* of the large bodies that are not finished */
    _Atomic uint64_t by_owner[ANSWER_SHARES];
    _Atomic uint64_t kept_bytes; /* of large buffers that are to be used again */
    unsigned reserved_max;
    _Atomic unsigned connections_max[2]; /* of all servers; [1]: of those that are reserved */
    _Atomic unsigned connections[2];
    pthread_mutex_t lock; /* over what follows; taken before a server's */
    uint64_t descriptors; /* the limit, and what is not for connections */
    uint64_t taken_descriptors;
    struct http_server *servers;
};

/* From its start until no worker of it runs any more. */
void process_add(struct http_process *process, struct http_server *server);
void process_remove(struct http_process *process, struct http_server *server);

/* Takes so much of the memory for answers, or nothing; with `whatever` in any case. */
bool process_take_answer(struct http_process *process, uint64_t owner, uint64_t bytes,
                         bool whatever);
void process_give_answer(struct http_process *process, uint64_t owner, uint64_t bytes);

/* Processors fetch cache lines of 64 bytes in pairs. */
enum { EXCHANGE_POOL_ALIGNMENT = 128 };

/* One worker's own, on cache lines of its own: written by it alone with every request; its counters
 * are read by http_server_load(). */
struct exchange_pool {
    _Alignas(EXCHANGE_POOL_ALIGNMENT) pthread_t thread;
    struct exchange *spare; /* finished exchanges, to be used again */
    unsigned spare_count;
    _Atomic unsigned begun;      /* exchanges from request line to end */
    _Atomic unsigned in_service; /* of these, handed to the service and not answered yet */
    _Atomic uint64_t called_us;  /* since when the worker is inside a call of the service; 0: it is
                                    not */
};

/* connection_limit.c: where connections come from; under the server's lock. */
struct peer {
    uint64_t key;
    unsigned open; /* connections */
    struct peer *next;
    uint64_t pass; /* the pass of connection_limit_evict() that the fields below belong to */
    unsigned closable;
    uint64_t since_us;
};

struct connection {
    /* under the server's lock */
    struct connection *next;
    struct connection *previous;
    bool shut; /* shut down by us; its worker will close it */
    struct peer *peer_group;

    /* set at the start */
    int fd;
    struct exchange_pool *pool;
    char peer[INET6_ADDRSTRLEN];
    size_t peer_len;
    uint64_t peer_hash;
    struct MHD_Connection *mhd;
    struct tls_credentials *credentials; /* NULL: plain */

    /* written by its worker, read by the watcher */
    _Atomic uint64_t idle_since_us; /* 0 from a request line to the end of that exchange */
    _Atomic uint64_t line_us;       /* when the request line came, until its headers have; 0 else */
    _Atomic uint64_t deadline_us;   /* shut down when past; 0: none */
    _Atomic uint64_t receiving_us;  /* since when a request comes that is not whole; 0: none does */
    _Atomic uint64_t sending_us;    /* since when an answer is on its way; 0: none is */

    /* the watcher's own: has anything come since the connection fell idle? */
    uint64_t watched_idle_us;
    uint64_t watched_bytes;
    uint64_t first_byte_us;
    uint64_t ended_us; /* since when the client has sent all, and not all of its request; 0: not */

    /* handshake.c, TLS only */
    _Atomic bool in_handshake; /* written by its worker */
    bool is_awaited;           /* its worker's own: it is in the epoll set of handshakes */
    uint64_t opened_us;
    struct http_server *server;
};

struct listener {
    int fd;
    bool is_given; /* others hold it, too: what waits in it is not ours */
    uint16_t port; /* 0: a unix socket */
    char *path;    /* the unix socket's file, if it is ours to remove; NULL: none is */
    dev_t device;
    ino_t inode;
    char *url;
};

struct http_server {
    struct http_limits limits;
    struct http_service service;
    struct http_process *process;
    bool owns_process;
    struct listener listener;
    bool is_unix;
    struct http_tls *tls; /* NULL: plain */
    struct MHD_Daemon *daemon;

    pthread_t acceptor;
    int acceptor_wake_fd;
    _Atomic uint64_t connections_handed; /* to the workers, ever */
    _Atomic uint64_t connections_taken;  /* by them */

    int handshakes_fd; /* epoll; TLS only */
    int handshakes_wake_fd;
    pthread_t handshaker;
    _Atomic unsigned handshakes_awaited; /* suspended until their clients go on */

    _Atomic bool stopping;        /* answers close their connection */
    _Atomic bool cutting;         /* no exchange is handed to the service any more */
    _Atomic uint64_t large_bytes; /* what it has taken of the process's */
    _Atomic unsigned resumings;   /* threads inside http_resume() */
    _Atomic unsigned asking; /* exchanges whose service considers whether to read their bodies */

    pthread_mutex_t lock; /* over the connections and the watcher's state */
    pthread_cond_t watcher_wake;
    pthread_t watcher;
    bool watcher_stop;
    uint64_t draining_since_us; /* 0: not draining */
    uint64_t linger_us;
    struct connection *connections;
    struct connection *cursor;         /* where the watcher goes on after it let the lock go */
    _Atomic unsigned connection_count; /* written under the lock */
    unsigned shut_count;
    struct peer *peers[PEER_BUCKETS];
    uint64_t eviction_pass;
    struct http_server *next_of_process;

    _Atomic unsigned pools_taken;
    unsigned exchange_pool_count;
    struct exchange_pool pools[];
};

enum exchange_stage {
    STAGE_HEADERS, /* the request line has come */
    STAGE_BODY,
    STAGE_SERVICE, /* the service has it */
    STAGE_ANSWERED,
};

enum body_state {
    BODY_SMALL,   /* or not known to be large yet */
    BODY_ASKING,  /* the service considers it */
    BODY_WANTED,  /* charged, as far as it is known */
    BODY_SKIPPED, /* thrown away */
};

enum exchange_wait { WAIT_RUNNING, WAIT_SUSPENDED, WAIT_RESUMED };

struct request_header {
    struct slice name;
    struct slice value;
    const char *end; /* of the value with the blanks behind it */
};

struct exchange {
    struct http_exchange http; /* first: the service's pointer is ours */
    struct http_server *server;
    struct connection *connection;
    struct MHD_Connection *mhd;
    enum exchange_stage stage;
    bool served; /* on_request was called */
    _Atomic int wait;
    struct request_header *headers;
    size_t header_count;
    bool chunked;
    const char *target_end; /* in the library's buffer: the NUL byte behind the target */
    uint64_t content_length;
    uint64_t received_bytes;
    uint64_t body_since_us;
    enum body_state body_state;
    struct buf body;         /* a small one, and how a chunked one begins */
    struct pages large_body; /* charged to http.share */
    bool answers_early;      /* before the body's end: its connection is closed behind the answer */
    uint64_t large_bytes;    /* counted in the server's and the process's, for large_owner */
    uint64_t large_owner;
    uint64_t stream_since_us; /* of an answer in pieces: when it began, */
    uint64_t stream_bytes;    /* what has gone before the piece in http.out, */
    size_t stream_at;         /* and what of that */
    bool is_piece_pending;    /* the service writes the next one; counted in in_service */
    struct exchange *next_spare;
};

static inline uint64_t clock_now_us(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* Only the worker writes its counts, so that a plain store does; what it has done before is seen
 * by who sees the count. */
static inline void count_add(_Atomic unsigned *count, unsigned change)
{
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + change,
                          memory_order_release);
}

/* listener.c: a listening socket. False: one line in err. */
bool listener_open(const struct http_address *address, struct listener *listener,
                   struct err *err) BERTH_MUST_CHECK;
/* Closes it, and removes its file; its port and URL stay known until it is freed. */
void listener_close(struct listener *listener);
void listener_free(struct listener *listener);

/* unix_socket.c: a listening socket at a path, as listener_open's. */
bool unix_socket_open(const char *path, unsigned mode, struct listener *listener,
                      struct err *err) BERTH_MUST_CHECK;
/* Removes its file, if it still is ours. */
void unix_socket_remove(const struct listener *listener);

/* tls.c: the certificates in use, to be given back. Any thread. */
struct tls_credentials *tls_take(struct http_tls *tls);
void tls_give_back(struct tls_credentials *credentials);
/* Sets a new session up. */
void tls_prepare(const struct tls_credentials *credentials, gnutls_session_t session);

/* handshake.c */
bool handshakes_start(struct http_server *server);
/* After cutting: every connection is shut down; returns when no handshake is awaited any more. */
void handshakes_stop(struct http_server *server);
/* On its worker: the connection begins with a handshake. */
void handshake_begin(struct http_server *server, struct connection *connection);

/* acceptor.c */
bool acceptor_start(struct http_server *server);
/* Takes in what waits at a listener of ours, and ends. */
void acceptor_stop(struct http_server *server);

/* exchange.c, all on the exchange's worker. */
struct exchange *exchange_begin(struct http_server *server, struct MHD_Connection *mhd,
                                const char *target);
enum MHD_Result exchange_continue(struct exchange *exchange, const char *method,
                                  const char *version, const char *data, size_t *size);
void exchange_end(struct exchange *exchange);
void exchange_pool_clear(struct http_process *process, struct exchange_pool *pool);

/* request.c: the headers of a request, and what is wrong with its framing. The texts are the
 * library's, where the request came. */
void request_read_headers(struct exchange *exchange, const char *method, const char *version);

/* answer.c: hands the service's answer to MHD. */
enum MHD_Result answer_send(struct exchange *exchange);
/* Gives back what its body took. */
void answer_forget(struct exchange *exchange);

/* stream.c: a response that asks the service for one piece after another. */
struct MHD_Response *stream_response(struct exchange *exchange);

/* connection.c: MHD's word that a connection has come or goes, on its worker. */
struct connection *connection_open(struct http_server *server, struct MHD_Connection *mhd);
void connection_close(struct http_server *server, struct connection *connection);

/* shut.c. Under the lock: its worker will see the end of the stream, and close it. */
void connection_shut(struct http_server *server, struct connection *connection);
/* Whether its client has closed its sending side and all that it sent has been read. The thread
 * that may use its fd. */
bool connection_has_ended(const struct connection *connection);

/* connection_limit.c */
uint64_t peer_key(const struct sockaddr *address); /* 0: a unix socket */
/* Counts one connection of that group more, or less. Under the lock. */
struct peer *peer_enter(struct http_server *server, uint64_t key);
void peer_leave(struct http_server *server, struct peer *peer);
/* Whether an address has as many connections as it may have. Takes the lock. */
bool peer_is_full(struct http_server *server, const struct sockaddr *address);
/* Shuts down a connection, or several that have waited for long. False: none may be shut down.
 * Under the lock. */
bool connection_limit_evict(struct http_server *server);
/* Whether the process has no descriptor for another connection. */
bool connection_limit_is_reached(const struct http_server *server);
/* Counts another connection in the process, and closes one if there are too many. False: none may
 * be closed, so the new one is. Without the lock. */
bool connection_limit_enter_process(struct http_server *server);
void connection_limit_leave_process(struct http_server *server);

/* handover.c: the service has the exchange, and has it no more. False: a stop has cut it off. */
bool exchange_enter_service(struct exchange *exchange);
void exchange_leave_service(struct exchange *exchange);
/* The worker goes into the service, and comes out of it. */
enum http_step exchange_call(struct exchange *exchange,
                             enum http_step (*call)(struct http_exchange *, void *));
/* After HTTP_PENDING: suspends the exchange, until its worker is called again. False: it has been
 * resumed already. */
bool exchange_suspend(struct exchange *exchange);

/* body.c: the request's body, on the exchange's worker. The headers have come without a fault; the
 * bytes that come; the exchange's end. */
enum body_verdict {
    BODY_GOES_ON,
    BODY_WAITS,   /* for the service; nothing was taken */
    BODY_ANSWERS, /* the body need not come: on to the service */
    BODY_BREAKS,  /* close the connection */
};
enum body_verdict body_begin(struct exchange *exchange);
enum body_verdict body_take(struct exchange *exchange, const char *data, size_t size);
/* No more has come: all is there and http.body is it, or the service has been asked meanwhile. */
enum body_verdict body_finish(struct exchange *exchange);
void body_release(struct exchange *exchange);

/* ready_events.c: to be called before the library starts. */
void ready_events_limit(void);

/* deadline.c: until when so many bytes are to have gone over the line, either way; 0: at leisure.
 */
uint64_t body_deadline_us(const struct http_server *server, uint64_t since_us, uint64_t bytes);
uint64_t stream_deadline_us(const struct http_server *server, uint64_t since_us, uint64_t bytes);
uint64_t answer_deadline_us(const struct http_server *server, uint64_t since_us, uint64_t bytes);
/* And the watcher. */
bool watcher_start(struct http_server *server);
/* From now on, idle connections are closed, too. */
void watcher_drain(struct http_server *server, unsigned linger_ms);
void watcher_stop(struct http_server *server);

#endif
