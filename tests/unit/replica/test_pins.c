/* Pins: a version stays complete while a reader holds it, whatever the writer publishes meanwhile.
 * The readers' checks find memory that was freed too early under ASan, and unordered accesses under
 * TSan. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/arena.h"
#include "replica/apply.h"
#include "replica/audit.h"
#include "replica/replica.h"
#include "unit.h"

enum { READERS = 3, PROVIDERS = 20, PUBLICATIONS = 1500 };

struct shared {
    struct replica *replica;
    _Atomic bool done;
    _Atomic unsigned ready;
    _Atomic unsigned torn;
    _Atomic unsigned checks;
};

static void set_all_generations(struct edit *edit, struct arena *arena, int64_t generation)
{
    struct change_list list = {.arena = arena};
    for (int64_t id = 1; id <= PROVIDERS; id++)
        change_append(&list, CHANGE_PROVIDER_GENERATION)->generation =
            (struct change_generation){id, generation - 1, generation};
    apply_changes(edit, &list);
}

static void publish(struct shared *shared, struct edit *edit)
{
    struct version_stamp stamp = {{0}};
    replica_publish(shared->replica, edit, &stamp);
}

static void append_providers(struct change_list *list, int64_t generation)
{
    for (int64_t id = 1; id <= PROVIDERS; id++) {
        struct slice name = arena_printf(list->arena, "p%d", (int)id);
        change_append(list, CHANGE_PROVIDER_INSERT)->provider =
            (struct change_provider){id, 0, id, generation, name, name};
    }
}

static void fill(struct shared *shared, struct arena *arena)
{
    struct edit *edit = replica_edit(shared->replica);
    struct change_list list = {.arena = arena};
    append_providers(&list, 0);
    apply_changes(edit, &list);
    publish(shared, edit);
}

/* The same state, loaded from nothing. */
static void load(struct shared *shared, struct arena *arena, int64_t generation)
{
    struct edit *edit = replica_edit_empty(shared->replica);
    struct change_list list = {.arena = arena};
    append_providers(&list, generation);
    change_append(&list, CHANGE_LOAD_PROVIDERS_END);
    apply_changes(edit, &list);
    publish(shared, edit);
}

/* In every version all generations are equal. */
static bool is_torn(const struct version *version)
{
    int32_t generation = version_provider_by_id(version, 1)->generation;
    for (int64_t id = 2; id <= PROVIDERS; id++)
        if (version_provider_by_id(version, id)->generation != generation)
            return true;
    return false;
}

static void *read_versions(void *cls)
{
    struct shared *shared = cls;
    struct replica_reader *reader = replica_reader_open(shared->replica);
    uint64_t last = 0;
    bool is_first = true;
    while (!atomic_load(&shared->done)) {
        const struct version *version = replica_pin(reader);
        bool bad = version->node.birth < last;
        last = version->node.birth;
        for (unsigned look = 0; look < 4; look++) {
            bad = bad || is_torn(version);
            if (look == 1)
                sched_yield();
        }
        replica_unpin(reader);
        atomic_fetch_add(&shared->torn, bad);
        atomic_fetch_add(&shared->checks, 1);
        if (is_first)
            atomic_fetch_add(&shared->ready, 1);
        is_first = false;
    }
    replica_reader_close(reader);
    return NULL;
}

static void readers_and_a_writer(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct shared shared = {.replica = replica_create()};
    pthread_t threads[READERS];
    fill(&shared, arena);
    for (unsigned i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_versions, &shared), 0);
    while (atomic_load(&shared.ready) < READERS)
        sched_yield();
    int64_t generation = 0;
    for (unsigned i = 1; i <= PUBLICATIONS; i++) {
        struct edit *edit = replica_edit(shared.replica);
        set_all_generations(edit, arena, generation + 1);
        if (i % 5 == 0) {
            replica_abandon(shared.replica, edit);
        } else {
            generation++;
            publish(&shared, edit);
        }
        arena_reset(arena);
        if (i % 23 == 0)
            load(&shared, arena, generation);
        if (i % 7 == 0)
            replica_tidy(shared.replica);
        if (i % 16 == 0)
            sched_yield();
    }
    atomic_store(&shared.done, true);
    for (unsigned i = 0; i < READERS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(atomic_load(&shared.torn), 0);
    assert_true(atomic_load(&shared.checks) >= READERS);
    publish(&shared, replica_edit(shared.replica));
    assert_int_equal(replica_waiting(shared.replica), 0);
    replica_destroy(shared.replica);
    arena_destroy(arena);
}

/* One thread in both roles: what is freed when. */
static void pins_hold_what_they_need(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct shared shared = {.replica = replica_create()};
    fill(&shared, arena);
    struct replica_reader *old = replica_reader_open(shared.replica);
    struct replica_reader *new = replica_reader_open(shared.replica);
    const struct version *version = replica_pin(old);
    for (int64_t generation = 1; generation <= 5; generation++) {
        struct edit *edit = replica_edit(shared.replica);
        set_all_generations(edit, arena, generation);
        publish(&shared, edit);
        assert_int_equal(replica_waiting(shared.replica), generation);
        assert_int_equal(version_provider_by_id(version, 3)->generation, 0);
    }
    assert_int_equal(version_provider_by_id(replica_pin(new), 3)->generation, 5);
    replica_unpin(old);
    publish(&shared, replica_edit(shared.replica)); /* frees all but what `new` holds */
    assert_int_equal(replica_waiting(shared.replica), 1);
    replica_unpin(new);
    publish(&shared, replica_edit(shared.replica));
    assert_int_equal(replica_waiting(shared.replica), 0);
    replica_reader_close(old);
    replica_reader_close(new);
    replica_destroy(shared.replica);
    arena_destroy(arena);
}

/* What is created and replaced while an old version is pinned is not part of that version: a search
 * that takes minutes does not keep everything that is written meanwhile. */
static void an_old_pin_keeps_one_version(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct shared shared = {.replica = replica_create()};
    fill(&shared, arena);
    struct replica_reader *old = replica_reader_open(shared.replica);
    struct replica_reader *middle = replica_reader_open(shared.replica);
    const struct version *oldest = replica_pin(old);
    const struct version *later = NULL;
    for (int64_t generation = 1; generation <= 3000; generation++) {
        struct edit *edit = replica_edit(shared.replica);
        set_all_generations(edit, arena, generation);
        publish(&shared, edit);
        arena_reset(arena);
        if (generation == 1000)
            later = replica_pin(middle);
    }
    assert_true(replica_waiting(shared.replica) < 500);
    struct buf why = {0};
    assert_true(audit_version(oldest, &why) && audit_version(later, &why));
    buf_free(&why);
    for (int64_t id = 1; id <= PROVIDERS; id++) {
        assert_int_equal(version_provider_by_id(oldest, id)->generation, 0);
        assert_int_equal(version_provider_by_id(later, id)->generation, 1000);
    }
    replica_unpin(old);
    replica_unpin(middle);
    publish(&shared, replica_edit(shared.replica));
    assert_int_equal(replica_waiting(shared.replica), 0);
    replica_reader_close(old);
    replica_reader_close(middle);
    replica_destroy(shared.replica);
    arena_destroy(arena);
}

/* A load makes a version that shares nothing with the one before, which is freed completely. */
static void load_replaces_all(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct shared shared = {.replica = replica_create()};
    fill(&shared, arena);
    struct replica_reader *reader = replica_reader_open(shared.replica);
    const struct version *version = replica_pin(reader);
    struct edit *edit = replica_edit_empty(shared.replica);
    struct change_list list = {.arena = arena};
    change_append(&list, CHANGE_LOAD_PROVIDERS_END);
    apply_changes(edit, &list);
    publish(&shared, edit);
    assert_null(version_provider_by_id(replica_newest(shared.replica), 1));
    assert_non_null(version_provider_by_id(version, 1));
    replica_unpin(reader);
    publish(&shared, replica_edit(shared.replica));
    assert_int_equal(replica_waiting(shared.replica), 0);
    replica_reader_close(reader);
    replica_destroy(shared.replica);
    arena_destroy(arena);
}

/* The figures for metrics: equal states take equal memory, and memory that is kept for a reader is
 * counted separately. */
static void memory_is_counted(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct shared shared = {.replica = replica_create()};
    assert_int_equal(replica_figures(shared.replica).bytes, 0);
    fill(&shared, arena);
    struct replica_figures first = replica_figures(shared.replica);
    assert_int_equal(first.number, replica_newest(shared.replica)->node.birth);
    assert_true(first.bytes > PROVIDERS * sizeof(struct provider));
    assert_int_equal(first.retained, 0);
    assert_int_equal(first.retained_bytes, 0);
    struct replica_reader *reader = replica_reader_open(shared.replica);
    replica_pin(reader);
    for (int64_t generation = 1; generation <= 2000; generation++) {
        struct edit *edit = replica_edit(shared.replica);
        set_all_generations(edit, arena, generation);
        if (generation % 7 == 0)
            replica_abandon(shared.replica, edit);
        else
            publish(&shared, edit);
        arena_reset(arena);
    }
    struct replica_figures held = replica_figures(shared.replica);
    assert_int_equal(held.retained, replica_waiting(shared.replica));
    assert_true(held.retained_bytes >= PROVIDERS * sizeof(struct provider));
    assert_in_range(held.bytes, first.bytes - first.bytes / 16, first.bytes + first.bytes / 16);
    replica_unpin(reader);
    replica_reader_close(reader);
    struct edit *edit = replica_edit_empty(shared.replica);
    struct change_list list = {.arena = arena};
    change_append(&list, CHANGE_LOAD_PROVIDERS_END);
    apply_changes(edit, &list);
    publish(&shared, edit);
    struct replica_figures last = replica_figures(shared.replica);
    assert_true(last.bytes < first.bytes / 2);
    assert_int_equal(last.retained, 0);
    assert_int_equal(last.retained_bytes, 0);
    replica_destroy(shared.replica);
    arena_destroy(arena);
}

/* As many as there are workers on all listeners, all opened at once. */
enum { OPENERS = 4, OPENED = 300 };

static void *open_many(void *cls)
{
    struct shared *shared = cls;
    struct replica_reader *readers[OPENED];
    const struct version *versions[OPENED];
    for (unsigned i = 0; i < OPENED; i++) {
        readers[i] = replica_reader_open(shared->replica);
        versions[i] = replica_pin(readers[i]);
    }
    atomic_fetch_add(&shared->ready, 1);
    while (!atomic_load(&shared->done))
        sched_yield();
    for (unsigned i = 0; i < OPENED; i++) {
        atomic_fetch_add(&shared->torn, is_torn(versions[i]));
        replica_unpin(readers[i]);
        replica_reader_close(readers[i]);
    }
    return NULL;
}

static void any_number_of_readers(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct shared shared = {.replica = replica_create()};
    pthread_t threads[OPENERS];
    fill(&shared, arena);
    for (unsigned i = 0; i < OPENERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, open_many, &shared), 0);
    int64_t generation = 0;
    while (atomic_load(&shared.ready) < OPENERS) {
        struct edit *edit = replica_edit(shared.replica);
        set_all_generations(edit, arena, ++generation);
        publish(&shared, edit);
        arena_reset(arena);
    }
    publish(&shared, replica_edit(shared.replica));
    assert_true(replica_waiting(shared.replica) > 0);
    atomic_store(&shared.done, true);
    for (unsigned i = 0; i < OPENERS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(atomic_load(&shared.torn), 0);
    publish(&shared, replica_edit(shared.replica));
    assert_int_equal(replica_waiting(shared.replica), 0);
    struct replica_reader *again = replica_reader_open(shared.replica);
    struct replica_reader *other = replica_reader_open(shared.replica);
    assert_ptr_not_equal(again, other);
    replica_reader_close(other);
    assert_ptr_equal(replica_reader_open(shared.replica), other); /* closed ones are used again */
    replica_reader_close(again);
    replica_reader_close(other);
    replica_destroy(shared.replica);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readers_and_a_writer),         cmocka_unit_test(pins_hold_what_they_need),
        cmocka_unit_test(an_old_pin_keeps_one_version), cmocka_unit_test(load_replaces_all),
        cmocka_unit_test(any_number_of_readers),        cmocka_unit_test(memory_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
