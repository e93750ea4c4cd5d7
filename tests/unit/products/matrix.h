/* Planners, each applied to what a rule forbids: the rows of the matrix (test_matrix.c). */
#ifndef BERTH_TESTS_MATRIX_H
#define BERTH_TESTS_MATRIX_H

#include "engine/claim.h"
#include "products/cloud.h"

/* What a planner is applied to; it uses the fields that it needs. */
struct target {
    const char *rule;
    const char *before; /* a request that prepares it; NULL: none */
    const char *provider;
    const char *parent;
    const char *name;
    const char *consumer;
    const char *project;
    const char *class;
    int32_t amount; /* to be consumed */
    int32_t total;  /* of the inventory */
    const char *node;
    const char *raw; /* the same change without a planner */
};

/* The only cloud; each attempt creates it again. */
extern struct metal_world matrix_cloud;

/* Only plans; the caller concludes. */
typedef bool attempt(const struct target *target, const struct plan *plan, struct err *err);

/* What the target's consumer is to hold; in the plan's arena. */
const struct claim *target_claim(const struct target *target, const struct plan *plan);

attempt attempt_aggregates_set, attempt_allocations, attempt_allocations_post,
    attempt_allocations_delete, attempt_class_create, attempt_class_rename, attempt_class_ensure,
    attempt_class_delete, attempt_inventory_create, attempt_inventory_update,
    attempt_inventories_set, attempt_inventory_delete, attempt_inventories_delete,
    attempt_provider_traits_set, attempt_provider_create, attempt_provider_update,
    attempt_provider_delete, attempt_reshaper, attempt_trait_put, attempt_trait_delete;
attempt attempt_group_create, attempt_group_describe, attempt_group_delete,
    attempt_group_add_members, attempt_group_remove_members, attempt_group_remove_guest,
    attempt_stack_commit, attempt_migrate, attempt_stack_delete, attempt_placement_delete;
attempt attempt_node_create, attempt_node_update, attempt_node_delete, attempt_node_maintenance,
    attempt_node_traits, attempt_node_provision, attempt_node_power, attempt_node_advance,
    attempt_node_recover, attempt_node_allocation_create, attempt_node_backfill,
    attempt_node_allocation_update, attempt_node_allocation_delete, attempt_node_allocation_decide,
    attempt_mirror;

/* Preparations for planners that would otherwise have nothing to do: the group has no member, or a
 * second member that holds nothing; m4 is locked by a power request whose time is over, and the
 * mirror is on again. */
void matrix_drop_member(void);
void matrix_add_guest(void);
void matrix_lock_node(void);

#endif
