/* One round of the race for nodes (world_nodes.c): what clients request and what they know of the
 * answers. Nothing here is shared with the planners. */
#ifndef BERTH_SIM_METAL_ROUND_H
#define BERTH_SIM_METAL_ROUND_H

#include "base/err.h"
#include "sim.h"

enum {
    RACE_NODES = 10,
    RACE_CREATES = 100, /* at the bare metal API */
    RACE_CLAIMS = 100   /* at Placement's */
};

enum metal_what {
    ACTION_NODE,        /* enrol node `number` */
    ACTION_CREATE,      /* allocation `number` */
    ACTION_RELEASE,     /* allocation `number` */
    ACTION_CLAIM,       /* consumer `number` takes node `node` */
    ACTION_LET_GO,      /* consumer `number` */
    ACTION_MAINTENANCE, /* of node `node` */
    ACTION_POWER,
    ACTION_DEPLOY,
    ACTION_UNDEPLOY,
    ACTION_NEWS,
    ACTION_COUNT
};

struct metal_action {
    enum metal_what what;
    int number;
    int node;
    bool is_on;
};

/* What its client knows of an allocation or a consumer. */
struct fate {
    bool was_sent;
    bool is_made;     /* it was accepted */
    bool may_be_made; /* it was sent, and not refused */
    bool may_be_gone; /* a release was sent */
};

/* The conditions of a race. */
struct weather {
    bool flips;          /* nodes enter and leave maintenance */
    bool claims;         /* Placement's clients take part */
    bool releases;       /* what was allocated is released */
    bool deploys;        /* nodes are deployed and undeployed */
    bool powers;         /* nodes are sometimes locked for a second */
    bool candidates;     /* some requests name nodes, or have an owner */
    bool foreign_writes; /* a foreign writer writes without a log */
    bool kills;
};

struct race_tally {
    uint64_t rounds;
    uint64_t exact;           /* rounds with nothing but requests */
    uint64_t active, refused; /* allocations in the end */
    uint64_t claimed;         /* consumers in the end */
    uint64_t ends;            /* of processes */
    uint64_t ends_between;    /* of processes that had not yet decided an allocation */
};

struct round {
    const struct memory_database *database;
    struct weather weather;
    struct fate allocation[RACE_CREATES];
    struct fate consumer[RACE_CLAIMS];
    struct race_tally *tally;
};

struct slice race_node(int number);
struct slice race_allocation(int number);
struct slice race_consumer(int number);

/* Plans it, by the real planners. */
bool metal_plan_action(const struct metal_action *action, const struct round *round,
                       const struct plan *plan, struct err *err);

/* Before it is sent, and when it is answered; status as of world.answered. */
void round_note_sent(struct round *round, const struct metal_action *action);
void round_note_answer(struct round *round, const struct metal_action *action, int status);

/* metal_checks.c: what must hold for every commit, and in the end. */
void check_commit(struct sim *sim, const struct tables *before, const struct tables *after);
void check_end(struct round *round);
/* Allocations in state allocating that the process has left behind. */
int check_count_left(const struct tables *tables, struct slice life);

#endif
