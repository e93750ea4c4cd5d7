/* The session's state, for the files that send texts with it. */
#ifndef BERTH_STORE_MARIADB_SESSION_SESSION_STATE_H
#define BERTH_STORE_MARIADB_SESSION_SESSION_STATE_H

#include <mysql.h>

#include "base/arena.h"
#include "base/err.h"
#include "store/mariadb/session/failure.h"
#include "store/mariadb/session/indexes.h"
#include "store/mariadb/session/rows.h"
#include "store/mariadb/session/session_types.h"
#include "store/mariadb/session/url.h"
#include "store/server/outcome.h"

/* The functions of libmariadb that a text goes through. */
enum mariadb_step {
    MARIADB_STEP_SEND,
    MARIADB_STEP_ANSWER, /* of the first statement */
    MARIADB_STEP_ROW,
    MARIADB_STEP_NEXT, /* of the next statement */
};

/* A text, from its start until all results have been read. */
struct mariadb_progress {
    bool is_open;
    struct mariadb_text text;
    enum mariadb_step step;
    bool has_begun;            /* libmariadb has begun the step */
    int waits_for;             /* events; 0: the step has ended */
    int failed;                /* what the step returned */
    my_bool answered;          /* the same, of MARIADB_STEP_ANSWER */
    MYSQL_ROW row;             /* the same, of MARIADB_STEP_ROW */
    MYSQL_RES *result;         /* whose rows are being read; NULL: none */
    struct mariadb_rows *rows; /* of the caller, for the first rows_n results; NULL: none */
    size_t rows_n;
    size_t results; /* so far */
    bool is_stream;
    struct mariadb_rows *streamed; /* gets the next row of a stream */
    size_t bytes;                  /* of all rows */
    unsigned steps;                /* since the last look at the clock */
};

enum { MARIADB_KEPT_MOST = 6 };

struct mariadb_batch;

struct mariadb_session {
    struct server_session base; /* first */
    MYSQL *conn;                /* NULL: not connected */
    bool uses_tls;              /* the connection */
    int sync_wait;
    struct mariadb_url url;
    struct arena *arena; /* options and url */
    struct mariadb_server server;
    struct mariadb_progress progress;
    struct mariadb_failure failure;
    struct buf sql;                              /* a text that is sent in steps */
    struct mariadb_rows kept[MARIADB_KEPT_MOST]; /* and its results */
    struct mariadb_indexes indexes;              /* of the database, once the session is ready */
    bool asks_mark;     /* the question that was sent is only whether memory has the newest row */
    bool is_far_behind; /* what the log has since the state of memory was too large an answer */
    struct mariadb_batch *batch; /* the last one that was sent, in its arena (write_exchange.c) */
    char mended[MARIADB_NAME_BYTES]; /* the trigger whose table was reopened (foreign_reopen.h) */
    uint64_t mended_us;              /* when; 0: never */
};

static inline struct mariadb_session *mariadb_session_of(struct server_session *session)
{
    return (struct mariadb_session *)session;
}

static inline const struct mariadb_session *
mariadb_session_of_const(const struct server_session *session)
{
    return (const struct mariadb_session *)session;
}

#endif
