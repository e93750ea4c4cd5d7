/* The cost of one change of a provider for the writer does not grow with the provider's consumers:
 * a walk over them would take hundreds of times as many steps. */
#include "base/arena.h"
#include "replica/apply.h"
#include "replica/audit.h"
#include "replica/replica.h"
#include "steps.h"
#include "unit.h"

enum { MANY = 20000, FEW = 20, CLASSES = 3, ROUNDS = 4, TIMES_AT_MOST = 2 };

struct world {
    struct arena *arena;
    struct replica *replica;
    struct edit *edit;
    struct change_list list;
};

static void apply(struct world *world)
{
    apply_changes(world->edit, &world->list);
    world->list.count = 0;
}

static struct change *put(struct world *world, enum change_kind kind)
{
    return change_append(&world->list, kind);
}

static void put_inventory(struct world *world, enum change_kind kind, int64_t class_id)
{
    put(world, kind)->inventory = (struct change_inventory){
        .provider_id = 1,
        .class_id = class_id,
        .total = 1000000,
        .min_unit = 1,
        .max_unit = 1000000,
        .step_size = 1,
        .allocation_ratio = 1.0,
    };
}

static void put_consumer(struct world *world, int64_t id)
{
    struct slice uuid = arena_printf(world->arena, "consumer-%d", (int)id);
    put(world, CHANGE_CONSUMER_INSERT)->consumer =
        (struct change_consumer){.id = id, .project_id = 1, .user_id = 1, .uuid = uuid};
    put(world, CHANGE_ALLOCATION_INSERT)->allocation = (struct change_allocation){
        .consumer_id = id, .consumer_uuid = uuid, .provider_id = 1, .class_id = 1, .used = 2};
}

static void setup(struct world *world, int64_t consumers)
{
    *world = (struct world){.arena = arena_create(), .replica = replica_create()};
    world->list.arena = world->arena;
    world->edit = replica_edit(world->replica);
    for (int64_t id = 1; id <= CLASSES; id++)
        put(world, CHANGE_CLASS_INSERT)->catalog =
            (struct change_catalog){id, arena_printf(world->arena, "CLASS%d", (int)id)};
    put(world, CHANGE_PROJECT_INSERT)->catalog = (struct change_catalog){1, SLICE_LIT("project")};
    put(world, CHANGE_USER_INSERT)->catalog = (struct change_catalog){1, SLICE_LIT("user")};
    put(world, CHANGE_PROVIDER_INSERT)->provider =
        (struct change_provider){1, 0, 1, 0, SLICE_LIT("uuid"), SLICE_LIT("name")};
    put_inventory(world, CHANGE_INVENTORY_INSERT, 1);
    for (int64_t id = 1; id <= consumers; id++)
        put_consumer(world, id);
    apply(world);
}

static void teardown(struct world *world)
{
    struct buf why = {0};
    assert_true(audit_version(world->edit->version, &why));
    buf_free(&why);
    replica_abandon(world->replica, world->edit);
    replica_destroy(world->replica);
    arena_destroy(world->arena);
}

/* A class comes and goes, also one that is in use, and a follow reads the provider again. */
static void one_round(struct world *world)
{
    put_inventory(world, CHANGE_INVENTORY_INSERT, 2);
    put_inventory(world, CHANGE_INVENTORY_DELETE, 2);
    put_inventory(world, CHANGE_INVENTORY_DELETE, 1);
    put_inventory(world, CHANGE_INVENTORY_INSERT, 1);
    put(world, CHANGE_FOLLOW_PROVIDER_RESET)->provider = (struct change_provider){.id = 1};
    put_inventory(world, CHANGE_INVENTORY_INSERT, 3);
    put_inventory(world, CHANGE_INVENTORY_INSERT, 1);
    put(world, CHANGE_PROVIDER_GENERATION)->generation = (struct change_generation){1, 0, 1};
    put_inventory(world, CHANGE_INVENTORY_DELETE, 3);
    apply(world);
}

static uint64_t cost_of_rounds(int64_t consumers)
{
    struct world world;
    setup(&world, consumers);
    one_round(&world);
    uint64_t before = steps_now();
    for (unsigned i = 0; i < ROUNDS; i++)
        one_round(&world);
    uint64_t cost = steps_since(before);
    const struct provider *provider = version_provider_by_id(world.edit->version, 1);
    assert_int_equal(provider->inventory[0].used, 2 * consumers);
    teardown(&world);
    return cost;
}

static void inventories(void **state)
{
    (void)state;
    uint64_t few = cost_of_rounds(FEW);
    uint64_t many = cost_of_rounds(MANY);
    assert_true(many < TIMES_AT_MOST * few);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inventories),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
