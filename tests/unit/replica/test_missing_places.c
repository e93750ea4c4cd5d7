/* Where providers can be moved, and which can be deleted, as memory has them: what is in the way is
 * named. Memory has a chain of providers 1 - 2 - 3 - 4, each the parent of the next, and provider 5
 * alone, which has inventory of class 1 and a consumer. */
#include "replica/missing.h"

#include <stdlib.h>

#include "base/arena.h"
#include "replica/apply.h"
#include "replica/replica.h"
#include "unit.h"

enum { CHAIN = 4, ALONE = 5, NOTED_MOST = 8, CONSUMER = 100 /* plus its id, in what is noted */ };

struct world {
    struct arena *arena;
    struct replica *replica;
    struct edit *edit;
    int64_t noted[NOTED_MOST];
    size_t count;
};

static struct change *add(struct change_list *list, enum change_kind kind)
{
    return change_append(list, kind);
}

static struct change_provider provider_of(struct world *world, int64_t id, int64_t parent)
{
    return (struct change_provider){.id = id,
                                    .parent_id = parent,
                                    .uuid = arena_printf(world->arena, "uuid-%d", (int)id),
                                    .name = arena_printf(world->arena, "name-%d", (int)id)};
}

static int make_world(void **state)
{
    struct world *world = calloc(1, sizeof(*world));
    world->arena = arena_create();
    world->replica = replica_create();
    world->edit = replica_edit(world->replica);
    struct change_list list = {.arena = world->arena};
    add(&list, CHANGE_CLASS_INSERT)->catalog = (struct change_catalog){1, SLICE_LIT("class")};
    add(&list, CHANGE_PROJECT_INSERT)->catalog = (struct change_catalog){1, SLICE_LIT("project")};
    add(&list, CHANGE_USER_INSERT)->catalog = (struct change_catalog){1, SLICE_LIT("user")};
    for (int64_t id = 1; id <= ALONE; id++)
        add(&list, CHANGE_PROVIDER_INSERT)->provider =
            provider_of(world, id, id == ALONE ? 0 : id - 1);
    add(&list, CHANGE_INVENTORY_INSERT)->inventory =
        (struct change_inventory){ALONE, 1, 10, 0, 1, 10, 1, 1.0};
    add(&list, CHANGE_CONSUMER_INSERT)->consumer = (struct change_consumer){
        .id = 1, .project_id = 1, .user_id = 1, .uuid = SLICE_LIT("consumer")};
    add(&list, CHANGE_ALLOCATION_INSERT)->allocation =
        (struct change_allocation){1, 1, ALONE, 1, 1, SLICE_LIT("consumer")};
    apply_changes(world->edit, &list);
    *state = world;
    return 0;
}

static int drop_world(void **state)
{
    struct world *world = *state;
    replica_abandon(world->replica, world->edit);
    replica_destroy(world->replica);
    arena_destroy(world->arena);
    free(world);
    return 0;
}

static void note(void *cls, enum entity entity, int64_t id, struct slice uuid)
{
    struct world *world = cls;
    assert_true(world->count < NOTED_MOST);
    assert_true(entity == ENTITY_PROVIDER || entity == ENTITY_CONSUMER);
    assert_int_equal(uuid.len > 0, entity == ENTITY_CONSUMER);
    world->noted[world->count++] = entity == ENTITY_CONSUMER ? CONSUMER + id : id;
}

/* Whether the change fits, and what is noted: the ids up to the first 0. */
static void expect(struct world *world, const struct change *change, bool fits,
                   const int64_t *noted)
{
    world->count = 0;
    assert_int_equal(missing_check(world->edit, change, note, world), fits);
    size_t count = 0;
    for (; noted[count] != 0; count++)
        assert_int_equal(world->noted[count], noted[count]);
    assert_int_equal(world->count, count);
}

#define NOTED(...) ((const int64_t[]){__VA_ARGS__ __VA_OPT__(, ) 0})

static struct change moved(struct world *world, int64_t id, int64_t parent)
{
    return (struct change){.kind = CHANGE_PROVIDER_UPDATE,
                           .provider = provider_of(world, id, parent)};
}

static void test_moves(void **state)
{
    struct world *world = *state;
    struct change change = moved(world, 2, 0);
    expect(world, &change, true, NOTED());
    change = moved(world, 4, 1);
    expect(world, &change, true, NOTED());
    change = moved(world, 2, ALONE);
    expect(world, &change, true, NOTED());
    change = moved(world, 2, 9);
    expect(world, &change, false, NOTED(9));
    change = moved(world, 9, 1);
    expect(world, &change, false, NOTED(9));
}

/* The new parent is below the provider: it was moved before, which memory does not know. */
static void test_moves_below_itself(void **state)
{
    struct world *world = *state;
    struct change change = moved(world, 1, 4);
    expect(world, &change, false, NOTED(4, 3, 2));
    change = moved(world, 2, 3);
    expect(world, &change, false, NOTED(3));
    change = moved(world, 2, 2);
    expect(world, &change, false, NOTED(2));
    change = moved(world, 3, 0);
    apply_change(world->edit, &change);
    change = moved(world, 1, 4);
    expect(world, &change, true, NOTED());
    apply_change(world->edit, &change);
    change = moved(world, 3, 2);
    expect(world, &change, false, NOTED(2, 1, 4));
}

/* Another provider has had the name or uuid: it has another one by now, or is gone. */
static void test_namesakes(void **state)
{
    struct world *world = *state;
    struct change change = {.kind = CHANGE_PROVIDER_INSERT, .provider = provider_of(world, 9, 0)};
    expect(world, &change, true, NOTED());
    change.provider.name = SLICE_LIT("name-3");
    expect(world, &change, true, NOTED(3));
    change.provider.uuid = SLICE_LIT("uuid-2");
    expect(world, &change, true, NOTED(3, 2));
    change = moved(world, 4, 3);
    change.provider.name = SLICE_LIT("name-1");
    expect(world, &change, true, NOTED(1));
}

static void test_deletes(void **state)
{
    struct world *world = *state;
    struct change change = {.kind = CHANGE_PROVIDER_DELETE, .provider.id = 9};
    expect(world, &change, false, NOTED(9));
    change.provider.id = 2;
    expect(world, &change, false, NOTED(3, 4));
    change.provider.id = 4;
    expect(world, &change, true, NOTED());
    change.provider.id = ALONE;
    expect(world, &change, false, NOTED(CONSUMER + 1));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_world, drop_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_moves),
        TEST(test_moves_below_itself),
        TEST(test_namesakes),
        TEST(test_deletes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
