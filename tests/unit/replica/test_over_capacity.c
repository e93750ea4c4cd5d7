/* Which inventories are over their capacity, as their figures and allocations change, and which of
 * them have got there with a version. The audit compares both trees with all inventories. */
#include <stdlib.h>

#include "base/arena.h"
#include "replica/apply.h"
#include "replica/audit.h"
#include "replica/over_capacity.h"
#include "replica/replica.h"
#include "unit.h"

enum { PROVIDERS = 2, CLASSES = 2, TOTAL = 10 };

struct world {
    struct arena *arena;
    struct replica *replica;
    struct edit *edit;
    struct change_list list;
    unsigned passed; /* by over_capacity_of_version() */
};

static struct change *put(struct world *world, enum change_kind kind)
{
    return change_append(&world->list, kind);
}

static void apply(struct world *world)
{
    struct buf why = {0};
    apply_changes(world->edit, &world->list);
    world->list.count = 0;
    if (!audit_version(world->edit->version, &why))
        fail_msg("%.*s", SLICE_ARG(buf_slice(&why)));
    buf_free(&why);
}

static void put_inventory(struct world *world, enum change_kind kind, int64_t provider,
                          int64_t class_id, int32_t reserved, double ratio)
{
    put(world, kind)->inventory = (struct change_inventory){.provider_id = provider,
                                                            .class_id = class_id,
                                                            .total = TOTAL,
                                                            .reserved = reserved,
                                                            .min_unit = 1,
                                                            .max_unit = TOTAL,
                                                            .step_size = 1,
                                                            .allocation_ratio = ratio};
}

static void update(struct world *world, int64_t provider, int64_t class_id, int32_t reserved,
                   double ratio)
{
    put_inventory(world, CHANGE_INVENTORY_UPDATE, provider, class_id, reserved, ratio);
    apply(world);
}

/* By a consumer of its own. */
static void allocate(struct world *world, int64_t consumer, int64_t provider, int64_t class_id,
                     int64_t used)
{
    struct slice uuid = arena_printf(world->arena, "consumer-%d", (int)consumer);
    put(world, CHANGE_CONSUMER_INSERT)->consumer =
        (struct change_consumer){.id = consumer, .project_id = 1, .user_id = 1, .uuid = uuid};
    put(world, CHANGE_ALLOCATION_INSERT)->allocation =
        (struct change_allocation){.consumer_id = consumer,
                                   .provider_id = provider,
                                   .class_id = class_id,
                                   .used = used,
                                   .consumer_uuid = uuid};
    apply(world);
}

static void release(struct world *world, int64_t consumer)
{
    put(world, CHANGE_FOLLOW_CONSUMER_RESET)->consumer = (struct change_consumer){
        .id = consumer, .uuid = arena_printf(world->arena, "consumer-%d", (int)consumer)};
    apply(world);
}

static void expect(const struct world *world, uint64_t inventories, uint64_t providers)
{
    assert_int_equal(world->edit->version->over_capacity.count, inventories);
    assert_int_equal(world->edit->version->over_capacity_providers, providers);
}

static void count_one(void *cls, const struct provider *provider,
                      const struct provider_inventory *inventory)
{
    struct world *world = cls;
    assert_true(over_capacity_is(inventory));
    assert_true(over_capacity_has(world->edit->version, provider->no, inventory->class_no));
    world->passed++;
}

static void expect_new(struct world *world, unsigned count)
{
    world->passed = 0;
    over_capacity_of_version(world->edit->version, count_one, world);
    assert_int_equal(world->passed, count);
}

/* The edit goes on in the next version. */
static void next_version(struct world *world)
{
    const struct version_stamp stamp = {{1}};
    replica_publish(world->replica, world->edit, &stamp);
    world->edit = replica_edit(world->replica);
}

static int setup(void **state)
{
    struct world *world = calloc(1, sizeof(*world));
    assert_non_null(world);
    *world = (struct world){.arena = arena_create(), .replica = replica_create()};
    world->list.arena = world->arena;
    world->edit = replica_edit(world->replica);
    put(world, CHANGE_PROJECT_INSERT)->catalog = (struct change_catalog){1, SLICE_LIT("project")};
    put(world, CHANGE_USER_INSERT)->catalog = (struct change_catalog){1, SLICE_LIT("user")};
    for (int64_t id = 1; id <= CLASSES; id++)
        put(world, CHANGE_CLASS_INSERT)->catalog =
            (struct change_catalog){id, arena_printf(world->arena, "CLASS%d", (int)id)};
    for (int64_t id = 1; id <= PROVIDERS; id++) {
        struct slice name = arena_printf(world->arena, "provider-%d", (int)id);
        put(world, CHANGE_PROVIDER_INSERT)->provider =
            (struct change_provider){id, 0, id, 0, name, name};
        for (int64_t class_id = 1; class_id <= CLASSES; class_id++)
            put_inventory(world, CHANGE_INVENTORY_INSERT, id, class_id, 0, 1);
    }
    apply(world);
    *state = world;
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;
    replica_abandon(world->replica, world->edit);
    replica_destroy(world->replica);
    arena_destroy(world->arena);
    free(world);
    return 0;
}

/* Allocations exceed it; what is allocated up to the capacity does not. */
static void too_much_is_allocated(void **state)
{
    struct world *world = *state;
    allocate(world, 1, 1, 1, TOTAL);
    expect(world, 0, 0);
    allocate(world, 2, 1, 1, 1);
    expect(world, 1, 1);
    allocate(world, 3, 1, 2, TOTAL + 1);
    expect(world, 2, 1);
    allocate(world, 4, 2, 2, TOTAL + 1);
    expect(world, 3, 2);
    release(world, 2);
    expect(world, 2, 2);
    release(world, 3);
    expect(world, 1, 1);
    release(world, 4);
    expect(world, 0, 0);
}

/* An operator shrinks it, in each way. */
static void an_inventory_shrinks(void **state)
{
    struct world *world = *state;
    allocate(world, 1, 1, 1, TOTAL);
    update(world, 1, 1, 1, 1);
    expect(world, 1, 1);
    update(world, 1, 1, 1, 1.2);
    expect(world, 0, 0);
    update(world, 1, 1, 0, 0.5);
    expect(world, 1, 1);
    update(world, 1, 1, 0, 1);
    expect(world, 0, 0);
}

/* That is how a machine in use is kept from being allocated. */
static void it_is_reserved_as_a_whole(void **state)
{
    struct world *world = *state;
    allocate(world, 1, 1, 1, 1);
    update(world, 1, 1, TOTAL, 1);
    expect(world, 0, 0);
    update(world, 1, 1, TOTAL - 1, 0.5);
    expect(world, 1, 1);
}

/* Its inventory is gone, and comes back. */
static void an_inventory_goes(void **state)
{
    struct world *world = *state;
    allocate(world, 1, 1, 1, TOTAL + 1);
    allocate(world, 2, 1, 2, TOTAL + 1);
    expect(world, 2, 1);
    put_inventory(world, CHANGE_INVENTORY_DELETE, 1, 1, 0, 1);
    apply(world);
    expect(world, 1, 1);
    put(world, CHANGE_FOLLOW_PROVIDER_RESET)->provider = (struct change_provider){.id = 1};
    apply(world);
    expect(world, 0, 0);
    put_inventory(world, CHANGE_INVENTORY_INSERT, 1, 1, 0, 1);
    apply(world);
    expect(world, 1, 1);
}

/* Each version passes its own only, and what it has read again. */
static void a_version_has_new_ones(void **state)
{
    struct world *world = *state;
    allocate(world, 1, 1, 1, TOTAL + 1);
    expect_new(world, 1);
    next_version(world);
    expect(world, 1, 1);
    expect_new(world, 0);
    allocate(world, 2, 1, 1, 1); /* it was over before */
    expect_new(world, 0);
    allocate(world, 3, 2, 1, TOTAL + 1);
    allocate(world, 4, 2, 2, TOTAL + 1);
    expect_new(world, 2);
    release(world, 4);
    expect_new(world, 1);
    put(world, CHANGE_FOLLOW_PROVIDER_RESET)->provider = (struct change_provider){.id = 1};
    put_inventory(world, CHANGE_INVENTORY_INSERT, 1, 1, 0, 1);
    apply(world);
    expect_new(world, 2);
    next_version(world);
    expect_new(world, 0);
    expect(world, 2, 2);
}

/* What is abandoned was never there. */
static void an_edit_is_abandoned(void **state)
{
    struct world *world = *state;
    next_version(world);
    allocate(world, 1, 1, 1, TOTAL + 1);
    expect(world, 1, 1);
    replica_abandon(world->replica, world->edit);
    world->edit = replica_edit(world->replica);
    expect(world, 0, 0);
    apply(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(too_much_is_allocated, setup, teardown),
        cmocka_unit_test_setup_teardown(an_inventory_shrinks, setup, teardown),
        cmocka_unit_test_setup_teardown(it_is_reserved_as_a_whole, setup, teardown),
        cmocka_unit_test_setup_teardown(an_inventory_goes, setup, teardown),
        cmocka_unit_test_setup_teardown(a_version_has_new_ones, setup, teardown),
        cmocka_unit_test_setup_teardown(an_edit_is_abandoned, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
