/* Nodes that exclusivity groups claim, and nodes that are kept for placements (Valet spec, 8.2 and
 * 8.3). The group g has the member "friend". */
#include "baremetal/write/metal_world.h"
#include "baremetal/write/node_rule.h"
#include "placement/write/plan_aggregates.h"
#include "placement/write/plan_allocations.h"
#include "unit.h"
#include "valet/write/valet_rule.h"

static struct metal_world metal;

#define GROUP "10000000-0000-4000-8000-000000000001"

/* Returns its id. */
static int64_t put_row(const struct plan *plan, enum valet_table table, struct record_value *values)
{
    int64_t id = store_next_id(plan->store, (enum store_table)(STORE_VALET + (int)table));
    change_put_valet(plan->changes, table,
                     record_pack(&VALET_SHAPES[table], id, values, plan->arena));
    return id;
}

static void put_group(void)
{
    struct plan plan = metal_plan(&metal);
    struct record_value group[VALET_GROUP_FIELD_COUNT];
    record_init(&VALET_SHAPES[VALET_GROUPS], group);
    group[VALET_GROUP_UUID].text = SLICE_LIT(GROUP);
    group[VALET_GROUP_NAME].text = SLICE_LIT("g");
    int64_t group_id = put_row(&plan, VALET_GROUPS, group);
    struct record_value member[VALET_MEMBER_FIELD_COUNT];
    record_init(&VALET_SHAPES[VALET_MEMBERS], member);
    member[VALET_MEMBER_GROUP_ID].number = group_id;
    member[VALET_MEMBER_PROJECT].text = SLICE_LIT("friend");
    put_row(&plan, VALET_MEMBERS, member);
    assert_true(metal_conclude(&metal, true));
}

static void claim_node(const char *uuid)
{
    struct plan plan = metal_plan(&metal);
    struct slice group = SLICE_LIT(GROUP);
    const struct plan_aggregates input = {
        .provider_uuid = slice_of(uuid), .uuids = &group, .uuid_count = 1};
    int64_t generation;
    assert_true(metal_conclude_other(
        &metal, plan_aggregates_set(&input, &plan, &generation, &metal.world.err)));
}

static void put_plan(const struct plan *plan)
{
    struct record_value values[VALET_PLAN_FIELD_COUNT];
    record_init(&VALET_SHAPES[VALET_PLANS], values);
    values[VALET_PLAN_UUID].text = SLICE_LIT("plan");
    values[VALET_PLAN_NAME].text = SLICE_LIT("plan");
    values[VALET_PLAN_STACK_ID].text = SLICE_LIT("stack");
    values[VALET_PLAN_PROJECT].text = SLICE_LIT("friend");
    values[VALET_PLAN_USER].text = SLICE_LIT("user");
    put_row(plan, VALET_PLANS, values);
}

/* Keeps the node for friend's server, as a plan does. */
static void keep_node(const char *node, const char *placement, const char *server)
{
    struct plan plan = metal_plan(&metal);
    const struct claim_amount amount = {SLICE_LIT("CUSTOM_GOLD"), 1};
    const struct claim_provider provider = {slice_of(node), &amount, 1};
    const struct claim claim = {
        .consumer = slice_of(placement),
        .project = SLICE_LIT("friend"),
        .user = SLICE_LIT("user"),
        .type = SLICE_LIT(VALET_HOLD_TYPE),
        .providers = &provider,
        .provider_count = 1,
    };
    struct claim_set set;
    claim_begin(&set, &claim, 1, CLAIM_BY_POST, 0, &plan, &metal.world.err);
    assert_true(claim_find_providers(&set) && claim_check_amounts(&set));
    claim_write(&set);
    put_plan(&plan);
    struct record_value values[VALET_PLACEMENT_FIELD_COUNT];
    record_init(&VALET_SHAPES[VALET_PLACEMENTS], values);
    values[VALET_PLACEMENT_UUID].text = slice_of(placement);
    values[VALET_PLACEMENT_PLAN_ID].number = 1;
    values[VALET_PLACEMENT_NAME].text = SLICE_LIT("name");
    values[VALET_PLACEMENT_ORCHESTRATION_ID].text = slice_of(server);
    values[VALET_PLACEMENT_LOCATION].text = slice_of(node);
    put_row(&plan, VALET_PLACEMENTS, values);
    metal.world.author = &valet_rule;
    assert_true(metal_conclude_other(&metal, true));
    metal.world.author = &node_rule;
}

static int set_up(void **state)
{
    (void)state;
    metal_open(&metal);
    for (unsigned i = 0; i < VALET_TABLE_COUNT; i++)
        world_set_next_id(&metal.world, STORE_VALET + i, 1);
    metal_create_available(&metal, "n1", "gold");
    put_group();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    metal_close(&metal);
    return 0;
}

static void allocate(const char *uuid, const char *owner)
{
    struct node_allocation_draft draft = metal_new_allocation(uuid, "gold");
    if (owner != NULL)
        node_allocation_set_text(&draft, NODE_ALLOCATION_OWNER, slice_of(owner));
    assert_true(metal_allocate_drafted(&metal, &draft, NULL));
    assert_true(metal_decide(&metal, uuid, NULL));
}

/* The node has the allocation's owner, too. */
static void own_node(const char *owner)
{
    assert_true(metal_patch(&metal, "n1", NODE_OWNER, owner));
}

static void assert_none(const char *uuid)
{
    metal_assert_failed(
        &metal, uuid,
        arena_printf(metal.world.arena,
                     "Failed to process allocation %s: no available nodes match the resource class "
                     "gold.",
                     uuid)
            .data);
}

static void of_members_only(void **state)
{
    (void)state;
    claim_node("n1");
    own_node("other");
    allocate("a1", "other");
    assert_none("a1");
    own_node("friend");
    allocate("a2", "friend");
    metal_assert_active(&metal, "a2", "n1");
}

/* Its consumer would belong to the project configured for that case. */
static void without_an_owner(void **state)
{
    (void)state;
    claim_node("n1");
    allocate("a1", NULL);
    assert_none("a1");
    metal.metal.incomplete_project_id = SLICE_LIT("friend");
    allocate("a2", NULL);
    metal_assert_active(&metal, "a2", "n1");
}

static void another_node_is_taken(void **state)
{
    (void)state;
    metal_create_available(&metal, "n2", "gold");
    claim_node("n1");
    allocate("a1", NULL);
    metal_assert_active(&metal, "a1", "n2");
}

static void backfill_is_exempt(void **state)
{
    (void)state;
    struct node_draft draft = metal_new_node("n2", "gold");
    node_set_text(&draft, NODE_PROVISION_STATE, SLICE_LIT("active"));
    assert_true(metal_create_drafted(&metal, &draft));
    claim_node("n2");
    assert_true(metal_backfill(&metal, "a1", "n2"));
    metal_assert_active(&metal, "a1", "n2");
}

/* C4: a consumer that already holds the node gets nothing more. */
static void who_is_there_is_adopted(void **state)
{
    (void)state;
    struct plan plan = metal_plan(&metal);
    const struct claim_amount amount = {SLICE_LIT("CUSTOM_GOLD"), 1};
    const struct claim_provider provider = {SLICE_LIT("n1"), &amount, 1};
    const struct claim claim = {.consumer = SLICE_LIT("a1"),
                                .project = SLICE_LIT("other"),
                                .user = SLICE_LIT("user"),
                                .providers = &provider,
                                .provider_count = 1};
    assert_true(metal_conclude_other(
        &metal, plan_allocations(&claim, 1, CLAIM_BY_PUT, &plan, &metal.world.err)));
    claim_node("n1");
    allocate("a1", NULL);
    metal_assert_active(&metal, "a1", "n1");
}

static void a_node_that_is_kept_for_its_server(void **state)
{
    (void)state;
    keep_node("n1", "placement", "a1");
    allocate("other", NULL);
    assert_none("other");
    allocate("placement", NULL);
    metal_assert_failed(&metal, "placement",
                        "Unexpected exception during allocation: Instance placement already has "
                        "allocations in Placement");
    own_node("friend");
    allocate("a1", "friend");
    metal_assert_active(&metal, "a1", "n1");
    assert_null(metal_consumer(&metal, "placement"));
}

/* Its consumer would not be the plan's server, and both would hold the node. */
static void another_project_does_not_take_the_servers_place(void **state)
{
    (void)state;
    keep_node("n1", "placement", "a1");
    own_node("other");
    allocate("a1", "other");
    assert_none("a1");
    assert_non_null(metal_consumer(&metal, "placement"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(of_members_only),
        TEST(without_an_owner),
        TEST(another_node_is_taken),
        TEST(backfill_is_exempt),
        TEST(who_is_there_is_adopted),
        TEST(a_node_that_is_kept_for_its_server),
        TEST(another_project_does_not_take_the_servers_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
