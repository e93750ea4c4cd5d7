/* Which node an allocation gets, and the reason if it gets none (baremetal-allocations spec, 4 and
 * C3). */
#include <stdio.h>

#include "baremetal/write/metal_world.h"
#include "base/buf.h"
#include "placement/write/plan_providers.h"
#include "replica/nodes.h"
#include "unit.h"

static struct metal_world metal;

static int set_up(void **state)
{
    (void)state;
    metal_open(&metal);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    metal_close(&metal);
    return 0;
}

static const char *numbered(const char *prefix, unsigned number)
{
    return arena_printf(metal.world.arena, "%s%u", prefix, number).data;
}

static void request(const struct node_allocation_draft *draft)
{
    assert_true(metal_allocate_drafted(&metal, draft, NULL));
}

static void request_plain(const char *uuid)
{
    const struct node_allocation_draft draft = metal_new_allocation(uuid, "gold");
    request(&draft);
}

/* The result if it is decided at once. */
static void expect_failure(const struct node_allocation_draft *draft, const char *why)
{
    const char *uuid = draft->value[NODE_ALLOCATION_UUID].text.data;
    struct buf text = {0};
    request(draft);
    assert_true(metal_decide(&metal, uuid, NULL));
    buf_printf(&text, "Failed to process allocation %s: %s.", uuid, why);
    buf_append_char(&text, '\0');
    metal_assert_failed(&metal, uuid, text.data);
    assert_true(metal_release(&metal, uuid));
    buf_free(&text);
}

static void expect_none_available(const char *class)
{
    char why[128];
    const struct node_allocation_draft draft = metal_new_allocation("a0", class);
    snprintf(why, sizeof(why), "no available nodes match the resource class %s", class);
    expect_failure(&draft, why);
}

static void expect_node(const struct node_allocation_draft *draft, const char *node)
{
    const char *uuid = draft->value[NODE_ALLOCATION_UUID].text.data;
    request(draft);
    assert_true(metal_decide(&metal, uuid, NULL));
    metal_assert_active(&metal, uuid, node);
    assert_true(metal_release(&metal, uuid));
}

/* Each condition in turn is the one that fails. */
static void candidates_of_a_class(void **state)
{
    (void)state;
    expect_none_available("gold");
    assert_true(metal_create(&metal, "n1", "gold"));
    expect_none_available("gold"); /* enroll */
    struct node_draft no_power = metal_new_node("n2", "gold");
    node_set_null(&no_power, NODE_POWER_STATE);
    assert_true(metal_create_drafted(&metal, &no_power));
    expect_none_available("gold");
    struct node_draft broken = metal_new_node("n3", "gold");
    node_set_text(&broken, NODE_POWER_STATE, SLICE_LIT("error"));
    assert_true(metal_create_drafted(&metal, &broken));
    expect_none_available("gold");
    metal_create_available(&metal, "n4", "gold");
    assert_true(metal_maintain(&metal, "n4", true));
    expect_none_available("gold");
    assert_true(metal_maintain(&metal, "n4", false));
    assert_true(metal_patch(&metal, "n4", NODE_INSTANCE_UUID, "i1"));
    expect_none_available("gold");
    assert_true(metal_patch(&metal, "n4", NODE_INSTANCE_UUID, NULL));
    expect_none_available("GOLD"); /* of one class in Placement, but not the requested one */
    const struct node_allocation_draft draft = metal_new_allocation("a1", "gold");
    expect_node(&draft, "n4");
    struct node_draft off = metal_new_node("n5", "silver");
    node_set_text(&off, NODE_POWER_STATE, SLICE_LIT("power off"));
    assert_true(metal_create_drafted(&metal, &off));
    const struct node_allocation_draft silver = metal_new_allocation("a2", "silver");
    expect_node(&silver, "n5");
}

/* Another node has the id of one that was locked, and is not a candidate. */
static void candidates_by_id(void **state)
{
    (void)state;
    struct node_choice choice = {0};
    metal_create_available(&metal, "n1", "gold");
    struct node_allocation_draft draft = metal_new_allocation("a1", "gold");
    node_allocation_set_text(&draft, NODE_ALLOCATION_CANDIDATE_NODES, SLICE_LIT("n1"));
    assert_true(metal_power(&metal, "n1", "power on"));
    request(&draft);
    assert_false(metal_decide(&metal, "a1", &choice));
    metal_pass(&metal, "n1");
    world_set_next_id(&metal.world, STORE_NODES, metal_node(&metal, "n1")->record.id);
    assert_true(metal_delete(&metal, "n1"));
    metal_create_available(&metal, "n2", "gold");
    assert_true(metal_decide(&metal, "a1", &choice));
    metal_assert_failed(&metal, "a1",
                        "Failed to process allocation a1: all nodes were filtered out during "
                        "reservation.");
    node_choice_free(&choice);
}

static void candidate_nodes(void **state)
{
    (void)state;
    static const char none[] =
        "none of the requested nodes are available and match the resource class gold";
    metal_create_available(&metal, "n1", "gold");
    metal_create_available(&metal, "n2", "gold");
    metal_create_available(&metal, "n3", "silver");
    struct node_allocation_draft draft = metal_new_allocation("a1", "gold");
    node_allocation_set_text(&draft, NODE_ALLOCATION_CANDIDATE_NODES, SLICE_LIT("n3 gone"));
    expect_failure(&draft, none);
    node_allocation_set_text(&draft, NODE_ALLOCATION_CANDIDATE_NODES, SLICE_LIT("n3 n2 gone n2"));
    expect_node(&draft, "n2");
    assert_true(metal_maintain(&metal, "n2", true));
    expect_failure(&draft, none);
}

static void owners(void **state)
{
    (void)state;
    metal_create_available(&metal, "n1", "gold");
    struct node_allocation_draft draft = metal_new_allocation("a1", "gold");
    node_allocation_set_text(&draft, NODE_ALLOCATION_OWNER, SLICE_LIT("p1"));
    expect_failure(&draft, "no available nodes match the resource class gold");
    assert_true(metal_patch(&metal, "n1", NODE_OWNER, "p2"));
    expect_failure(&draft, "no available nodes match the resource class gold");
    assert_true(metal_patch(&metal, "n1", NODE_LESSEE, "p1"));
    expect_node(&draft, "n1");
    assert_true(metal_patch(&metal, "n1", NODE_LESSEE, NULL));
    assert_true(metal_patch(&metal, "n1", NODE_OWNER, "p1"));
    expect_node(&draft, "n1");
    const struct node_allocation_draft nobodys = metal_new_allocation("a2", "gold");
    expect_node(&nobodys, "n1");
}

static void traits(void **state)
{
    (void)state;
    metal_create_available(&metal, "n1", "gold");
    metal_create_available(&metal, "n2", "gold");
    assert_true(metal_set_traits(&metal, "n1", "CUSTOM_A"));
    struct node_allocation_draft draft = metal_new_allocation("a1", "gold");
    node_allocation_set_text(&draft, NODE_ALLOCATION_TRAITS, SLICE_LIT("CUSTOM_B CUSTOM_A"));
    expect_failure(&draft, "no suitable nodes have the requested traits CUSTOM_B, CUSTOM_A");
    node_allocation_set_text(&draft, NODE_ALLOCATION_TRAITS,
                             SLICE_LIT("CUSTOM_B CUSTOM_B CUSTOM_A CUSTOM_B"));
    expect_failure(&draft, "no suitable nodes have the requested traits CUSTOM_B, CUSTOM_A");
    assert_true(metal_set_traits(&metal, "n2", "CUSTOM_A CUSTOM_B CUSTOM_C"));
    expect_node(&draft, "n2");
    assert_true(metal_maintain(&metal, "n2", true)); /* the one that has them is not a candidate */
    expect_failure(&draft, "no suitable nodes have the requested traits CUSTOM_B, CUSTOM_A");
}

/* The node with the allocation's name comes first, if it is suitable. */
static void names(void **state)
{
    (void)state;
    for (unsigned i = 1; i <= 20; i++) {
        metal_create_available(&metal, numbered("n", i), "gold");
        assert_true(metal_patch(&metal, numbered("n", i), NODE_NAME, numbered("rack-", i)));
    }
    for (unsigned i = 1; i <= 20; i++) {
        struct node_allocation_draft draft = metal_new_allocation(numbered("a", i), "gold");
        node_allocation_set_text(&draft, NODE_ALLOCATION_NAME, slice_of(numbered("rack-", i)));
        expect_node(&draft, numbered("n", i));
    }
    struct node_allocation_draft draft = metal_new_allocation("a", "gold");
    node_allocation_set_text(&draft, NODE_ALLOCATION_NAME, SLICE_LIT("rack-3"));
    node_allocation_set_text(&draft, NODE_ALLOCATION_CANDIDATE_NODES, SLICE_LIT("n1"));
    expect_node(&draft, "n1");
    node_allocation_set_null(&draft, NODE_ALLOCATION_CANDIDATE_NODES);
    node_allocation_set_text(&draft, NODE_ALLOCATION_TRAITS, SLICE_LIT("CUSTOM_A"));
    assert_true(metal_set_traits(&metal, "n4", "CUSTOM_A"));
    expect_node(&draft, "n4");
}

static void lock(const char *node)
{
    assert_true(metal_power(&metal, node, "power on"));
}

static void locked_until_the_end(void **state)
{
    (void)state;
    struct node_choice choice = {0};
    metal_create_available(&metal, "n1", "gold");
    metal_create_available(&metal, "n2", "gold");
    assert_true(metal_patch(&metal, "n1", NODE_NAME, "web"));
    lock("n1");
    lock("n2");
    struct node_allocation_draft draft = metal_new_allocation("a1", "gold");
    node_allocation_set_text(&draft, NODE_ALLOCATION_NAME, SLICE_LIT("web")); /* checked at once */
    request(&draft);
    assert_false(metal_decide(&metal, "a1", &choice));
    metal_create_available(&metal, "n3", "gold"); /* came too late */
    assert_false(metal_decide(&metal, "a1", &choice));
    assert_true(node_allocation_text_is(metal_allocation(&metal, "a1"), NODE_ALLOCATION_STATE,
                                        "allocating"));
    assert_true(metal_decide(&metal, "a1", &choice));
    metal_assert_failed(
        &metal, "a1",
        "Failed to process allocation a1: could not reserve any of 2 suitable nodes.");
    node_choice_free(&choice);
    metal.metal.locked_retry_attempts = 1;
    assert_true(metal_maintain(&metal, "n3", true));
    request_plain("a2");
    assert_true(metal_decide(&metal, "a2", NULL));
    metal_assert_failed(
        &metal, "a2",
        "Failed to process allocation a2: could not reserve any of 2 suitable nodes.");
}

static void locked_and_released(void **state)
{
    (void)state;
    struct node_choice choice = {0};
    metal_create_available(&metal, "n1", "gold");
    metal_create_available(&metal, "n2", "gold");
    lock("n1");
    lock("n2");
    request_plain("a1");
    assert_false(metal_decide(&metal, "a1", &choice));
    metal_pass(&metal, "n2");
    assert_true(metal_decide(&metal, "a1", &choice));
    metal_assert_active(&metal, "a1", "n2");
    node_choice_free(&choice);
    /* one is locked and one is free: it need not wait */
    metal_create_available(&metal, "n3", "gold");
    request_plain("a2");
    assert_true(metal_decide(&metal, "a2", NULL));
    metal_assert_active(&metal, "a2", "n3");
}

static void locked_and_taken_away(void **state)
{
    (void)state;
    struct node_choice choice = {0};
    metal_create_available(&metal, "n1", "gold");
    metal_create_available(&metal, "n2", "gold");
    metal_create_available(&metal, "n3", "gold");
    for (unsigned i = 1; i <= 3; i++)
        lock(numbered("n", i));
    request_plain("a1");
    assert_false(metal_decide(&metal, "a1", &choice));
    for (unsigned i = 1; i <= 3; i++)
        metal_pass(&metal, numbered("n", i));
    assert_true(metal_maintain(&metal, "n1", true));
    assert_true(metal_delete(&metal, "n2"));
    assert_true(metal_claim(&metal, "c1", "n3", "CUSTOM_GOLD", 1));
    metal_create_available(&metal, "n4", "gold");
    assert_true(metal_decide(&metal, "a1", &choice));
    metal_assert_failed(
        &metal, "a1",
        "Failed to process allocation a1: all nodes were filtered out during reservation.");
    node_choice_free(&choice);
}

/* In one round a node may be dropped while another is still locked. */
static void locked_fewer_each_round(void **state)
{
    (void)state;
    struct node_choice choice = {0};
    for (unsigned i = 1; i <= 4; i++) {
        metal_create_available(&metal, numbered("n", i), "gold");
        lock(numbered("n", i));
    }
    request_plain("a1");
    assert_false(metal_decide(&metal, "a1", &choice));
    assert_int_equal(choice.locked_count, 4);
    for (unsigned i = 1; i <= 3; i++)
        metal_pass(&metal, numbered("n", i));
    for (unsigned i = 1; i <= 3; i++)
        assert_true(metal_maintain(&metal, numbered("n", i), true));
    assert_false(metal_decide(&metal, "a1", &choice));
    assert_int_equal(choice.locked_count, 1);
    assert_true(metal_decide(&metal, "a1", &choice));
    metal_assert_failed(
        &metal, "a1",
        "Failed to process allocation a1: could not reserve any of 1 suitable nodes.");
    node_choice_free(&choice);
}

/* More locked nodes than are remembered: then all are examined again. */
static void locked_more_than_remembered(void **state)
{
    (void)state;
    enum { NODES = NODE_CHOICE_LOCKED_MAX + 30 };
    struct node_choice choice = {0};
    metal.world.skips_store = true;
    for (unsigned i = 1; i <= NODES; i++) {
        struct node_draft draft = metal_new_node(numbered("n", i), "gold");
        node_set_text(&draft, NODE_RESERVATION, SLICE_LIT("host"));
        node_set_text(&draft, NODE_OWNER_INSTANCE, metal.metal.instance);
        struct plan plan = metal_plan(&metal);
        const struct node *node;
        assert_true(plan_node_create(&draft, &plan, &node, &metal.world.err));
        world_apply(&metal.world);
    }
    request_plain("a1");
    assert_false(metal_decide(&metal, "a1", &choice));
    assert_int_equal(choice.locked_count, NODES);
    assert_true(choice.locked_capacity <= NODE_CHOICE_LOCKED_MAX);
    bool is_remembered[NODES + 1] = {false};
    for (unsigned i = 0; i < NODE_CHOICE_LOCKED_MAX; i++)
        for (unsigned k = 1; k <= NODES; k++)
            is_remembered[k] |=
                metal_node(&metal, numbered("n", k))->record.id == choice.locked_ids[i];
    unsigned forgotten = 1;
    while (is_remembered[forgotten])
        forgotten++;
    metal_pass(&metal, numbered("n", forgotten));
    assert_true(metal_decide(&metal, "a1", &choice));
    metal_assert_active(&metal, "a1", numbered("n", forgotten));
    node_choice_free(&choice);
}

/* With many requests every node gets some, whether selected by class or by a list. */
static void random_start(void **state)
{
    (void)state;
    enum { NODES = 20, REQUESTS = 400 };
    for (unsigned i = 1; i <= NODES; i++) {
        metal_create_available(&metal, numbered("n", 2 * i), "gold");
        metal_create_available(&metal, numbered("x", i), "silver");
    }
    struct buf list = {0};
    for (unsigned i = 1; i <= NODES; i++) {
        buf_append_slice(&list, slice_of(i == 1 ? "" : " "));
        buf_append_slice(&list, slice_of(numbered("n", 2 * i)));
    }
    for (unsigned with_list = 0; with_list < 2; with_list++) {
        unsigned taken[2 * NODES + 1] = {0};
        for (unsigned i = 0; i < REQUESTS; i++) {
            const char *uuid = numbered("a", i);
            struct node_allocation_draft draft = metal_new_allocation(uuid, "gold");
            if (with_list == 1)
                node_allocation_set_text(&draft, NODE_ALLOCATION_CANDIDATE_NODES, buf_slice(&list));
            request(&draft);
            assert_true(metal_decide(&metal, uuid, NULL));
            int64_t id = node_allocation_node_id(metal_allocation(&metal, uuid));
            struct slice node = node_text(version_node(metal.world.edit->version, id), NODE_UUID);
            unsigned number = 0;
            for (size_t k = 1; k < node.len; k++)
                number = 10 * number + (unsigned)(node.data[k] - '0');
            taken[number]++;
            assert_true(metal_release(&metal, uuid));
        }
        for (unsigned i = 1; i <= NODES; i++)
            assert_true(taken[2 * i] > 0 && taken[2 * i] < REQUESTS / 4);
    }
    buf_free(&list);
}

/* With K suitable nodes, exactly K of M requests get one, each a different one. */
static void exactly_as_many_as_fit(void **state)
{
    (void)state;
    enum { NODES = 12, REQUESTS = 30 };
    for (unsigned i = 1; i <= NODES; i++)
        metal_create_available(&metal, numbered("n", i), "gold");
    unsigned active = 0;
    for (unsigned i = 0; i < REQUESTS; i++)
        request_plain(numbered("a", i));
    for (unsigned i = 0; i < REQUESTS; i++) {
        const char *uuid = numbered("a", i);
        assert_true(metal_decide(&metal, uuid, NULL));
        bool is_active = node_allocation_text_is(metal_allocation(&metal, uuid),
                                                 NODE_ALLOCATION_STATE, "active");
        assert_int_equal(is_active, active < NODES);
        active += is_active;
    }
    assert_int_equal(active, NODES);
}

static void make_provider(const char *uuid, const char *parent)
{
    struct planned_provider made;
    struct plan plan = metal_plan(&metal);
    assert_true(metal_conclude(
        &metal, plan_provider_create(slice_of(uuid), slice_of(uuid),
                                     parent == NULL ? (struct slice){0} : slice_of(parent), &plan,
                                     &made, &metal.world.err)));
}

/* Nodes held by Placement's clients are not candidates, from before the node is mirrored on. */
static void held_in_placement(void **state)
{
    (void)state;
    metal_create_available(&metal, "n1", "gold");
    metal_create_available(&metal, "n2", "gold");
    metal_create_available(&metal, "n3", "silver");
    assert_true(metal_claim(&metal, "c1", "n1", "CUSTOM_GOLD", 1));
    for (unsigned i = 0; i < 10; i++) {
        const struct node_allocation_draft draft = metal_new_allocation(numbered("a", i), "gold");
        expect_node(&draft, "n2");
    }
    assert_true(metal_claim(&metal, "c2", "n2", "CUSTOM_GOLD", 1));
    expect_none_available("gold");
    metal.metal.mirror = false; /* as it was before the switch was turned on */
    make_provider("n4", NULL);
    metal_create_available(&metal, "n4", "bronze");
    assert_true(metal_delete(&metal, "n3"));
    make_provider("n5", "n4");
    metal_create_available(&metal, "n5", "copper");
    metal.metal.mirror = true;
    struct plan plan = metal_plan(&metal);
    const struct node_allocation_draft copper = metal_new_allocation("a1", "copper");
    const struct plan_node_allocation input = {.draft = &copper, .has_uuid = true};
    struct planned_node_allocation planned;
    assert_true(plan_node_allocation_create(&input, &plan, &planned, &metal.world.err));
    world_apply(&metal.world);
    bool again;
    struct node_choice choice = {0};
    int64_t id = metal_allocation(&metal, "a1")->record.id;
    plan = metal_plan(&metal);
    assert_true(plan_node_allocation_decide(id, &choice, &again, &plan, &metal.world.err));
    world_apply(&metal.world);
    metal_assert_failed(&metal, "a1",
                        "Failed to process allocation a1: no available nodes match the resource "
                        "class copper.");
}

/* C4: a consumer that holds a node under that uuid gets that node, once it is unlocked. */
static void held_by_itself(void **state)
{
    (void)state;
    struct node_choice choice = {0};
    metal_create_available(&metal, "n1", "gold");
    metal_create_available(&metal, "n2", "gold");
    assert_true(metal_claim(&metal, "a1", "n2", "CUSTOM_GOLD", 1));
    lock("n2");
    request_plain("a1");
    assert_false(metal_decide(&metal, "a1", &choice));
    metal_pass(&metal, "n2");
    assert_true(metal_decide(&metal, "a1", &choice));
    metal_assert_active(&metal, "a1", "n2");
    node_choice_free(&choice);
    assert_true(metal_claim(&metal, "a2", "n1", "CUSTOM_GOLD", 1));
    metal_create_available(&metal, "n3", "gold");
    assert_true(metal_maintain(&metal, "n1", true));
    request_plain("a2");
    assert_true(metal_decide(&metal, "a2", NULL));
    metal_assert_failed(&metal, "a2",
                        "Unexpected exception during allocation: Instance a2 already has "
                        "allocations in Placement");
}

static void instance_of_another_node(void **state)
{
    (void)state;
    metal_create_available(&metal, "n1", "gold");
    metal_create_available(&metal, "n2", "gold");
    assert_true(metal_patch(&metal, "n1", NODE_INSTANCE_UUID, "a1"));
    request_plain("a1");
    assert_true(metal_decide(&metal, "a1", NULL));
    metal_assert_failed(&metal, "a1",
                        "Unexpected exception during allocation: Instance a1 is already "
                        "associated with a node, it cannot be associated with this other node n2");
    assert_true(node_is_null(metal_node(&metal, "n2"), NODE_INSTANCE_UUID));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(candidates_of_a_class),
        TEST(candidate_nodes),
        TEST(candidates_by_id),
        TEST(owners),
        TEST(traits),
        TEST(names),
        TEST(locked_until_the_end),
        TEST(locked_and_released),
        TEST(locked_and_taken_away),
        TEST(locked_fewer_each_round),
        TEST(locked_more_than_remembered),
        TEST(random_start),
        TEST(exactly_as_many_as_fit),
        TEST(held_in_placement),
        TEST(held_by_itself),
        TEST(instance_of_another_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
