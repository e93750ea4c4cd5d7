/* Bare metal nodes in a world, by way of the planners. Whatever is accepted is checked against the
 * rules that hold always (baremetal-allocations spec, 13): Placement sees what each node's row
 * says, an active allocation has the node whose instance it is, and a write moves a provider's
 * generation by one at most. */
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
    struct planned_node_allocation planned; /* of the last allocation that was made */
};

/* No node and the mirror on; a passing state lasts 1 000 ms of the world's clock. */
void metal_open(struct metal_world *metal);
void metal_close(struct metal_world *metal);

struct plan metal_plan(struct metal_world *metal);
bool metal_conclude(struct metal_world *metal, bool accepted);
/* The same of a request at Placement's API, which may move a generation by more. */
bool metal_conclude_other(struct metal_world *metal, bool accepted);

/* metal_rules.c: what holds of every version while the mirror is on. */
void metal_check_rules(struct metal_world *metal);
/* A lock has its time, and something that passes. For nodes that only planners have made. */
void metal_check_locks(struct metal_world *metal);

/* The node of that uuid, which must be there. */
const struct node *metal_node(struct metal_world *metal, const char *uuid);
const struct node_allocation *metal_allocation(struct metal_world *metal, const char *uuid);
const struct provider *metal_provider(struct metal_world *metal, const char *uuid);

/* What Placement has: of a provider's class (NULL: nothing), a consumer (NULL: none). */
const struct provider_inventory *metal_inventory(struct metal_world *metal, const char *provider,
                                                 const char *class);
const struct consumer *metal_consumer(struct metal_world *metal, const char *uuid);
bool metal_has_trait(struct metal_world *metal, const char *provider, const char *trait);
/* By Placement: a record of that total and nothing reserved; the class is made if there is none. */
void metal_put_inventory(struct metal_world *metal, const char *provider, const char *class,
                         int32_t total);

/* In state enroll; class NULL: none. */
bool metal_create(struct metal_world *metal, const char *uuid, const char *class);
/* The same in state available and powered on. */
void metal_create_available(struct metal_world *metal, const char *uuid, const char *class);

/* The row of the latter, for more fields to be set, and its making. */
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
/* Lets the time of a passing state pass, and ends it. */
void metal_pass(struct metal_world *metal, const char *uuid);

bool metal_allocate(struct metal_world *metal, const char *uuid, const char *class);
struct node_allocation_draft metal_new_allocation(const char *uuid, const char *class);
/* node NULL: not to be backfilled. */
bool metal_allocate_drafted(struct metal_world *metal, const struct node_allocation_draft *draft,
                            const char *node);
bool metal_backfill(struct metal_world *metal, const char *uuid, const char *node);
/* False: it is to be tried again. */
bool metal_decide(struct metal_world *metal, const char *uuid, struct node_choice *choice);
bool metal_release(struct metal_world *metal, const char *uuid);

/* By Placement: consumer `uuid` is to have `amount` of the class on the provider, and nothing else;
 * amount 0: nothing at all. */
bool metal_claim(struct metal_world *metal, const char *uuid, const char *provider,
                 const char *class, int64_t amount);

/* Where the allocation of that uuid has ended. */
void metal_assert_active(struct metal_world *metal, const char *uuid, const char *node);
void metal_assert_failed(struct metal_world *metal, const char *uuid, const char *last_error);
void metal_assert_state(struct metal_world *metal, const char *node, const char *state);

void metal_assert_refused(struct metal_world *metal, int status, const char *text);

#endif
