/* Commits what the planner of stacks found on some version (Valet spec, 9.4): holds, claims of
 * groups, the plan's row and those of its placements, all or nothing. What it found is compared
 * with the newest version: if what it rests on is no more so, the write is refused with
 * REFUSED_CHANGED, and it is to be planned again. Writer thread only, but stack_look: any thread,
 * on a pinned version. */
#ifndef BERTH_VALET_WRITE_PLAN_STACKS_H
#define BERTH_VALET_WRITE_PLAN_STACKS_H

#include "engine/claim.h"
#include "valet/state/hosts.h"

/* What a provider was when it was chosen: its name, tree, traits and aggregates, and which racks
 * and zones it was in, which other providers tell; how full it is, is found again by the claim. */
struct stack_look {
    struct slice provider; /* uuid */
    uint64_t look;
    bool is_place; /* of a host of others, who bind those that are planned: only where it stands */
};
uint64_t stack_look(const struct version *version, const struct host_marks *marks,
                    const struct provider *provider);
uint64_t stack_place(const struct version *version, const struct host_marks *marks,
                     const struct provider *provider);

/* The group that a server is assigned to, which is to hold the host that it gets. */
struct stack_exclusive {
    int64_t group_id;  /* 0: none, and no group is to hold the host */
    struct slice rack; /* uuid, of a server at level rack: which the group is to hold, too */
};

/* A placement as it is to be. */
struct stack_row {
    const struct valet_placement *before; /* as it was on the version; NULL: new */
    struct slice present; /* uuid of the host that it was on there; data == NULL: none */
    const struct valet_placement *after; /* as it is to be; a new one's id and plan are not looked
                                            at; NULL: it goes, with its hold */
    bool moves_hold;                     /* its hold is to be what follows, and nothing else */
    const struct claim_provider *providers;
    size_t provider_count;
    struct slice
        host; /* uuid of the one that was found for it; data == NULL: it was not looked for */
    struct stack_exclusive exclusive;
};

/* A host, or a rack with all its hosts, that is to be claimed for a group. */
struct stack_claim {
    int64_t group_id;
    struct slice provider; /* uuid */
    bool is_rack;
    const struct slice *hosts; /* uuids of all hosts of a rack; else the one */
    size_t host_count;
};

/* Texts and arrays outlive the plan. */
struct stack_commit {
    const struct valet_plan *before; /* NULL: new */
    const struct valet_plan *after;  /* a new one's id is not looked at */
    const struct stack_row *rows;    /* placements that the plan has or gets */
    size_t row_count;
    bool covers_plan;           /* the rows are all of the plan's; else others do not matter */
    const struct slice *groups; /* uuids of those that the stack names: the plan's project is a
                                   member */
    size_t group_count;
    const struct stack_claim *claims;
    size_t claim_count;
    const struct stack_look *looks;
    size_t look_count;
};

bool plan_stack_commit(const struct stack_commit *commit, const struct plan *plan,
                       struct err *err) BERTH_MUST_CHECK;

/* Appends that the plan goes, with its placements and their holds; or one placement with its hold.
 * Rows are those of the plan's version. Nothing can fail. */
void plan_stack_delete(const struct valet_plan *row, const struct plan *plan);
void plan_placement_delete(const struct valet_placement *row, const struct plan *plan);

#endif
