/* Every planner against every rule. For each rule there is a target at which it forbids something;
 * every planner is applied to every target, and the outcome is compared with the planner's row of
 * the table. Whatever is accepted is checked by invariants.c, which knows neither planners nor
 * rules. tests/tidy.py compares the table with the headers of the planners. */
#include <stdio.h>

#include "baremetal/write/node_rule.h"
#include "products/invariants.h"
#include "products/matrix.h"
#include "unit.h"
#include "valet/write/valet_rule.h"

static const struct target targets[] = {
    {"a group's host gets more of a non-member", "join m2 gold; join m3 gold; join m4 gold", "h1",
     NULL, "h1-again", "new", "nonmember", "A", 1, 8, "m3", "consume new nonmember h1 A 1"},
    {"a non-member's provider comes into a group's tree", NULL, "h2", "h1", "h2", "away",
     "nonmember", "A", 2, 8, "m3", "parent h2 h1"},
    {"a hold changes", NULL, "h4", NULL, "h4", "pl1", "friend", "A", 3, 8, "m3",
     "owner pl1 nonmember"},
    {"a node's provider is renamed, moved or deleted", NULL, "m3", "h2", "other", "new",
     "nonmember", "CUSTOM_IRON", 1, 1, "m3", "rename m3 other"},
    {"a node's inventory changes", NULL, "m3", NULL, "m3", "new", "nonmember", "CUSTOM_IRON", 1, 2,
     "m3", "stock m3 CUSTOM_IRON 2"},
    {"a node's trait goes", NULL, "m2", NULL, "m2", "new", "nonmember", "CUSTOM_IRON", 1, 1, "m2",
     "untrait m2 CUSTOM_T"},
    {"a node's consumer goes", NULL, "h2", NULL, "h2", "al1", "no-project", "A", 1, 8, "m1",
     "drop al1"},
    {"a uuid that is kept is taken", NULL, "h2", NULL, "h2", "al4", "nonmember", "A", 1, 8, "m4",
     "consume al4 nonmember h2 A 1"},
    {"a node's class is renamed", NULL, "h5", NULL, "h5", "new", "friend", "CUSTOM_IRON", 1, 1,
     "m3", "class CUSTOM_IRON CUSTOM_STEEL"},
    {"more is used than there is", NULL, "h5", NULL, "h5", "new", "friend", "B", 3, 8, "m3",
     "consume new friend h5 B 3"},
    {"a node's row says what is not mirrored to Placement", NULL, "m2", NULL, "m2", "new",
     "nonmember", "A", 1, 8, "m2", "node m2 maintenance 1"},
    {"an allocation takes a node and no consumer does", NULL, "m2", NULL, "m2", "al9", "nonmember",
     "CUSTOM_IRON", 1, 1, "m2", "take al9 m2 0"},
};

enum { TARGETS = sizeof(targets) / sizeof(*targets) };

struct metal_world matrix_cloud;

static bool raw(const struct target *target, const struct plan *plan, struct err *err)
{
    (void)err;
    return cloud_plan_raw(plan, target->raw);
}

/* ---- the table ---- */

/* Letters, one for each target: . accepted; - accepted, and there is nothing to change; r refused
 * by its own planner; and, with the rule's own words: e exclusivity, h hold, n node, c capacity.
 * `left_out`: see invariants.h. */
static const struct row {
    const char *planner;
    attempt *attempt;
    const struct rule *author;
    const char *outcomes;
    unsigned left_out;
    void (*prepare)(void); /* before its author is known; NULL: none */
} table[] = {
    /* clang-format off */
    {"plan_aggregates_set", attempt_aggregates_set, NULL, "-...........", 0, NULL},
    {"plan_allocations", attempt_allocations, NULL, "e.h...nnrcr.", 0, NULL},
    {"plan_allocations", attempt_allocations_post, NULL, "e.h...nnrcr.", 0, NULL},
    {"plan_allocations_delete", attempt_allocations_delete, NULL, "r..rrrnrrrrr", INVARIANT_GENERATIONS, NULL},
    {"plan_class_create", attempt_class_create, NULL, "............", 0, NULL},
    {"plan_class_rename", attempt_class_rename, NULL, "rrrnnnrrnrrn", 0, NULL},
    {"plan_class_ensure", attempt_class_ensure, NULL, "............", 0, NULL},
    {"plan_class_delete", attempt_class_delete, NULL, "rrrrrrrrrrrr", 0, NULL},
    {"plan_inventory_create", attempt_inventory_create, NULL, "............", 0, NULL},
    {"plan_inventory_update", attempt_inventory_update, NULL, "....n...r.r.", 0, NULL},
    {"plan_inventories_set", attempt_inventories_set, NULL, "....n.....n.", 0, NULL},
    {"plan_inventory_delete", attempt_inventory_delete, NULL, "rrrnnnrrr.rn", 0, NULL},
    {"plan_inventories_delete", attempt_inventories_delete, NULL, "rrrnnnrr..nn", 0, NULL},
    {"plan_provider_traits_set", attempt_provider_traits_set, NULL, ".....n....nn", 0, NULL},
    {"plan_provider_create", attempt_provider_create, NULL, "............", 0, NULL},
    {"plan_provider_update", attempt_provider_update, NULL, ".e-n--------", 0, NULL},
    {"plan_provider_delete", attempt_provider_delete, NULL, "rrrnnnrr..nn", 0, NULL},
    {"plan_reshaper", attempt_reshaper, NULL, "e.h.n.nn..n.", INVARIANT_GENERATIONS, NULL},
    {"plan_trait_put", attempt_trait_put, NULL, "............", 0, NULL},
    {"plan_trait_delete", attempt_trait_delete, NULL, "rrrrrrrrrrrr", 0, NULL},
    {"plan_group_create", attempt_group_create, &valet_rule, "............", 0, NULL},
    {"plan_group_describe", attempt_group_describe, &valet_rule, "............", 0, NULL},
    {"plan_group_delete", attempt_group_delete, &valet_rule, "rrrrrrrrrrrr", 0, NULL},
    {"plan_group_delete", attempt_group_delete, &valet_rule, "............", 0, matrix_drop_member},
    {"plan_group_add_members", attempt_group_add_members, &valet_rule, "..-.....--..", 0, NULL},
    {"plan_group_remove_members", attempt_group_remove_members, &valet_rule, "rrrrrrrrrrrr", 0, NULL},
    {"plan_group_remove_members", attempt_group_remove_guest, &valet_rule, "............", 0, matrix_add_guest},
    {"plan_stack_commit", attempt_stack_commit, &valet_rule, "r.......rrr.", 0, NULL},
    {"plan_stack_commit", attempt_migrate, &valet_rule, "r.......rrr.", 0, NULL},
    {"plan_stack_delete", attempt_stack_delete, &valet_rule, "............", 0, NULL},
    {"plan_placement_delete", attempt_placement_delete, &valet_rule, "............", 0, NULL},
    {"plan_node_create", attempt_node_create, &node_rule, "............", 0, NULL},
    {"plan_node_update", attempt_node_update, &node_rule, "............", 0, NULL},
    {"plan_node_delete", attempt_node_delete, &node_rule, "......rr....", 0, NULL},
    {"plan_node_maintenance", attempt_node_maintenance, &node_rule, "............", 0, NULL},
    {"plan_node_traits", attempt_node_traits, &node_rule, "............", 0, NULL},
    {"plan_node_provision", attempt_node_provision, &node_rule, "............", 0, NULL},
    {"plan_node_power", attempt_node_power, &node_rule, "............", 0, NULL},
    {"plan_node_advance", attempt_node_advance, &node_rule, "e...........", 0, matrix_lock_node},
    {"plan_node_recover", attempt_node_recover, &node_rule, "e...........", 0, matrix_lock_node},
    {"plan_node_allocation_create", attempt_node_allocation_create, &node_rule, "............", 0, NULL},
    {"plan_node_allocation_create", attempt_node_backfill, &node_rule, "............", INVARIANT_NON_MEMBERS, NULL},
    {"plan_node_allocation_update", attempt_node_allocation_update, &node_rule, "............", 0, NULL},
    {"plan_node_allocation_delete", attempt_node_allocation_delete, &node_rule, "............", 0, NULL},
    {"plan_node_allocation_decide", attempt_node_allocation_decide, &node_rule, "............", 0, NULL},
    {"node_write_mirror", attempt_mirror, &node_rule, "e...........", 0, NULL},
    {"cloud_plan_raw", raw, NULL, "eehnnnnnncnn", 0, NULL},
    /* clang-format on */
};

/* These only check: they append nothing, and the planners above call them. plan_generation_is
 * plan_metal plan_node_is_unlocked plan_node_provision_check plan_node_update_check
 * plan_provider_find */

static char letter(void)
{
    static const struct {
        const char *words;
        char letter;
    } known[] = {
        {"is held by exclusivity group", 'e'},
        {"is kept for a placement of Valet", 'h'},
        {"is managed by bare metal node", 'n'},
        {"would exceed the capacity", 'c'},
    };
    const char *text = arena_copy(matrix_cloud.world.arena, matrix_cloud.world.err.message).data;
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (strstr(text, known[i].words) != NULL)
            return matrix_cloud.world.err.status == 409 ? known[i].letter : '?';
    return 'r';
}

static void prepare(const struct row *row, const struct target *target)
{
    cloud_open(&matrix_cloud);
    matrix_cloud.world.author = &node_rule;
    struct plan plan = metal_plan(&matrix_cloud);
    const struct node_allocation_draft draft = metal_new_allocation("waits", "iron");
    const struct plan_node_allocation input = {
        .draft = &draft, .has_uuid = true, .has_class = true};
    assert_true(world_conclude(&matrix_cloud.world,
                               plan_node_allocation_create(&input, &plan, &matrix_cloud.planned,
                                                           &matrix_cloud.world.err)));
    if (target->before != NULL)
        assert_int_equal(cloud_raw(&matrix_cloud, target->before), 0);
    if (row->prepare != NULL)
        row->prepare();
}

static char run_pair(const struct row *row, const struct target *target)
{
    struct snapshot before;
    prepare(row, target);
    snapshot_take(&before, &matrix_cloud);
    matrix_cloud.world.author = row->author;
    struct plan plan = metal_plan(&matrix_cloud);
    bool is_planned = row->attempt(target, &plan, &matrix_cloud.world.err);
    char outcome = plan.changes->count > 0 ? '.' : '-';
    if (!world_conclude(&matrix_cloud.world, is_planned))
        outcome = letter();
    else
        invariants_check(&before, &matrix_cloud, row->left_out, row->author);
    cloud_close(&matrix_cloud);
    return outcome;
}

static void test_matrix(void **state)
{
    (void)state;
    bool is_wrong = false;
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        char outcomes[TARGETS + 1] = "";
        for (size_t k = 0; k < TARGETS; k++)
            outcomes[k] = run_pair(&table[i], &targets[k]);
        if (strcmp(outcomes, table[i].outcomes) != 0) {
            print_error("%s is \"%s\", not \"%s\"\n", table[i].planner, outcomes,
                        table[i].outcomes);
            is_wrong = true;
        }
    }
    assert_false(is_wrong);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_matrix)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
