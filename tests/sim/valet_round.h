/* The small cloud of world_valet.c: two racks of hosts, two exclusivity groups, servers of four
 * projects, and placements whose orchestration ids are those of the first servers. Each project has
 * a plan; the last plan's servers may be of any project. */
#ifndef BERTH_SIM_VALET_ROUND_H
#define BERTH_SIM_VALET_ROUND_H

#include "engine/pipeline.h"
#include "memory_store/rng.h"
#include "sim.h"
#include "valet/write/plan_stacks.h"

enum {
    V_HOSTS = 6,    /* the last is in no rack */
    V_CHILDREN = 2, /* of the first hosts */
    V_RACKS = 2,
    V_GROUPS = 2,
    V_PROJECTS = 4,
    V_SERVERS = 14,
    V_PLACEMENTS = 7,
    V_CLAIM_ROWS = 3,
    V_CLAIMS = 3
};

enum valet_what {
    V_PUT,
    V_POST,
    V_RESHAPE,
    V_RELEASE, /* a server */
    V_RELEASE_HOLD,
    V_PLACE,      /* a placement, with its hold */
    V_PLACE_HOST, /* the same, and the host is claimed if it is free */
    V_PLACE_RACK, /* the same with the host's rack */
    V_UNPLACE,
    V_BIND,       /* gives a placement the server's id */
    V_AGGREGATES, /* of a host, as an operator sets them */
    V_MARK,       /* of a rack */
    V_MEMBER,     /* is added or removed */
    V_PARENT,     /* a host gets one, or none */
    V_SHARE,      /* a host begins or ceases to share */
    V_NEWS,       /* waits for news */
    V_COUNT
};

struct valet_action_claim {
    int consumer; /* a server, or below 0: the hold of placement -1 - consumer */
    int project;
    int count;
    int provider[V_CLAIM_ROWS];
    int64_t amount[V_CLAIM_ROWS];
};

struct valet_action {
    enum valet_what what;
    struct valet_action_claim claim[V_CLAIMS];
    int claim_count;
    int host, rack, group, project, server, placement;
    int parent; /* a host; below 0: none */
    int64_t amount;
    bool wanted[V_RACKS + V_GROUPS];   /* aggregates */
    bool drops_others;                 /* placements of the plan */
    const struct stack_commit *commit; /* of a plan; NULL: there is nothing to plan */
};

/* Providers: hosts, then the children of hosts, then racks. */
struct slice v_provider(int number);
struct slice v_server(int number);
struct slice v_placement(int number);
struct slice v_group(int number); /* and the group's aggregate */
struct slice v_rack_aggregate(int number);

void valet_fill(struct memory_database *database);

/* valet_place.c: the commit of a plan as made from the version, in the arena. */
const struct stack_commit *valet_commit_of(const struct valet_action *action,
                                           const struct version *version, struct arena *arena);
bool valet_plan_action(const struct valet_action *action, const struct plan *plan, struct err *err);

/* A foreign writer, which follows no rules, writes or removes an allocation, or removes an
 * aggregate from a host. */
void valet_non_member(struct memory_database *database);

/* What holds after each commit by berth. */
void valet_check(const struct tables *before, const struct tables *after);

/* Where a server was placed in the next commit: on an unclaimed host, or on one that only its group
 * claims. NULL: nowhere. */
void valet_check_placed(const struct valet_action *placed);

/* The same, if the commit has one request. */
void valet_check_one(const struct tables *before, const struct tables *after);

#endif
