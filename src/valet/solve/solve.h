/* The planner of stacks (Valet spec, 9): servers and their constraints in, with a pinned version; a
 * host for each, or the reason why there is none, out. The same version and request give the same
 * answer. Any thread; nothing is kept. */
#ifndef BERTH_VALET_SOLVE_SOLVE_H
#define BERTH_VALET_SOLVE_SOLVE_H

#include "base/arena.h"
#include "model/stack.h"
#include "query/budget.h"
#include "valet/state/hosts.h"

enum solve_pin_kind {
    SOLVE_PLACE,  /* it is to get a host */
    SOLVE_FIXED,  /* it stays on `present`, which binds the others; nothing is allocated for it */
    SOLVE_ABSENT, /* it is no more, or has no placement: it binds nobody */
};

enum { SOLVE_OWN = 3 };

/* How one server of the stack is to be treated. */
struct solve_pin {
    enum solve_pin_kind kind;
    const struct provider *present; /* the host that it is on; NULL: none. PLACE: preferred */
    const struct consumer
        *released; /* PLACE: its present hold, which counts as not there; or NULL */
    /* What it has by now, as hold or as server, each or NULL: on a host of nobody's that is no
     * foreign to the other servers of its exclusivity group. */
    const struct consumer *own[SOLVE_OWN];
    bool keeps_place; /* PLACE: it keeps `present` if that can be, and moves if it must */
    bool changes; /* of those: it asks for something else than it has there, and moves before others
                   */
    struct stack_names locations; /* beside those of the stack; count 0: no limit */
    struct stack_names excluded;  /* hosts that it may not get */
};

struct solve_request {
    const struct stack *stack;
    struct slice project;         /* whose holds they will be; data == NULL: nobody's */
    const struct solve_pin *pins; /* one for each server of the stack */
    struct slice default_zone;    /* of hosts in no zone */
    int64_t step_limit;           /* of searching: counted, so that answers can be repeated */
    int64_t steps;                /* that are left of it; 0: all */
    /* Holds of servers that the stack has no more: they count as not there. */
    const struct consumer *const *released;
    uint32_t released_count;
    /* What was asked before: those that are FIXED are checked by what the stack asks of them beside
     * that; uuids of groups that are no more are empty. NULL: they are not checked. */
    const struct stack *accepted;
};

/* So much of a class from a provider. */
struct solve_row {
    const struct provider *provider;
    struct class_no class_no;
    int64_t amount;
};

/* Of a server that is PLACE. */
struct solve_server {
    const struct provider *host;
    const struct solve_row *rows;
    uint32_t row_count;
};

/* A claim that has to be made with it (8.3): `provider` is a host that was free, or a rack; then
 * hosts are all of the rack's, those claimed before included. */
struct solve_claim {
    const struct valet_group *group;
    const struct provider *provider;
    bool is_rack;
    const struct provider *const *hosts;
    uint32_t host_count;
};

/* The exclusivity group that a server is assigned to, however it gets there (7.2). */
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
        *exclusives; /* one for each of the stack; of those that are ABSENT none */
    struct solve_claim *claims;
    uint32_t claim_count;
    struct slice reason; /* 9.5, with its prefix */
    int64_t steps;       /* of the search */
};

/* Classes, traits and groups that the stack names exist in the version. */
enum solve_result solve(const struct version *version, const struct solve_request *request,
                        struct arena *arena, struct budget *budget, struct solve_outcome *outcome);

#endif
