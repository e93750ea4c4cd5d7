/* Every planner against every rule. For each rule there is a target at which it forbids something;
 * every planner is aimed at every target, and what comes of it is compared with its row of the
 * table. Whatever is accepted is looked at by invariants.c, which knows neither planners nor rules.
 * tests/tidy.py compares the table with the headers of the planners. */
#include <stdio.h>

#include "baremetal/write/node_rule.h"
#include "baremetal/write/node_write.h"
#include "placement/write/plan_aggregates.h"
#include "placement/write/plan_allocations.h"
#include "placement/write/plan_classes.h"
#include "placement/write/plan_inventories.h"
#include "placement/write/plan_provider_traits.h"
#include "placement/write/plan_providers.h"
#include "placement/write/plan_traits.h"
#include "products/cloud.h"
#include "products/invariants.h"
#include "replica/nodes.h"
#include "unit.h"
#include "valet/write/plan_groups.h"
#include "valet/write/plan_stacks.h"
#include "valet/write/valet_rule.h"

/* What a planner is aimed at: it takes what it has a use for. */
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
    const char *raw; /* the same by no planner */
};

static const struct target targets[] = {
    {"a group's host gets more of a stranger", "join m2 gold; join m3 gold; join m4 gold", "h1",
     NULL, "h1-again", "new", "stranger", "A", 1, 8, "m3", "consume new stranger h1 A 1"},
    {"a stranger's provider comes into a group's tree", NULL, "h2", "h1", "h2", "away", "stranger",
     "A", 2, 8, "m3", "parent h2 h1"},
    {"a hold changes", NULL, "h4", NULL, "h4", "pl1", "friend", "A", 3, 8, "m3",
     "owner pl1 stranger"},
    {"a node's provider is renamed, moved or deleted", NULL, "m3", "h2", "other", "new", "stranger",
     "CUSTOM_IRON", 1, 1, "m3", "rename m3 other"},
    {"a node's inventory changes", NULL, "m3", NULL, "m3", "new", "stranger", "CUSTOM_IRON", 1, 2,
     "m3", "stock m3 CUSTOM_IRON 2"},
    {"a node's trait goes", NULL, "m2", NULL, "m2", "new", "stranger", "CUSTOM_IRON", 1, 1, "m2",
     "untrait m2 CUSTOM_T"},
    {"a node's consumer goes", NULL, "h2", NULL, "h2", "al1", "no-project", "A", 1, 8, "m1",
     "drop al1"},
    {"a uuid that is kept is taken", NULL, "h2", NULL, "h2", "al4", "stranger", "A", 1, 8, "m4",
     "consume al4 stranger h2 A 1"},
    {"a node's class is renamed", NULL, "h5", NULL, "h5", "new", "friend", "CUSTOM_IRON", 1, 1,
     "m3", "class CUSTOM_IRON CUSTOM_STEEL"},
    {"more is used than there is", NULL, "h5", NULL, "h5", "new", "friend", "B", 3, 8, "m3",
     "consume new friend h5 B 3"},
    {"a node's row says what Placement is not told", NULL, "m2", NULL, "m2", "new", "stranger", "A",
     1, 8, "m2", "node m2 maintenance 1"},
    {"an allocation takes a node and no consumer does", NULL, "m2", NULL, "m2", "al9", "stranger",
     "CUSTOM_IRON", 1, 1, "m2", "take al9 m2 0"},
};

enum { TARGETS = sizeof(targets) / sizeof(*targets) };

static struct metal_world cloud;

typedef bool attempt(const struct target *target, const struct plan *plan, struct err *err);

static struct slice word(const char *text)
{
    return text == NULL ? (struct slice){0} : slice_of(text);
}

static int64_t generation_of(const struct plan *plan, const char *provider)
{
    return version_provider_by_uuid(plan->version, slice_of(provider))->generation;
}

/* ---- Placement ---- */

static bool aggregates_set(const struct target *target, const struct plan *plan, struct err *err)
{
    static const struct slice uuids[] = {SLICE_LIT("gold")};
    const struct plan_aggregates input = {
        .provider_uuid = slice_of(target->provider),
        .uuids = uuids,
        .uuid_count = 1,
        .has_generation = true,
        .generation = generation_of(plan, target->provider),
    };
    int64_t generation;
    return plan_aggregates_set(&input, plan, &generation, err);
}

static const struct claim *claim_of(const struct target *target, const struct plan *plan)
{
    struct claim_amount *amount = arena_alloc(plan->arena, sizeof(*amount));
    *amount = (struct claim_amount){slice_of(target->class), target->amount};
    struct claim_provider *provider = arena_alloc(plan->arena, sizeof(*provider));
    *provider = (struct claim_provider){slice_of(target->provider), amount, 1};
    struct claim *claim = arena_alloc(plan->arena, sizeof(*claim));
    *claim = (struct claim){
        .consumer = slice_of(target->consumer),
        .project = slice_of(target->project),
        .user = SLICE_LIT("user"),
        .providers = provider,
        .provider_count = 1,
    };
    return claim;
}

static bool allocations(const struct target *target, const struct plan *plan, struct err *err)
{
    return plan_allocations(claim_of(target, plan), 1, CLAIM_BY_PUT, plan, err);
}

static bool allocations_post(const struct target *target, const struct plan *plan, struct err *err)
{
    struct claim claims[2] = {*claim_of(target, plan), *claim_of(target, plan)};
    claims[0].consumer = SLICE_LIT("innocent");
    claims[0].provider_count = 0;
    return plan_allocations(claims, 2, CLAIM_BY_POST, plan, err);
}

static bool allocations_delete(const struct target *target, const struct plan *plan,
                               struct err *err)
{
    return plan_allocations_delete(slice_of(target->consumer), slice_of(target->consumer), plan,
                                   err);
}

static bool class_create(const struct target *target, const struct plan *plan, struct err *err)
{
    (void)target;
    return plan_class_create(SLICE_LIT("CUSTOM_NEW"), plan, err);
}

static bool class_rename(const struct target *target, const struct plan *plan, struct err *err)
{
    return plan_class_rename(slice_of(target->class), SLICE_LIT("CUSTOM_NEW"), plan, err);
}

static bool class_ensure(const struct target *target, const struct plan *plan, struct err *err)
{
    bool is_new;
    return plan_class_ensure(slice_of(target->class), plan, &is_new, err);
}

static bool class_delete(const struct target *target, const struct plan *plan, struct err *err)
{
    return plan_class_delete(slice_of(target->class), plan, err);
}

typedef bool inventories_planner(const struct plan_inventories *input, const struct plan *plan,
                                 int64_t *generation, struct err *err);

static bool stock(inventories_planner *planner, const char *class, const struct target *target,
                  const struct plan *plan, struct err *err)
{
    const struct plan_inventory item = {
        slice_of(class), {target->total, 0, 1, target->total, 1, 1.0}, true};
    const struct plan_inventories input = {
        .provider_uuid = slice_of(target->provider),
        .generation = generation_of(plan, target->provider),
        .all_can_be_reserved = true,
        .items = &item,
        .item_count = 1,
    };
    int64_t generation;
    return planner(&input, plan, &generation, err);
}

static bool inventory_create(const struct target *target, const struct plan *plan, struct err *err)
{
    return stock(plan_inventory_create, "D", target, plan, err);
}

static bool inventory_update(const struct target *target, const struct plan *plan, struct err *err)
{
    return stock(plan_inventory_update, target->class, target, plan, err);
}

static bool inventories_set(const struct target *target, const struct plan *plan, struct err *err)
{
    return stock(plan_inventories_set, target->class, target, plan, err);
}

static bool inventory_delete(const struct target *target, const struct plan *plan, struct err *err)
{
    return plan_inventory_delete(slice_of(target->provider), slice_of(target->class), plan, err);
}

static bool inventories_delete(const struct target *target, const struct plan *plan,
                               struct err *err)
{
    return plan_inventories_delete(slice_of(target->provider), plan, err);
}

static bool provider_traits_set(const struct target *target, const struct plan *plan,
                                struct err *err)
{
    const struct plan_provider_traits input = {.provider_uuid = slice_of(target->provider)};
    struct planned_traits result;
    return plan_provider_traits_set(&input, plan, &result, err);
}

static bool provider_create(const struct target *target, const struct plan *plan, struct err *err)
{
    struct planned_provider result;
    return plan_provider_create(SLICE_LIT("fresh"), SLICE_LIT("fresh"), slice_of(target->provider),
                                plan, &result, err);
}

static bool provider_update(const struct target *target, const struct plan *plan, struct err *err)
{
    const struct plan_provider_update update = {
        .uuid = slice_of(target->provider),
        .name = slice_of(target->name),
        .has_parent = target->parent != NULL,
        .parent_uuid = word(target->parent),
        .may_move = true,
    };
    struct planned_provider result;
    return plan_provider_update(&update, plan, &result, err);
}

static bool provider_delete(const struct target *target, const struct plan *plan, struct err *err)
{
    return plan_provider_delete(slice_of(target->provider), plan, err);
}

static bool reshaper(const struct target *target, const struct plan *plan, struct err *err)
{
    const struct reshape_inventory inventory = {slice_of(target->class),
                                                {target->total, 0, 1, target->total, 1, 1.0}};
    const struct reshape_provider provider = {
        .uuid = slice_of(target->provider),
        .generation = generation_of(plan, target->provider),
        .inventories = &inventory,
        .inventory_count = 1,
    };
    const struct reshape reshape = {&provider, 1, claim_of(target, plan), 1};
    return plan_reshaper(&reshape, plan, err);
}

static bool trait_put(const struct target *target, const struct plan *plan, struct err *err)
{
    (void)target;
    struct planned_trait result;
    return plan_trait_put(SLICE_LIT("CUSTOM_NEW"), plan, &result, err);
}

static bool trait_delete(const struct target *target, const struct plan *plan, struct err *err)
{
    (void)target;
    return plan_trait_delete(SLICE_LIT("CUSTOM_T"), plan, err);
}

/* ---- Valet ---- */

static bool group_create(const struct target *target, const struct plan *plan, struct err *err)
{
    (void)target;
    const struct plan_group group = {SLICE_LIT("silver"), SLICE_LIT("silver"), SLICE_LIT("")};
    return plan_group_create(&group, plan, err);
}

static bool group_describe(const struct target *target, const struct plan *plan, struct err *err)
{
    (void)target;
    return plan_group_describe(SLICE_LIT("gold"), SLICE_LIT("other words"), plan, err);
}

static bool group_delete(const struct target *target, const struct plan *plan, struct err *err)
{
    (void)target;
    return plan_group_delete(SLICE_LIT("gold"), plan, err);
}

static bool group_add_members(const struct target *target, const struct plan *plan, struct err *err)
{
    const struct slice project = slice_of(target->project);
    struct planned_members planned;
    return plan_group_add_members(SLICE_LIT("gold"), &project, 1, plan, &planned, err);
}

static bool group_remove_members(const struct target *target, const struct plan *plan,
                                 struct err *err)
{
    (void)target;
    return plan_group_remove_members(SLICE_LIT("gold"), SLICE_LIT("friend"), plan, err);
}

static const struct valet_plan *new_plan(const struct target *target, const struct plan *plan)
{
    struct record_value values[VALET_PLAN_FIELD_COUNT];
    record_init(&VALET_SHAPES[VALET_PLANS], values);
    values[VALET_PLAN_UUID].text = values[VALET_PLAN_NAME].text = SLICE_LIT("second");
    values[VALET_PLAN_STACK_ID].text = SLICE_LIT("second");
    values[VALET_PLAN_PROJECT].text = slice_of(target->project);
    values[VALET_PLAN_USER].text = SLICE_LIT("user");
    return (const struct valet_plan *)record_pack(&VALET_SHAPES[VALET_PLANS], 0, values,
                                                  plan->arena);
}

/* A placement whose hold is what the target asks for. */
static bool stack_commit(const struct target *target, const struct plan *plan, struct err *err)
{
    struct record_value values[VALET_PLACEMENT_FIELD_COUNT];
    record_init(&VALET_SHAPES[VALET_PLACEMENTS], values);
    values[VALET_PLACEMENT_UUID].text = SLICE_LIT("pl9");
    values[VALET_PLACEMENT_NAME].text = SLICE_LIT("pl9");
    values[VALET_PLACEMENT_ORCHESTRATION_ID].text = SLICE_LIT("srv9");
    const struct stack_row row = {
        .after = (const struct valet_placement *)record_pack(&VALET_SHAPES[VALET_PLACEMENTS], 0,
                                                             values, plan->arena),
        .moves_hold = true,
        .providers = claim_of(target, plan)->providers,
        .provider_count = 1,
        .host = slice_of(target->provider),
    };
    const struct stack_commit commit = {
        .after = new_plan(target, plan),
        .rows = &row,
        .row_count = 1,
        .covers_plan = true,
    };
    return plan_stack_commit(&commit, plan, err);
}

static bool stack_delete(const struct target *target, const struct plan *plan, struct err *err)
{
    (void)target;
    (void)err;
    plan_stack_delete(version_next_valet_plan(plan->version, 0), plan);
    return true;
}

static bool placement_delete(const struct target *target, const struct plan *plan, struct err *err)
{
    (void)target;
    (void)err;
    plan_placement_delete(version_valet_placement_by_uuid(plan->version, SLICE_LIT("pl1")), plan);
    return true;
}

/* ---- bare metal ---- */

static const struct node *node_of_target(const struct target *target, const struct plan *plan)
{
    return version_node_by_uuid(plan->version, slice_of(target->node));
}

static bool node_create(const struct target *target, const struct plan *plan, struct err *err)
{
    (void)target;
    struct node_draft draft = metal_new_node("m9", "iron");
    const struct node *node;
    return plan_node_create(&draft, plan, &node, err);
}

static bool node_update(const struct target *target, const struct plan *plan, struct err *err)
{
    const struct node *before = node_of_target(target, plan);
    struct node_draft draft = node_draft_of(before);
    node_set_text(&draft, NODE_DESCRIPTION, SLICE_LIT("other words"));
    node_set_text(&draft, NODE_RESOURCE_CLASS, SLICE_LIT("steel"));
    const struct plan_node_update update = {
        .before = before, .after = &draft, .ident = slice_of(target->node)};
    const struct node *after;
    bool released;
    return plan_node_update_check(&update, plan, err) &&
           plan_node_update(&update, plan, &after, &released, err);
}

static bool node_delete(const struct target *target, const struct plan *plan, struct err *err)
{
    return plan_node_delete(node_of_target(target, plan), plan, err);
}

static bool node_maintenance(const struct target *target, const struct plan *plan, struct err *err)
{
    return plan_node_maintenance(node_of_target(target, plan), true, (struct slice){0}, plan, err);
}

static bool node_traits(const struct target *target, const struct plan *plan, struct err *err)
{
    return plan_node_traits(node_of_target(target, plan), SLICE_LIT("CUSTOM_U"), plan, err);
}

static bool node_provision(const struct target *target, const struct plan *plan, struct err *err)
{
    const struct node *node = node_of_target(target, plan);
    struct slice name = SLICE_LIT("manage");
    const struct node_verb_name *known = node_verb_find(name);
    const struct plan_node_verb verb = {known->verb, {0}};
    return plan_node_provision_check(node, name, known, plan, err) &&
           plan_node_provision(node, &verb, plan, err);
}

static bool node_power(const struct target *target, const struct plan *plan, struct err *err)
{
    struct slice name = SLICE_LIT("power off");
    return plan_node_power(node_of_target(target, plan), slice_of(target->node), name,
                           node_power_verb_find(name), plan, err);
}

static bool node_advance(const struct target *target, const struct plan *plan, struct err *err)
{
    return plan_node_advance(node_of_target(target, plan)->record.id, plan, err);
}

static bool node_recover(const struct target *target, const struct plan *plan, struct err *err)
{
    return plan_node_recover(node_of_target(target, plan)->record.id, 0, plan, err);
}

static bool node_allocation_create(const struct target *target, const struct plan *plan,
                                   struct err *err)
{
    (void)target;
    const struct node_allocation_draft draft = metal_new_allocation("al9", "iron");
    const struct plan_node_allocation input = {
        .draft = &draft, .has_uuid = true, .has_class = true};
    return plan_node_allocation_create(&input, plan, &cloud.planned, err);
}

/* A backfill, which records what is. */
static bool node_backfill(const struct target *target, const struct plan *plan, struct err *err)
{
    const struct node_allocation_draft draft = metal_new_allocation("al9", NULL);
    const struct plan_node_allocation input = {
        .draft = &draft, .node = node_of_target(target, plan), .has_uuid = true};
    return plan_node_allocation_create(&input, plan, &cloud.planned, err);
}

static const struct node_allocation *first_allocation(const struct plan *plan)
{
    return version_node_allocation_by_uuid(plan->version, SLICE_LIT("al1"));
}

static bool node_allocation_update(const struct target *target, const struct plan *plan,
                                   struct err *err)
{
    (void)target;
    struct node_allocation_draft draft = node_allocation_draft_of(first_allocation(plan));
    node_allocation_set_text(&draft, NODE_ALLOCATION_NAME, SLICE_LIT("called"));
    const struct node_allocation *result;
    return plan_node_allocation_update(first_allocation(plan), &draft, plan, &result, err);
}

static bool node_allocation_delete(const struct target *target, const struct plan *plan,
                                   struct err *err)
{
    (void)target;
    return plan_node_allocation_delete(first_allocation(plan), plan, err);
}

/* Of one that is allocating, and that nobody but m2 and m3 can serve. */
static bool node_allocation_decide(const struct target *target, const struct plan *plan,
                                   struct err *err)
{
    (void)target;
    struct node_choice choice = {0};
    bool tries_again;
    bool is_planned = plan_node_allocation_decide(
        version_node_allocation_by_uuid(plan->version, SLICE_LIT("waits"))->record.id, &choice,
        &tries_again, plan, err);
    node_choice_free(&choice);
    return is_planned;
}

static bool mirror(const struct target *target, const struct plan *plan, struct err *err)
{
    (void)target;
    int64_t id = version_node_by_uuid(plan->version, SLICE_LIT("m4"))->record.id;
    return node_write_mirror(id, plan, err);
}

static bool raw(const struct target *target, const struct plan *plan, struct err *err)
{
    (void)err;
    return cloud_plan_raw(plan, target->raw);
}

/* ---- the table ---- */

/* Letters, one for each target: . accepted; r refused by its own planner; and, with the rule's own
 * words: e exclusivity, h hold, n node, c capacity. `left_out`: see invariants.h. */
static const struct row {
    const char *planner;
    attempt *attempt;
    const struct rule *author;
    const char *outcomes;
    unsigned left_out;
} table[] = {
    /* clang-format off */
    {"plan_aggregates_set", aggregates_set, NULL, "............", 0},
    {"plan_allocations", allocations, NULL, "e.h...nnrcr.", 0},
    {"plan_allocations", allocations_post, NULL, "e.h...nnrcr.", 0},
    {"plan_allocations_delete", allocations_delete, NULL, "r..rrrnrrrrr", INVARIANT_GENERATIONS},
    {"plan_class_create", class_create, NULL, "............", 0},
    {"plan_class_rename", class_rename, NULL, "rrrnnnrrnrrn", 0},
    {"plan_class_ensure", class_ensure, NULL, "............", 0},
    {"plan_class_delete", class_delete, NULL, "rrrrrrrrrrrr", 0},
    {"plan_inventory_create", inventory_create, NULL, "............", 0},
    {"plan_inventory_update", inventory_update, NULL, "....n...r.r.", 0},
    {"plan_inventories_set", inventories_set, NULL, "....n.....n.", 0},
    {"plan_inventory_delete", inventory_delete, NULL, "rrrnnnrrr.rn", 0},
    {"plan_inventories_delete", inventories_delete, NULL, "rrrnnnrr..nn", 0},
    {"plan_provider_traits_set", provider_traits_set, NULL, ".....n....nn", 0},
    {"plan_provider_create", provider_create, NULL, "............", 0},
    {"plan_provider_update", provider_update, NULL, ".e.n........", 0},
    {"plan_provider_delete", provider_delete, NULL, "rrrnnnrr..nn", 0},
    {"plan_reshaper", reshaper, NULL, "e.h.n.nn..n.", INVARIANT_GENERATIONS},
    {"plan_trait_put", trait_put, NULL, "............", 0},
    {"plan_trait_delete", trait_delete, NULL, "rrrrrrrrrrrr", 0},
    {"plan_group_create", group_create, &valet_rule, "............", 0},
    {"plan_group_describe", group_describe, &valet_rule, "............", 0},
    {"plan_group_delete", group_delete, &valet_rule, "rrrrrrrrrrrr", 0},
    {"plan_group_add_members", group_add_members, &valet_rule, "............", 0},
    {"plan_group_remove_members", group_remove_members, &valet_rule, "rrrrrrrrrrrr", 0},
    {"plan_stack_commit", stack_commit, &valet_rule, "r.......rrr.", 0},
    {"plan_stack_delete", stack_delete, &valet_rule, "............", 0},
    {"plan_placement_delete", placement_delete, &valet_rule, "............", 0},
    {"plan_node_create", node_create, &node_rule, "............", 0},
    {"plan_node_update", node_update, &node_rule, "............", 0},
    {"plan_node_delete", node_delete, &node_rule, "......rr....", 0},
    {"plan_node_maintenance", node_maintenance, &node_rule, "............", 0},
    {"plan_node_traits", node_traits, &node_rule, "............", 0},
    {"plan_node_provision", node_provision, &node_rule, "............", 0},
    {"plan_node_power", node_power, &node_rule, "............", 0},
    {"plan_node_advance", node_advance, &node_rule, "............", 0},
    {"plan_node_recover", node_recover, &node_rule, "............", 0},
    {"plan_node_allocation_create", node_allocation_create, &node_rule, "............", 0},
    {"plan_node_allocation_create", node_backfill, &node_rule, "............", INVARIANT_STRANGERS},
    {"plan_node_allocation_update", node_allocation_update, &node_rule, "............", 0},
    {"plan_node_allocation_delete", node_allocation_delete, &node_rule, "............", 0},
    {"plan_node_allocation_decide", node_allocation_decide, &node_rule, "............", 0},
    {"node_write_mirror", mirror, &node_rule, "e...........", 0},
    {"cloud_plan_raw", raw, NULL, "eehnnnnnncnn", 0},
    /* clang-format on */
};

/* These only ask: they append nothing, and the rows above call them.
 * plan_generation_is plan_metal plan_node_is_unlocked plan_node_provision_check
 * plan_node_update_check plan_provider_find */

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
    const char *text = arena_copy(cloud.world.arena, cloud.world.err.message).data;
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (strstr(text, known[i].words) != NULL)
            return cloud.world.err.status == 409 ? known[i].letter : '?';
    return 'r';
}

static void prepare(const struct target *target)
{
    cloud_open(&cloud);
    cloud.world.author = &node_rule;
    struct plan plan = metal_plan(&cloud);
    const struct node_allocation_draft draft = metal_new_allocation("waits", "iron");
    const struct plan_node_allocation input = {
        .draft = &draft, .has_uuid = true, .has_class = true};
    assert_true(world_conclude(&cloud.world, plan_node_allocation_create(
                                                 &input, &plan, &cloud.planned, &cloud.world.err)));
    if (target->before != NULL)
        assert_int_equal(cloud_raw(&cloud, target->before), 0);
}

static char run_pair(const struct row *row, const struct target *target)
{
    struct snapshot before;
    prepare(target);
    snapshot_take(&before, &cloud);
    cloud.world.author = row->author;
    struct plan plan = metal_plan(&cloud);
    bool is_planned = row->attempt(target, &plan, &cloud.world.err);
    char outcome = '.';
    if (!world_conclude(&cloud.world, is_planned))
        outcome = letter();
    else
        invariants_check(&before, &cloud, row->left_out, row->author);
    cloud_close(&cloud);
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
