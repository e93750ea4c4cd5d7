/* What an observer's look passes, on a real server. */
#include "peer.h"

#include "base/arena.h"

enum { RENAMED = 1 };

/* Takes so many rows at a time. */
struct taker {
    size_t most, taken;
    bool is_full;
    bool has_renamed; /* the provider, with its new name */
};

static void take(void *cls, const struct change *change)
{
    struct taker *taker = cls;
    taker->is_full |= taker->taken >= taker->most;
    if (taker->is_full)
        return;
    taker->taken++;
    taker->has_renamed |= change->kind == CHANGE_PROVIDER_INSERT &&
                          change->provider.id == RENAMED &&
                          slice_equal(change->provider.name, SLICE_LIT("renamed"));
}

static bool has_sums(void *cls, enum entity entity, const struct store_sums *sums)
{
    (void)cls;
    (void)entity;
    (void)sums;
    return true;
}

static void must_be_known(void *cls)
{
    (void)cls;
    fail_msg("a look does not know what was written");
}

static bool is_full(void *cls)
{
    return ((const struct taker *)cls)->is_full;
}

static struct taker look(struct fixture *fixture, struct store_observer *observer, size_t most)
{
    struct taker taker = {.most = most};
    const struct store_examiner examiner = {.recent = take,
                                            .has_sums = has_sums,
                                            .unknown = must_be_known,
                                            .is_full = is_full,
                                            .cls = &taker};
    struct store_stamp stamp;
    assert_true(store_observer_begin(observer, &stamp, &fixture->err));
    assert_true(store_observer_examine(observer, &examiner, &fixture->err));
    store_observer_end(observer);
    return taker;
}

/* What was too much for one look is passed by the next one. */
static void test_full(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    struct store_observer *observer = store_observe(store, &fixture->err);
    expect_news(fixture, store, STORE_NEWS_NONE);
    (void)look(fixture, observer, SIZE_MAX);
    (void)peer_execute(fixture,
                       peer_sql("UPDATE resource_providers SET name = 'renamed' WHERE id = 1",
                                "UPDATE resource_providers SET name = 'renamed',"
                                " updated_at = UTC_TIMESTAMP() WHERE id = 1"));
    for (int i = 0; i < 2; i++)
        assert_true(look(fixture, observer, 0).is_full);
    assert_true(look(fixture, observer, SIZE_MAX).has_renamed);
    store_observer_free(observer);
    store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_full, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
