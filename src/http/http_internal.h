/* Shared by the files of this folder: the server, its connections and its exchanges.
 *
 * Threads: one acceptor; MHD's workers (each owns its connections, their exchanges and one pool);
 * one watcher of deadlines; with TLS, one that waits for handshakes; and any thread that calls
 * http_resume() or http_server_stop(). */
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

#include "base/clock.h"
#include "base/pages.h"
#include "base/shares.h"
#include "http/http.h"

enum {
    EXCHANGE_POOL_EXCHANGES_MAX = 32,
    NAP_US = 1000,                         /* between checks for something that ends soon */
    BODY_BYTES_PER_S = 10 * 1000,          /* the rate that a client must achieve in either
                                            * direction */
    LARGE_ANSWER_BYTES_PER_S = 250 * 1000, /* for answers over HTTP_LARGE_BYTES, because they hold
                                            * memory */
    PEER_BUCKETS = 256,
    /* The number of bytes of a body that are read beyond the size limit and discarded before the
     * answer: a client that is still writing when the connection is closed may never read the
     * answer. */
    DISCARDED_BYTES = 16 * 1024 * 1024,
};

struct exchange;

/* process.c */
struct http_process {
    uint64_t large_answers_bytes;
    _Atomic uint64_t large_bytes; /* of large bodies that are not finished */
    struct shares by_owner;
    _Atomic uint64_t kept_bytes; /* of large buffers kept for reuse */
    unsigned reserved_max;
    _Atomic unsigned connections_max[2]; /* of all servers; [1]: of reserved ones */
    _Atomic unsigned connections[2];
    pthread_mutex_t lock; /* protects the fields below; taken before a server's lock */
    uint64_t descriptors; /* the limit, and the number not available for connections */
    uint64_t taken_descriptors;
    struct http_server *servers;
};

/* Called at a server's start; process_remove() when none of its workers runs any more. */
void process_add(struct http_process *process, struct http_server *server);
void process_remove(struct http_process *process, struct http_server *server);

/* Takes that much of the memory for answers, or nothing; with `whatever`, regardless of the
 * limit. */
bool process_take_answer(struct http_process *process, uint64_t owner, uint64_t bytes,
                         bool whatever);
void process_give_answer(struct http_process *process, uint64_t owner, uint64_t bytes);

/* Processors fetch cache lines of 64 bytes in pairs. */
enum { EXCHANGE_POOL_ALIGNMENT = 128 };

/* Data of one worker, on cache lines of its own: only that worker writes it, with every request;
 * http_server_load() reads the counters. */
struct exchange_pool {
    _Alignas(EXCHANGE_POOL_ALIGNMENT) pthread_t thread;
    struct exchange *spare; /* finished exchanges, for reuse */
    unsigned spare_count;
    _Atomic unsigned begun;      /* exchanges from request line to end */
    _Atomic unsigned in_service; /* of these, passed to the service and not yet answered */
    _Atomic uint64_t called_us;  /* when the current call of the service began; 0: the worker is not
                                  * in a call */
};

/* connection_limit.c: a group of client addresses; under the server's lock. */
struct peer {
    uint64_t key;
    unsigned open; /* number of connections */
    struct peer *next;
    uint64_t pass; /* the pass of connection_limit_evict() to which the fields below belong */
    unsigned closable;
    uint64_t since_us;
};

struct connection {
    /* under the server's lock */
    struct connection *next;
    struct connection *previous;
    bool shut; /* shut down by berth; its worker will close it */
    struct peer *peer_group;

    /* set when the connection opens */
    int fd;
    struct exchange_pool *pool;
    char peer[INET6_ADDRSTRLEN];
    size_t peer_len;
    uint64_t peer_hash;
    struct MHD_Connection *mhd;
    struct tls_credentials *credentials; /* NULL: no TLS */

    /* by the watcher: since when nothing further is read, because the server drains; 0: not so */
    _Atomic uint64_t unread_since_us;

    /* written by its worker, read by the watcher */
    _Atomic bool has_asked;         /* a request line has arrived on it */
    _Atomic uint64_t idle_since_us; /* 0 from a request line to the end of that exchange */
    _Atomic uint64_t line_us;       /* when the request line was complete, until the headers are;
                                     * otherwise 0 */
    _Atomic uint64_t deadline_us;   /* shut down after this time; 0: none */
    _Atomic uint64_t receiving_us;  /* since when an incomplete request has been arriving; 0:
                                     * none */
    _Atomic uint64_t sending_us;    /* since when an answer has been on its way; 0: none */

    /* used by the watcher only: whether anything has arrived since the connection became idle */
    uint64_t watched_idle_us;
    uint64_t watched_bytes;
    uint64_t first_byte_us;
    uint64_t ended_us; /* since when the client's sending side has been closed with the request
                        * incomplete; 0: it is not */

    /* handshake.c, TLS only */
    _Atomic bool in_handshake; /* written by its worker */
    bool is_awaited;           /* used by its worker only: the connection is in the epoll set of
                                * handshakes */
    uint64_t opened_us;
    struct http_server *server;
};

struct listener {
    int fd;
    bool is_given; /* inherited: other processes hold it, too, and connections waiting on it may be
                    * for them */
    uint16_t port; /* 0: a unix socket */
    char *path;    /* the unix socket's file, if the server must remove it; otherwise NULL */
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
    struct http_tls *tls; /* NULL: no TLS */
    struct MHD_Daemon *daemon;

    pthread_t acceptor;
    int acceptor_wake_fd;
    _Atomic uint64_t connections_handed; /* to the workers, since the start */
    _Atomic uint64_t connections_taken;  /* by the workers */

    int handshakes_fd; /* epoll; TLS only */
    int handshakes_wake_fd;
    pthread_t handshaker;
    _Atomic unsigned handshakes_awaited; /* suspended until their clients continue */

    _Atomic bool stopping;        /* answers close their connection */
    _Atomic bool cutting;         /* no exchange is passed to the service any more */
    _Atomic uint64_t large_bytes; /* how much of the process's memory it has taken */
    _Atomic unsigned resumings;   /* threads inside http_resume() */
    _Atomic unsigned asking; /* exchanges whose service is deciding whether to read their bodies */

    pthread_mutex_t lock; /* protects the connections and the watcher's state */
    pthread_cond_t watcher_wake;
    pthread_t watcher;
    bool watcher_stop;
    uint64_t draining_since_us; /* 0: not draining */
    uint64_t linger_us;
    struct connection *connections;
    struct connection *cursor;         /* where the watcher continues after releasing the lock */
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
    STAGE_HEADERS, /* the request line has arrived */
    STAGE_BODY,
    STAGE_SERVICE, /* with the service */
    STAGE_ANSWERED,
};

enum body_state {
    BODY_SMALL,   /* or not yet known to be large */
    BODY_ASKING,  /* the service is deciding */
    BODY_WANTED,  /* charged, as far as its length is known */
    BODY_SKIPPED, /* discarded */
};

enum exchange_wait { WAIT_RUNNING, WAIT_SUSPENDED, WAIT_RESUMED };

struct request_header {
    struct slice name;
    struct slice value;
    const char *end; /* end of the value with the blanks after it */
};

struct exchange {
    struct http_exchange http; /* first, so that the service's pointer can be converted */
    struct http_server *server;
    struct connection *connection;
    struct MHD_Connection *mhd;
    enum exchange_stage stage;
    bool served; /* on_request was called, or on_large_body */
    _Atomic int wait;
    struct request_header *headers;
    size_t header_count;
    bool chunked;
    const char *target_end; /* in the library's buffer: the NUL byte after the target */
    uint64_t content_length;
    uint64_t received_bytes;
    uint64_t body_since_us;
    enum body_state body_state;
    struct buf body;         /* a small one, or the beginning of a chunked one */
    struct pages large_body; /* charged to http.share */
    bool answers_early;      /* before the end of the body: the connection is closed after the
                              * answer */
    uint64_t large_bytes;    /* counted in the server's and the process's totals, for large_owner */
    uint64_t large_owner;
    uint64_t stream_since_us; /* of an answer in pieces: when it began */
    uint64_t stream_bytes;    /* bytes sent before the piece in http.out */
    size_t stream_at;         /* bytes sent of that piece */
    bool is_piece_pending;    /* the service is writing the next piece; counted in in_service */
    struct exchange *next_spare;
};

/* Only the worker writes its counts, so a plain store suffices. A thread that reads the count sees
 * everything the worker did before. */
static inline void count_add(_Atomic unsigned *count, unsigned change)
{
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + change,
                          memory_order_release);
}

/* listener.c: opens a listening socket. False: one line in err. */
bool listener_open(const struct http_address *address, struct listener *listener,
                   struct err *err) BERTH_MUST_CHECK;
/* Closes the socket and removes its file; port and URL stay available until it is freed. */
void listener_close(struct listener *listener);
void listener_free(struct listener *listener);

/* unix_socket.c: opens a listening socket at a path, as listener_open() does. */
bool unix_socket_open(const char *path, unsigned mode, struct listener *listener,
                      struct err *err) BERTH_MUST_CHECK;
/* Removes the socket's file if it is still the one that this process made. */
void unix_socket_remove(const struct listener *listener);

/* tls.c: the certificates in use; the caller gives them back. Any thread. */
struct tls_credentials *tls_take(struct http_tls *tls);
void tls_give_back(struct tls_credentials *credentials);
/* Sets up a new session. */
void tls_prepare(const struct tls_credentials *credentials, gnutls_session_t session);

/* handshake.c */
bool handshakes_start(struct http_server *server);
/* Called after cutting: shuts down every connection, and returns when no handshake is awaited any
 * more. */
void handshakes_stop(struct http_server *server);
/* Prepares the connection's handshake. On its worker. */
void handshake_begin(struct http_server *server, struct connection *connection);

/* acceptor.c */
bool acceptor_start(struct http_server *server);
/* Accepts the connections that wait at a listener which is not inherited, and ends. */
void acceptor_stop(struct http_server *server);

/* exchange.c, all on the exchange's worker. */
struct exchange *exchange_begin(struct http_server *server, struct MHD_Connection *mhd,
                                const char *target);
enum MHD_Result exchange_continue(struct exchange *exchange, const char *method,
                                  const char *version, const char *data, size_t *size);
void exchange_end(struct exchange *exchange);
void exchange_pool_clear(struct http_process *process, struct exchange_pool *pool);

/* request.c: reads the headers of a request and checks its framing. The texts stay in the library's
 * buffer. */
void request_read_headers(struct exchange *exchange, const char *method, const char *version);

/* answer.c: passes the service's answer to MHD. */
enum MHD_Result answer_send(struct exchange *exchange);
/* Releases the memory that the answer's body was charged with. */
void answer_forget(struct exchange *exchange);

/* stream.c: makes a response that requests one piece after another from the service. */
struct MHD_Response *stream_response(struct exchange *exchange);

/* connection.c: called by MHD when a connection opens or closes, on its worker. */
struct connection *connection_open(struct http_server *server, struct MHD_Connection *mhd);
void connection_close(struct http_server *server, struct connection *connection);

/* shut.c: shuts the connection down. Its worker sees the end of the stream and closes it. Under the
 * lock. */
void connection_shut(struct http_server *server, struct connection *connection);
/* The same once its worker has read what has already arrived: a request that is among it is
 * answered. Does nothing if headers are complete and no more are awaited. Under the lock. */
void connection_shut_reading(struct connection *connection, uint64_t now_us);
/* Whether that has happened, or will have happened before the current request is answered. On its
 * worker, from the end of the headers on. */
bool connection_is_unread(struct connection *connection);
/* Whether the client has disconnected, or has closed its sending side. Called by a thread that may
 * use the connection's fd. */
bool connection_is_gone(const struct connection *connection);
/* Whether all has been read and nothing more will be: the client has closed its sending side, or
 * the reading side has been shut down. Called by a thread that may use the connection's fd. */
bool connection_has_ended(const struct connection *connection);

/* connection_limit.c */
uint64_t peer_key(const struct sockaddr *address); /* 0: a unix socket */
/* Add a connection to its group's count, or remove it. Under the lock. */
struct peer *peer_enter(struct http_server *server, uint64_t key);
void peer_leave(struct http_server *server, struct peer *peer);
/* Whether an address has as many connections as allowed. Takes the lock. */
bool peer_is_full(struct http_server *server, const struct sockaddr *address);
/* Shuts down a connection, or several that have waited for a long time. False: none may be shut
 * down. Under the lock. */
bool connection_limit_evict(struct http_server *server);
/* Whether the process has no descriptor left for another connection. */
bool connection_limit_is_reached(const struct http_server *server);
/* Counts another connection of the process, and closes one if there are too many. False: none may
 * be closed, so the new one must be. Without the lock. */
bool connection_limit_enter_process(struct http_server *server);
void connection_limit_leave_process(struct http_server *server);

/* handover.c: the exchange passes to the service, and leaves it. False: a stop has cut it off. */
bool exchange_enter_service(struct exchange *exchange);
void exchange_leave_service(struct exchange *exchange);
/* Calls the service, noting when the worker entered it. */
enum http_step exchange_call(struct exchange *exchange,
                             enum http_step (*call)(struct http_exchange *, void *));
/* After HTTP_PENDING: suspends the exchange until its worker is called again. False: it has already
 * been resumed. */
bool exchange_suspend(struct exchange *exchange);

/* body.c: the request's body, on the exchange's worker. body_begin: the headers have arrived
 * without an error; body_take: bytes have arrived; body_release: the exchange ends. */
enum body_verdict {
    BODY_GOES_ON,
    BODY_WAITS,   /* for the service; no bytes were taken */
    BODY_ANSWERS, /* no more of the body is needed: continue with the service */
    BODY_BREAKS,  /* close the connection */
};
enum body_verdict body_begin(struct exchange *exchange);
enum body_verdict body_take(struct exchange *exchange, const char *data, size_t size);
/* No more bytes are expected: either the body is complete and http.body is set, or the service
 * decides first. */
enum body_verdict body_finish(struct exchange *exchange);
void body_release(struct exchange *exchange);

/* ready_events.c: call it before the library starts. */
void ready_events_limit(void);

/* deadline.c: the time by which that many bytes must have been transferred in either direction; 0:
 * no deadline. */
uint64_t body_deadline_us(const struct http_server *server, uint64_t since_us, uint64_t bytes);
uint64_t stream_deadline_us(const struct http_server *server, uint64_t since_us, uint64_t bytes);
uint64_t answer_deadline_us(const struct http_server *server, uint64_t since_us, uint64_t bytes);
/* The watcher's start and stop. */
bool watcher_start(struct http_server *server);
/* From now on, idle connections are closed, too. */
void watcher_drain(struct http_server *server, unsigned linger_ms);
void watcher_stop(struct http_server *server);

#endif
