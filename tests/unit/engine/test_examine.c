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
    struct examined_before before;
    struct change_list recent;
    struct store_sums sums[ENTITY_COUNT];
    int64_t ids[IDS_MOST]; /* of the entity whose sums differ */
    size_t id_count;
    struct change_list all; /* its rows, if they are wanted */
    unsigned passes;        /* so often they were */
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
        if (!examiner->has_sums(examiner->cls, (enum entity)entity, &world->sums[entity]) &&
            examiner->ids(examiner->cls, (enum entity)entity, world->ids, world->id_count)) {
            world->passes++;
            for (size_t i = 0; i < world->all.count; i++)
                examiner->row(examiner->cls, &world->all.items[i]);
            examiner->rows_end(examiner->cls, (enum entity)entity);
        }
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
    world->arena = world->suspects.arena = world->recent.arena = world->all.arena = arena_create();
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
        world->sums[entity].rows = 2;
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
    world->suspects.older = 0;
    world->suspects.is_full = false;
    return examine_rows(world->rows, replica_newest(world->replica), &world->before,
                        &world->suspects, &err);
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
    assert_suspect(world, ENTITY_PROVIDER, ENTITY_PROVIDER, 1, "");
    assert_suspect(world, ENTITY_PROVIDER + 1, ENTITY_PROVIDER, 2, "");
    assert_suspect(world, ENTITY_PROVIDER + 2, ENTITY_CONSUMER, 2, "second");
    assert_suspect(world, ENTITY_PROVIDER + 3, ENTITY_CONSUMER, 7, "first");
    assert_suspect(world, ENTITY_PROVIDER + 4, ENTITY_CONSUMER, 9, "third");
    assert_int_equal(world->suspects.older, 0); /* an aggregate has no generation */
}

/* A row of each kind, and then all. */
static void rows_are_gone(void **state)
{
    struct world *world = *state;
    for (int entity = 0; entity <= ENTITY_CONSUMER; entity++) {
        world->sums[entity].rows = 1;
        world->ids[0] = 2;
        world->id_count = 1;
        assert_suspects(world, 1);
        assert_suspect(world, 0, (enum entity)entity, 1, entity == ENTITY_CONSUMER ? "first" : "");
        world->id_count = 0;
        assert_suspects(world, 2);
        world->sums[entity].rows = 2;
    }
}

/* After a loss, the id of a consumer that is gone is given to another one, which is in memory: only
 * their uuids tell which of the two is there. */
static void an_id_is_given_again(void **state)
{
    struct world *world = *state;
    struct change_list list = {.arena = world->arena};
    struct edit *edit = replica_edit(world->replica);
    const struct version_stamp stamp = {{1}};
    append_consumer(&list, 2, 3, "third");
    apply_changes(edit, &list);
    replica_publish(world->replica, edit, &stamp);
    for (int has_sums = 0; has_sums < 2; has_sums++) {
        world->sums[ENTITY_CONSUMER] = (struct store_sums){2, has_sums != 0, 3, 6};
        world->ids[0] = 1;
        world->ids[1] = 2;
        world->id_count = 2;
        assert_suspects(world, 2);
        assert_suspect(world, 0, ENTITY_CONSUMER, 2, "second");
        assert_suspect(world, 1, ENTITY_CONSUMER, 2, "third");
    }
}

/* One more than memory has is among the recent rows. */
static void a_count_is_higher(void **state)
{
    struct world *world = *state;
    world->sums[ENTITY_PROVIDER].rows = 3;
    for (world->id_count = 0; world->id_count < 3; world->id_count++)
        world->ids[world->id_count] = (int64_t)world->id_count + 1;
    assert_suspects(world, 0);
}

/* ---- sums ---- */

static void add_up(struct world *world)
{
    for (int entity = 0; entity <= ENTITY_CONSUMER; entity++)
        world->sums[entity] = (struct store_sums){.rows = 2, .has_sums = true, .ids = 3};
    world->sums[ENTITY_PROVIDER].generations = 10;
    world->sums[ENTITY_CONSUMER].generations = 6;
    world->ids[0] = 1;
    world->ids[1] = 2;
    world->id_count = 2;
}

static void expect_passes(const struct world *world, unsigned passes)
{
    assert_int_equal(world->passes, passes);
}

static void sums_are_equal(void **state)
{
    struct world *world = *state;
    add_up(world);
    assert_suspects(world, 0);
    expect_passes(world, 0);
}

/* ---- sums of memory ---- */

enum { WRITES = 400, ROWS_MOST = 12 };

/* What has been written, by id; generation 0: there is no such row. */
struct written {
    int64_t providers[ROWS_MOST];
    int64_t consumers[ROWS_MOST];
    bool catalogs[ENTITY_PROVIDER][ROWS_MOST];
};

static const char *name_of(struct world *world, int64_t id)
{
    return arena_printf(world->arena, "name-%d%c", (int)id, 0).data;
}

static void write_provider(struct world *world, struct change_list *list, int64_t *generation,
                           int64_t id)
{
    if (*generation == 0) {
        *generation = 1 + random() % 9;
        append_provider(list, id, *generation, name_of(world, id));
    } else if (random() % 3 == 0) {
        *generation = 0;
        change_append(list, CHANGE_PROVIDER_DELETE)->provider = (struct change_provider){.id = id};
    } else {
        int64_t before = *generation;
        *generation = 1 + random() % 9;
        change_append(list, CHANGE_PROVIDER_GENERATION)->generation =
            (struct change_generation){id, before, *generation};
    }
}

static void write_consumer(struct world *world, struct change_list *list, int64_t *generation,
                           int64_t id)
{
    static const enum change_kind GONE[] = {CHANGE_CONSUMER_DELETE, CHANGE_FOLLOW_CONSUMER_RESET};
    bool is_new = *generation == 0;
    bool is_gone = !is_new && random() % 3 == 0;
    *generation = is_gone ? 0 : 1 + random() % 9;
    append_consumer(list, id, *generation, name_of(world, id));
    if (!is_new)
        list->items[list->count - 1].kind = is_gone ? GONE[random() % 2] : CHANGE_CONSUMER_UPDATE;
}

static void write_catalog(struct world *world, struct change_list *list, enum entity entity,
                          bool *is_there, int64_t id)
{
    if (*is_there)
        change_append(list, CHANGE_MERGE_CATALOG_DELETE)->merged =
            (struct change_merged){.row = {.id = id}, .of = catalogs[entity]};
    else
        append_catalog(world, list, catalogs[entity], id);
    *is_there = !*is_there;
}

static void write_anything(struct world *world, struct change_list *list, struct written *written)
{
    int64_t id = 3 + random() % (ROWS_MOST - 3); /* those of the setup stay */
    enum entity entity = (enum entity)(random() % (ENTITY_CONSUMER + 1));
    if (entity == ENTITY_PROVIDER)
        write_provider(world, list, &written->providers[id], id);
    else if (entity == ENTITY_CONSUMER)
        write_consumer(world, list, &written->consumers[id], id);
    else
        write_catalog(world, list, entity, &written->catalogs[entity][id], id);
}

static void add_row(struct store_sums *sums, bool is_there, int64_t id, int64_t generation)
{
    if (!is_there)
        return;
    sums->rows++;
    sums->ids += id;
    sums->generations += generation;
}

/* The sums that the database has, over all of its rows. */
static void add_up_written(struct world *world, const struct written *written)
{
    add_up(world);
    for (int64_t id = 3; id < ROWS_MOST; id++) {
        add_row(&world->sums[ENTITY_PROVIDER], written->providers[id] != 0, id,
                written->providers[id]);
        add_row(&world->sums[ENTITY_CONSUMER], written->consumers[id] != 0, id,
                written->consumers[id]);
        for (int entity = 0; entity < ENTITY_PROVIDER; entity++)
            add_row(&world->sums[entity], written->catalogs[entity][id], id, 0);
    }
}

/* Memory has the sums of all of its rows after any writes, also those of abandoned edits. */
static void sums_follow_writes(void **state)
{
    struct world *world = *state;
    struct written written = {0};
    srandom(25);
    for (unsigned i = 0; i < WRITES; i++) {
        struct change_list list = {.arena = world->arena};
        struct edit *edit = replica_edit(world->replica);
        struct written next = written;
        const struct version_stamp stamp = {{1}};
        for (long n = random() % 4; n >= 0; n--)
            write_anything(world, &list, &next);
        apply_changes(edit, &list);
        if (i % 5 == 0) {
            replica_abandon(world->replica, edit);
        } else {
            replica_publish(world->replica, edit, &stamp);
            written = next;
        }
        add_up_written(world, &written);
        assert_suspects(world, 0);
        expect_passes(world, 0);
    }
}

/* Recent rows and gone ones: nothing else is compared. */
static void sums_are_explained(void **state)
{
    struct world *world = *state;
    add_up(world);
    append_provider(&world->recent, 2, 8, "two");
    append_provider(&world->recent, 4, 2, "four");
    append_provider(&world->recent, 1, 5, "one");
    world->sums[ENTITY_PROVIDER] = (struct store_sums){3, true, 7, 15};
    append_consumer(&world->recent, 7, 1, "first"); /* deleted, and made again */
    append_consumer(&world->recent, 9, 1, "third");
    world->sums[ENTITY_CONSUMER] = (struct store_sums){3, true, 18, 5};
    append_catalog(world, &world->recent, CHANGE_TRAIT_INSERT, 3);
    world->sums[ENTITY_TRAIT] = (struct store_sums){3, true, 6, 0};
    assert_suspects(world, 5);
    expect_passes(world, 0);
    world->recent.count = 0;
    add_up(world);
    world->sums[ENTITY_CONSUMER] = (struct store_sums){1, true, 2, 3};
    world->ids[0] = 2;
    world->id_count = 1;
    assert_suspects(world, 1);
    assert_suspect(world, 0, ENTITY_CONSUMER, 1, "first");
    expect_passes(world, 0);
    assert_int_equal(world->suspects.older, 0);
}

/* A program with a late clock has raised a consumer, and another one is lost with its commit. */
static void a_generation_differs(void **state)
{
    struct world *world = *state;
    add_up(world);
    append_consumer(&world->all, 1, 2, "first");
    append_consumer(&world->all, 2, 5, "second");
    append_consumer(&world->recent, 2, 5, "second");
    world->sums[ENTITY_CONSUMER].generations = 7;
    assert_suspects(world, 2);
    assert_suspect(world, 0, ENTITY_CONSUMER, 1, "first");
    assert_suspect(world, 1, ENTITY_CONSUMER, 2, "second");
    expect_passes(world, 1);
    assert_int_equal(world->suspects.older, 1);
}

static void a_row_is_not_recent(void **state)
{
    struct world *world = *state;
    add_up(world);
    append_catalog(world, &world->all, CHANGE_USER_INSERT, 2);
    append_catalog(world, &world->all, CHANGE_USER_INSERT, 4);
    world->sums[ENTITY_USER].ids = 6;
    world->ids[0] = 2;
    world->ids[1] = 4;
    assert_suspects(world, 2);
    assert_suspect(world, 0, ENTITY_USER, 1, "");
    assert_suspect(world, 1, ENTITY_USER, 4, "");
    expect_passes(world, 1);
}

/* A row that memory cannot have makes all rows compared twice, and then now and then only; anything
 * else does so at once. */
static void a_difference_stays(void **state)
{
    struct world *world = *state;
    enum { LOOKS = 60 };
    add_up(world);
    append_provider(&world->all, 7, 0, "orphan");
    world->sums[ENTITY_PROVIDER] = (struct store_sums){3, true, 10, 10};
    assert_suspects(world, 1);
    for (unsigned look = 1; look < LOOKS; look++) {
        assert_suspects(world, look == 1 ? 1 : 0);
        expect_passes(world, 2);
    }
    assert_suspects(world, 0);
    assert_suspects(world, 1);
    expect_passes(world, 3);
    world->sums[ENTITY_PROVIDER].generations++;
    assert_suspects(world, 1);
    expect_passes(world, 4);
}

/* What a look that fails has compared is not read again, so it does not count. */
static void it_fails_behind_the_rows(void **state)
{
    struct world *world = *state;
    add_up(world);
    append_provider(&world->all, 2, 6, "two");
    world->sums[ENTITY_PROVIDER].generations++;
    world->fails = true;
    assert_false(examine(world));
    expect_passes(world, 1);
    world->fails = false;
    assert_suspects(world, 1);
    assert_suspects(world, 1);
    expect_passes(world, 3);
    assert_suspects(world, 0);
}

/* The same provider is raised by one before each look, hidden by a late clock. */
static void a_difference_returns(void **state)
{
    struct world *world = *state;
    add_up(world);
    world->sums[ENTITY_PROVIDER].generations++;
    for (unsigned look = 1; look <= 4; look++) {
        world->all.count = 0;
        append_provider(&world->all, 2, 5 + look, "two");
        assert_suspects(world, 1);
        expect_passes(world, look);
    }
    add_up(world);
    assert_suspects(world, 0);
    world->sums[ENTITY_PROVIDER].generations++;
    assert_suspects(world, 1);
    expect_passes(world, 5);
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
static void too_many_are_recent(void **state)
{
    struct world *world = *state;
    for (int64_t id = 3; id < EXAMINE_SUSPECTS_MOST + 3; id++)
        append_provider(&world->recent, id, 1, "many");
    assert_suspects(world, EXAMINE_SUSPECTS_MOST);
    assert_false(world->is_full);
    append_provider(&world->recent, EXAMINE_SUSPECTS_MOST + 3, 1, "many");
    world->sums[ENTITY_CONSUMER].rows = 0;
    assert_suspects(world, EXAMINE_SUSPECTS_MOST);
    assert_true(world->is_full);
    assert_false(world->suspects.is_incomplete);
}

/* A program with a late clock has written them, so that all rows are compared; a recent one is
 * among them. */
static void too_many_are_late(void **state)
{
    struct world *world = *state;
    const int64_t end = EXAMINE_SUSPECTS_MOST + 10;
    add_up(world);
    append_provider(&world->recent, 3, 1, "many");
    for (int64_t id = 3; id <= end; id++)
        append_provider(&world->all, id, 1, "many");
    world->sums[ENTITY_PROVIDER] =
        (struct store_sums){(uint64_t)end, true, end * (end + 1) / 2, 10 + end - 2};
    assert_suspects(world, EXAMINE_SUSPECTS_MOST - 1);
    assert_true(world->is_full);
    expect_passes(world, 1);
}

/* As long as recent rows alone are too many, only those are read again. */
static void late_rows_wait(void **state)
{
    struct world *world = *state;
    add_up(world);
    for (int64_t id = 3; id < EXAMINE_SUSPECTS_MOST + 4; id++)
        append_provider(&world->recent, id, 1, "many");
    append_consumer(&world->all, 2, 4, "second");
    world->sums[ENTITY_CONSUMER].generations++;
    assert_suspects(world, EXAMINE_SUSPECTS_MOST);
    assert_true(world->is_full);
    expect_passes(world, 0);
    world->recent.count = 0;
    assert_suspects(world, 1);
    assert_suspect(world, 0, ENTITY_CONSUMER, 2, "second");
    assert_false(world->is_full);
    expect_passes(world, 1);
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
        cmocka_unit_test_setup_teardown(an_id_is_given_again, setup, teardown),
        cmocka_unit_test_setup_teardown(a_count_is_higher, setup, teardown),
        cmocka_unit_test_setup_teardown(sums_are_equal, setup, teardown),
        cmocka_unit_test_setup_teardown(sums_follow_writes, setup, teardown),
        cmocka_unit_test_setup_teardown(sums_are_explained, setup, teardown),
        cmocka_unit_test_setup_teardown(a_generation_differs, setup, teardown),
        cmocka_unit_test_setup_teardown(a_row_is_not_recent, setup, teardown),
        cmocka_unit_test_setup_teardown(a_difference_stays, setup, teardown),
        cmocka_unit_test_setup_teardown(a_difference_returns, setup, teardown),
        cmocka_unit_test_setup_teardown(it_fails_behind_the_rows, setup, teardown),
        cmocka_unit_test_setup_teardown(it_is_not_known, setup, teardown),
        cmocka_unit_test_setup_teardown(too_many_are_recent, setup, teardown),
        cmocka_unit_test_setup_teardown(too_many_are_late, setup, teardown),
        cmocka_unit_test_setup_teardown(late_rows_wait, setup, teardown),
        cmocka_unit_test_setup_teardown(it_fails, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
