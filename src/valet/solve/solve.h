/* The planner of stacks (Valet spec, 9). Input: servers, their constraints, and a pinned version.
 * Output: a host for each server, or the reason why there is no solution. The same version and
 * request give the same answer. Any thread; nothing is kept. */
#ifndef BERTH_VALET_SOLVE_SOLVE_H
#define BERTH_VALET_SOLVE_SOLVE_H

#include "base/arena.h"
#include "model/stack.h"
#include "query/budget.h"
#include "valet/state/hosts.h"

enum solve_pin_kind {
    SOLVE_PLACE,  /* it gets a host */
    SOLVE_FIXED,  /* it stays on `present`, which restricts the others; nothing is allocated for it
                   */
    SOLVE_ABSENT, /* it no longer exists, or has no placement: it restricts nothing */
};

enum { SOLVE_OWN = 3 };

/* How one server of the stack is to be treated. */
struct solve_pin {
    enum solve_pin_kind kind;
    const struct provider *present;  /* its current host; NULL: none. PLACE: preferred */
    const struct consumer *released; /* PLACE: its current hold, which is not counted; or NULL */
    /* The consumers it already has (hold, server; NULL if none). On an unclaimed host they do not
     * count as foreign to the other servers of its exclusivity group. */
    const struct consumer *own[SOLVE_OWN];
    bool keeps_place; /* PLACE: it keeps `present` if possible, and moves if necessary */
    bool changes; /* with keeps_place: its requirements differ from what it has, so it moves before
                     others */
    struct stack_names locations; /* in addition to those of the stack; count 0: no limit */
    struct stack_names excluded;  /* hosts that it may not get */
};

struct solve_request {
    const struct stack *stack;
    struct slice project;         /* of the holds; data == NULL: none */
    const struct solve_pin *pins; /* one for each server of the stack */
    struct slice default_zone;    /* of hosts in no zone */
    int64_t step_limit;           /* of the search: counted, so that answers are reproducible */
    int64_t steps;                /* that are left of step_limit; 0: all */
    /* Holds of servers that are no longer in the stack: they are not counted. */
    const struct consumer *const *released;
    uint32_t released_count;
    /* The previous content: servers that are FIXED are checked against constraints that it did not
     * have; uuids of deleted groups are empty. NULL: they are not checked. */
    const struct stack *accepted;
};

/* An amount of a class from a provider. */
struct solve_row {
    const struct provider *provider;
    struct class_no class_no;
    int64_t amount;
};

/* For a server that is PLACE. */
struct solve_server {
    const struct provider *host;
    const struct solve_row *rows;
    uint32_t row_count;
};

/* A claim that must be made with the plan (8.3): `provider` is a host that was free, or a rack; for
 * a rack, `hosts` are all its hosts, including those already claimed. */
struct solve_claim {
    const struct valet_group *group;
    const struct provider *provider;
    bool is_rack;
    const struct provider *const *hosts;
    uint32_t host_count;
};

/* The exclusivity group that a server is assigned to, directly or not (7.2). */
struct solve_exclusive {
    const struct valet_group *group; /* NULL: none */
    bool is_rack;
};

enum solve_result {
    SOLVE_FOUND,
    SOLVE_NONE,      /* reason is set */
    SOLVE_EXPENSIVE, /* the budget is exhausted */
};

/* In the arena. */
struct solve_outcome {
    struct solve_server *servers; /* one for each of the stack; host NULL: it was not PLACE */
    struct solve_exclusive
        *exclusives; /* one for each of the stack; none for those that are ABSENT */
    struct solve_claim *claims;
    uint32_t claim_count;
    struct slice reason; /* see 9.5; with its prefix */
    int64_t steps;       /* of the search */
};

/* Classes, traits and groups that the stack names must exist in the version. */
enum solve_result solve(const struct version *version, const struct solve_request *request,
                        struct arena *arena, struct budget *budget, struct solve_outcome *outcome);

#endif
