/* What may be changed of a node, and when (baremetal-allocations spec, 6.2, 6.3, 8.3 and 8.6). */
#include <stdio.h>

#include "baremetal/write/metal_world.h"
#include "baremetal/write/node_write.h"
#include "placement/write/plan_providers.h"
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

static const struct node *n1(void)
{
    return metal_node(&metal, "n1");
}

static const char LOCKED[] = "Node n1 is locked by host host, please retry after the current "
                             "operation is completed.";

static bool update(struct node_draft *draft, bool only_removes_instance)
{
    const struct node *after;
    struct plan plan = metal_plan(&metal);
    struct plan_node_update input = {.before = n1(),
                                     .after = draft,
                                     .ident = SLICE_LIT("its name"),
                                     .only_removes_instance = only_removes_instance};
    bool released;
    return metal_conclude(&metal,
                          plan_node_update_check(&input, &plan, &metal.world.err) &&
                              plan_node_update(&input, &plan, &after, &released, &metal.world.err));
}

static bool set_flag(enum node_field field, bool is_on)
{
    struct node_draft draft = node_draft_of(n1());
    node_set_bool(&draft, field, is_on);
    return update(&draft, false);
}

static void make(const char *state, const char *class)
{
    struct node_draft draft = metal_new_node("n1", class);
    node_set_text(&draft, NODE_PROVISION_STATE, slice_of(state));
    assert_true(metal_create_drafted(&metal, &draft));
}

static void unmake(void)
{
    if (!node_bool(n1(), NODE_MAINTENANCE))
        assert_true(metal_maintain(&metal, "n1", true));
    assert_true(metal_delete(&metal, "n1"));
}

static void create(void **state)
{
    (void)state;
    assert_true(metal_create(&metal, "n1", NULL));
    assert_true(node_text_is(n1(), NODE_PROVISION_STATE, "enroll"));
    assert_true(node_is_null(n1(), NODE_POWER_STATE));
    assert_true(node_is_null(n1(), NODE_UPDATED_AT));
    assert_int_equal(node_time(n1(), NODE_CREATED_AT), metal.world.now_us);
    assert_false(metal_create(&metal, "n1", NULL));
    metal_assert_refused(&metal, 409, "A node with UUID n1 already exists.");
    assert_true(metal_patch(&metal, "n1", NODE_NAME, "web"));
    assert_true(metal_patch(&metal, "n1", NODE_INSTANCE_UUID, "i1"));
    struct node_draft draft = metal_new_node("n2", NULL);
    node_set_text(&draft, NODE_NAME, SLICE_LIT("web"));
    assert_false(metal_create_drafted(&metal, &draft));
    metal_assert_refused(&metal, 409, "A node with name web already exists.");
    node_set_text(&draft, NODE_NAME, SLICE_LIT("Web")); /* case-sensitive */
    node_set_text(&draft, NODE_INSTANCE_UUID, SLICE_LIT("i1"));
    assert_false(metal_create_drafted(&metal, &draft));
    metal_assert_refused(&metal, 409,
                         "Instance i1 is already associated with a node, it cannot be associated "
                         "with this other node n2");
    node_set_null(&draft, NODE_INSTANCE_UUID);
    assert_true(metal_create_drafted(&metal, &draft));
    assert_false(metal_patch(&metal, "n2", NODE_NAME, "web"));
    assert_false(metal_patch(&metal, "n2", NODE_INSTANCE_UUID, "i1"));
}

static void unchanged(void **state)
{
    (void)state;
    make("available", "gold");
    struct node_draft draft = node_draft_of(n1());
    assert_true(update(&draft, false));
    assert_int_equal(metal.world.changes.count, 0);
    assert_true(node_is_null(n1(), NODE_UPDATED_AT));
    assert_true(metal_patch(&metal, "n1", NODE_DESCRIPTION, "a rack"));
    assert_int_equal(node_time(n1(), NODE_UPDATED_AT), metal.world.now_us);
    assert_true(metal_patch(&metal, "n1", NODE_INSTANCE_UUID, "i1"));
    assert_true(metal_patch(&metal, "n1", NODE_INSTANCE_UUID, "i1"));
    assert_int_equal(metal.world.changes.count, 0);
}

static void in_transition(void **state)
{
    (void)state;
    static const char *const hindered[] = {"deploying", "cleaning", "deleting",
                                           "adopting",  "rescuing", "unrescuing"};
    static const char *const free_to[] = {"verifying",     "inspecting",    "error",
                                          "deploy failed", "clean failed",  "inspect failed",
                                          "adopt failed",  "rescue failed", "unrescue failed"};
    for (size_t i = 0; i < 6; i++) {
        struct node_draft draft = metal_new_node("n1", "gold");
        node_set_text(&draft, NODE_PROVISION_STATE, slice_of(hindered[i]));
        node_set_text(&draft, NODE_TARGET_PROVISION_STATE, SLICE_LIT("active"));
        node_set_text(&draft, NODE_INSTANCE_UUID, SLICE_LIT("i1"));
        assert_true(metal_create_drafted(&metal, &draft));
        assert_false(metal_patch(&metal, "n1", NODE_DESCRIPTION, "a"));
        metal_assert_refused(&metal, 409,
                             "Node n1 can not be updated while a state transition is in progress.");
        draft = node_draft_of(n1());
        node_set_null(&draft, NODE_INSTANCE_UUID);
        assert_false(update(&draft, true));
        assert_true(metal_maintain(&metal, "n1", true));
        assert_false(metal_patch(&metal, "n1", NODE_DESCRIPTION, "a"));
        draft = node_draft_of(n1());
        node_set_null(&draft, NODE_INSTANCE_UUID);
        assert_true(update(&draft, true));
        unmake();
    }
    for (size_t i = 0; i < 9; i++) {
        struct node_draft draft = metal_new_node("n1", "gold");
        node_set_text(&draft, NODE_PROVISION_STATE, slice_of(free_to[i]));
        node_set_text(&draft, NODE_TARGET_PROVISION_STATE, SLICE_LIT("active"));
        assert_true(metal_create_drafted(&metal, &draft));
        assert_true(metal_patch(&metal, "n1", NODE_DESCRIPTION, "a"));
        unmake();
    }
}

static void resource_class(void **state)
{
    (void)state;
    static const char *const allowed[] = {"enroll", "manageable", "available", "inspecting",
                                          "inspect wait"};
    static const char *const refused[] = {"active", "error", "rescue", "clean failed", "verifying"};
    for (size_t i = 0; i < 5; i++) {
        make(allowed[i], "gold");
        assert_true(metal_patch(&metal, "n1", NODE_RESOURCE_CLASS, "silver"));
        unmake();
        make(refused[i], "gold");
        assert_true(metal_maintain(&metal, "n1", true)); /* makes no difference */
        assert_false(metal_patch(&metal, "n1", NODE_RESOURCE_CLASS, "silver"));
        metal_assert_refused(&metal, 409,
                             "Node n1 can not have resource_class updated unless it is in one of "
                             "allowed (enroll, inspecting, inspect wait, manageable, available) "
                             "states.");
        assert_false(metal_patch(&metal, "n1", NODE_RESOURCE_CLASS, NULL));
        unmake();
        make(refused[i], NULL); /* the first one */
        assert_true(metal_patch(&metal, "n1", NODE_RESOURCE_CLASS, "silver"));
        unmake();
    }
}

static void interfaces(void **state)
{
    (void)state;
    make("active", "gold");
    assert_false(metal_patch(&metal, "n1", NODE_BIOS_INTERFACE, "other"));
    metal_assert_refused(&metal, 409,
                         "Node n1 can not have bios_interface updated unless it is in one of "
                         "allowed (enroll, inspecting, inspect wait, manageable, available) states "
                         "or in maintenance mode.");
    assert_true(metal_maintain(&metal, "n1", true));
    assert_true(metal_patch(&metal, "n1", NODE_BIOS_INTERFACE, "other"));
}

static void flags(void **state)
{
    (void)state;
    make("available", "gold");
    assert_false(set_flag(NODE_PROTECTED, true));
    assert_int_equal(metal.world.err.status, 409);
    assert_false(set_flag(NODE_RETIRED, true));
    assert_int_equal(metal.world.err.status, 409);
    assert_false(metal_patch(&metal, "n1", NODE_PROTECTED_REASON, "r"));
    metal_assert_refused(&metal, 400,
                         "The protected_reason field can only be set when protected is True");
    assert_false(metal_patch(&metal, "n1", NODE_RETIRED_REASON, "r"));
    metal_assert_refused(&metal, 400,
                         "The retired_reason field can only be set when retired is True");
    unmake();
    make("active", "gold");
    assert_true(set_flag(NODE_PROTECTED, true));
    assert_true(metal_patch(&metal, "n1", NODE_PROTECTED_REASON, "r"));
    assert_true(set_flag(NODE_RETIRED, true));
    assert_true(metal_patch(&metal, "n1", NODE_RETIRED_REASON, "s"));
    assert_true(metal_maintain(&metal, "n1", true));
    assert_false(metal_delete(&metal, "n1"));
    metal_assert_refused(&metal, 403,
                         "Node n1 is protected and cannot be undeployed, rebuilt or deleted");
    assert_true(set_flag(NODE_PROTECTED, false)); /* the reasons are cleared with the flags */
    assert_true(node_is_null(n1(), NODE_PROTECTED_REASON));
    assert_false(node_is_null(n1(), NODE_RETIRED_REASON));
    assert_true(set_flag(NODE_RETIRED, false));
    assert_true(node_is_null(n1(), NODE_RETIRED_REASON));
}

static void make_allocated(const char *owner)
{
    struct node_allocation_draft draft = metal_new_allocation("a1", "gold");
    if (owner != NULL) {
        node_allocation_set_text(&draft, NODE_ALLOCATION_OWNER, slice_of(owner));
        assert_true(metal_patch(&metal, "n1", NODE_OWNER, owner));
    }
    assert_true(metal_allocate_drafted(&metal, &draft, NULL));
    assert_true(metal_decide(&metal, "a1", NULL));
    metal_assert_active(&metal, "a1", "n1");
}

static void instance(void **state)
{
    (void)state;
    make("available", "gold");
    make_allocated(NULL);
    assert_false(metal_patch(&metal, "n1", NODE_INSTANCE_UUID, "i2"));
    metal_assert_refused(&metal, 409, "Node n1 is associated with instance a1.");
    assert_true(metal_verb(&metal, "n1", "active"));
    metal_pass(&metal, "n1");
    assert_false(metal_patch(&metal, "n1", NODE_INSTANCE_UUID, NULL));
    metal_assert_refused(&metal, 409,
                         "Node n1 with an allocation can not have instance_uuid removed unless it "
                         "is in one of allowed (enroll, inspecting, inspect wait, manageable, "
                         "available) states or in maintenance mode.");
    assert_true(metal_maintain(&metal, "n1", true));
    assert_true(metal_patch(&metal, "n1", NODE_INSTANCE_UUID, NULL));
    assert_null(metal_allocation(&metal, "a1"));
    assert_true(metal_maintain(&metal, "n1", false));
    assert_true(metal_patch(&metal, "n1", NODE_INSTANCE_UUID, "i1"));
    assert_true(metal_patch(&metal, "n1", NODE_INSTANCE_UUID, NULL)); /* no allocation, any state */
    unmake();
    make("available", "gold");
    make_allocated(NULL);
    assert_true(metal_patch(&metal, "n1", NODE_INSTANCE_UUID, NULL));
    assert_null(metal_allocation(&metal, "a1"));
    assert_true(metal_claim(&metal, "c1", "n1", "CUSTOM_GOLD", 1));
}

static void owner(void **state)
{
    (void)state;
    make("available", "gold");
    make_allocated("p1");
    assert_false(metal_patch(&metal, "n1", NODE_OWNER, "p2"));
    metal_assert_refused(&metal, 409,
                         "Cannot update owner of node \"n1\" while it is allocated to an "
                         "allocation with an  owner.");
    assert_true(metal_patch(&metal, "n1", NODE_OWNER, NULL));
    assert_true(metal_release(&metal, "a1"));
    assert_true(metal_patch(&metal, "n1", NODE_OWNER, "p2"));
}

/* Only some callers may give an active node another owner. */
static void owner_of_an_active_node(void **state)
{
    (void)state;
    for (unsigned may = 0; may < 2; may++) {
        make("active", "gold");
        struct node_draft draft = node_draft_of(n1());
        node_set_text(&draft, NODE_OWNER, SLICE_LIT("p2"));
        struct plan plan = metal_plan(&metal);
        const struct plan_node_update input = {.before = n1(),
                                               .after = &draft,
                                               .sets_owner = true,
                                               .may_set_owner_of_active = may == 1};
        assert_int_equal(plan_node_update_check(&input, &plan, &metal.world.err), may == 1);
        if (may == 0)
            metal_assert_refused(
                &metal, 409, "Cannot update owner of node \"n1\" while it is in state \"active\".");
        unmake();
    }
}

/* From the version on that has the state "inspect wait", a node that is inspected is not
 * changed. */
static void during_an_inspection(void **state)
{
    (void)state;
    make("inspecting", "gold");
    for (unsigned knows = 0; knows < 2; knows++) {
        struct node_draft draft = node_draft_of(n1());
        struct plan plan = metal_plan(&metal);
        const struct plan_node_update input = {
            .before = n1(), .after = &draft, .knows_inspect_wait = knows == 1};
        assert_int_equal(plan_node_update_check(&input, &plan, &metal.world.err), knows == 0);
    }
    metal_assert_refused(&metal, 409,
                         "Cannot update node \"n1\" while it is in state \"inspecting\".");
}

static void deletion(void **state)
{
    (void)state;
    static const char *const allowed[] = {"enroll", "manageable", "adopt failed", "available"};
    static const char *const refused[] = {"active", "error", "rescue", "clean failed"};
    char text[400];
    for (size_t i = 0; i < 4; i++) {
        make(allowed[i], "gold");
        assert_true(metal_delete(&metal, "n1"));
        assert_null(metal_provider(&metal, "n1"));
        make(refused[i], "gold");
        assert_false(metal_delete(&metal, "n1"));
        snprintf(text, sizeof(text),
                 "Can not delete node \"n1\" while it is in provision state \"%s\". Valid "
                 "provision states to perform deletion are: \"('manageable', 'enroll', "
                 "'adopt failed', 'available')\", or set the node into maintenance mode",
                 refused[i]);
        metal_assert_refused(&metal, 409, text);
        unmake();
    }
    make("available", "gold");
    make_allocated(NULL);
    assert_false(metal_delete(&metal, "n1"));
    metal_assert_refused(&metal, 409, "Node n1 is associated with instance a1.");
    assert_true(metal_maintain(&metal, "n1", true));
    assert_true(metal_delete(&metal, "n1"));
    assert_null(metal_allocation(&metal, "a1"));
    assert_null(metal_provider(&metal, "n1"));
    make("available", "gold"); /* again with the same uuid */
    make_allocated(NULL);
}

static void maintenance(void **state)
{
    (void)state;
    make("available", "gold");
    struct plan plan = metal_plan(&metal);
    assert_true(metal_conclude(
        &metal, plan_node_maintenance(n1(), true, SLICE_LIT("broken"), &plan, &metal.world.err)));
    assert_true(node_text_is(n1(), NODE_MAINTENANCE_REASON, "broken"));
    assert_true(metal_maintain(&metal, "n1", true)); /* again, without a reason */
    assert_true(node_bool(n1(), NODE_MAINTENANCE));
    assert_true(node_is_null(n1(), NODE_MAINTENANCE_REASON));
    assert_true(metal_patch(&metal, "n1", NODE_MAINTENANCE_REASON, "b"));
    assert_true(set_flag(NODE_MAINTENANCE, false));
    assert_true(node_is_null(n1(), NODE_MAINTENANCE_REASON));
    assert_true(metal_maintain(&metal, "n1", false));
}

static void traits(void **state)
{
    (void)state;
    make("available", "gold");
    assert_true(metal_set_traits(&metal, "n1", "CUSTOM_A CUSTOM_B"));
    assert_true(node_text_is(n1(), NODE_TRAITS, "CUSTOM_A CUSTOM_B"));
    assert_false(node_is_null(n1(), NODE_UPDATED_AT));
    assert_true(metal_set_traits(&metal, "n1", ""));
}

/* Each waits for a lock, and then reports its holder. */
static void locked(void **state)
{
    (void)state;
    make("available", "gold");
    assert_true(metal_power(&metal, "n1", "power on"));
    for (unsigned i = 0; i < 5; i++) {
        bool accepted = true;
        switch (i) {
        case 0:
            accepted = metal_patch(&metal, "n1", NODE_DESCRIPTION, "a");
            break;
        case 1:
            accepted = metal_delete(&metal, "n1");
            break;
        case 2:
            accepted = metal_maintain(&metal, "n1", true);
            break;
        case 3:
            accepted = metal_set_traits(&metal, "n1", "CUSTOM_A");
            break;
        case 4:
            accepted = metal_verb(&metal, "n1", "manage");
            break;
        }
        assert_false(accepted);
        metal_assert_refused(&metal, 409, LOCKED);
        assert_int_equal(metal.world.err.kind, REFUSED_LOCKED);
    }
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

static bool conclude_unmirrored(bool accepted)
{
    assert_int_equal(accepted, !err_is_set(&metal.world.err));
    world_apply(&metal.world);
    return accepted;
}

/* A provider that cannot be the node's keeps the node out of Placement, but does not prevent its
 * end. */
static void cut_off(void **state)
{
    (void)state;
    metal.metal.mirror = false;
    make_provider("root", NULL);
    make_provider("n1", "root");
    make("manageable", "gold");
    metal.metal.mirror = true;
    struct plan plan = metal_plan(&metal);
    const struct plan_node_verb verb = {.verb = NODE_PROVIDE};
    assert_true(conclude_unmirrored(plan_node_provision(n1(), &verb, &plan, &metal.world.err)));
    metal.world.now_us += 10000000;
    plan = metal_plan(&metal);
    assert_true(conclude_unmirrored(plan_node_advance(n1()->record.id, &plan, &metal.world.err)));
    metal_assert_state(&metal, "n1", "available");
    assert_int_equal(metal_provider(&metal, "n1")->inventory_count, 0);
    plan = metal_plan(&metal);
    assert_false(conclude_unmirrored(node_write_mirror(n1()->record.id, &plan, &metal.world.err)));
    metal_assert_refused(&metal, 409,
                         "Node n1 cannot be a resource provider: the provider with its uuid has a "
                         "parent.");
    assert_int_equal(metal.world.changes.count, 0);
    assert_true(metal_delete(&metal, "n1"));
    assert_non_null(metal_provider(&metal, "n1"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(create),
        TEST(unchanged),
        TEST(in_transition),
        TEST(resource_class),
        TEST(interfaces),
        TEST(flags),
        TEST(instance),
        TEST(owner),
        TEST(owner_of_an_active_node),
        TEST(during_an_inspection),
        TEST(deletion),
        TEST(maintenance),
        TEST(traits),
        TEST(locked),
        TEST(cut_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
