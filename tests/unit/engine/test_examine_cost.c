/* A look at tables in which nothing has been written costs as much with many rows as with few:
 * memory's sums are kept, not added up. A walk would take hundreds of times as many steps. */
#include <stdlib.h>

#include "engine/examine.h"
#include "memory_store/memory_store.h"
#include "replica/apply.h"
#include "replica/replica.h"
#include "steps.h"
#include "unit.h"

enum { MANY = 20000, FEW = 20, GENERATION = 2, LOOKS = 4, TIMES_AT_MOST = 2 };

struct world {
    struct arena *arena;
    struct replica *replica;
    int64_t rows; /* providers, and as many consumers, with the ids from 1 on */
};

static void make_rows(struct world *world, struct change_list *list)
{
    change_append(list, CHANGE_PROJECT_INSERT)->catalog =
        (struct change_catalog){1, SLICE_LIT("project")};
    change_append(list, CHANGE_USER_INSERT)->catalog =
        (struct change_catalog){1, SLICE_LIT("user")};
    for (int64_t id = 1; id <= world->rows; id++) {
        struct slice name = arena_printf(world->arena, "name-%d", (int)id);
        change_append(list, CHANGE_PROVIDER_INSERT)->provider =
            (struct change_provider){id, 0, id, GENERATION, name, name};
    }
    change_append(list, CHANGE_LOAD_PROVIDERS_END);
    for (int64_t id = 1; id <= world->rows; id++)
        change_append(list, CHANGE_CONSUMER_INSERT)->consumer =
            (struct change_consumer){.id = id,
                                     .project_id = 1,
                                     .user_id = 1,
                                     .generation = GENERATION,
                                     .uuid = arena_printf(world->arena, "uuid-%d", (int)id)};
}

static void open_world(struct world *world, int64_t rows)
{
    *world = (struct world){arena_create(), replica_create(), rows};
    struct change_list list = {.arena = world->arena};
    struct edit *edit = replica_edit_empty(world->replica);
    const struct version_stamp stamp = {{1}};
    make_rows(world, &list);
    apply_changes(edit, &list);
    replica_publish(world->replica, edit, &stamp);
}

static void close_world(struct world *world)
{
    replica_destroy(world->replica);
    arena_destroy(world->arena);
}

/* The sums that the database has. */
static struct store_sums sums_of(const struct world *world, enum entity entity)
{
    int64_t rows = world->rows;
    if (entity == ENTITY_PROVIDER || entity == ENTITY_CONSUMER)
        return (struct store_sums){(uint64_t)rows, true, rows * (rows + 1) / 2, rows * GENERATION};
    if (entity == ENTITY_PROJECT || entity == ENTITY_USER)
        return (struct store_sums){1, true, 1, 0};
    return (struct store_sums){.has_sums = true};
}

static bool play(void *cls, const struct store_examiner *examiner, struct err *err)
{
    const struct world *world = cls;
    (void)err;
    for (int entity = 0; entity <= ENTITY_CONSUMER; entity++) {
        const struct store_sums sums = sums_of(world, (enum entity)entity);
        assert_true(examiner->has_sums(examiner->cls, (enum entity)entity, &sums));
    }
    return true;
}

static const struct memory_observer observer = {.examine = play};

static void look(struct world *world, struct store_observer *rows)
{
    struct err err = {.arena = world->arena};
    struct suspects suspects = {.arena = world->arena};
    struct examined_before before = {0};
    assert_true(examine_rows(rows, replica_newest(world->replica), &before, &suspects, &err));
    assert_int_equal(suspects.list.count, 0);
}

static uint64_t cost_of_looks(int64_t rows)
{
    struct world world;
    struct memory_database *database = calloc(1, sizeof(*database));
    struct err err;
    assert_non_null(database);
    open_world(&world, rows);
    err = (struct err){.arena = world.arena};
    memory_database_init(database);
    struct store *store = memory_store_open(database);
    store->observer = &observer;
    store->cls = &world;
    struct store_observer *observed = store_observe(store, &err);
    uint64_t before = steps_now();
    for (unsigned i = 0; i < LOOKS; i++)
        look(&world, observed);
    uint64_t cost = steps_since(before);
    store_observer_free(observed);
    store_close(store);
    memory_database_free(database);
    free(database);
    close_world(&world);
    return cost;
}

static void looks(void **state)
{
    (void)state;
    uint64_t few = cost_of_looks(FEW);
    uint64_t many = cost_of_looks(MANY);
    assert_true(many < TIMES_AT_MOST * few);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(looks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
