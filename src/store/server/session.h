/* One connection to a database server, whatever its dialect.
 *
 * A session is used by one thread at a time. All waits have a deadline, a time of
 * clock_monotonic_us(); nothing else blocks. A session never reconnects by itself: its owner calls
 * server_session_connect() again, and knows what was lost. */
#ifndef BERTH_STORE_SERVER_SESSION_H
#define BERTH_STORE_SERVER_SESSION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "store/server/failure.h"
#include "store/server/lineage.h"

struct server_dialect;
struct server_meanwhile;

/* Where a database is, as a dialect has read its URL. */
struct server_address {
    const struct server_dialect *dialect;
    const void *url;     /* the dialect's */
    struct slice target; /* for messages: "postgresql://user@host:port/db", never with a password */
};

/* For metrics, of any number of sessions. Any thread. */
struct server_connection_counts {
    _Atomic uint64_t made;
    _Atomic uint64_t failed; /* attempts */
};

struct server_session_options {
    const struct server_address *address; /* is copied; not set in a session */
    const char *application_name; /* unless the URL or the environment names one; NULL: "berthd" */
    /* Settings of the server for this session; 0: the server's own. */
    int statement_timeout_ms; /* 0: also none, on MariaDB and MySQL */
    int idle_in_transaction_ms;
    int lock_timeout_ms;
    struct server_lineage *lineage; /* of the store; NULL: any server will do */
    int wake_fd; /* a descriptor (eventfd) that ends the waits of exchanges for a thread that may
                    wait (dialect.h); -1: none */
    struct server_connection_counts *counts; /* outlive the session; NULL: it is not counted */
    struct server_meanwhile *meanwhile;      /* for all waits; the same */
};

/* What is known of the last COMMIT that was sent. */
enum server_commit {
    SERVER_COMMIT_NONE,    /* there was none, or it certainly has not happened and never will */
    SERVER_COMMIT_SENT,    /* its result has not been read */
    SERVER_COMMIT_DONE,    /* it has happened */
    SERVER_COMMIT_UNKNOWN, /* the connection ended before its result: it may have happened, or may
                              even happen later */
};

/* A dialect's session begins with it, and fills in what is known since the last connect. */
struct server_session {
    const struct server_dialect *dialect;
    struct server_session_options options;
    struct slice target;   /* that of the address */
    int stop_fd;           /* ends an attempt to connect; -1: none */
    uint64_t connected_us; /* time of the last connect */
    struct server_id id;   /* only with a lineage, and if the user may read it */
    const char *node; /* the server's name in a cluster all of whose nodes may be written, until
                         the next connect; "": it is in none */
    bool is_standby;  /* at connect; false if the identity is not known */
    enum server_commit commit;
    bool is_unreplicated; /* a transaction is committed without having waited for a synchronous
                             standby, because somebody cancelled the wait */
};

/* For dialects: begins a session that is all zero. Names are copied to the arena. */
void server_session_init(struct server_session *session,
                         const struct server_session_options *options, struct arena *arena);

/* The session is not connected yet. The caller owns it. */
struct server_session *server_session_create(const struct server_session_options *options);

/* Closes the connection without waiting for the server. NULL is allowed. */
void server_session_destroy(struct server_session *session);

/* Connects to the first host that accepts, trying each of its addresses in turn, and applies the
 * session's settings. A connection that is still open is closed first. An old primary (lineage.h)
 * is passed over. SERVER_RETRY: the servers cannot be reached or do not accept connections at the
 * moment. SERVER_FAILED: they refuse this user, database or parameter. */
enum server_outcome server_session_connect(struct server_session *session, uint64_t deadline_us,
                                           struct err *err) BERTH_MUST_CHECK;

/* A descriptor that makes server_session_connect() give up (SERVER_TIMEOUT or SERVER_RETRY) while
 * it is readable; -1, as after server_session_create(): none. */
void server_session_set_stop(struct server_session *session, int fd);

/* Closes the connection without waiting for the server: an open transaction is rolled back, and a
 * running statement's result is lost. */
void server_session_close(struct server_session *session);

bool server_session_is_open(const struct server_session *session);

/* Of its connection, which must be open. It is readable when an answer arrives, and when the
 * connection ends. */
int server_session_socket(const struct server_session *session);

/* Looks whether the server has ended a connection that was idle, and then closes it: nothing that
 * would be sent could reach the server. Not in an exchange. */
void server_session_notice_end(struct server_session *session);

/* Whether the session was connected that long ago; false if age_us is 0, or if it is not open. */
bool server_session_is_old(const struct server_session *session, uint64_t age_us);

/* Whether the newest connection of its lineage is to another server than the session's own, or its
 * last one, or the session has been left. */
bool server_session_has_moved(const struct server_session *session);

/* Whether a transaction is open, even a failed one. */
bool server_session_in_transaction(const struct server_session *session);

/* Ends the transaction, if there is one. After a failure, the session is closed, which ends it as
 * well. `what` is for messages. */
void server_session_rollback(struct server_session *session, const char *what, uint64_t deadline_us,
                             struct err *err);

/* Why the last function failed, if the server has answered. */
enum server_reason server_session_reason(const struct server_session *session);

/* Whether the server has said so since the last call. */
bool server_session_take_unreplicated(struct server_session *session);

#endif
