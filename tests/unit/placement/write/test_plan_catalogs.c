/* Resource classes and traits. */
#include "engine/world.h"
#include "placement/write/plan_classes.h"
#include "placement/write/plan_inventories.h"
#include "placement/write/plan_provider_traits.h"
#include "placement/write/plan_traits.h"
#include "unit.h"

static struct world world;

static int set_up(void **state)
{
    (void)state;
    world_open(&world, 1);
    world_set_next_id(&world, STORE_CLASSES, 10000);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    world_close(&world);
    return 0;
}

#define T(text) SLICE_LIT(text)

static bool create_class(struct slice name)
{
    struct plan plan = world_plan(&world);
    return world_conclude(&world, plan_class_create(name, &plan, &world.err));
}

static bool rename_class(struct slice name, struct slice new_name)
{
    struct plan plan = world_plan(&world);
    return world_conclude(&world, plan_class_rename(name, new_name, &plan, &world.err));
}

static bool delete_class(struct slice name)
{
    struct plan plan = world_plan(&world);
    return world_conclude(&world, plan_class_delete(name, &plan, &world.err));
}

static bool ensure_class(struct slice name)
{
    struct plan plan = world_plan(&world);
    bool is_new;
    assert_true(world_conclude(&world, plan_class_ensure(name, &plan, &is_new, &world.err)));
    return is_new;
}

static void classes(void **state)
{
    (void)state;
    assert_true(create_class(T("CUSTOM_A")));
    assert_int_equal(catalog_find(&world.edit->version->classes, T("CUSTOM_A"))->id, 10000);
    assert_false(create_class(T("CUSTOM_A")));
    world_assert_refused(&world, 409, NULL, "Conflicting resource class already exists: CUSTOM_A");
    assert_true(rename_class(T("CUSTOM_A"), T("CUSTOM_B")));
    assert_true(rename_class(T("CUSTOM_B"), T("CUSTOM_B")));
    assert_false(rename_class(T("CUSTOM_A"), T("CUSTOM_C")));
    world_assert_refused(&world, 404, NULL, "No such resource class CUSTOM_A.");
    assert_false(rename_class(T("A"), T("CUSTOM_C")));
    world_assert_refused(&world, 400, NULL, "Cannot update standard resource class A");
    assert_true(ensure_class(T("CUSTOM_C")));
    assert_false(ensure_class(T("CUSTOM_C")));
    assert_false(rename_class(T("CUSTOM_C"), T("CUSTOM_B")));
    world_assert_refused(&world, 409, NULL, "Resource class already exists: CUSTOM_B");
}

static void class_in_use(void **state)
{
    (void)state;
    assert_true(create_class(T("CUSTOM_A")));
    struct plan_inventory item = {T("CUSTOM_A"), {1, 0, 1, 1, 1, 1.0}, true};
    struct plan_inventories input = {T("p1"), 0, true, &item, 1};
    int64_t after;
    struct plan plan = world_plan(&world);
    assert_true(world_conclude(&world, plan_inventory_create(&input, &plan, &after, &world.err)));
    assert_false(delete_class(T("CUSTOM_A")));
    world_assert_refused(&world, 409, NULL,
                         "Error in delete resource class: Cannot delete resource class CUSTOM_A. "
                         "Class is in use in inventory.");
    plan = world_plan(&world);
    assert_true(world_conclude(&world, plan_inventories_delete(T("p1"), &plan, &world.err)));
    assert_true(delete_class(T("CUSTOM_A")));
    assert_false(delete_class(T("CUSTOM_A")));
    world_assert_refused(&world, 404, NULL, "No such resource class CUSTOM_A.");
    assert_false(delete_class(T("A")));
    world_assert_refused(&world, 400, NULL,
                         "Error in delete resource class: Cannot delete standard resource class "
                         "A.");
}

/* Another program deleted the inventory; the error about what is allocated of it names the class.
 */
static void class_in_use_without_inventory(void **state)
{
    (void)state;
    assert_true(create_class(T("CUSTOM_A")));
    int64_t id = catalog_find(&world.edit->version->classes, T("CUSTOM_A"))->id;
    struct change_list *changes = &world.changes;
    changes->count = 0;
    change_append(changes, CHANGE_PROJECT_INSERT)->catalog = (struct change_catalog){1, T("p")};
    change_append(changes, CHANGE_USER_INSERT)->catalog = (struct change_catalog){1, T("u")};
    change_append(changes, CHANGE_CONSUMER_INSERT)->consumer =
        (struct change_consumer){.id = 1, .project_id = 1, .user_id = 1, .uuid = T("c1")};
    change_append(changes, CHANGE_ALLOCATION_INSERT)->allocation =
        (struct change_allocation){1, 1, 1, id, 1, T("c1")};
    world_apply(&world);
    assert_false(delete_class(T("CUSTOM_A")));
    world_assert_refused(&world, 409, NULL,
                         "Error in delete resource class: Cannot delete resource class CUSTOM_A. "
                         "Class is in use in inventory.");
    assert_true(world_delete(&world, 1));
    assert_true(delete_class(T("CUSTOM_A")));
}

static bool put_trait(struct slice name)
{
    struct plan plan = world_plan(&world);
    struct planned_trait planned;
    assert_true(world_conclude(&world, plan_trait_put(name, &plan, &planned, &world.err)));
    assert_int_not_equal(planned.created_at_us, 0);
    return planned.is_new;
}

static bool delete_trait(struct slice name)
{
    struct plan plan = world_plan(&world);
    return world_conclude(&world, plan_trait_delete(name, &plan, &world.err));
}

static void traits(void **state)
{
    (void)state;
    assert_true(put_trait(T("CUSTOM_A")));
    assert_false(put_trait(T("CUSTOM_A")));
    assert_true(put_trait(T("HW_STANDARD"))); /* as at the start of the service */
    assert_false(delete_trait(T("HW_STANDARD")));
    world_assert_refused(&world, 400, NULL, "Cannot delete standard trait HW_STANDARD.");
    const struct slice name = T("CUSTOM_A");
    struct plan_provider_traits input = {T("p1"), &name, 1, false, 0};
    struct planned_traits planned;
    struct plan plan = world_plan(&world);
    assert_true(
        world_conclude(&world, plan_provider_traits_set(&input, &plan, &planned, &world.err)));
    assert_false(delete_trait(T("CUSTOM_A")));
    world_assert_refused(&world, 409, NULL, "The trait CUSTOM_A is in use by a resource provider.");
    input.name_count = 0;
    plan = world_plan(&world);
    assert_true(
        world_conclude(&world, plan_provider_traits_set(&input, &plan, &planned, &world.err)));
    assert_true(delete_trait(T("CUSTOM_A")));
    assert_false(delete_trait(T("CUSTOM_\0A")));
    assert_int_equal(world.err.status, 404);
    assert_memory_equal(world.err.message.data, "No such trait(s): CUSTOM_\0A.", 27);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(classes),
        TEST(class_in_use),
        TEST(class_in_use_without_inventory),
        TEST(traits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
