/* Rows that somebody has written lately, counts, and ids are compared with memory: exactly what
 * differs becomes a suspect. */
#include <stdlib.h>

#include "memory_store/memory_store.h"
#include "unit.h"

#include "engine/examine.h"
#include "replica/apply.h"
#include "replica/replica.h"

enum { IDS_MOST = 8 };

/* What the database has, by the rows that the examiner receives. */
struct world {
    struct memory_database database;
    struct store *store;
    struct store_observer *rows;
    struct arena *arena;
    struct replica *replica;
    struct suspects suspects;
    struct change_list recent;
    uint64_t counts[ENTITY_COUNT];
    int64_t ids[IDS_MOST]; /* of the entity whose count differs */
    size_t id_count;
    bool fails;
    bool is_unknown; /* what was written */
    bool is_full;    /* the examiner, at the end */
};

static bool play(void *cls, const struct store_examiner *examiner, struct err *err)
{
    struct world *world = cls;
    if (world->is_unknown)
        examiner->unknown(examiner->cls);
    for (size_t i = 0; i < world->recent.count; i++)
        examiner->recent(examiner->cls, &world->recent.items[i]);
    for (int entity = 0; entity <= ENTITY_CONSUMER; entity++)
        if (!examiner->has_count(examiner->cls, (enum entity)entity, world->counts[entity]))
            examiner->ids(examiner->cls, (enum entity)entity, world->ids, world->id_count);
    world->is_full = examiner->is_full(examiner->cls);
    return !world->fails || err_set(err, 503, NULL, "the snapshot is gone");
}

static const struct memory_observer observer = {.examine = play};

static void append_catalog(struct world *world, struct change_list *list, enum change_kind kind,
                           int64_t id)
{
    change_append(list, kind)->catalog =
        (struct change_catalog){id, arena_printf(world->arena, "N%d", (int)id)};
}

static const enum change_kind catalogs[ENTITY_PROVIDER] = {
    CHANGE_CLASS_INSERT,   CHANGE_TRAIT_INSERT, CHANGE_AGGREGATE_INSERT,
    CHANGE_PROJECT_INSERT, CHANGE_USER_INSERT,  CHANGE_CONSUMER_TYPE_INSERT};

static void append_provider(struct change_list *list, int64_t id, int64_t generation,
                            const char *name)
{
    change_append(list, CHANGE_PROVIDER_INSERT)->provider =
        (struct change_provider){id, 0, id, generation, slice_of(name), slice_of(name)};
}

static void append_consumer(struct change_list *list, int64_t id, int64_t generation,
                            const char *uuid)
{
    change_append(list, CHANGE_CONSUMER_INSERT)->consumer = (struct change_consumer){
        .id = id, .project_id = 1, .user_id = 1, .generation = generation, .uuid = slice_of(uuid)};
}

/* Two rows of each catalog, providers 1 and 2, consumers 1 and 2; provider 1 has aggregate 1. */
static int setup(void **state)
{
    struct world *world = calloc(1, sizeof(*world));
    assert_non_null(world);
    world->arena = world->suspects.arena = world->recent.arena = arena_create();
    memory_database_init(&world->database);
    world->store = memory_store_open(&world->database);
    world->store->observer = &observer;
    world->store->cls = world;
    struct err err = {.arena = world->arena};
    world->rows = store_observe(world->store, &err);
    world->replica = replica_create();
    struct change_list list = {.arena = world->arena};
    for (int entity = 0; entity < ENTITY_PROVIDER; entity++)
        for (int64_t id = 1; id <= 2; id++)
            append_catalog(world, &list, catalogs[entity], id);
    append_provider(&list, 1, 5, "one");
    append_provider(&list, 2, 5, "two");
    change_append(&list, CHANGE_LOAD_PROVIDERS_END);
    change_append(&list, CHANGE_PROVIDER_AGGREGATE_INSERT)->link = (struct change_link){1, 1};
    append_consumer(&list, 1, 3, "first");
    append_consumer(&list, 2, 3, "second");
    for (int entity = 0; entity <= ENTITY_CONSUMER; entity++)
        world->counts[entity] = 2;
    struct edit *edit = replica_edit_empty(world->replica);
    struct version_stamp stamp = {{1}};
    apply_changes(edit, &list);
    replica_publish(world->replica, edit, &stamp);
    *state = world;
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;
    replica_destroy(world->replica);
    store_observer_free(world->rows);
    store_close(world->store);
    memory_database_free(&world->database);
    arena_destroy(world->arena);
    free(world);
    return 0;
}

static bool examine(struct world *world)
{
    struct err err = {.arena = world->arena};
    world->suspects.list.count = 0;
    return examine_rows(world->rows, replica_newest(world->replica), &world->suspects, &err);
}

static void assert_suspects(struct world *world, size_t count)
{
    assert_true(examine(world));
    assert_int_equal(world->suspects.list.count, count);
}

static void assert_suspect(const struct world *world, size_t at, enum entity entity, int64_t id,
                           const char *uuid)
{
    const struct difference *suspect = &world->suspects.list.items[at];
    assert_int_equal(suspect->entity, entity);
    assert_int_equal(suspect->id, id);
    assert_true(slice_equal(suspect->uuid, slice_of(uuid)));
}

static void nothing_differs(void **state)
{
    struct world *world = *state;
    for (int entity = 0; entity < ENTITY_PROVIDER; entity++)
        append_catalog(world, &world->recent, catalogs[entity], 2);
    append_provider(&world->recent, 2, 5, "two");
    change_append(&world->recent, CHANGE_PROVIDER_AGGREGATE_INSERT)->link =
        (struct change_link){1, 1};
    append_consumer(&world->recent, 2, 3, "second");
    assert_suspects(world, 0);
}

static void recent_rows_differ(void **state)
{
    struct world *world = *state;
    for (int entity = 0; entity < ENTITY_PROVIDER; entity++)
        append_catalog(world, &world->recent, catalogs[entity], 3);
    append_provider(&world->recent, 2, 6, "two");
    change_append(&world->recent, CHANGE_PROVIDER_AGGREGATE_INSERT)->link =
        (struct change_link){1, 2};
    append_consumer(&world->recent, 9, 1, "third");
    append_consumer(&world->recent, 2, 4, "second");
    append_consumer(&world->recent, 7, 3, "first"); /* deleted, and made again */
    assert_suspects(world, ENTITY_PROVIDER + 5);
    for (int entity = 0; entity < ENTITY_PROVIDER; entity++)
        assert_suspect(world, (size_t)entity, (enum entity)entity, 3, "");
    assert_suspect(world, ENTITY_PROVIDER, ENTITY_PROVIDER, 2, "");
    assert_suspect(world, ENTITY_PROVIDER + 1, ENTITY_PROVIDER, 1, "");
    assert_suspect(world, ENTITY_PROVIDER + 2, ENTITY_CONSUMER, 9, "third");
    assert_suspect(world, ENTITY_PROVIDER + 3, ENTITY_CONSUMER, 2, "second");
    assert_suspect(world, ENTITY_PROVIDER + 4, ENTITY_CONSUMER, 7, "first");
}

/* A row of each kind, and then all. */
static void rows_are_gone(void **state)
{
    struct world *world = *state;
    for (int entity = 0; entity <= ENTITY_CONSUMER; entity++) {
        world->counts[entity] = 1;
        world->ids[0] = 2;
        world->id_count = 1;
        assert_suspects(world, 1);
        assert_suspect(world, 0, (enum entity)entity, 1, entity == ENTITY_CONSUMER ? "first" : "");
        world->id_count = 0;
        assert_suspects(world, 2);
        world->counts[entity] = 2;
    }
}

/* One more than memory has is among the recent rows. */
static void a_count_is_higher(void **state)
{
    struct world *world = *state;
    world->counts[ENTITY_PROVIDER] = 3;
    for (world->id_count = 0; world->id_count < 3; world->id_count++)
        world->ids[world->id_count] = (int64_t)world->id_count + 1;
    assert_suspects(world, 0);
}

static void it_is_not_known(void **state)
{
    struct world *world = *state;
    assert_suspects(world, 0);
    assert_false(world->suspects.is_incomplete);
    world->is_unknown = true;
    assert_suspects(world, 0);
    assert_true(world->suspects.is_incomplete);
}

/* Those that are left out are found by the next look. */
static void too_many_differ(void **state)
{
    struct world *world = *state;
    for (int64_t id = 3; id < EXAMINE_SUSPECTS_MOST + 3; id++)
        append_provider(&world->recent, id, 1, "many");
    assert_suspects(world, EXAMINE_SUSPECTS_MOST);
    assert_false(world->is_full);
    append_provider(&world->recent, EXAMINE_SUSPECTS_MOST + 3, 1, "many");
    world->counts[ENTITY_CONSUMER] = 0;
    assert_suspects(world, EXAMINE_SUSPECTS_MOST);
    assert_true(world->is_full);
    assert_false(world->suspects.is_incomplete);
}

static void it_fails(void **state)
{
    struct world *world = *state;
    world->fails = true;
    assert_false(examine(world));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_differs, setup, teardown),
        cmocka_unit_test_setup_teardown(recent_rows_differ, setup, teardown),
        cmocka_unit_test_setup_teardown(rows_are_gone, setup, teardown),
        cmocka_unit_test_setup_teardown(a_count_is_higher, setup, teardown),
        cmocka_unit_test_setup_teardown(it_is_not_known, setup, teardown),
        cmocka_unit_test_setup_teardown(too_many_differ, setup, teardown),
        cmocka_unit_test_setup_teardown(it_fails, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
