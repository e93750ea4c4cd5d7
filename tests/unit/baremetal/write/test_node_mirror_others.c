/* Nodes and foreign writes to Placement's tables: names in use, consumers without allocations,
 * nova's rows before ours, classes and traits that are added and removed (baremetal-allocations
 * spec, 13). */
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

static void make_provider(const char *uuid, const char *name)
{
    struct planned_provider made;
    struct plan plan = metal_plan(&metal);
    assert_true(metal_conclude(&metal, plan_provider_create(slice_of(uuid), slice_of(name),
                                                            (struct slice){0}, &plan, &made,
                                                            &metal.world.err)));
}

static const char NAME_TAKEN[] =
    "Node n1 cannot be a resource provider: another provider has its uuid as name.";

/* The provider's wanted name belongs to another. */
static void name_of_another(void **state)
{
    (void)state;
    make_provider("other", "n1");
    assert_false(metal_create(&metal, "n1", "gold"));
    metal_assert_refused(&metal, 409, NAME_TAKEN);
    assert_true(metal_create(&metal, "n1", NULL));
    assert_false(metal_patch(&metal, "n1", NODE_RESOURCE_CLASS, "gold"));
    metal_assert_refused(&metal, 409, NAME_TAKEN);
    metal.metal.provider_has_node_name = true;
    assert_true(metal_patch(&metal, "n1", NODE_NAME, "rack-1"));
    assert_true(metal_patch(&metal, "n1", NODE_RESOURCE_CLASS, "gold"));
    assert_true(slice_equal(provider_name(metal_provider(&metal, "n1")), SLICE_LIT("rack-1")));
    /* a name that the provider has got stays until there is another for it */
    assert_true(metal_patch(&metal, "n1", NODE_NAME, NULL));
    assert_true(slice_equal(provider_name(metal_provider(&metal, "n1")), SLICE_LIT("rack-1")));
    assert_true(metal_patch(&metal, "n1", NODE_NAME, "rack-2"));
    assert_true(slice_equal(provider_name(metal_provider(&metal, "n1")), SLICE_LIT("rack-2")));
}

static void make_empty_consumer(const char *uuid)
{
    struct plan plan = metal_plan(&metal);
    const struct change_catalog project = {store_next_id(plan.store, STORE_PROJECTS),
                                           SLICE_LIT("p")};
    const struct change_catalog user = {store_next_id(plan.store, STORE_USERS), SLICE_LIT("u")};
    change_append(plan.changes, CHANGE_PROJECT_INSERT)->catalog = project;
    change_append(plan.changes, CHANGE_USER_INSERT)->catalog = user;
    struct change *change = change_append(plan.changes, CHANGE_CONSUMER_INSERT);
    change->consumer = (struct change_consumer){
        .id = store_next_id(plan.store, STORE_CONSUMERS),
        .project_id = project.id,
        .user_id = user.id,
        .generation = 7,
        .uuid = slice_of(uuid),
    };
    assert_true(metal_conclude(&metal, true));
}

/* C4: a consumer without allocations has no owner: it becomes the allocation's, and is deleted with
 * it. */
static void consumer_of_nothing(void **state)
{
    (void)state;
    metal_create_available(&metal, "n1", "gold");
    make_empty_consumer("a1");
    assert_true(metal_allocate(&metal, "a1", "gold"));
    assert_true(metal_decide(&metal, "a1", NULL));
    metal_assert_active(&metal, "a1", "n1");
    assert_int_equal(metal_consumer(&metal, "a1")->generation, 8);
    assert_false(metal_claim(&metal, "a1", "n1", "CUSTOM_GOLD", 0));
    metal_assert_refused(&metal, 409, "Consumer a1 is managed by bare metal node n1");
    assert_true(metal_release(&metal, "a1"));
    assert_null(metal_consumer(&metal, "a1"));
    assert_int_equal(metal_inventory(&metal, "n1", "CUSTOM_GOLD")->used, 0);
}

/* nova has deployed it; berth has not examined the node since the mirror is on. */
static void backfill_of_novas(void **state)
{
    (void)state;
    metal.metal.mirror = false;
    make_provider("n1", "n1");
    metal_put_inventory(&metal, "n1", "CUSTOM_GOLD", 1);
    assert_true(metal_claim(&metal, "i1", "n1", "CUSTOM_GOLD", 1));
    struct node_draft draft = metal_new_node("n1", "gold");
    node_set_text(&draft, NODE_PROVISION_STATE, SLICE_LIT("active"));
    node_set_text(&draft, NODE_INSTANCE_UUID, SLICE_LIT("i1"));
    assert_true(metal_create_drafted(&metal, &draft));
    metal.metal.mirror = true;
    assert_true(metal_backfill(&metal, "i1", "n1"));
    assert_int_equal(metal.planned.refused_status, 0);
    metal_assert_active(&metal, "i1", "n1");
    assert_true(metal_maintain(&metal, "n1", true));
    assert_true(metal_release(&metal, "i1"));
    assert_int_equal(metal_inventory(&metal, "n1", "CUSTOM_GOLD")->used, 1); /* nova's stays */
}

/* Traits that the node loses while it has no class are also removed from its provider. */
static void traits_without_a_class(void **state)
{
    (void)state;
    metal_create_available(&metal, "n1", "gold");
    assert_true(metal_set_traits(&metal, "n1", "CUSTOM_A CUSTOM_B"));
    assert_true(metal_patch(&metal, "n1", NODE_RESOURCE_CLASS, NULL));
    int32_t generation = metal_provider(&metal, "n1")->generation;
    assert_true(metal_set_traits(&metal, "n1", "CUSTOM_B"));
    assert_false(metal_has_trait(&metal, "n1", "CUSTOM_A"));
    assert_true(metal_has_trait(&metal, "n1", "CUSTOM_B"));
    assert_int_equal(metal_provider(&metal, "n1")->generation, generation + 1);
    assert_true(metal_patch(&metal, "n1", NODE_RESOURCE_CLASS, "gold"));
    assert_false(metal_has_trait(&metal, "n1", "CUSTOM_A"));
}

/* C7: the node's new class is already held by a consumer. */
static void class_that_is_held(void **state)
{
    (void)state;
    metal_create_available(&metal, "n1", "gold");
    metal_put_inventory(&metal, "n1", "CUSTOM_SILVER", 4);
    assert_true(metal_claim(&metal, "c1", "n1", "CUSTOM_SILVER", 3));
    assert_false(metal_patch(&metal, "n1", NODE_RESOURCE_CLASS, "silver"));
    metal_assert_refused(&metal, 409, "Node n1 is associated with instance c1.");
    assert_true(metal_claim(&metal, "c1", "n1", "CUSTOM_SILVER", 0));
    assert_true(metal_patch(&metal, "n1", NODE_RESOURCE_CLASS, "silver"));
    assert_int_equal(metal_inventory(&metal, "n1", "CUSTOM_SILVER")->figures.total, 1);
}

/* The class that the node loses has no inventory any more. */
static void class_without_inventory(void **state)
{
    (void)state;
    metal_create_available(&metal, "n1", "gold");
    metal.metal.mirror = false;
    struct plan plan = metal_plan(&metal);
    change_append(plan.changes, CHANGE_INVENTORY_DELETE)->inventory = (struct change_inventory){
        .provider_id = metal_provider(&metal, "n1")->id,
        .class_id = catalog_find(&plan.version->classes, SLICE_LIT("CUSTOM_GOLD"))->id,
    };
    assert_true(metal_conclude_other(&metal, true));
    metal.metal.mirror = true;
    assert_true(metal_patch(&metal, "n1", NODE_RESOURCE_CLASS, "silver"));
    assert_null(metal_inventory(&metal, "n1", "CUSTOM_GOLD"));
    assert_int_equal(metal_inventory(&metal, "n1", "CUSTOM_SILVER")->figures.total, 1);
}

/* A trait of the node that another program has removed from its provider is added again. */
static void trait_without_a_link(void **state)
{
    (void)state;
    metal_create_available(&metal, "n1", "gold");
    assert_true(metal_set_traits(&metal, "n1", "CUSTOM_A CUSTOM_B"));
    metal.metal.mirror = false;
    struct plan plan = metal_plan(&metal);
    change_append(plan.changes, CHANGE_PROVIDER_TRAIT_DELETE)->link = (struct change_link){
        metal_provider(&metal, "n1")->id,
        catalog_find(&plan.version->traits, SLICE_LIT("CUSTOM_B"))->id,
    };
    assert_true(metal_conclude_other(&metal, true));
    metal.metal.mirror = true;
    plan = metal_plan(&metal);
    const struct node *node = metal_node(&metal, "n1");
    assert_false(node_is_mirrored(plan.version, node, plan.arena));
    assert_true(
        metal_conclude(&metal, node_write_mirror(node->record.id, &plan, &metal.world.err)));
    assert_true(metal_has_trait(&metal, "n1", "CUSTOM_A"));
    assert_true(metal_has_trait(&metal, "n1", "CUSTOM_B"));
}

static void make_other_host(void)
{
    make_provider("host", "host");
    metal_put_inventory(&metal, "host", "CUSTOM_A", 8);
    assert_true(metal_claim(&metal, "a1", "host", "CUSTOM_A", 2));
}

/* The allocation's uuid is that of a consumer with allocations elsewhere: it gets no node. */
static void consumer_of_another_host(void **state)
{
    (void)state;
    make_other_host();
    metal_create_available(&metal, "n1", "gold");
    assert_true(metal_allocate(&metal, "a1", "gold"));
    assert_true(metal_decide(&metal, "a1", NULL));
    metal_assert_failed(&metal, "a1",
                        "Unexpected exception during allocation: Instance a1 already has "
                        "allocations in Placement");
    assert_true(node_is_null(metal_node(&metal, "n1"), NODE_INSTANCE_UUID));
    assert_int_equal(metal_consumer(&metal, "a1")->allocation_count, 1);
}

/* The same while the mirror was off: the allocation keeps the node, and the consumer what it has.
 */
static void consumer_of_another_host_unmirrored(void **state)
{
    (void)state;
    make_other_host();
    metal.metal.mirror = false;
    metal_create_available(&metal, "n1", "gold");
    assert_true(metal_allocate(&metal, "a1", "gold"));
    assert_true(metal_decide(&metal, "a1", NULL));
    metal_assert_active(&metal, "a1", "n1");
    metal.metal.mirror = true;
    struct plan plan = metal_plan(&metal);
    assert_true(world_conclude(&metal.world,
                               plan_node_maintenance(metal_node(&metal, "n1"), true,
                                                     (struct slice){0}, &plan, &metal.world.err)));
    assert_int_equal(metal_inventory(&metal, "n1", "CUSTOM_GOLD")->used, 0);
    assert_int_equal(metal_inventory(&metal, "n1", "CUSTOM_GOLD")->figures.reserved, 1);
    assert_true(
        node_allocation_is_null(metal_allocation(&metal, "a1"), NODE_ALLOCATION_CONSUMER_ADOPTED));
    assert_true(metal_release(&metal, "a1"));
    assert_int_equal(metal_inventory(&metal, "host", "CUSTOM_A")->used, 2);
    assert_true(metal_maintain(&metal, "n1", false));
    assert_int_equal(metal_inventory(&metal, "n1", "CUSTOM_GOLD")->figures.reserved, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(name_of_another),
        TEST(consumer_of_nothing),
        TEST(backfill_of_novas),
        TEST(traits_without_a_class),
        TEST(class_that_is_held),
        TEST(class_without_inventory),
        TEST(trait_without_a_link),
        TEST(consumer_of_another_host),
        TEST(consumer_of_another_host_unmirrored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
