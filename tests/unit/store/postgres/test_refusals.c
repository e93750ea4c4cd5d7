/* Which request of a batch a refusal of the server is attributed to. */
#include "store/fixture.h"

#include <stdio.h>

#include "base/arena.h"

enum { REQUESTS = 4, CULPRIT = 2, FREE_ID = 100 };

static const char *uuid_of(struct fixture *fixture, int64_t id)
{
    return arena_printf(fixture->arena, "aaaaaaaa-0000-4000-8000-%012lld", (long long)id).data;
}

/* A batch in which each request inserts a provider, one of them with that name. */
static enum store_result commit_names(struct fixture *fixture, struct store *store,
                                      const char *name)
{
    static const size_t ends[REQUESTS] = {1, 2, 3, 4};
    struct change_list list = changes_of(fixture);
    struct store_stamp stamp;
    bool foreign;
    for (int64_t i = 0; i < REQUESTS; i++) {
        const char *other = arena_printf(fixture->arena, "other%lld", (long long)i).data;
        add_provider(&list, FREE_ID + i, 0, FREE_ID + i, uuid_of(fixture, FREE_ID + i),
                     i == CULPRIT ? name : other);
    }
    const struct store_batch batch = {list.items, ends, REQUESTS};
    fixture->err = (struct err){.arena = fixture->arena};
    expect_news(fixture, store, STORE_NEWS_NONE);
    return store_commit(store, &batch, &stamp, &foreign, &fixture->err);
}

/* Whatever the name contains that is there already. */
static void test_names(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    const struct slice long_name = arena_printf(fixture->arena, "%0200d", 7);
    const char *wide = "\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80";
    const struct slice wide_name =
        arena_printf(fixture->arena, "%s%s%s%s%s%s%s%s%s%s%s%s", wide, wide, wide, wide, wide, wide,
                     wide, wide, wide, wide, wide, wide);
    const char *const names[] = {"plain", "a (b)", ")", "a, b",         "x)=(y",
                                 "\"q'",  " ",     "%", long_name.data, wide_name.data};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct change_list list = changes_of(fixture);
        add_provider(&list, 10 + (int64_t)i, 0, 10 + (int64_t)i, uuid_of(fixture, 10 + (int64_t)i),
                     names[i]);
        commit_changes(fixture, store, &list);
        assert_int_equal(commit_names(fixture, store, names[i]), STORE_REFUSED);
        const struct store_refusal *why = store_why_refused(store);
        assert_int_equal(why->request, CULPRIT);
        assert_int_equal(why->change, CULPRIT);
        assert_true(why->is_duplicate);
        assert_false(why->cannot_hold);
    }
    store_close(store);
}

/* The server does not tell which row has a text that its column cannot hold. */
static void test_unnamed(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    const struct slice too_long = arena_printf(fixture->arena, "%0201d", 7);
    assert_int_equal(commit_names(fixture, store, too_long.data), STORE_REFUSED);
    const struct store_refusal *why = store_why_refused(store);
    assert_true(why->request == STORE_UNNAMED);
    assert_true(why->change == STORE_UNNAMED);
    assert_true(why->cannot_hold);
    assert_false(why->is_duplicate || why->memory_is_wrong);
    assert_int_equal(commit_names(fixture, store, "fits"), STORE_OK);
    store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_names, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_unnamed, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
