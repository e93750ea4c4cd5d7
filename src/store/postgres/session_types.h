/* What a session is created from, and what it knows. */
#ifndef BERTH_STORE_POSTGRES_SESSION_TYPES_H
#define BERTH_STORE_POSTGRES_SESSION_TYPES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/server/lineage.h"

struct server_meanwhile;
struct pg_url;
struct pg_session;

/* Whether statements that ask for it are prepared. */
enum pg_prepared_use {
    PG_PREPARED_AUTO, /* unless a pooler is in between, or the server has shown that they do not
                         work */
    PG_PREPARED_ALWAYS,
    PG_PREPARED_NEVER,
};

/* For metrics, of any number of sessions. Any thread. */
struct pg_connection_counts {
    _Atomic uint64_t made;
    _Atomic uint64_t failed; /* attempts */
};

struct pg_session_options {
    const struct pg_url *url;     /* is copied */
    const char *application_name; /* unless the URL or PGAPPNAME names one; NULL: "berthd" */
    enum pg_prepared_use prepared;
    /* Settings of the server for this session; 0: the server's own. */
    int statement_timeout_ms;
    int idle_in_transaction_ms;
    int lock_timeout_ms;
    struct server_lineage *lineage; /* of the store; NULL: any server will do */
    int wake_fd; /* a descriptor (eventfd) that ends the waits of pg_pipeline_next() and
                    pg_stream_next(); -1: none */
    struct pg_connection_counts *counts; /* outlive the session; NULL: it is not counted */
    struct server_meanwhile *meanwhile;  /* for all waits; the same */
};

/* What is known of the server since the last connect. */
struct pg_server {
    int version;    /* 150020 for 15.20 */
    int backend;    /* process id, as the server reported it at connect */
    bool is_pooled; /* a pooler such as PgBouncer is in between: another server process may
                       serve the next transaction, and no state of a session survives */
    bool uses_tls;
    bool is_standby;     /* at connect; false if the identity is not known */
    struct server_id id; /* only with a lineage, and if the user may read it */
    char address[64];    /* of the server, as it sees it; "" for a unix socket */
};

/* What is known of the last COMMIT that was queued. */
enum pg_commit {
    PG_COMMIT_NONE,    /* there was none, or it certainly has not happened and never will */
    PG_COMMIT_SENT,    /* its result has not been read */
    PG_COMMIT_DONE,    /* it has happened */
    PG_COMMIT_UNKNOWN, /* the connection ended before its result: it may have happened, or may even
                          happen later */
};

#endif
