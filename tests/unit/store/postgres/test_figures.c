/* Figures for metrics of two stores on one database. */
#include "await.h"
#include "store/fixture.h"

static _Atomic bool is_answered;

static void answered(void *cls, const struct store_head *head)
{
    (void)cls;
    assert_true(head->is_known);
    is_answered = true;
}

static void query_head(struct store *store)
{
    is_answered = false;
    store_query_head(store, answered, NULL);
    AWAIT(is_answered);
}

static void take_news(struct fixture *fixture, struct store *store)
{
    struct buf ignored = {0};
    dump_store(fixture, store, &ignored);
    buf_free(&ignored);
}

static void write_trait(struct fixture *fixture, struct store *store, int64_t id, const char *name)
{
    struct change_list list = changes_of(fixture);
    add_catalog(&list, CHANGE_TRAIT_INSERT, id, name);
    (void)commit_changes(fixture, store, &list);
}

static void test_behind(void **state)
{
    struct fixture *fixture = *state;
    struct store *one = fixture_open(fixture);
    struct store *two = fixture_open(fixture);
    take_news(fixture, one);
    take_news(fixture, two);
    write_trait(fixture, two, 50001, "CUSTOM_A");
    write_trait(fixture, two, 50002, "CUSTOM_B");
    query_head(one);
    query_head(two);
    assert_int_equal(store_figures(one).behind, 2);
    assert_int_equal(store_figures(one).log_head, 2);
    assert_int_equal(store_figures(two).behind, 0);
    take_news(fixture, one);
    assert_int_equal(store_figures(one).behind, 0);
    assert_int_equal(store_figures(one).failed_connections, 0);
    assert_true(store_figures(one).connections >= 3); /* the fourth is made on a thread */
    store_close(one);
    store_close(two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_behind, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
