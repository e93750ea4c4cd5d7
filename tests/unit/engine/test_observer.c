/* The thread that finds what other programs have written: it compares only a snapshot of the state
 * that memory has, names each entity that differs once, and the writer reads them again. The test
 * plays the database of the observer. */
#include <pthread.h>
#include <stdlib.h>

#include "memory_store/memory_store.h"
#include "unit.h"

#include "await.h"
#include "base/arena.h"
#include "engine/pipeline.h"
#include "fake_clock.h"

enum { TRAITS = 250 }; /* more than are read again at once */

struct world {
    struct pipeline_request request; /* first */
    struct memory_database database;
    struct store *store;
    struct replica *replica;
    struct pipeline *pipeline;
    pthread_mutex_t lock; /* guards the rest */
    unsigned answers;
    unsigned news;              /* so many new traits will be passed by the next look */
    bool is_elsewhere;          /* the snapshots have a state that memory does not have */
    bool is_down;               /* no snapshot begins */
    bool lacks_row;             /* the trait's row is not found by a scrub */
    bool has_late_row;          /* only the sums of a look tell of it */
    unsigned passes;            /* of all rows, because of it */
    unsigned look_takes_us;     /* by the fake clock */
    bool is_configured_by_look; /* the next look sets the interval of scrubs */
    unsigned begun, ended;      /* snapshots */
    unsigned looks, finds;      /* of the same */
    unsigned suspected[TRAITS]; /* how often each was, by id */
    struct store_stamp stamp;   /* of the state that memory has */
};

static void change_world(struct world *world, unsigned *number, unsigned value)
{
    pthread_mutex_lock(&world->lock);
    *number = value;
    pthread_mutex_unlock(&world->lock);
}

static unsigned read_world(struct world *world, const unsigned *number)
{
    pthread_mutex_lock(&world->lock);
    unsigned value = *number;
    pthread_mutex_unlock(&world->lock);
    return value;
}

static void set_flag(struct world *world, bool *flag, bool value)
{
    pthread_mutex_lock(&world->lock);
    *flag = value;
    pthread_mutex_unlock(&world->lock);
}

/* ---- the observer's database ---- */

static bool play_suspect(void *cls, enum entity entity, int64_t id, struct slice uuid)
{
    struct world *world = cls;
    assert_int_equal(entity, ENTITY_TRAIT);
    assert_in_range(id, 0, TRAITS - 1);
    assert_int_equal(uuid.len, 0);
    pthread_mutex_lock(&world->lock);
    world->suspected[id]++;
    pthread_mutex_unlock(&world->lock);
    return true;
}

static bool play_begin(void *cls, struct store_stamp *stamp, struct err *err)
{
    struct world *world = cls;
    pthread_mutex_lock(&world->lock);
    bool is_down = world->is_down;
    *stamp = world->stamp;
    stamp->bytes[0] ^= world->is_elsewhere;
    assert_int_equal(world->begun, world->ended);
    world->begun += !is_down;
    pthread_mutex_unlock(&world->lock);
    return !is_down || err_set(err, 503, NULL, "the server is down");
}

static void play_end(void *cls)
{
    struct world *world = cls;
    pthread_mutex_lock(&world->lock);
    world->ended++;
    pthread_mutex_unlock(&world->lock);
}

static void play_late_row(struct world *world, const struct store_examiner *examiner)
{
    static const int64_t ids[] = {1, 2};
    const struct store_sums sums = {.rows = 2, .has_sums = true, .ids = 3};
    const struct change row = {.kind = CHANGE_TRAIT_INSERT, .catalog = {2, SLICE_LIT("CUSTOM_L")}};
    if (examiner->has_sums(examiner->cls, ENTITY_TRAIT, &sums) ||
        !examiner->ids(examiner->cls, ENTITY_TRAIT, ids, 2))
        return;
    examiner->row(examiner->cls, &row);
    examiner->rows_end(examiner->cls, ENTITY_TRAIT);
    change_world(world, &world->passes, world->passes + 1);
}

static bool play_look(void *cls, const struct store_examiner *examiner, struct err *err)
{
    struct world *world = cls;
    (void)err;
    pthread_mutex_lock(&world->lock);
    assert_false(world->is_elsewhere);
    unsigned count = world->news;
    world->news = 0;
    world->looks++;
    unsigned takes_us = world->look_takes_us;
    bool configures = world->is_configured_by_look;
    bool has_late_row = world->has_late_row;
    world->is_configured_by_look = false;
    pthread_mutex_unlock(&world->lock);
    if (configures)
        pipeline_set_scrub_interval(world->pipeline, 1);
    if (takes_us > 0)
        fake_clock_add_us(takes_us);
    for (unsigned id = 0; id < count; id++) {
        const struct change row = {.kind = CHANGE_TRAIT_INSERT,
                                   .catalog = {id, SLICE_LIT("CUSTOM_NEW")}};
        examiner->recent(examiner->cls, &row);
    }
    if (has_late_row)
        play_late_row(world, examiner);
    return true;
}

static bool play_find(void *cls, const struct memory_wanted *wanted, store_sink *sink,
                      void *sink_cls, struct err *err)
{
    struct world *world = cls;
    (void)err;
    assert_int_equal(wanted->entity, ENTITY_TRAIT);
    assert_int_equal(wanted->count, 1);
    pthread_mutex_lock(&world->lock);
    bool lacks_row = world->lacks_row;
    world->finds++;
    pthread_mutex_unlock(&world->lock);
    const struct change row = {.kind = CHANGE_TRAIT_INSERT,
                               .catalog = {wanted->ids[0], SLICE_LIT("CUSTOM_T")}};
    if (!lacks_row)
        sink(sink_cls, &row);
    return true;
}

static const struct memory_observer observer = {play_suspect, play_begin, play_end, play_look,
                                                play_find};

/* ---- one trait in memory ---- */

static bool plan_trait(struct pipeline_request *request, const struct plan *plan)
{
    (void)request;
    change_append(plan->changes, CHANGE_TRAIT_INSERT)->catalog =
        (struct change_catalog){store_next_id(plan->store, STORE_TRAITS), SLICE_LIT("CUSTOM_T")};
    return true;
}

static void answered(struct pipeline_request *request)
{
    struct world *world = (struct world *)request;
    assert_false(err_is_set(&request->err));
    memcpy(&world->stamp, &replica_newest(world->replica)->stamp, sizeof(world->stamp));
    change_world(world, &world->answers, world->answers + 1);
}

static int setup(void **state)
{
    struct world *world = calloc(1, sizeof(*world));
    assert_non_null(world);
    pthread_mutex_init(&world->lock, NULL);
    world->request = (struct pipeline_request){
        .plan = plan_trait, .done = answered, .max_rows = 1, .err = {.arena = arena_create()}};
    memory_database_init(&world->database);
    world->store = memory_store_open(&world->database);
    world->store->observer = &observer;
    world->store->cls = world;
    world->replica = replica_create();
    world->pipeline = pipeline_start(world->store, world->replica, NULL, &world->request.err);
    assert_non_null(world->pipeline);
    pipeline_submit(world->pipeline, &world->request);
    AWAIT(read_world(world, &world->answers) == 1);
    *state = world;
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;
    pipeline_stop(world->pipeline);
    assert_int_equal(world->begun, world->ended);
    replica_destroy(world->replica);
    store_close(world->store);
    memory_database_free(&world->database);
    arena_destroy(world->request.err.arena);
    pthread_mutex_destroy(&world->lock);
    free(world);
    return 0;
}

static void start(struct world *world)
{
    assert_true(pipeline_start_observer(world->pipeline, &world->request.err));
}

static struct observer_figures figures(struct world *world)
{
    return pipeline_figures(world->pipeline).observer;
}

static void a_look_finds(void **state)
{
    struct world *world = *state;
    world->news = TRAITS;
    start(world);
    AWAIT(read_world(world, &world->suspected[TRAITS - 1]) == 1);
    for (unsigned id = 0; id < TRAITS; id++)
        assert_int_equal(read_world(world, &world->suspected[id]), 1);
    const struct observer_figures found = figures(world);
    assert_int_equal(found.looked[ENTITY_TRAIT], TRAITS);
    assert_int_equal(found.differed[ENTITY_TRAIT], 0);
    assert_int_equal(histogram_count(&found.look_us), 1);
}

static void look_for_times(struct world *world, unsigned looks)
{
    enum { LOOK_EVERY_US = 1000000 };
    fake_clock_stop();
    world->has_late_row = true;
    start(world);
    for (unsigned look = 1; look <= looks; look++) {
        AWAIT(read_world(world, &world->looks) >= look);
        fake_clock_add_us(LOOK_EVERY_US);
    }
    AWAIT(read_world(world, &world->looks) > looks);
    fake_clock_run();
}

/* It has been read again, and memory cannot have it. */
static void a_late_row_stays(void **state)
{
    struct world *world = *state;
    look_for_times(world, 4);
    assert_int_equal(read_world(world, &world->passes), 2);
}

/* As long as the database does not let it be read again, memory may yet have it. */
static void a_late_row_is_not_read(void **state)
{
    struct world *world = *state;
    world->database.stamps_never_current = true;
    world->database.faults.permille[MEMORY_BEGIN_READ_FAILS] = MEMORY_ALWAYS;
    look_for_times(world, 4);
    assert_true(read_world(world, &world->passes) >= 4);
}

/* Memory does not have the state: nothing is compared until it does. */
static void another_state(void **state)
{
    struct world *world = *state;
    world->is_elsewhere = true;
    world->news = 1;
    start(world);
    AWAIT(figures(world).put_off >= 1);
    assert_int_equal(read_world(world, &world->looks), 0);
    assert_int_equal(read_world(world, &world->suspected[0]), 0);
    set_flag(world, &world->is_elsewhere, false);
    AWAIT(read_world(world, &world->suspected[0]) == 1);
}

static void the_server_is_down(void **state)
{
    struct world *world = *state;
    world->is_down = true;
    start(world);
    AWAIT(figures(world).put_off >= 1);
    assert_int_equal(read_world(world, &world->looks), 0);
    set_flag(world, &world->is_down, false);
    AWAIT(read_world(world, &world->looks) >= 1);
}

/* Also if the thread was not waiting when it was set: it does not first wait for the next look. */
static void an_interval_is_noticed_at_once(void **state)
{
    enum { LOOK_EVERY_US = 1000000 };
    struct world *world = *state;
    fake_clock_stop();
    start(world);
    AWAIT(read_world(world, &world->looks) == 1);
    set_flag(world, &world->is_configured_by_look, true);
    fake_clock_add_us(LOOK_EVERY_US);
    AWAIT(read_world(world, &world->looks) == 2);
    AWAIT((fake_clock_add_us(1), read_world(world, &world->finds) >= 1));
    assert_int_equal(read_world(world, &world->looks), 2);
    fake_clock_run();
}

/* The server stood still during each of the last looks: the pause before the next one is bounded.
 */
static void stalled_looks(void **state)
{
    enum { STALLED_US = 100000000, LATEST_MS = 60000, USUAL = 4 };
    struct world *world = *state;
    fake_clock_stop();
    world->look_takes_us = STALLED_US;
    start(world);
    AWAIT(read_world(world, &world->looks) == USUAL);
    AWAIT(fake_clock_is_awaited_in_ms(LATEST_MS, LATEST_MS));
    fake_clock_add_us(LATEST_MS * 1000);
    AWAIT(read_world(world, &world->looks) == USUAL + 1);
    fake_clock_run();
}

static void a_scrub_finds(void **state)
{
    struct world *world = *state;
    start(world);
    AWAIT(read_world(world, &world->looks) >= 1);
    assert_int_equal(read_world(world, &world->finds), 0); /* as long as there is no interval */
    pipeline_set_scrub_interval(world->pipeline, 1);
    AWAIT(figures(world).scrubs >= 2);
    assert_true(figures(world).scrubbed >= 2);
    assert_int_equal(figures(world).differed[ENTITY_TRAIT], 0);
    set_flag(world, &world->lacks_row, true);
    AWAIT(read_world(world, &world->suspected[1]) >= 1);
    assert_true(figures(world).differed[ENTITY_TRAIT] >= 1);
    assert_int_equal(figures(world).looked[ENTITY_TRAIT], 0);
}

/* Whatever it is just doing. */
static void stops(void **state)
{
    struct world *world = *state;
    world->news = TRAITS;
    world->is_elsewhere = true;
    start(world);
    pipeline_set_scrub_interval(world->pipeline, 1);
    AWAIT(read_world(world, &world->begun) >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_look_finds, setup, teardown),
        cmocka_unit_test_setup_teardown(a_late_row_stays, setup, teardown),
        cmocka_unit_test_setup_teardown(a_late_row_is_not_read, setup, teardown),
        cmocka_unit_test_setup_teardown(another_state, setup, teardown),
        cmocka_unit_test_setup_teardown(the_server_is_down, setup, teardown),
        cmocka_unit_test_setup_teardown(a_scrub_finds, setup, teardown),
        cmocka_unit_test_setup_teardown(stops, setup, teardown),
        cmocka_unit_test_setup_teardown(an_interval_is_noticed_at_once, setup, teardown),
        cmocka_unit_test_setup_teardown(stalled_looks, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
