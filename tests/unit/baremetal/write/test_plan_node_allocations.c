/* Allocations of nodes from their creation to their end (baremetal-allocations spec, 3 to 6). */
#include <stdio.h>

#include "baremetal/write/metal_world.h"
#include "baremetal/write/node_write.h"
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

static const struct node_allocation *a1(void)
{
    return metal_allocation(&metal, "a1");
}

static const struct node *n1(void)
{
    return metal_node(&metal, "n1");
}

static void set_node_state(const char *state)
{
    struct node_draft draft = node_draft_of(n1());
    node_set_text(&draft, NODE_PROVISION_STATE, slice_of(state));
    struct plan plan = metal_plan(&metal);
    const struct node_write write = {.before = n1(), .after = &draft};
    assert_true(metal_conclude(&metal, node_write(&write, &plan, NULL, &metal.world.err)));
}

static void create(void **state)
{
    (void)state;
    struct node_allocation_draft draft = metal_new_allocation("a1", "gold");
    node_allocation_set_text(&draft, NODE_ALLOCATION_NAME, SLICE_LIT("web"));
    node_allocation_set_text(&draft, NODE_ALLOCATION_TRAITS, SLICE_LIT("CUSTOM_B CUSTOM_A"));
    metal_create_available(&metal, "n1", "gold"); /* suitable, but the search has not begun */
    assert_true(metal_allocate_drafted(&metal, &draft, NULL));
    assert_int_equal(metal.planned.refused_status, 0);
    assert_true(node_allocation_text_is(a1(), NODE_ALLOCATION_STATE, "allocating"));
    assert_true(node_allocation_text_is(a1(), NODE_ALLOCATION_TRAITS, "CUSTOM_B CUSTOM_A"));
    assert_true(node_allocation_is_null(a1(), NODE_ALLOCATION_UPDATED_AT));
    assert_true(node_allocation_text_is(a1(), NODE_ALLOCATION_OWNER_INSTANCE, "host boot 1 2"));
    assert_int_equal(node_allocation_time(a1(), NODE_ALLOCATION_CREATED_AT), metal.world.now_us);
    assert_int_equal(node_allocation_node_id(a1()), 0);
    assert_false(metal_allocate(&metal, "a1", "gold"));
    metal_assert_refused(&metal, 409, "An allocation with UUID a1 already exists.");
    node_allocation_set_text(&draft, NODE_ALLOCATION_UUID, SLICE_LIT("a2"));
    assert_false(metal_allocate_drafted(&metal, &draft, NULL));
    metal_assert_refused(&metal, 409, "An allocation with name web already exists.");
    assert_true(metal_release(&metal, "a1")); /* both are free again */
    assert_true(metal_allocate_drafted(&metal, &draft, NULL));
}

static void becomes_active(void **state)
{
    (void)state;
    metal_create_available(&metal, "n1", "gold");
    assert_true(metal_patch(&metal, "n1", NODE_INSTANCE_INFO, "{\"a\":1}"));
    assert_true(metal_set_traits(&metal, "n1", "CUSTOM_A CUSTOM_B"));
    struct node_allocation_draft draft = metal_new_allocation("a1", "gold");
    node_allocation_set_text(&draft, NODE_ALLOCATION_TRAITS, SLICE_LIT("CUSTOM_B"));
    assert_true(metal_allocate_drafted(&metal, &draft, NULL));
    assert_true(metal_decide(&metal, "a1", NULL));
    metal_assert_active(&metal, "a1", "n1");
    assert_int_equal(node_allocation_time(a1(), NODE_ALLOCATION_UPDATED_AT), metal.world.now_us);
    assert_true(node_allocation_is_null(a1(), NODE_ALLOCATION_OWNER_INSTANCE));
    assert_true(node_text_is(n1(), NODE_INSTANCE_UUID, "a1"));
    assert_true(node_text_is(n1(), NODE_PROVISION_STATE, "available"));
    assert_true(node_is_null(n1(), NODE_RESERVATION));
    struct slice info = node_text(n1(), NODE_INSTANCE_INFO);
    assert_non_null(memmem(info.data, info.len, "\"CUSTOM_B\"", 10));
    assert_null(memmem(info.data, info.len, "CUSTOM_A", 8));
    assert_non_null(memmem(info.data, info.len, "\"a\"", 3));
    /* decided once and finally */
    int64_t node_id = node_allocation_node_id(a1());
    struct node_choice choice = {0};
    bool again;
    struct plan plan = metal_plan(&metal);
    assert_true(
        plan_node_allocation_decide(a1()->record.id, &choice, &again, &plan, &metal.world.err));
    assert_false(again);
    assert_int_equal(metal.world.changes.count, 0);
    assert_int_equal(node_allocation_node_id(a1()), node_id);
}

/* What a client patches during the search stays, and what it deletes stays deleted. */
static void decided_on_the_newest_row(void **state)
{
    (void)state;
    metal_create_available(&metal, "n1", "gold");
    assert_true(metal_allocate(&metal, "a1", "gold"));
    struct node_allocation_draft draft = node_allocation_draft_of(a1());
    const struct node_allocation *after;
    node_allocation_set_text(&draft, NODE_ALLOCATION_EXTRA, SLICE_LIT("{\"ticket\":1}"));
    node_allocation_set_text(&draft, NODE_ALLOCATION_NAME, SLICE_LIT("web"));
    struct plan plan = metal_plan(&metal);
    assert_true(metal_conclude(
        &metal, plan_node_allocation_update(a1(), &draft, &plan, &after, &metal.world.err)));
    assert_int_equal(node_allocation_time(a1(), NODE_ALLOCATION_UPDATED_AT), metal.world.now_us);
    assert_true(metal_decide(&metal, "a1", NULL));
    metal_assert_active(&metal, "a1", "n1");
    assert_true(node_allocation_text_is(a1(), NODE_ALLOCATION_EXTRA, "{\"ticket\":1}"));
    assert_true(node_allocation_text_is(a1(), NODE_ALLOCATION_NAME, "web"));
    assert_true(metal_release(&metal, "a1"));
    assert_true(metal_allocate(&metal, "a2", "gold"));
    int64_t id = metal_allocation(&metal, "a2")->record.id;
    assert_true(metal_release(&metal, "a2"));
    struct node_choice choice = {0};
    bool again;
    plan = metal_plan(&metal);
    assert_true(plan_node_allocation_decide(id, &choice, &again, &plan, &metal.world.err));
    assert_int_equal(metal.world.changes.count, 0);
    assert_true(node_is_null(n1(), NODE_INSTANCE_UUID));
}

static void update(void **state)
{
    (void)state;
    assert_true(metal_allocate(&metal, "a1", "gold"));
    struct node_allocation_draft other = metal_new_allocation("a2", "gold");
    node_allocation_set_text(&other, NODE_ALLOCATION_NAME, SLICE_LIT("web"));
    assert_true(metal_allocate_drafted(&metal, &other, NULL));
    const struct node_allocation *after;
    struct node_allocation_draft draft = node_allocation_draft_of(a1());
    struct plan plan = metal_plan(&metal);
    assert_true(metal_conclude(
        &metal, plan_node_allocation_update(a1(), &draft, &plan, &after, &metal.world.err)));
    assert_int_equal(metal.world.changes.count, 0);
    assert_true(node_allocation_is_null(a1(), NODE_ALLOCATION_UPDATED_AT));
    node_allocation_set_text(&draft, NODE_ALLOCATION_NAME, SLICE_LIT("web"));
    plan = metal_plan(&metal);
    assert_false(metal_conclude(
        &metal, plan_node_allocation_update(a1(), &draft, &plan, &after, &metal.world.err)));
    metal_assert_refused(&metal, 409, "An allocation with name web already exists.");
    draft =
        node_allocation_draft_of(metal_allocation(&metal, "a2")); /* its own name is no conflict */
    node_allocation_set_text(&draft, NODE_ALLOCATION_EXTRA, SLICE_LIT("{\"a\":1}"));
    plan = metal_plan(&metal);
    assert_true(
        metal_conclude(&metal, plan_node_allocation_update(metal_allocation(&metal, "a2"), &draft,
                                                           &plan, &after, &metal.world.err)));
}

static void expect_backfill_refused(const struct node_allocation_draft *draft, int status,
                                    const char *text)
{
    assert_true(metal_allocate_drafted(&metal, draft, "n1"));
    assert_int_equal(metal.planned.refused_status, status);
    assert_string_equal(arena_copy(metal.world.arena, metal.planned.refused_text).data, text);
    const char *uuid = draft->value[NODE_ALLOCATION_UUID].text.data;
    metal_assert_failed(&metal, uuid, text); /* the row stays, and keeps the uuid */
    assert_false(metal_allocate_drafted(&metal, draft, "n1"));
    assert_int_equal(metal.world.err.status, 409);
    assert_true(metal_release(&metal, uuid));
}

static void backfill(void **state)
{
    (void)state;
    metal_create_available(&metal, "n1", "gold");
    struct node_allocation_draft draft = metal_new_allocation("a1", NULL);
    expect_backfill_refused(&draft, 500,
                            "Failed to process allocation a1: Cannot backfill an allocation for "
                            "node n1: Node must be in the \"active\" state, but the current state "
                            "is \"available\".");
    node_allocation_set_text(&draft, NODE_ALLOCATION_RESOURCE_CLASS, SLICE_LIT("silver"));
    node_allocation_set_text(&draft, NODE_ALLOCATION_TRAITS, SLICE_LIT("CUSTOM_A CUSTOM_A"));
    node_allocation_set_text(&draft, NODE_ALLOCATION_CANDIDATE_NODES, SLICE_LIT("n2 n3"));
    assert_true(metal_set_traits(&metal, "n1", "CUSTOM_B"));
    expect_backfill_refused(
        &draft, 500,
        "Failed to process allocation a1: Cannot backfill an allocation for node n1: Node must be "
        "in the \"active\" state, but the current state is \"available\"; Resource class gold does "
        "not match the requested resource class silver; List of traits ['CUSTOM_B'] does not match "
        "the requested traits ['CUSTOM_A', 'CUSTOM_A']; Candidate nodes must be empty or contain "
        "the target node, but got ['n2', 'n3'].");
    set_node_state("active");
    assert_true(metal_maintain(&metal, "n1", true)); /* does not matter */
    draft = metal_new_allocation("a1", NULL);
    node_allocation_set_text(&draft, NODE_ALLOCATION_TRAITS, SLICE_LIT("CUSTOM_B"));
    node_allocation_set_text(&draft, NODE_ALLOCATION_CANDIDATE_NODES, SLICE_LIT("n2 n1"));
    assert_true(metal_allocate_drafted(&metal, &draft, "n1"));
    assert_int_equal(metal.planned.refused_status, 0);
    metal_assert_active(&metal, "a1", "n1");
    assert_true(node_allocation_text_is(a1(), NODE_ALLOCATION_RESOURCE_CLASS, "gold"));
    assert_true(node_text_is(n1(), NODE_INSTANCE_UUID, "a1"));
    assert_true(record_equal(&metal.planned.allocation->record, &a1()->record));
}

static void backfill_of_an_instance(void **state)
{
    (void)state;
    metal_create_available(&metal, "n1", "gold");
    metal_create_available(&metal, "n2", "gold");
    set_node_state("active");
    assert_true(metal_patch(&metal, "n1", NODE_INSTANCE_UUID, "i1"));
    assert_true(metal_patch(&metal, "n2", NODE_INSTANCE_UUID, "i2"));
    struct node_allocation_draft draft = metal_new_allocation("a1", NULL);
    expect_backfill_refused(&draft, 409, "Node n1 is associated with instance i1.");
    /* the handler's uuid, which is replaced by the instance's */
    struct plan plan = metal_plan(&metal);
    const struct plan_node_allocation input = {.draft = &draft, .node = n1()};
    assert_true(metal_conclude(
        &metal, plan_node_allocation_create(&input, &plan, &metal.planned, &metal.world.err)));
    metal_assert_active(&metal, "i1", "n1");
    assert_true(slice_equal(draft.value[NODE_ALLOCATION_UUID].text, SLICE_LIT("a1")));
    const struct plan_node_allocation second = {.draft = &draft, .node = n1()};
    plan = metal_plan(&metal);
    assert_false(metal_conclude(
        &metal, plan_node_allocation_create(&second, &plan, &metal.planned, &metal.world.err)));
    metal_assert_refused(&metal, 409, "An allocation with UUID i1 already exists.");
    assert_true(metal_maintain(&metal, "n1", true));
    assert_true(metal_release(&metal, "i1"));
    draft = metal_new_allocation("i2", NULL);
    expect_backfill_refused(&draft, 409,
                            "Instance i2 is already associated with a node, it cannot be "
                            "associated with this other node n1");
}

static void backfill_of_a_locked_node(void **state)
{
    (void)state;
    metal_create_available(&metal, "n1", "gold");
    set_node_state("active");
    assert_true(metal_patch(&metal, "n1", NODE_INSTANCE_UUID, "i1"));
    assert_true(metal_power(&metal, "n1", "power on"));
    struct node_allocation_draft draft = metal_new_allocation("a1", NULL);
    const struct plan_node_allocation input = {.draft = &draft, .node = n1()};
    struct plan plan = metal_plan(&metal);
    assert_false(metal_conclude(
        &metal, plan_node_allocation_create(&input, &plan, &metal.planned, &metal.world.err)));
    assert_int_equal(metal.world.err.kind, REFUSED_LOCKED);
    assert_null(a1());
    /* tried again once the instance is removed: the uuid must not be remembered */
    metal_pass(&metal, "n1");
    assert_true(metal_patch(&metal, "n1", NODE_INSTANCE_UUID, NULL));
    const struct plan_node_allocation again = {.draft = &draft, .node = n1()};
    plan = metal_plan(&metal);
    assert_true(metal_conclude(
        &metal, plan_node_allocation_create(&again, &plan, &metal.planned, &metal.world.err)));
    metal_assert_active(&metal, "a1", "n1");
}

static void release(void **state)
{
    (void)state;
    metal_create_available(&metal, "n1", "gold");
    assert_true(metal_allocate(&metal, "a1", "gold"));
    assert_true(metal_decide(&metal, "a1", NULL));
    assert_true(metal_power(&metal, "n1", "power on"));
    assert_false(metal_release(&metal, "a1"));
    metal_assert_refused(&metal, 409,
                         "Node n1 is locked by host host, please retry after the current operation "
                         "is completed.");
    assert_int_equal(metal.world.err.kind, REFUSED_LOCKED);
    metal_pass(&metal, "n1");
    set_node_state("active");
    assert_false(metal_release(&metal, "a1"));
    metal_assert_refused(&metal, 409,
                         "Cannot remove allocation a1 for node n1, because the node is active (and "
                         "maintenance mode is off)");
    assert_true(metal_maintain(&metal, "n1", true));
    assert_true(metal_release(&metal, "a1"));
    assert_null(a1());
    assert_true(node_is_null(n1(), NODE_INSTANCE_UUID));
    assert_true(node_text_is(n1(), NODE_PROVISION_STATE, "active"));
    assert_true(node_text_is(n1(), NODE_POWER_STATE, "power on"));
    struct slice info = node_text(n1(), NODE_INSTANCE_INFO); /* stays */
    assert_non_null(memmem(info.data, info.len, "\"traits\"", 8));
}

static void release_in_transition(void **state)
{
    (void)state;
    static const char *const updatable[] = {
        "verifying",    "inspecting",     "inspect wait", "error",         "deploy failed",
        "clean failed", "inspect failed", "adopt failed", "rescue failed", "unrescue failed"};
    static const char *const others[] = {"deploying", "cleaning", "deleting", "rescuing"};
    char text[300];
    for (unsigned i = 0; i < 14; i++) {
        const char *at = i < 10 ? updatable[i] : others[i - 10];
        metal_create_available(&metal, "n1", "gold");
        assert_true(metal_allocate(&metal, "a1", "gold"));
        assert_true(metal_decide(&metal, "a1", NULL));
        struct node_draft draft = node_draft_of(n1());
        node_set_text(&draft, NODE_PROVISION_STATE, slice_of(at));
        node_set_text(&draft, NODE_TARGET_PROVISION_STATE, SLICE_LIT("available"));
        struct plan plan = metal_plan(&metal);
        const struct node_write write = {.before = n1(), .after = &draft};
        assert_true(metal_conclude(&metal, node_write(&write, &plan, NULL, &metal.world.err)));
        assert_int_equal(metal_release(&metal, "a1"), i < 10);
        if (i >= 10) {
            snprintf(text, sizeof(text),
                     "Cannot remove allocation a1 for node n1, because the node is in state %s "
                     "where updates are not allowed (and maintenance mode is off)",
                     at);
            metal_assert_refused(&metal, 409, text);
        }
        assert_true(metal_maintain(&metal, "n1", true));
        if (i >= 10)
            assert_true(metal_release(&metal, "a1"));
        assert_true(metal_delete(&metal, "n1"));
    }
}

/* 6.3. */
static void what_does_not_end_it(void **state)
{
    (void)state;
    metal_create_available(&metal, "n1", "gold");
    assert_true(metal_allocate(&metal, "a1", "gold"));
    assert_true(metal_decide(&metal, "a1", NULL));
    assert_true(metal_verb(&metal, "n1", "manage"));
    assert_true(metal_maintain(&metal, "n1", true));
    assert_true(metal_maintain(&metal, "n1", false));
    assert_true(metal_set_traits(&metal, "n1", "CUSTOM_A"));
    assert_true(metal_patch(&metal, "n1", NODE_RESOURCE_CLASS, "silver"));
    assert_true(metal_patch(&metal, "n1", NODE_RESOURCE_CLASS, NULL));
    assert_true(metal_patch(&metal, "n1", NODE_RESOURCE_CLASS, "gold"));
    assert_true(metal_verb(&metal, "n1", "provide"));
    metal_pass(&metal, "n1");
    assert_true(metal_verb(&metal, "n1", "active"));
    metal_pass(&metal, "n1");
    assert_true(metal_verb(&metal, "n1", "rebuild"));
    metal_pass(&metal, "n1");
    assert_true(metal_power(&metal, "n1", "power off"));
    metal_pass(&metal, "n1");
    metal_assert_active(&metal, "a1", "n1");
    assert_false(metal_claim(&metal, "c1", "n1", "CUSTOM_GOLD", 1));
}

/* If a node's row has vanished, its allocation can be deleted. */
static void node_vanished(void **state)
{
    (void)state;
    metal.metal.mirror = false;
    metal_create_available(&metal, "n1", "gold");
    assert_true(metal_allocate(&metal, "a1", "gold"));
    assert_true(metal_decide(&metal, "a1", NULL));
    (void)metal_plan(&metal);
    change_delete_node(&metal.world.changes, n1()->record.id);
    world_apply(&metal.world);
    struct plan plan = metal_plan(&metal);
    assert_true(plan_node_allocation_delete(a1(), &plan, &metal.world.err));
    world_apply(&metal.world);
    assert_null(a1());
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(create),
        TEST(becomes_active),
        TEST(decided_on_the_newest_row),
        TEST(update),
        TEST(backfill),
        TEST(backfill_of_an_instance),
        TEST(backfill_of_a_locked_node),
        TEST(release),
        TEST(release_in_transition),
        TEST(what_does_not_end_it),
        TEST(node_vanished),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
