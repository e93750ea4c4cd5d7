/* What a session with PostgreSQL knows besides what all sessions do (store/server/session.h). */
#ifndef BERTH_STORE_POSTGRES_SESSION_SESSION_TYPES_H
#define BERTH_STORE_POSTGRES_SESSION_SESSION_TYPES_H

#include "store/server/session.h"

struct pg_url;
struct pg_session;

/* Whether statements that ask for it are prepared. */
enum pg_prepared_use {
    PG_PREPARED_AUTO, /* unless a pooler is in between, or the server has shown that they do not
                         work */
    PG_PREPARED_ALWAYS,
    PG_PREPARED_NEVER,
};

/* What is known of the server since the last connect. */
struct pg_server {
    int version;    /* 150020 for 15.20 */
    int backend;    /* process id, as the server reported it at connect */
    bool is_pooled; /* a pooler such as PgBouncer is in between: another server process may
                       serve the next transaction, and no state of a session survives */
    bool uses_tls;
    char address[64]; /* of the server, as it sees it; "" for a unix socket */
};

#endif
