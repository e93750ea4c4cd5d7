/* A follower takes what other instances have claimed from the log alone: in the same round trip as
 * the lock, and without reading tables, unless another program may have written. */
#include "store/fixture.h"

#include <stdio.h>

enum { CLAIM = 60, CLAIMED = 5, ALTERED = 17 };

static void psql(const struct fixture *fixture, const char *sql)
{
    const char *name = strrchr(fixture->url, '/') + 1;
    fixture_shell(
        fixture,
        arena_printf(fixture->arena, "psql -qAtX -d %s -c \"%s\" >/dev/null", name, sql).data);
}

/* One instance claims, and then another program alters the row, without a generation. */
static void claim_and_alter(struct fixture *fixture, struct store *store)
{
    struct change_list list = changes_of(fixture);
    add_generation(&list, 1, 0, 1);
    add_consumer(&list, CHANGE_CONSUMER_INSERT, CLAIM, UUID_D, 1);
    add_allocation(&list, CLAIM, CLAIM, UUID_D, 1, 0, CLAIMED);
    commit_changes(fixture, store, &list);
    psql(fixture, arena_printf(fixture->arena, "UPDATE allocations SET used = %d WHERE id = %d",
                               ALTERED, CLAIM)
                      .data);
}

struct found {
    int64_t used;
    unsigned count;
};

static void note_used(void *cls, const struct change *change)
{
    struct found *found = cls;
    found->count++;
    if (change->kind == CHANGE_ALLOCATION_INSERT && change->allocation.id == CLAIM)
        found->used = change->allocation.used;
}

static struct known_entity find_nothing(void *cls, enum entity entity, int64_t id)
{
    (void)cls;
    (void)id;
    return (struct known_entity){.is_known = entity == ENTITY_PROVIDER, .generation = 0};
}

static void pass_no_holders(void *cls, int64_t provider, holder_take *take, void *take_cls)
{
    (void)cls;
    (void)provider;
    (void)take;
    (void)take_cls;
}

static struct found follow(struct fixture *fixture, struct store *store)
{
    const struct memory_view memory = {find_nothing, pass_no_holders, NULL};
    struct found found = {0};
    assert_int_equal(store_follow(store, &memory, note_used, &found, &fixture->err), STORE_OK);
    return found;
}

static void from_the_log(struct fixture *fixture, bool is_locked)
{
    struct store *one = open_seeded(fixture, NULL);
    struct store *other = fixture_open(fixture);
    struct store_stamp stamp;
    expect_news(fixture, other, STORE_NEWS_RELOAD);
    claim_and_alter(fixture, one);
    if (is_locked)
        assert_int_equal(lock_store(other, &fixture->err), STORE_LOCKED);
    assert_int_equal(store_begin_read(other, &fixture->err), STORE_NEWS_FOLLOW);
    struct found found = follow(fixture, other);
    assert_int_equal(found.used, CLAIMED);
    assert_int_equal(found.count, 3);
    /* It did not fit into memory: the same read reads the tables. */
    assert_true(store_suspect(other, ENTITY_CONSUMER, CLAIM, slice_of(UUID_D)));
    found = follow(fixture, other);
    assert_int_equal(found.used, ALTERED);
    assert_true(store_end_read(other, &stamp));
    store_unlock(other);
    assert_true(is_newest(other, &stamp));
    store_close(one);
    store_close(other);
}

static void test_without_the_lock(void **state)
{
    from_the_log(*state, false);
}

static void test_under_the_lock(void **state)
{
    from_the_log(*state, true);
}

/* A suspected entity is read from the tables at once, with everything that the log names. */
static void test_suspected_before(void **state)
{
    struct fixture *fixture = *state;
    struct store *one = open_seeded(fixture, NULL);
    struct store *other = fixture_open(fixture);
    struct store_stamp stamp;
    expect_news(fixture, other, STORE_NEWS_RELOAD);
    claim_and_alter(fixture, one);
    assert_true(store_suspect(other, ENTITY_PROVIDER, 2, (struct slice){0}));
    assert_int_equal(lock_and_read(other, &fixture->err), STORE_NEWS_FOLLOW);
    assert_int_equal(follow(fixture, other).used, ALTERED);
    assert_true(end_news(other, &stamp));
    store_close(one);
    store_close(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_without_the_lock, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_under_the_lock, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_suspected_before, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
