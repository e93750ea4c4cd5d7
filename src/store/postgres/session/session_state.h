/* The session's state, for the files that send texts with it. */
#ifndef BERTH_STORE_POSTGRES_SESSION_SESSION_STATE_H
#define BERTH_STORE_POSTGRES_SESSION_SESSION_STATE_H

#include <libpq-fe.h>
#include <stdint.h>

#include "base/arena.h"
#include "store/postgres/session/array.h"
#include "store/postgres/session/failure.h"
#include "store/postgres/session/rows.h"
#include "store/postgres/session/session_types.h"
#include "store/postgres/session/url.h"
#include "store/rows.h"

/* What an answer that the server still owes belongs to. */
enum pg_entry_kind {
    PG_ENTRY_STATEMENT, /* the caller's */
    PG_ENTRY_HIDDEN,    /* the session's own: its failure counts as that of `statement` */
    PG_ENTRY_SYNC,      /* the end of the pipeline */
};

struct pg_entry {
    enum pg_entry_kind kind;
    size_t statement;
    bool is_commit;
    bool is_prepared;
    bool checks_server; /* fails if it is not the session's */
    uint64_t prepares;  /* the hash of the statement that is prepared if this succeeds; 0: none */
    const char *what;
};

/* A pipeline, from its begin until all answers have been read. */
struct pg_queue {
    bool is_open;
    struct pg_entry *entries; /* from malloc */
    size_t count, capacity;
    size_t next;       /* the first entry whose answer has not been read completely */
    size_t statements; /* of the caller, queued so far */
    bool is_at_once;   /* no failure is dealt with now: that may take long */
    PGresult *failed;  /* so this answer to the next entry was left for later; NULL: none was */
};

enum { PG_KEPT_MOST = 3 };

struct pg_batch;

struct pg_session {
    struct server_session base; /* first */
    PGconn *conn;               /* NULL: not connected */
    struct pg_url url;
    struct arena *arena;   /* options and url */
    struct arena *scratch; /* one statement's parameters */
    struct pg_server server;
    bool is_identified; /* since the connection was made */
    struct pg_queue queue;
    struct pg_failure failure;
    enum pg_prepared_use prepared_use;
    bool uses_prepared;
    bool prepared_fail; /* the server has shown that they do not work: stays for all connections */
    uint64_t *prepared; /* the hashes of those that this connection has; from malloc */
    size_t prepared_n, prepared_capacity;
    struct pg_rows kept[PG_KEPT_MOST];      /* results of a pipeline that is read in steps */
    struct pg_array arrays[ROWS_CELLS_MAX]; /* of one statement */
    struct pg_batch *batch; /* the last one that was sent, in its arena (write_exchange.c) */
};

static inline struct pg_session *pg_session_of(struct server_session *session)
{
    return (struct pg_session *)session;
}

static inline const struct pg_session *pg_session_of_const(const struct server_session *session)
{
    return (const struct pg_session *)session;
}

#endif
