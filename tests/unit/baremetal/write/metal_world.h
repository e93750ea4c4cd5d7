/* Bare metal nodes in a world, through the planners. Every accepted request is checked against the
 * invariants (baremetal-allocations spec, 13): Placement matches each node's row, an active
 * allocation has the node whose instance it is, and a write increments a provider's generation by
 * at most one. */
#ifndef BERTH_TESTS_METAL_WORLD_H
#define BERTH_TESTS_METAL_WORLD_H

#include "baremetal/write/metal.h"
#include "baremetal/write/node_choice.h"
#include "baremetal/write/node_provider.h"
#include "baremetal/write/plan_node_allocations.h"
#include "baremetal/write/plan_node_states.h"
#include "baremetal/write/plan_nodes.h"
#include "engine/world.h"

struct metal_world {
    struct world world;
    struct metal metal;
    struct planned_node_allocation planned; /* the last allocation created */
};

/* Without nodes and with the mirror on; a transient state lasts 1 000 ms of the world's clock. */
void metal_open(struct metal_world *metal);
void metal_close(struct metal_world *metal);

struct plan metal_plan(struct metal_world *metal);
bool metal_conclude(struct metal_world *metal, bool accepted);
/* The same for a request to the Placement API, which may increment a generation by more. */
bool metal_conclude_other(struct metal_world *metal, bool accepted);

/* metal_rules.c: the invariants of every version while the mirror is on. */
void metal_check_rules(struct metal_world *metal);
/* A locked node has a time and a transient state or power operation. For nodes that only planners
 * have written. */
void metal_check_locks(struct metal_world *metal);

/* The node of that uuid, which must exist. */
const struct node *metal_node(struct metal_world *metal, const char *uuid);
const struct node_allocation *metal_allocation(struct metal_world *metal, const char *uuid);
const struct provider *metal_provider(struct metal_world *metal, const char *uuid);

/* Placement's rows: for a provider's class (NULL: none), for a consumer (NULL: none). */
const struct provider_inventory *metal_inventory(struct metal_world *metal, const char *provider,
                                                 const char *class);
const struct consumer *metal_consumer(struct metal_world *metal, const char *uuid);
bool metal_has_trait(struct metal_world *metal, const char *provider, const char *trait);
/* Through Placement: an inventory of that total with nothing reserved; the class is created if
 * necessary. */
void metal_put_inventory(struct metal_world *metal, const char *provider, const char *class,
                         int32_t total);

/* In state enroll; class NULL: none. */
bool metal_create(struct metal_world *metal, const char *uuid, const char *class);
/* The same in state available and with power on. */
void metal_create_available(struct metal_world *metal, const char *uuid, const char *class);

/* The draft for the latter, so that more fields can be set, and its creation. */
struct node_draft metal_new_node(const char *uuid, const char *class);
bool metal_create_drafted(struct metal_world *metal, struct node_draft *draft);

bool metal_patch(struct metal_world *metal, const char *uuid, enum node_field field,
                 const char *text); /* NULL: null */
bool metal_maintain(struct metal_world *metal, const char *uuid, bool is_on);
bool metal_set_traits(struct metal_world *metal, const char *uuid, const char *traits);
bool metal_delete(struct metal_world *metal, const char *uuid);
bool metal_verb(struct metal_world *metal, const char *uuid, const char *verb);
bool metal_power(struct metal_world *metal, const char *uuid, const char *verb);
bool metal_run_verb(struct metal_world *metal, const char *uuid, const char *verb,
                    struct slice clean_error);
/* Advances the time to the end of a transient state, and ends it. */
void metal_pass(struct metal_world *metal, const char *uuid);

bool metal_allocate(struct metal_world *metal, const char *uuid, const char *class);
struct node_allocation_draft metal_new_allocation(const char *uuid, const char *class);
/* node NULL: not to be backfilled. */
bool metal_allocate_drafted(struct metal_world *metal, const struct node_allocation_draft *draft,
                            const char *node);
bool metal_backfill(struct metal_world *metal, const char *uuid, const char *node);
/* False: it has to be tried again. */
bool metal_decide(struct metal_world *metal, const char *uuid, struct node_choice *choice);
bool metal_release(struct metal_world *metal, const char *uuid);

/* Through Placement: consumer `uuid` gets exactly `amount` of the class on the provider; amount 0:
 * nothing. */
bool metal_claim(struct metal_world *metal, const char *uuid, const char *provider,
                 const char *class, int64_t amount);

/* The result of the allocation with that uuid. */
void metal_assert_active(struct metal_world *metal, const char *uuid, const char *node);
void metal_assert_failed(struct metal_world *metal, const char *uuid, const char *last_error);
void metal_assert_state(struct metal_world *metal, const char *node, const char *state);

void metal_assert_refused(struct metal_world *metal, int status, const char *text);

#endif
