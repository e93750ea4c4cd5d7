/* The simulation of a fleet: several instances, with their real engine and their real store for
 * PostgreSQL or MariaDB, on a fake server (tests/fake_postgres, tests/fake_mariadb), and everything
 * that can go wrong between them. Everything that happens is drawn from a seed.
 *
 * It checks that no batch is committed twice, that one which was answered with a definite failure
 * never is, that an acknowledged write is in the database unless the database went back, that what
 * is gone then is named by each instance that had it, or reported by the process that is started in
 * its place, that each epoch stands for something that is gone, and begins with the next batch of
 * an instance that had it (fleet_epochs.c), that a strict read gets a state that the database had
 * while the read waited, that each version equals the state whose stamp it has, that capacities
 * hold, and that in the end all replicas equal the tables. In some seeds another program writes as
 * well (fleet_foreign.c): memory may lack what it has written lately, but not for longer than
 * docs/postgresql.md promises, which is checked in the end. One thread. */
#ifndef BERTH_SIM_FLEET_H
#define BERTH_SIM_FLEET_H

#include <pthread.h>

#include "baremetal/write/node_rule.h"
#include "base/event_loop.h"
#include "clients.h"
#include "engine/pipeline.h"
#include "fake_postgres/process.h"
#include "fake_postgres/server.h"
#include "products/products.h"
#include "store/server/epochs.h"
#include "store/server/log_rows.h"

enum { FLEET_INSTANCES = 3, FLEET_NODES = SERVER_NODES, ASKED_AT_ONCE = 512 };

enum fleet_fault {
    FLEET_CUT,         /* a connection breaks */
    FLEET_SWALLOW,     /* nothing gets through a connection any more */
    FLEET_KILL,        /* an instance is killed, and another one is started */
    FLEET_STOP,        /* an instance is stopped for a while, with whatever lock it holds */
    FLEET_STALL,       /* a server process does nothing for a while */
    FLEET_SLOW_COMMIT, /* COMMITs take long */
    FLEET_SLOW_ANSWER, /* and so do their answers */
    FLEET_RESTART,     /* a node ends all its sessions */
    FLEET_GO_BACK,     /* the newest commits are lost */
    FLEET_CLOCK,       /* clocks jump */
    FLEET_PRUNE,       /* the log's oldest rows are deleted */
    FLEET_FOREIGN,     /* another program writes, and writes no log */
    FLEET_LOCK,        /* another program locks a row, and does nothing */
    FLEET_OF_GALERA,   /* only there: */
    FLEET_LEAVE = FLEET_OF_GALERA, /* a node leaves the cluster, or is back */
    FLEET_LOSE,                    /* the newest commit is lost, and most sessions go on */
    FLEET_PROXY,                   /* connections lead to another node */
    FLEET_TEAR,                    /* a transaction ends unnoticed between statements of a text */
    FLEET_FAULT_COUNT
};
extern const char *const FLEET_FAULT_NAMES[FLEET_FAULT_COUNT];

struct instance;

/* What became of a request. */
enum fleet_answer { ANSWER_NONE, ANSWER_OK, ANSWER_REFUSED, ANSWER_UNKNOWN, ANSWER_LOST };

struct asked {
    struct pipeline_request request; /* first */
    struct asked *next;              /* of the seed's */
    struct instance *instance;       /* NULL after it has ended */
    struct client_request input;
    bool is_read;
    uint64_t since; /* the newest state when it was sent */
    uint64_t sent_us;
    enum fleet_answer answer;
    int status;
    bool changes;     /* the last plan of it did */
    unsigned applied; /* committed batches that have it, and are not lost */
};

/* A batch that an instance has named with a mark. */
struct named_batch {
    struct named_batch *next;
    struct instance *instance;
    unsigned char mark[MARK_BYTES];
    unsigned commits;
    bool is_lost; /* the database went back behind it */
    size_t count;
    struct asked *asked[ASKED_AT_ONCE];
};

/* The newest state that an instance has had, which outlives its process. */
struct remembered {
    struct log_state state; /* number 0: none */
    struct epochs_left epochs;
};

/* A descriptor that a worker waits for, and what it is to do when it has nothing else to do. */
struct watched {
    struct event_watcher *watcher; /* NULL: there is none */
    int fd;
    uint64_t serial; /* of the connection; 0: none is watched */
    bool is_once;
    bool wants_idle;
};

/* A row of the log of which an instance has been told, and when: since then it knows of it. */
struct told_line {
    const struct log_line *line;
    uint64_t us;
};

enum { WATCHED_MOST = 4, WORKERS = 2, TOLD_MOST = 64 };

struct worker {
    struct instance *instance;
    unsigned number; /* of its event loop */
    pthread_t thread;
    struct watched watched[WATCHED_MOST];
};

struct instance {
    struct process process; /* first */
    struct worker workers[WORKERS];
    bool is_up; /* it serves */
    bool has_ended;
    bool scrubs_no_more;
    struct store *store;
    struct replica *replica;
    struct pipeline *pipeline;
    struct products products;
    struct metal metal;
    unsigned unanswered;        /* requests */
    const struct version *seen; /* the newest version that was checked */
    struct version_stamp seen_stamp;
    uint64_t seen_us;                 /* when that was checked */
    uint64_t seen_at;                 /* the state that it equals; 0: none yet */
    struct told_line told[TOLD_MOST]; /* the last ones, at told_count % TOLD_MOST */
    size_t told_count;
    struct log_state before;   /* the newest state that an earlier process has had */
    struct named_loss *losses; /* that it has named since */
    uint64_t lost_at; /* when the database lost a row of the log that it, or an earlier process, has
                         had: the state after that; 0: it has not */
    size_t planned_count; /* requests of the last plan with changes */
    struct asked *planned[ASKED_AT_ONCE];
};

struct fleet_tally {
    uint64_t writes, reads;
    uint64_t accepted, refused, unknown, unanswered; /* of the writes */
    uint64_t answered_reads, failed_reads;
    uint64_t commits, taken_numbers, lost_batches, lost_acknowledged;
    uint64_t taken, follows, reloads, looks, scrubs;
    uint64_t own_answers, vain_questions; /* of workers that have asked by themselves */
    uint64_t direct, taken_over; /* batches of workers: committed by them, and left to the writer */
    uint64_t gone_backs, named_losses; /* as instances have noticed them */
    uint64_t gone_before_restart;      /* at their start */
    uint64_t epochs;                   /* rows of berth_epochs that were committed */
    uint64_t faults[FLEET_FAULT_COUNT];
    uint64_t late_commits; /* of instances that were no longer connected */
    uint64_t foreign_writes;
    uint64_t abandoned; /* consumers with allocations, whose rows another program has deleted */
    uint64_t completed; /* such consumers that have got a row */
    uint64_t metal;     /* accepted requests at the Bare Metal API that wrote something */
};

struct fleet {
    uint64_t seed;
    int steps, step;
    unsigned without; /* faults that never strike */
    bool is_quiet;    /* nothing goes wrong any more */
    struct rng rng;
    int permille[FLEET_FAULT_COUNT];
    bool has_foreign;         /* another program has written */
    int64_t foreign_clock_us; /* its clock minus the right one */
    /* Of all providers and consumers that there were when commits were last lost. */
    struct foreign_highest {
        int64_t id, generation;
    } foreign_lost;
    bool has_metal; /* there are requests at the Bare Metal API */
    int at_workers; /* of 8 requests, as many come to an instance's worker */
    int lag;        /* how seldom a node of a cluster applies a commit */
    int count;
    int reads; /* among the requests, in percent: without them, others' writes are learnt late */
    int favourite; /* the instance to which most requests are sent */
    int loyalty;   /* for about so many times */
    bool in_turns; /* instead, each request waits for the answer to the one before: */
    int turn;      /* what the next one is (fleet_turns.c) */
    struct instance instances[FLEET_INSTANCES];
    struct remembered remembered[FLEET_INSTANCES];
    struct asked *asked; /* all of the seed */
    struct named_batch *batches;
    struct lost_line *lost; /* the newest first */
    uint64_t digest;
    struct fleet_tally tally; /* of all seeds */
    int *failed_at;           /* NULL, or where to store the step of a failure */
};

extern struct fleet fleet;

/* ---- fleet_instance.c ---- */

/* Starts a process, which serves as soon as it can. */
void instance_start(struct instance *instance);
void instance_kill(struct instance *instance);
/* A request of some client. */
void instance_ask(struct instance *instance, bool is_read);
/* It scrubs no more, so that it comes to rest. */
void instance_end_scrubs(struct instance *instance);
/* Whether it has nothing to do, and waits for nothing. */
bool instance_is_idle(const struct instance *instance);

/* ---- fleet_worker.c ---- */

void workers_start(struct instance *instance);
/* The process is ending. */
void workers_stop(struct instance *instance);
/* From now on, what is called runs on that worker; NULL: on no worker. */
void worker_enter(struct worker *worker);

/* ---- fleet_checks.c ---- */

void check_commit(void *cls, const struct session *session, const struct state *before,
                  const struct state *after);
/* It has been loaded: what an earlier process has had, and is gone, is reported. */
void check_restart(struct instance *instance);
/* The instance's newest version, if it is another one than the last time. */
void check_version(struct instance *instance);
void check_answer(struct asked *asked);
/* server_hooks.on_told */
void check_told(struct process *process, uint64_t state);
/* The database has gone back from that state by so many. */
void check_gone(uint64_t before, uint64_t by);
void check_end(void);
/* There are no other programs, so that nothing is found that they have written. */
void check_observer(const struct instance *instance, const struct observer_figures *figures);

/* ---- fleet_losses.c ---- */

/* A loss_sink: the instance (cls) names a loss. */
void losses_note(void *cls, const struct loss *loss);
/* The instance's memory now has that state. */
void losses_check(struct instance *instance, const struct state *has);
void losses_forget(struct instance *instance);

/* ---- fleet_epochs.c ---- */

/* The database has just gone back, and no longer has that row. */
void epochs_lose(const struct log_line *line);
void epochs_forget(void);
/* That instance has had the row with that mark, and notices that it is gone. */
void epochs_note_loss(struct instance *instance, int64_t number, struct slice mark);
/* A batch is about to be committed, on top of that state. */
void epochs_check(const struct named_batch *batch, const struct session *session,
                  const struct log_line *line, const struct state *before);

/* ---- fleet_turns.c ---- */

/* Whether no request waits for its answer. */
bool turns_is_answered(void);
/* The next request, before which the database may go back. */
void turns_ask(void);

/* ---- fleet_foreign.c ---- */

/* Another program executes a transaction, or fails to. */
void foreign_write(void);
/* Commits are about to be lost, of which instances may notice nothing. */
void foreign_note_loss(void);

/* ---- fleet_faults.c ---- */

void faults_draw(void);
/* Lets something go wrong, or not. */
void faults_strike(void);
/* The database goes back. */
void faults_go_back(void);
/* Whatever is broken is mended. */
void faults_end(void);

/* ---- fleet_postgres.c or fleet_galera.c: the database of the program ---- */

/* Counts of events, of which there must be that many for each hundred seeds. */
struct fleet_event {
    const char *name;
    uint64_t count;
    unsigned least;
};
enum { FLEET_EVENTS_MOST = 40 };

struct fleet_database {
    const char *program;
    const char *usage;
    unsigned fault_count; /* of enum fleet_fault */
    bool loses_silently;  /* a server does not tell that it has lost commits */
    int (*draw_nodes)(void);
    void (*begin)(void); /* after the faults of the seed were drawn */
    void (*draw_load)(void);
    int instances_least;
    unsigned unknown_least; /* per 100 seeds, so many answers leave open what has happened */
    void (*write_url)(int node, char *url, size_t room);
    /* Another time of day. */
    void (*set_clock)(struct process *process);
    /* The newest states are gone, and so are all sessions. False: that is not possible. */
    bool (*go_back)(uint64_t by);
    /* False: it is not a fault of this kind of database alone. */
    bool (*strike)(enum fleet_fault fault);
    void (*watch)(void); /* before each step: it may be the moment for a fault; NULL: never */
    /* For a row of another program. */
    int64_t (*next_id)(enum table table);
    void (*end_faults)(void);
    /* What it has counted besides; returns their number. */
    size_t (*list_events)(struct fleet_event *events);
    void (*forget)(void);
};
extern const struct fleet_database fleet_database;

/* Adds to the digest a number that must follow from the seed. */
void fleet_digest(uint64_t value);

#endif
