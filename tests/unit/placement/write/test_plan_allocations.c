/* Claims: which are accepted, the texts of refusals, and the changes. */
#include "engine/world.h"
#include "memory_store/memory_store.h"
#include "unit.h"

static const struct inventory_figures TEN = {10, 0, 1, 100, 1, 1.0};
#define CONFLICT "placement.concurrent_update"

/* Providers 1 to 3 with ten of A and of B each. */
static void open_tens(struct world *world)
{
    world_open(world, 4);
    for (unsigned p = 1; p <= 3; p++) {
        world_put_inventory(world, p, 'A', TEN);
        world_put_inventory(world, p, 'B', TEN);
    }
}

static bool put_one(struct world *world, unsigned consumer, unsigned provider, char class_name,
                    int64_t amount)
{
    struct claim claim = world_claim(world, consumer);
    world_add(world, &claim, provider, class_name, amount);
    return world_write(world, &claim, 1, CLAIM_BY_PUT);
}

static int generation(struct world *world, unsigned provider)
{
    return world_provider(world, provider)->generation;
}

static size_t count_changes(const struct world *world, enum change_kind kind)
{
    size_t count = 0;
    for (size_t i = 0; i < world->changes.count; i++)
        count += world->changes.items[i].kind == kind;
    return count;
}

/* No row is written twice, and none that need not be. The order is checked where the changes are
 * applied: what refers to a row comes after it. */
static void few_changes(void **state)
{
    (void)state;
    struct world world;
    open_tens(&world);
    world_put_inventory(&world, 1, 'C', TEN);
    for (unsigned round = 0; round < 2; round++) {
        struct claim claim = world_claim(&world, 1 + round);
        world_add(&world, &claim, 1, 'A', 2);
        world_add(&world, &claim, 1, 'B', 2);
        world_add(&world, &claim, 1, 'C', 2);
        assert_true(world_write(&world, &claim, 1, CLAIM_BY_PUT));
        unsigned names = round == 0 ? 1 : 0; /* they are known then */
        assert_int_equal(count_changes(&world, CHANGE_PROJECT_INSERT), names);
        assert_int_equal(count_changes(&world, CHANGE_USER_INSERT), names);
        assert_int_equal(count_changes(&world, CHANGE_CONSUMER_INSERT), 1);
        assert_int_equal(count_changes(&world, CHANGE_ALLOCATION_INSERT), 3);
        assert_int_equal(count_changes(&world, CHANGE_PROVIDER_GENERATION), 1);
        assert_int_equal(world.changes.count, 5 + 2 * names);
        assert_int_equal(world_consumer(&world, 1 + round)->allocation_count, 3);
        assert_int_equal(generation(&world, 1), 1 + round);
    }
    for (char class_name = 'A'; class_name <= 'C'; class_name++)
        assert_int_equal(world_inventory(&world, 1, class_name)->used, 4);
    assert_int_equal(world.edit->version->projects.by_id.count, 1);
    assert_int_equal(world.edit->version->users.by_id.count, 1);
    world_close(&world);
}

/* Nothing overflows in the planner, whatever a file contains; memory and database have the same. */
static void highest_consumer_generation(void **state)
{
    (void)state;
    struct world world;
    open_tens(&world);
    assert_true(put_one(&world, 1, 1, 'A', 1));
    const struct version *version = world.edit->version;
    const struct consumer *known = world_consumer(&world, 1);
    struct change_consumer consumer = {
        .id = known->id,
        .project_id = catalog_find(&version->projects, SLICE_LIT("project"))->id,
        .user_id = catalog_find(&version->users, SLICE_LIT("user"))->id,
        .expected_generation = known->generation,
        .generation = INT32_MAX,
        .uuid = world_uuid(&world, 'c', 1),
    };
    world.changes.count = 0;
    change_append(&world.changes, CHANGE_CONSUMER_UPDATE)->consumer = consumer;
    world_apply(&world);
    assert_int_equal(world_consumer(&world, 1)->generation, INT32_MAX);
    assert_true(put_one(&world, 1, 1, 'A', 2));
    assert_int_equal(world_consumer(&world, 1)->generation, 0);
    const struct row *row = tables_find(&world.database->tables, TABLE_CONSUMERS, consumer.id);
    assert_int_equal(row->image.consumer.generation, 0);
    world_close(&world);
}

static void consumer_generations(void **state)
{
    (void)state;
    struct world world;
    open_tens(&world);
    struct claim claim = world_claim(&world, 1);
    world_add(&world, &claim, 1, 'A', 1);
    claim.generation_rule = CLAIM_GENERATION_GIVEN;
    claim.generation = 7;
    assert_false(world_write(&world, &claim, 1, CLAIM_BY_PUT));
    world_assert_refused(&world, 409, CONFLICT,
                         "consumer generation conflict - expected null but got 7");
    claim.generation_rule = CLAIM_GENERATION_NULL;
    assert_true(world_write(&world, &claim, 1, CLAIM_BY_PUT));
    assert_int_equal(world_consumer(&world, 1)->generation, 1);
    assert_false(world_write(&world, &claim, 1, CLAIM_BY_PUT));
    world_assert_refused(&world, 409, CONFLICT,
                         "consumer generation conflict - expected 1 but got None");
    claim.generation_rule = CLAIM_GENERATION_GIVEN;
    claim.generation = 2;
    claim.generation_text = SLICE_LIT("2.0");
    assert_false(world_write(&world, &claim, 1, CLAIM_BY_PUT));
    world_assert_refused(&world, 409, CONFLICT,
                         "consumer generation conflict - expected 1 but got 2.0");
    claim.generation = 1;
    assert_true(world_write(&world, &claim, 1, CLAIM_BY_PUT));
    assert_int_equal(world_consumer(&world, 1)->generation, 2);
    claim.generation_rule = CLAIM_GENERATION_ANY;
    assert_true(world_write(&world, &claim, 1, CLAIM_BY_PUT));
    assert_int_equal(world_consumer(&world, 1)->generation, 3);
    world_close(&world);
}

static void provider_generations(void **state)
{
    (void)state;
    struct world world;
    open_tens(&world);
    assert_true(put_one(&world, 1, 1, 'A', 1));
    assert_true(put_one(&world, 1, 2, 'A', 1));
    assert_int_equal(generation(&world, 1), 1); /* released without being named */
    assert_int_equal(generation(&world, 2), 1);
    struct claim both[2] = {world_claim(&world, 2), world_claim(&world, 3)};
    world_add(&world, &both[0], 3, 'A', 1);
    world_add(&world, &both[1], 3, 'B', 1);
    assert_true(world_write(&world, both, 2, CLAIM_BY_POST));
    assert_int_equal(generation(&world, 3), 1); /* once for each request */
    struct claim nothing = world_claim(&world, 1);
    assert_true(world_write(&world, &nothing, 1, CLAIM_BY_PUT));
    assert_null(world_consumer(&world, 1));
    assert_int_equal(generation(&world, 2), 2); /* released by name */
    assert_true(world_delete(&world, 2));
    assert_null(world_consumer(&world, 2));
    assert_int_equal(generation(&world, 3), 1);
    assert_false(world_delete(&world, 2));
    world_assert_refused(&world, 404, NULL, "No allocations for consumer 'c2'");
    world_close(&world);
}

static void nothing_for_a_new_consumer(void **state)
{
    (void)state;
    struct world world;
    open_tens(&world);
    struct claim claim = world_claim(&world, 1);
    claim.generation_rule = CLAIM_GENERATION_NULL;
    assert_true(world_write(&world, &claim, 1, CLAIM_BY_PUT));
    assert_int_equal(world.changes.count, 0);
    world_close(&world);
}

static void owners(void **state)
{
    (void)state;
    struct world world;
    open_tens(&world);
    struct claim three[3] = {world_claim(&world, 1), world_claim(&world, 2),
                             world_claim(&world, 3)};
    for (unsigned i = 0; i < 3; i++)
        world_add(&world, &three[i], 1, 'A', 1);
    three[1].project = SLICE_LIT("other");
    three[0].type = three[2].type = SLICE_LIT("INSTANCE");
    assert_true(world_write(&world, three, 3, CLAIM_BY_POST));
    const struct version *version = world.edit->version;
    assert_int_equal(version->projects.by_id.count, 2);
    assert_int_equal(version->users.by_id.count, 1);
    assert_int_equal(version->types.by_id.count, 1);
    assert_int_equal(world_consumer(&world, 2)->type, NUMBER_NONE);
    uint32_t instance = catalog_find(&version->types, SLICE_LIT("INSTANCE"))->number;
    assert_int_equal(world_consumer(&world, 3)->type, instance);
    /* a write without types keeps the type, and may set a new owner */
    three[2].type = (struct slice){0};
    three[2].project = SLICE_LIT("other");
    assert_true(world_write(&world, &three[2], 1, CLAIM_BY_PUT));
    assert_int_equal(world_consumer(&world, 3)->type, instance);
    assert_int_equal(world_consumer(&world, 3)->project, world_consumer(&world, 2)->project);
    world_close(&world);
}

/* The database takes names for one another that memory holds apart. */
static void owners_alike(void **state)
{
    (void)state;
    struct world world;
    open_tens(&world);
    struct claim claims[2] = {world_claim(&world, 1), world_claim(&world, 2)};
    for (unsigned i = 0; i < 2; i++)
        world_add(&world, &claims[i], 1, 'A', 1);
    assert_true(world_write(&world, &claims[0], 1, CLAIM_BY_PUT));
    const struct catalog *projects = &world.edit->version->projects;
    int64_t id = catalog_find(projects, SLICE_LIT("project"))->id;
    world.database->alike.insert = CHANGE_PROJECT_INSERT;
    world.database->alike.text = SLICE_LIT("PROJECT");
    world.database->alike.row = (struct store_alike){id, SLICE_LIT("project")};
    claims[1].project = SLICE_LIT("PROJECT");
    assert_true(world_write(&world, &claims[1], 1, CLAIM_BY_PUT));
    assert_int_equal(world_consumer(&world, 2)->project, world_consumer(&world, 1)->project);
    assert_int_equal(projects->by_id.count, 1);
    world_close(&world);
}

/* Two new names that the database takes for one another: the first one is stored, in either order,
 * and used for the other one later. */
static void new_owners_alike(void **state)
{
    (void)state;
    for (unsigned is_swapped = 0; is_swapped < 2; is_swapped++) {
        struct world world;
        open_tens(&world);
        const struct catalog *projects = &world.edit->version->projects;
        struct claim claims[3] = {world_claim(&world, 1), world_claim(&world, 2),
                                  world_claim(&world, 3)};
        for (unsigned i = 0; i < 3; i++)
            world_add(&world, &claims[i], 1, 'A', 1);
        struct slice names[2] = {SLICE_LIT("demo"), SLICE_LIT("Demo")};
        claims[0].project = names[is_swapped];
        claims[1].project = names[!is_swapped];
        world.database->alike.insert = CHANGE_PROJECT_INSERT;
        world.database->alike.text = claims[1].project;
        world.database->alike.row = (struct store_alike){0, claims[0].project};
        assert_true(world_write(&world, claims, 2, CLAIM_BY_POST));
        assert_int_equal(projects->by_id.count, 1);
        assert_non_null(catalog_find(projects, claims[0].project));
        assert_int_equal(world_consumer(&world, 2)->project, world_consumer(&world, 1)->project);
        claims[2].project = claims[1].project;
        assert_true(world_write(&world, &claims[2], 1, CLAIM_BY_PUT));
        assert_int_equal(projects->by_id.count, 1);
        assert_int_equal(world_consumer(&world, 3)->project, world_consumer(&world, 1)->project);
        world_close(&world);
    }
}

/* A name that the database takes for one which is not there is stored itself. */
static void owner_alike_to_none(void **state)
{
    (void)state;
    struct world world;
    open_tens(&world);
    struct claim claim = world_claim(&world, 1);
    world_add(&world, &claim, 1, 'A', 1);
    claim.project = SLICE_LIT("Demo");
    world.database->alike.insert = CHANGE_PROJECT_INSERT;
    world.database->alike.text = claim.project;
    world.database->alike.row = (struct store_alike){0, SLICE_LIT("demo")};
    assert_true(world_write(&world, &claim, 1, CLAIM_BY_PUT));
    assert_non_null(catalog_find(&world.edit->version->projects, claim.project));
    world_close(&world);
}

/* Of many claims, too, the first in the request names the project, and not the first consumer. */
static void first_of_many(void **state)
{
    (void)state;
    enum { MANY = 9 };
    struct world world;
    struct claim claims[MANY];
    open_tens(&world);
    for (unsigned i = 0; i < MANY; i++) {
        claims[i] = world_claim(&world, MANY - i);
        world_add(&world, &claims[i], 1, 'A', 1);
        claims[i].project = i == 0 ? SLICE_LIT("demo") : SLICE_LIT("Demo");
    }
    world.database->alike.insert = CHANGE_PROJECT_INSERT;
    world.database->alike.text = SLICE_LIT("Demo");
    world.database->alike.row = (struct store_alike){0, SLICE_LIT("demo")};
    assert_true(world_write(&world, claims, MANY, CLAIM_BY_POST));
    assert_int_equal(world.edit->version->projects.by_id.count, 1);
    assert_non_null(catalog_find(&world.edit->version->projects, SLICE_LIT("demo")));
    world_close(&world);
}

/* A consumer that the database takes for a known one is not new. */
static void consumers_alike(void **state)
{
    (void)state;
    struct world world;
    open_tens(&world);
    struct claim claims[2] = {world_claim(&world, 1), world_claim(&world, 2)};
    for (unsigned i = 0; i < 2; i++)
        world_add(&world, &claims[i], 1, 'A', 1);
    assert_true(world_write(&world, &claims[0], 1, CLAIM_BY_PUT));
    world.database->alike.insert = CHANGE_CONSUMER_INSERT;
    world.database->alike.text = claims[1].consumer;
    world.database->alike.row = (struct store_alike){1, claims[0].consumer};
    assert_false(world_write(&world, &claims[1], 1, CLAIM_BY_PUT));
    world_assert_refused(&world, 409, "placement.concurrent_update",
                         "consumer generation conflict - expected 1 but got None");
    world.database->alike.row.text = SLICE_LIT("gone");
    assert_true(world_write(&world, &claims[1], 1, CLAIM_BY_PUT));
    world_close(&world);
}

/* The Python service leaves consumers of generation 0 without allocations behind. */
static void consumer_left_behind(void **state)
{
    (void)state;
    struct world world;
    open_tens(&world);
    assert_true(put_one(&world, 2, 1, 'A', 1)); /* sets project and user */
    world.changes.count = 0;
    change_append(&world.changes, CHANGE_CONSUMER_INSERT)->consumer = (struct change_consumer){
        .id = 5, .project_id = 1000, .user_id = 1000, .uuid = world_uuid(&world, 'c', 1)};
    world_apply(&world);
    struct claim claim = world_claim(&world, 1);
    claim.generation_rule = CLAIM_GENERATION_NULL;
    assert_false(world_write(&world, &claim, 1, CLAIM_BY_PUT));
    world_assert_refused(&world, 409, CONFLICT,
                         "consumer generation conflict - expected 0 but got None");
    assert_false(world_delete(&world, 1));
    claim.generation_rule = CLAIM_GENERATION_GIVEN;
    assert_true(world_write(&world, &claim, 1, CLAIM_BY_PUT));
    assert_int_equal(world.changes.count, 0);
    claim.user = SLICE_LIT("another");
    assert_true(world_write(&world, &claim, 1, CLAIM_BY_PUT));
    assert_int_equal(world_consumer(&world, 1)->generation, 0);
    world_add(&world, &claim, 1, 'A', 1);
    assert_true(world_write(&world, &claim, 1, CLAIM_BY_PUT));
    assert_int_equal(world_consumer(&world, 1)->generation, 1);
    world_close(&world);
}

static void names_that_are_not_there(void **state)
{
    (void)state;
    struct world world;
    open_tens(&world);
    struct claim claim = world_claim(&world, 1);
    world_add(&world, &claim, 1, 'X', 1);
    assert_false(world_write(&world, &claim, 1, CLAIM_BY_PUT));
    world_assert_refused(&world, 400, NULL,
                         "Unable to allocate inventory for consumer c1: No such resource class X.");
    assert_false(world_write(&world, &claim, 1, CLAIM_BY_POST));
    world_assert_refused(&world, 400, NULL,
                         "Unable to allocate inventory No such resource class X.");
    world_add(&world, &claim, 9, 'A', 1); /* an unknown provider is detected before */
    assert_false(world_write(&world, &claim, 1, CLAIM_BY_PUT));
    world_assert_refused(&world, 400, NULL,
                         "Allocation for resource provider 'p9' that does not exist.");
    assert_null(world_consumer(&world, 1));
    world_close(&world);
}

static void classes_without_inventory(void **state)
{
    (void)state;
    struct world world;
    open_tens(&world);
    assert_false(put_one(&world, 1, 1, 'D', 1));
    world_assert_refused(
        &world, 409, NULL,
        "Unable to allocate inventory: Inventory for 'D' on resource provider 'p1' invalid.");
    /* p4 has none of the requested classes: detected before p1's amount */
    struct claim claim = world_claim(&world, 1);
    world_add(&world, &claim, 1, 'A', 1000);
    world_add(&world, &claim, 4, 'D', 1);
    world_add(&world, &claim, 4, 'C', 1);
    assert_false(world_write(&world, &claim, 1, CLAIM_BY_PUT));
    world_assert_refused(&world, 409, NULL,
                         "Unable to allocate inventory: Inventory for 'A, C, D' on resource "
                         "provider 'p4' invalid.");
    /* p1 has one of them: detected in order */
    claim = world_claim(&world, 1);
    world_add(&world, &claim, 1, 'A', 1000);
    world_add(&world, &claim, 1, 'D', 1);
    assert_false(world_write(&world, &claim, 1, CLAIM_BY_PUT));
    world_assert_refused(&world, 409, NULL,
                         "Unable to allocate inventory: Unable to create allocation for 'A' on "
                         "resource provider 'p1'. The requested amount would violate inventory "
                         "constraints.");
    world_close(&world);
}

static void units(void **state)
{
    (void)state;
    struct world world;
    world_open(&world, 1);
    world_put_inventory(&world, 1, 'A', (struct inventory_figures){100, 0, 4, 12, 4, 1.0});
    static const struct {
        int64_t amount;
        bool fits;
    } cases[] = {{4, true},
                 {3, false},
                 {8, true},
                 {6, false},
                 {12, true},
                 {16, false},
                 {INT64_MAX, false},
                 {INT64_MAX - 3, false},
                 {1, false},
                 {INT32_MAX, false},
                 {4294967296 + 4, false}};
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(put_one(&world, 1, 1, 'A', cases[i].amount), cases[i].fits);
        if (!cases[i].fits)
            world_assert_refused(&world, 409, NULL,
                                 "Unable to allocate inventory: Unable to create allocation for "
                                 "'A' on resource provider 'p1'. The requested amount would "
                                 "violate inventory constraints.");
    }
    world_close(&world);
}

static void capacity(void **state)
{
    (void)state;
    struct world world;
    open_tens(&world);
    assert_true(put_one(&world, 1, 1, 'A', 10)); /* its own allocation does not count */
    assert_true(put_one(&world, 1, 1, 'A', 9));
    assert_false(put_one(&world, 2, 1, 'A', 2));
    world_assert_refused(&world, 409, NULL,
                         "Unable to allocate inventory: Unable to create allocation for 'A' on "
                         "resource provider 'p1'. The requested amount would exceed the capacity.");
    assert_null(world_consumer(&world, 2));
    assert_true(put_one(&world, 2, 1, 'A', 1));
    /* each would fit alone */
    struct claim both[2] = {world_claim(&world, 3), world_claim(&world, 4)};
    world_add(&world, &both[0], 2, 'A', 6);
    world_add(&world, &both[1], 2, 'A', 5);
    assert_false(world_write(&world, both, 2, CLAIM_BY_POST));
    assert_null(world_consumer(&world, 3));
    assert_true(world_write(&world, both, 1, CLAIM_BY_POST));
    /* room that another consumer of the same request releases */
    both[0] = world_claim(&world, 3);
    world_add(&world, &both[0], 2, 'A', 5);
    assert_true(world_write(&world, both, 2, CLAIM_BY_POST));
    both[0] = world_claim(&world, 3);
    both[1] = world_claim(&world, 4);
    world_add(&world, &both[1], 2, 'A', 10);
    assert_true(world_write(&world, both, 2, CLAIM_BY_POST));
    assert_null(world_consumer(&world, 3));
    /* reserved and ratio */
    world_put_inventory(&world, 3, 'A', (struct inventory_figures){10, 3, 1, 100, 1, 1.5});
    assert_false(put_one(&world, 5, 3, 'A', 11));
    assert_true(put_one(&world, 5, 3, 'A', 10));
    world_close(&world);
}

static void over_capacity(void **state)
{
    (void)state;
    struct world world;
    open_tens(&world);
    assert_true(put_one(&world, 1, 1, 'A', 6));
    assert_true(put_one(&world, 2, 1, 'A', 4));
    world_put_inventory(&world, 1, 'A', (struct inventory_figures){3, 0, 1, 100, 1, 1.0});
    assert_true(put_one(&world, 1, 1, 'A', 6));  /* as before */
    assert_false(put_one(&world, 1, 1, 'A', 7)); /* more */
    assert_false(put_one(&world, 3, 1, 'A', 1));
    assert_true(put_one(&world, 1, 1, 'A', 5)); /* less, still too much */
    assert_false(put_one(&world, 1, 1, 'A', 6));
    struct claim move[2] = {world_claim(&world, 1), world_claim(&world, 3)};
    world_add(&world, &move[1], 1, 'A', 6);
    assert_false(world_write(&world, move, 2, CLAIM_BY_POST));
    move[1] = world_claim(&world, 3);
    world_add(&world, &move[1], 1, 'A', 5); /* from one consumer to another */
    assert_true(world_write(&world, move, 2, CLAIM_BY_POST));
    assert_int_equal(world_inventory(&world, 1, 'A')->used, 9);
    /* units are still checked */
    world_put_inventory(&world, 1, 'A', (struct inventory_figures){3, 0, 1, 2, 1, 1.0});
    assert_false(put_one(&world, 3, 1, 'A', 5));
    assert_true(put_one(&world, 3, 1, 'A', 2));
    world_close(&world);
}

/* One consumer with more rows than 16 bits can count. */
static void huge_claim(void **state)
{
    (void)state;
    enum { MANY = 66000 };
    struct world world;
    world_open(&world, MANY);
    struct claim_amount *amount = arena_array(world.arena, 1, sizeof(*amount));
    *amount = (struct claim_amount){SLICE_LIT("A"), 1};
    struct claim_provider *providers =
        arena_array(world.arena, MANY, sizeof(struct claim_provider));
    for (unsigned i = 0; i < MANY; i++) {
        providers[i] = (struct claim_provider){world_uuid(&world, 'p', i + 1), amount, 1};
        change_append(&world.changes, CHANGE_INVENTORY_INSERT)->inventory =
            (struct change_inventory){i + 1, 0, 1, 0, 1, 1, 1, 1.0};
    }
    world_apply(&world);
    struct claim claim = world_claim(&world, 1);
    claim.providers = providers;
    claim.provider_count = MANY;
    assert_true(world_write(&world, &claim, 1, CLAIM_BY_PUT));
    assert_int_equal(world_consumer(&world, 1)->allocation_count, MANY);
    claim.provider_count = 0;
    assert_true(world_write(&world, &claim, 1, CLAIM_BY_PUT));
    assert_int_equal(generation(&world, MANY), 2);
    assert_int_equal(world_inventory(&world, MANY, 'A')->used, 0);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_changes),
        cmocka_unit_test(highest_consumer_generation),
        cmocka_unit_test(consumer_generations),
        cmocka_unit_test(provider_generations),
        cmocka_unit_test(nothing_for_a_new_consumer),
        cmocka_unit_test(owners),
        cmocka_unit_test(owners_alike),
        cmocka_unit_test(new_owners_alike),
        cmocka_unit_test(owner_alike_to_none),
        cmocka_unit_test(first_of_many),
        cmocka_unit_test(consumers_alike),
        cmocka_unit_test(consumer_left_behind),
        cmocka_unit_test(names_that_are_not_there),
        cmocka_unit_test(classes_without_inventory),
        cmocka_unit_test(units),
        cmocka_unit_test(capacity),
        cmocka_unit_test(over_capacity),
        cmocka_unit_test(huge_claim),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
