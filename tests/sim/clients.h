/* Requests that clients make, in numbers of the universe, and their way into the real planners. */
#ifndef BERTH_SIM_CLIENTS_H
#define BERTH_SIM_CLIENTS_H

#include "engine/claim.h"
#include "memory_store/rng.h"
#include "oracle.h"
#include "universe.h"

enum operation {
    OP_ALLOCATIONS_PUT,
    OP_ALLOCATIONS_POST,
    OP_ALLOCATIONS_DELETE,
    OP_RESHAPE,
    OP_INVENTORY_CREATE,
    OP_INVENTORY_UPDATE,
    OP_INVENTORIES_SET,
    OP_INVENTORY_DELETE,
    OP_INVENTORIES_DELETE,
    OP_TRAITS_SET,
    OP_AGGREGATES_SET,
    OP_PROVIDER_CREATE,
    OP_PROVIDER_UPDATE,
    OP_PROVIDER_DELETE,
    OP_CLASS_CREATE,
    OP_CLASS_ENSURE,
    OP_CLASS_RENAME,
    OP_CLASS_DELETE,
    OP_TRAIT_PUT,
    OP_TRAIT_DELETE,
    OP_NODE_CREATE, /* from here to OP_NODE_RELEASE: at the bare metal API */
    OP_NODE_DELETE,
    OP_NODE_VERB,
    OP_NODE_POWER,
    OP_NODE_MAINTENANCE,
    OP_NODE_CHANGE,
    OP_NODE_ALLOCATE,
    OP_NODE_RELEASE,
    OP_WAIT, /* until memory is as new as the database */
    OP_COUNT
};

enum { NOBODY = -1, CLAIM_ROWS = 5, REQUEST_CLAIMS = 3, REQUEST_PROVIDERS = 2 };

struct client_claim {
    int consumer, project, user;
    int type; /* NOBODY: not given */
    enum claim_generation_rule rule;
    int64_t generation;
    int row_count;
    struct {
        int provider, class;
        int64_t amount;
    } row[CLAIM_ROWS]; /* rows of one provider are adjacent; no pair occurs twice */
};

struct client_inventories {
    int provider;
    int64_t generation;
    bool wanted[CLASSES];
    struct inventory_figures figures[CLASSES];
};

struct client_request {
    enum operation op;
    int provider, name;
    bool has_parent, may_move;
    int parent; /* NOBODY: none */
    int class, other_class, trait;
    bool has_generation;
    int64_t generation;
    bool wanted[CLASSES > TRAITS ? CLASSES : TRAITS]; /* traits or aggregates */
    struct client_inventories inventories[REQUEST_PROVIDERS];
    int inventories_count;
    struct client_claim claim[REQUEST_CLAIMS];
    int claim_count;
    int node, other_node;
    bool is_busy, is_allocated;
};

/* A request of a client that has recently seen `view`. */
void client_draw(struct client_request *request, const struct oracle *view, struct rng *rng);

/* Plans it, by the real planner. */
bool client_plan(const struct client_request *request, const struct plan *plan, struct err *err);

static inline bool client_is_at_metal(const struct client_request *request)
{
    return request->op >= OP_NODE_CREATE && request->op <= OP_NODE_RELEASE;
}

/* The same for those at the bare metal API. */
bool client_plan_node(const struct client_request *request, const struct plan *plan,
                      struct err *err);

#endif
