/* The fake server, or a cluster of them: sessions that execute the statements of berth in
 * transactions, on the states of a database.
 *
 * Isolation is that of PostgreSQL: READ COMMITTED with rows and unique keys that later writers wait
 * for, or one snapshot. Within a cluster each node has a state of its own, which may be older than
 * the newest; a commit is certified there: it fails if one that the node does not have yet has
 * written the same rows. A session executes one message at a time, whenever the simulation lets it:
 * between any two, others run, and connections, nodes and the database itself may fail. One
 * thread. */
#ifndef BERTH_FAKE_POSTGRES_SERVER_H
#define BERTH_FAKE_POSTGRES_SERVER_H

#include "libpq.h"
#include "memory_store/rng.h"
#include "states.h"

enum { SERVER_NODES = 3, SERVER_SESSIONS = 64, MESSAGE_PARAMETERS = 64 };

struct parameter {
    struct slice bytes; /* without data: NULL */
    bool is_text;
};

enum message_kind {
    MESSAGE_PREPARE,
    MESSAGE_EXECUTE,
    MESSAGE_SYNC,
    MESSAGE_STATEMENT /* of MariaDB */
};

/* What a client sends. From malloc, with everything that it refers to. */
struct message {
    struct message *next;
    enum message_kind kind;
    const char *name; /* of the prepared statement; NULL: none */
    const char *sql;  /* NULL: the prepared statement's */
    bool is_binary;
    bool single_rows;
    bool has_more; /* MESSAGE_STATEMENT: it is not the last of its text */
    unsigned count;
    struct parameter parameters[];
};

enum {
    TRANSACTION_WRITES = 512,
    TRANSACTION_KEYS = 1024,
    TRANSACTION_REFERENCES = 1024,
    TRANSACTION_LINES = 4,
};

struct transaction {
    bool is_open;     /* after BEGIN, or within a pipeline */
    bool is_explicit; /* after BEGIN */
    bool has_failed;  /* everything is refused until it ends */
    bool is_snapshot; /* all statements see one state */
    bool has_snapshot;
    uint64_t snapshot; /* its number */
    bool has_lock;     /* the advisory lock for the next batch */
    bool is_doomed;    /* a commit of another node has written the same */
    size_t write_count;
    struct row_write writes[TRANSACTION_WRITES];
    size_t key_count;
    uint64_t keys[TRANSACTION_KEYS]; /* of what it has written */
    size_t reference_count;
    uint64_t references[TRANSACTION_REFERENCES]; /* rows that nobody else may delete */
    size_t line_count;
    struct log_line *lines[TRANSACTION_LINES];
    struct epoch_line epoch; /* epoch 0: none */
};

/* What else a session of MariaDB has (tests/fake_mariadb). */
enum { MARIA_HOST_BYTES = 40, MARIA_SIGN_BYTES = 64 };

struct maria_session {
    bool is_maria;
    bool has_autocommit;
    bool waits;            /* wsrep_sync_wait: reads see what the cluster has committed before */
    bool reads_repeatably; /* the next transaction */
    bool is_beaten;        /* another node's commit has ended its transaction */
    bool is_in_text;       /* the first statement of its text has been executed */
    bool has_committed;    /* and its COMMIT */
    int64_t row_count;     /* of the last statement that writes */
    int64_t insert_id;
    int backend;                 /* the number of the node's connection: a proxy may replace it */
    char sign[MARIA_SIGN_BYTES]; /* @berth_session; "": NULL */
    int64_t failed_row;          /* of the last statement that failed, from 1 on; 0: unknown */
    uint64_t told;               /* the state whose log the text has read or written; 0: none */
};

struct prepared {
    struct prepared *next;
    char *name;
    char *sql;
};

struct session {
    bool is_used;
    int pid;
    int node;
    struct process *process;
    struct pg_conn *conn; /* NULL: the client has gone */
    uint64_t gone_us;     /* and that is noticed then, after the last message */
    struct message *first, *last;
    bool skips; /* until the next synchronisation point, because a statement has failed */
    struct transaction transaction;
    struct prepared *prepared;
    struct maria_session maria;
    uint64_t lock_timeout_us; /* 0: none */
    uint64_t idle_timeout_us; /* in a transaction; 0: none */
    bool is_blocked;
    const struct session *blocked_by;
    uint64_t blocked_at; /* server.changes at the last attempt */
    uint64_t blocked_us; /* since when */
    bool awaits;         /* the node has to have that state first */
    uint64_t awaited;
    uint64_t idle_us;       /* since when it has been waiting for its client */
    uint64_t slow_until_us; /* it is not scheduled before */
};

struct server_hooks {
    /* A transaction is about to be committed. `lines`: its rows of the log. */
    void (*on_commit)(void *cls, const struct session *session, const struct state *before,
                      const struct state *after);
    void *cls;
    /* NULL, or: a node has that state now. */
    void (*on_applied)(int node, const struct state *state);
    /* NULL, or: the process has read an answer that tells the log of that state. */
    void (*on_told)(struct process *process, uint64_t state);
    /* Executes a MESSAGE_STATEMENT. False: it is to be executed later. */
    bool (*run_statement)(struct session *session, struct message *message);
};

struct server {
    struct states states;
    int node_count;
    uint64_t applied[SERVER_NODES]; /* the state that a node has */
    bool is_down[SERVER_NODES];     /* it accepts no connections */
    bool is_apart[SERVER_NODES];    /* of Galera: it is not in the primary component */
    struct session sessions[SERVER_SESSIONS];
    int session_count; /* those from there on have not been used yet */
    int last_pid;
    int64_t started[SERVER_NODES]; /* different for each start of each of them */
    int64_t timeline;              /* grows with each promotion */
    uint64_t changes;              /* how often something has ended that others may wait for */
    struct rng *rng;
    /* Thousandths: how often a COMMIT takes long, before it is executed or before it is answered.
     */
    int slow_commit, slow_answer;
    uint64_t slow_commits, slow_answers; /* so far, in all seeds */
    struct server_hooks hooks;
    struct session holder; /* another program's, which has locked rows, until: */
    uint64_t holds_until_us;
};

/* The one that libpq.c connects to. */
extern struct server server;

void fake_server_begin(struct rng *rng, int nodes);
void fake_server_end(void);

/* ---- what the simulation lets happen ---- */

/* Whether a session can execute a message, or notices that its client has gone. */
bool fake_server_session_can_run(const struct session *session);
void fake_server_session_run(struct session *session);
/* The earliest world time at which a session's wait ends by itself; UINT64_MAX: never. */
uint64_t fake_server_session_next_us(const struct session *session);

/* The connection breaks: a part of what is on its way is lost. */
void fake_server_cut(struct session *session);
/* Nothing gets through any more, and neither side knows. */
void fake_server_swallow(struct session *session);
/* The server ends it: its transaction is rolled back. */
void fake_server_terminate(struct session *session);
void fake_server_terminate_all(int node); /* -1: of all nodes */

/* Another program locks a provider's row on a node, unless somebody has it, until that world time.
 * Afterwards it has not written anything. */
void fake_server_hold(int node, int64_t provider, uint64_t until_us);

/* A node of a cluster applies the next commit. False: it has all. */
bool fake_server_apply(int node);

/* The newest `by` states are gone, on all nodes; all sessions end. False: that is not possible. */
bool fake_server_go_back(uint64_t by);

/* At most so many of the log's oldest rows are deleted, as by an instance that prunes it: only
 * those that were committed before that world time, and never the newest. */
void fake_server_prune(unsigned most, uint64_t before_us);

/* Another program's transaction: it writes rows and no log. False: it conflicts with one that is
 * open. */
bool fake_server_write(const struct row_write *writes, size_t count);

/* ---- for tests/fake_mariadb ---- */

/* The client gets the result, unless it has gone. */
void fake_server_deliver(struct session *session, struct pg_result *result);
/* It has waited for a lock for longer than it may. */
bool fake_server_has_waited_too_long(const struct session *session);
/* The statement is to be tried again when something has changed. */
void fake_server_block(struct session *session);
void fake_server_unblock(struct session *session);

/* ---- for libpq.c ---- */

/* NULL: refused. */
struct session *fake_server_connect(struct pg_conn *conn, int node);
void fake_server_receive(struct session *session, struct message *messages);
/* The client closes the connection. */
void fake_server_hang_up(struct session *session);

#endif
