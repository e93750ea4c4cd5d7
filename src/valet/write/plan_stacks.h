/* Commits what the planner of stacks found on an earlier version (Valet spec, 9.4): holds, claims
 * of groups, the plan's row and those of its placements, all or nothing. The facts that the result
 * depends on are compared with the newest version: if one has changed, the write is refused with
 * REFUSED_CHANGED, and must be planned again. The writer only, except stack_look: any thread, on
 * a pinned version. */
#ifndef BERTH_VALET_WRITE_PLAN_STACKS_H
#define BERTH_VALET_WRITE_PLAN_STACKS_H

#include "engine/claim.h"
#include "valet/state/hosts.h"

/* The state of a provider when it was chosen: its name, tree, traits and aggregates, and its racks
 * and zones, which depend on other providers. Its free capacity is checked again by the claim. */
struct stack_look {
    struct slice provider; /* uuid */
    uint64_t look;
    bool is_place; /* of the host of a server that is not moved but restricts others: only its
                      location is compared */
};
uint64_t stack_look(const struct version *version, const struct host_marks *marks,
                    const struct provider *provider);
uint64_t stack_place(const struct version *version, const struct host_marks *marks,
                     const struct provider *provider);

/* The group that a server is assigned to, which must hold the server's host. */
struct stack_exclusive {
    int64_t group_id;  /* 0: none, and no group may hold the host */
    struct slice rack; /* uuid, for a server at level rack: the group must hold the rack, too */
};

/* A placement as it is to become. */
struct stack_row {
    const struct valet_placement *before; /* as it was on that version; NULL: new */
    struct slice present;                 /* uuid of its host on that version; data == NULL: none */
    const struct valet_placement *after;  /* as it is to become; id and plan of a new one are
                                             ignored; NULL: it is deleted, with its hold */
    bool moves_hold;                      /* its hold is replaced by what follows */
    const struct claim_provider *providers;
    size_t provider_count;
    struct slice host; /* uuid of the host found for it; data == NULL: none was searched for */
    struct stack_exclusive exclusive;
};

/* A host, or a rack with all its hosts, to be claimed for a group. */
struct stack_claim {
    int64_t group_id;
    struct slice provider; /* uuid */
    bool is_rack;
    const struct slice *hosts; /* uuids of all hosts of a rack; else of the host */
    size_t host_count;
};

/* Texts and arrays must outlive the plan. */
struct stack_commit {
    const struct valet_plan *before; /* NULL: new */
    const struct valet_plan *after;  /* the id of a new one is ignored */
    const struct stack_row *rows;    /* placements that the plan has or gets */
    size_t row_count;
    bool covers_plan; /* the rows are all of the plan's; else other rows are not compared */
    const struct slice
        *groups; /* uuids of those that the stack names: the plan's project must be a member */
    size_t group_count;
    const struct stack_claim *claims;
    size_t claim_count;
    const struct stack_look *looks;
    size_t look_count;
};

bool plan_stack_commit(const struct stack_commit *commit, const struct plan *plan,
                       struct err *err) BERTH_MUST_CHECK;

/* Appends the deletion of the plan with its placements and their holds, or of one placement with
 * its hold. Rows are those of the plan's version. Cannot fail. */
void plan_stack_delete(const struct valet_plan *row, const struct plan *plan);
void plan_placement_delete(const struct valet_placement *row, const struct plan *plan);

#endif
