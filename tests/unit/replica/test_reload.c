/* Loads while versions are pinned: memory that no pinned version contains is freed at once and
 * returned to the system. */
#include <stdio.h>
#include <unistd.h>

#include "base/arena.h"
#include "replica/apply.h"
#include "replica/audit.h"
#include "replica/replica.h"
#include "unit.h"

enum { PROVIDERS = 500, LOADS = 20 };

struct world {
    struct arena *arena;
    struct replica *replica;
};

static void append_providers(struct world *world, struct change_list *list, int64_t count,
                             int64_t generation)
{
    for (int64_t id = 1; id <= count; id++) {
        struct slice name = arena_printf(world->arena, "p%d", (int)id);
        change_append(list, CHANGE_PROVIDER_INSERT)->provider =
            (struct change_provider){id, 0, id, generation, name, name};
    }
}

static void publish(struct world *world, struct edit *edit)
{
    struct version_stamp stamp = {{0}};
    replica_publish(world->replica, edit, &stamp);
    arena_reset(world->arena);
}

/* As after a foreign commit: the whole database is read again. */
static void load(struct world *world, int64_t count, int64_t generation)
{
    struct edit *edit = replica_edit_empty(world->replica);
    struct change_list list = {.arena = world->arena};
    append_providers(world, &list, count, generation);
    change_append(&list, CHANGE_LOAD_PROVIDERS_END);
    apply_changes(edit, &list);
    publish(world, edit);
}

/* A commit of our own, which changes every fifth provider. */
static void commit(struct world *world, int64_t count, int64_t generation)
{
    struct edit *edit = replica_edit(world->replica);
    struct change_list list = {.arena = world->arena};
    for (int64_t id = 1; id <= count; id += 5)
        change_append(&list, CHANGE_PROVIDER_GENERATION)->generation =
            (struct change_generation){id, generation, generation};
    apply_changes(edit, &list);
    publish(world, edit);
}

static void setup(struct world *world)
{
    *world = (struct world){.arena = arena_create(), .replica = replica_create()};
}

static void teardown(struct world *world)
{
    replica_destroy(world->replica);
    arena_destroy(world->arena);
}

static void assert_whole(const struct version *version, int64_t generation)
{
    struct buf why = {0};
    assert_true(audit_version(version, &why));
    buf_free(&why);
    assert_int_equal(version_provider_by_id(version, 1)->generation, generation);
}

static uint64_t retained_bytes(const struct world *world)
{
    return replica_figures(world->replica).retained_bytes;
}

/* malloc rounds up, not always equally. */
static void assert_copies(const struct world *world, unsigned copies, uint64_t one)
{
    assert_in_range(retained_bytes(world), copies * one - one / 50, copies * one + one / 50);
}

static void a_pin_keeps_its_own_load_alone(void **state)
{
    (void)state;
    struct world world;
    setup(&world);
    load(&world, PROVIDERS, 1);
    struct replica_reader *reader = replica_reader_open(world.replica);
    uint64_t one = replica_figures(world.replica).bytes;
    const struct version *pinned = replica_pin(reader);
    for (int64_t i = 2; i <= LOADS; i++) {
        commit(&world, PROVIDERS, 100);
        commit(&world, PROVIDERS, 101);
        load(&world, PROVIDERS, i);
        assert_true(retained_bytes(&world) <= 2 * one); /* the commits in its own load */
        assert_true(replica_waiting(world.replica) <= 3);
    }
    assert_whole(pinned, 1);
    assert_whole(replica_newest(world.replica), LOADS);
    replica_unpin(reader);
    replica_tidy(world.replica); /* without another publication */
    assert_int_equal(retained_bytes(&world), 0);
    assert_int_equal(replica_waiting(world.replica), 0);
    replica_reader_close(reader);
    teardown(&world);
}

/* Two pins, released in either order: each keeps only its own load. */
static void check_two_pins(bool older_first)
{
    struct world world;
    setup(&world);
    load(&world, PROVIDERS, 1);
    uint64_t one = replica_figures(world.replica).bytes;
    struct replica_reader *readers[2];
    const struct version *pinned[2];
    int64_t generations[2] = {3, 7};
    unsigned pins = 0;
    for (int64_t i = 2; i <= 10; i++) {
        load(&world, PROVIDERS, i);
        if (pins < 2 && i == generations[pins]) {
            readers[pins] = replica_reader_open(world.replica);
            pinned[pins] = replica_pin(readers[pins]);
            pins++;
        }
    }
    assert_copies(&world, 2, one);
    replica_tidy(world.replica);
    assert_copies(&world, 2, one);
    unsigned first = older_first ? 0 : 1;
    replica_unpin(readers[first]);
    replica_tidy(world.replica);
    assert_copies(&world, 1, one);
    assert_whole(pinned[1 - first], generations[1 - first]);
    replica_unpin(readers[1 - first]);
    replica_tidy(world.replica);
    assert_int_equal(retained_bytes(&world), 0);
    replica_reader_close(readers[0]);
    replica_reader_close(readers[1]);
    teardown(&world);
}

static void each_pin_keeps_one_load(void **state)
{
    (void)state;
    check_two_pins(true);
    check_two_pins(false);
}

/* A version that is created within a load is not part of an older pin in another load. */
static void commits_of_unpinned_loads_go(void **state)
{
    (void)state;
    struct world world;
    setup(&world);
    load(&world, PROVIDERS, 1);
    uint64_t one = replica_figures(world.replica).bytes;
    struct replica_reader *reader = replica_reader_open(world.replica);
    const struct version *pinned = replica_pin(reader);
    load(&world, PROVIDERS, 2);
    for (int64_t i = 0; i < 200; i++)
        commit(&world, PROVIDERS, i);
    load(&world, PROVIDERS, 3);
    assert_copies(&world, 1, one);
    assert_int_equal(replica_waiting(world.replica), 1);
    assert_whole(pinned, 1);
    replica_unpin(reader);
    load(&world, PROVIDERS, 4);
    assert_int_equal(retained_bytes(&world), 0);
    replica_reader_close(reader);
    teardown(&world);
}

/* A commit of our own, which changes the providers of a range. */
static void commit_range(struct world *world, int64_t first, int64_t end, int64_t generation)
{
    struct edit *edit = replica_edit(world->replica);
    struct change_list list = {.arena = world->arena};
    for (int64_t id = first; id < end; id++)
        change_append(&list, CHANGE_PROVIDER_GENERATION)->generation =
            (struct change_generation){id, generation, generation};
    apply_changes(edit, &list);
    publish(world, edit);
}

/* Each commit replaces another part of the whole, again and again. However much of the pinned
 * version has been replaced already, what has been created and replaced since is not kept to the
 * same extent again. */
static void a_pin_keeps_one_copy_beside_commits(void **state)
{
    (void)state;
    enum { MANY = 20000, PART = 500, COMMITS = 110 };
    struct world world;
    setup(&world);
    load(&world, MANY, 1);
    uint64_t one = replica_figures(world.replica).bytes;
    struct replica_reader *reader = replica_reader_open(world.replica);
    const struct version *pinned = replica_pin(reader);
    uint64_t most = 0;
    for (int64_t i = 0; i < COMMITS; i++) {
        int64_t first = 1 + i * PART % MANY;
        commit_range(&world, first, first + PART, 10 + i);
        uint64_t retained = retained_bytes(&world);
        most = retained > most ? retained : most;
    }
    assert_true(most < one + one / 4);
    assert_whole(pinned, 1);
    replica_unpin(reader);
    replica_tidy(world.replica);
    assert_int_equal(retained_bytes(&world), 0);
    replica_reader_close(reader);
    teardown(&world);
}

/* Large memory is freed over several iterations. */
static void tidy_all(struct world *world)
{
    for (unsigned i = 0; i < 20; i++)
        replica_tidy(world->replica);
}

static size_t resident_bytes(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*u %lu", &pages), 1);
    fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static void memory_goes_back_to_the_system(void **state)
{
    (void)state;
    enum { MANY = 60000 };
    struct world world;
    setup(&world);
    size_t empty = resident_bytes();
    load(&world, MANY, 1);
    size_t one = (size_t)replica_figures(world.replica).bytes;
    assert_true(one > 10 << 20);
    struct replica_reader *reader = replica_reader_open(world.replica);
    replica_pin(reader);
    for (int64_t i = 2; i <= 8; i++) {
        load(&world, MANY, i);
        tidy_all(&world);
    }
    size_t held = resident_bytes();
    replica_unpin(reader);
    tidy_all(&world);
    size_t released = resident_bytes();
    bool is_exact = true;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    is_exact = false; /* their allocators keep what was freed */
#endif
    if (is_exact) {
        assert_true(held < empty + 3 * one + one / 2);
        assert_true(released < held - one / 2);
    }
    replica_reader_close(reader);
    teardown(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pin_keeps_its_own_load_alone),
        cmocka_unit_test(each_pin_keeps_one_load),
        cmocka_unit_test(commits_of_unpinned_loads_go),
        cmocka_unit_test(a_pin_keeps_one_copy_beside_commits),
        cmocka_unit_test(memory_goes_back_to_the_system),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
