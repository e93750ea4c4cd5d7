/* The fake server as MariaDB: the texts that berth sends to it are executed statement by statement,
 * in the transactions and on the states of tests/fake_postgres.
 *
 * With more than one node it is Galera. Rows and locks are those of a node; a commit is certified
 * against what the cluster has committed meanwhile, the first one wins (1213), and when a node
 * applies another one's commit, it ends those of its transactions that have written or locked the
 * same. A statement that begins outside of a transaction waits for what the cluster has committed
 * before, if it reads and wsrep_sync_wait is set; otherwise it sees what its node has. A node that
 * is not in the primary component answers 1047.
 *
 * Between two statements of one text anything may happen. A transaction that another node's commit
 * ends there may end unnoticed (observed on 10.11): the statements behind it are executed, each on
 * its own with autocommit, or as a new transaction without it. */
#ifndef BERTH_FAKE_MARIADB_MARIA_H
#define BERTH_FAKE_MARIADB_MARIA_H

#include "fake_postgres/statements.h"
#include "store/rows.h"

enum {
    ERROR_NOT_PRIMARY = 1047,
    ERROR_DUPLICATE = 1062,
    ERROR_IN_COMMIT = 1180,
    ERROR_LOCKED = 1205,
    ERROR_BEATEN = 1213,
    ERROR_ROWS = 1242,
    ERROR_REFERRED = 1451,
    ERROR_REFERENCE = 1452,
    ERROR_RANGE = 1690,
};

/* A name of a row in berth_locks, by which an instance asks for its turn. */
enum { MARIA_ASKS_MOST = 16, MARIA_ASK_BYTES = 24 };

struct maria {
    /* All nodes have them at once: nothing depends on them but how long others wait. */
    char asks[MARIA_ASKS_MOST][MARIA_ASK_BYTES];
    size_t ask_count;
    /* The next id that a node gives out is higher; by enum rows_table. */
    int64_t counters[SERVER_NODES][ROWS_PARENTS];
    uint64_t cluster;  /* the identity of the cluster's history, or of the only server */
    int tears;         /* thousandths: how often a transaction ends unnoticed within a text */
    uint64_t torn;     /* so often, in all seeds */
    uint64_t late;     /* errors behind a COMMIT */
    uint64_t beaten;   /* transactions that were ended while they were open */
    uint64_t refused;  /* by certification */
    uint64_t stale;    /* statements that had to wait for commits of other nodes */
    uint64_t replaced; /* nodes, or all of their data */
};
extern struct maria maria;

/* After fake_server_begin(), and after the tables were filled. */
void maria_begin(void);
void maria_end(void);

/* The session is a new one for the server, with the defaults of all settings. */
void maria_begin_session(struct session *session, int backend);
/* A proxy continues an idle session on a connection of its own to that node. False: it is not idle,
 * or in a transaction. */
bool maria_move_session(struct session *session, int node);

/* An id for another program's row, on a node that has the newest state. */
int64_t maria_next_id(enum table table);

/* server_hooks.run_statement */
bool maria_run(struct session *session, struct message *message);

static inline bool maria_is_galera(void)
{
    return server.node_count > 1;
}

/* ---- faults of Galera (galera.c) ---- */

/* The node leaves the primary component. Of the transactions that it is committing, some are
 * replicated nevertheless. */
void maria_leave(int node);
/* Whether some session's transaction is being committed. */
bool maria_is_committing(void);
/* It is back, or another one with its name is in its place: with a state transfer then, or if it
 * has missed too much, and with the counters of ids that follow from its rows. */
void maria_return(int node);
/* The newest commit is lost, though it was acknowledged: the nodes that have it are replaced by
 * those that do not. False: that is not possible. */
bool maria_lose_newest(void);
/* All nodes are killed, and the newest `by` commits are gone. The cluster that is started in its
 * place may have the old one's identity, unless another program has created a name or a provider
 * in one of them, or has deleted a provider or an allocation. */
bool maria_lose_cluster(uint64_t by);

/* ---- statements ---- */

enum maria_kind {
    MARIA_SETS,   /* needs no table */
    MARIA_READS,  /* waits for the cluster, outside of a transaction */
    MARIA_BEGINS, /* the same */
    MARIA_WRITES,
    MARIA_ENDS,
};

/* What a statement is, and how it is executed. Unknown ones end the program. */
struct maria_statement {
    enum maria_kind kind;
    enum outcome (*execute)(struct call *call);
};
struct maria_statement maria_statement_of(const struct call *call);

/* reads.c and writes.c. *is_known: whether it is one. */
struct maria_statement maria_read_of(const struct call *call, bool *is_known);
enum outcome maria_write(struct call *call);
void maria_reads_forget(void);

/* log.c */
enum outcome maria_insert_line(struct call *call);
enum outcome maria_select_newest(struct call *call);
enum outcome maria_select_newest_mark(struct call *call);
enum outcome maria_select_newest_number(struct call *call);
/* The session's sign (backend.h), as a column. */
void maria_add_sign(struct call *call);
enum outcome maria_select_since(struct call *call);
enum outcome maria_select_locked(struct call *call);
enum outcome maria_select_first(struct call *call);
enum outcome maria_select_epochs(struct call *call);
enum outcome maria_insert_epoch(struct call *call);
enum outcome maria_check_line(struct call *call);

/* asks.c */
enum outcome maria_insert_ask(struct call *call);
enum outcome maria_delete_ask(struct call *call);
enum outcome maria_select_asks(struct call *call);

/* Sets the result; returns OUTCOME_ERROR. */
enum outcome maria_fail(struct call *call, unsigned code, const char *format, ...)
    BERTH_PRINTF(3, 4);

/* ---- results: texts ---- */

void maria_columns(struct call *call, const char *kinds); /* "nt": a number, a text */
void maria_add_int(struct call *call, int64_t value);
void maria_add_text(struct call *call, struct slice text);
void maria_add_time(struct call *call, int64_t us);
void maria_add_null(struct call *call);
/* Of a statement that writes. */
enum outcome maria_affected(struct call *call, size_t rows);

/* ---- parsing: each skips what it has read ---- */

/* Before each statement; afterwards. */
void maria_parse_begin(void);
void maria_parse_forget(void);

bool maria_skip(struct slice *at, const char *text);
bool maria_take_int(struct slice *at, int64_t *value);
/* A literal of literal.h. Texts are valid until the next statement. */
bool maria_take_literal(struct slice *at, struct value *value);
/* Up to the text, which is skipped, too. Without data: it is not there. */
struct slice maria_cut(struct slice *at, const char *text);
/* What follows the text in the statement, or a literal there. */
struct slice maria_after(const struct call *call, const char *text);
int64_t maria_int_after(const struct call *call, const char *text);
struct slice maria_bytes_after(const struct call *call, const char *text);
bool maria_has(const struct call *call, const char *text);
/* The statement is not as expected: ends the program. */
_Noreturn void maria_give_up(const struct call *call);

#endif
