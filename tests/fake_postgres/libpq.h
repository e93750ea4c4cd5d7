/* The client's side of the fake server: the functions of libpq that berth calls, on connections in
 * memory (libpq.c), and what the server needs to know of a connection. One thread. */
#ifndef BERTH_FAKE_POSTGRES_LIBPQ_H
#define BERTH_FAKE_POSTGRES_LIBPQ_H

#include <stdbool.h>
#include <stdint.h>

#include "result.h"

struct session;
struct process;

/* A connection, until berth closes it. */
struct pg_conn {
    struct process *process;
    struct session *session; /* NULL: the connection is broken, or is not made yet */
    int slot;                /* libpq_is_ready() knows it by this */
    uint64_t serial;         /* no other connection has it, or has had it */
    bool is_connecting;
    bool is_open;      /* has been made, and is not known to be broken */
    bool drops;        /* what had not been read is lost */
    bool is_swallowed; /* nothing arrives any more, on either side */
    bool in_pipeline;
    bool single_rows;        /* of the next statement */
    uint64_t answers_at_us;  /* until then, answers are on their way */
    struct pg_result *first; /* answers that have arrived, and their ends */
    struct pg_result *last;
    struct message *unsent;
    struct message *unsent_last;
    unsigned transaction; /* PGTransactionStatusType, as of the last synchronisation point */
};

/* Whether that is the socket of a connection. */
bool libpq_has(int socket);
/* Whether a wait for it is over. */
bool libpq_is_ready(int socket, short events);

/* The serial number of the open connection with that socket; 0: there is none. */
uint64_t libpq_serial(int socket);

/* The world time at which answers that are on their way arrive; UINT64_MAX: there are none. */
uint64_t libpq_next_us(int socket);

/* Answers of the server. */
void libpq_deliver(struct pg_conn *conn, struct pg_result *result);

/* The connection breaks. `drops`: answers on their way are lost. */
void libpq_break(struct pg_conn *conn, bool drops);

#endif
