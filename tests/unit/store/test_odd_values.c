/* Values that no service writes, in upstream's tables and in berth's: each is cut to what the API
 * allows, left out, or refused in one clear line. */
#include "fixture.h"

#include <stdio.h>

/* After the foreign writer's statement, a load sends that. */
static void expect_loaded(struct fixture *fixture, struct store *store, const char *sql,
                          const char *line)
{
    struct buf out = {0};
    foreign(fixture->path, sql);
    dump_store(fixture, store, &out);
    buf_append_char(&out, '\0');
    if (strstr(out.data, line) == NULL)
        print_error("%s\n%s", sql, out.data);
    assert_non_null(strstr(out.data, line));
    buf_free(&out);
}

static void expect_not_loaded(struct fixture *fixture, struct store *store, const char *sql,
                              const char *words)
{
    struct buf out = {0};
    foreign(fixture->path, sql);
    dump_store(fixture, store, &out);
    buf_append_char(&out, '\0');
    if (strstr(out.data, words) != NULL)
        print_error("%s\n%s", sql, out.data);
    assert_null(strstr(out.data, words));
    buf_free(&out);
}

static void test_figures_are_cut(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
#define RATIO(value) "UPDATE inventories SET allocation_ratio = " value " WHERE id = 1"
    expect_loaded(fixture, store, RATIO("9e999"), "inventory(1 0 8 1 2 3 4 3.40282e+38)");
    expect_loaded(fixture, store, RATIO("-9e999"), "inventory(1 0 8 1 2 3 4 -3.40282e+38)");
    expect_loaded(fixture, store, RATIO("1e300"), "inventory(1 0 8 1 2 3 4 3.40282e+38)");
    expect_loaded(fixture, store, RATIO("'nan'"), "inventory(1 0 8 1 2 3 4 0)");
    expect_loaded(fixture, store, RATIO("x'312e35'"), "inventory(1 0 8 1 2 3 4 0)");
    expect_loaded(fixture, store, RATIO("2"), "inventory(1 0 8 1 2 3 4 2)");
    expect_loaded(fixture, store, "UPDATE inventories SET total = 1e300, reserved = -9e18",
                  "inventory(1 0 2147483647 -2147483648 2 3 4 2)");
#define USED(value) "UPDATE allocations SET used = " value
    expect_loaded(fixture, store, USED("9223372036854775807"), UUID_C " 1 0 2147483647)");
    expect_loaded(fixture, store, USED("-1e300"), UUID_C " 1 0 -2147483648)");
    expect_loaded(fixture, store, USED("'abc'"), UUID_C " 1 0 0)");
    expect_loaded(fixture, store, "UPDATE resource_providers SET generation = 4294967301",
                  "root=1 gen=2147483647)");
    expect_loaded(fixture, store, "UPDATE consumers SET generation = -1e30",
                  "type=1 gen=-2147483648)");
    store_close(store);
}

/* A generation is compared as it was read, because otherwise its row could never be written again.
 */
static void test_odd_generations_can_be_written(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    foreign(fixture->path, "UPDATE resource_providers SET generation = 4294967301 WHERE id = 1;"
                           "UPDATE resource_providers SET generation = 'abc' WHERE id = 2;"
                           "UPDATE consumers SET generation = -1e30");
    struct change_list list = changes_of(fixture);
    add_generation(&list, 1, INT32_MAX, 0);
    add_generation(&list, 2, 0, 1);
    add_consumer(&list, CHANGE_CONSUMER_UPDATE, 1, UUID_C, INT32_MIN + (int64_t)1);
    commit_changes(fixture, store, &list);
    assert_int_equal(foreign(fixture->path, "SELECT sum(generation) FROM resource_providers"), 1);
    store_close(store);
}

static void test_ids_below_one(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    expect_loaded(fixture, store,
                  "UPDATE resource_providers SET id = -1, root_provider_id = -1 WHERE id = 1;"
                  "UPDATE resource_providers SET parent_provider_id = -1 WHERE id = 2",
                  "provider(-1 " UUID_A " a parent=0 root=-1 gen=0)");
    expect_loaded(fixture, store, "SELECT 1", "provider(2 " UUID_B " b parent=-1 root=-1 gen=0)");
    /* A cycle of two: the tree begins at the smaller id. */
    expect_loaded(fixture, store,
                  "UPDATE resource_providers SET parent_provider_id = 2 WHERE id = -1",
                  "provider(-1 " UUID_A " a parent=0 root=-1 gen=0)");
    store_close(store);
}

/* Read as integers, three classes of inventory would be the same. */
static void test_references_that_are_no_integers(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    static const char *const odd[] = {"0.5", "'abc'", "x'30'"};
    for (int i = 0; i < 3; i++) {
        char sql[256];
        snprintf(
            sql, sizeof(sql),
            "INSERT INTO inventories (resource_provider_id, resource_class_id, total, reserved,"
            " min_unit, max_unit, step_size, allocation_ratio)"
            " VALUES (1, %s, 777, 0, 1, 1, 1, 1)",
            odd[i]);
        expect_not_loaded(fixture, store, sql, "777");
        snprintf(sql, sizeof(sql),
                 "INSERT INTO allocations (consumer_id, resource_provider_id, resource_class_id,"
                 " used) VALUES ('" UUID_C "', 1, %s, 777)",
                 odd[i]);
        expect_not_loaded(fixture, store, sql, "777");
    }
    expect_loaded(fixture, store,
                  "UPDATE resource_providers SET parent_provider_id = 1.5 WHERE id = 2",
                  "provider(2 " UUID_B " b parent=0 root=2 gen=0)");
    expect_loaded(fixture, store, "UPDATE consumers SET consumer_type_id = 'abc'",
                  " type=0 gen=1)");
    expect_not_loaded(fixture, store, "UPDATE consumers SET user_id = 'abc'", "consumer(");
    store_close(store);
}

static void test_names_that_are_none(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    expect_loaded(fixture, store, "UPDATE resource_providers SET name = NULL WHERE id = 1",
                  "provider(1 " UUID_A "  parent=0");
    expect_loaded(fixture, store, "UPDATE resource_providers SET name = x'ff' WHERE id = 2",
                  "provider(2 " UUID_B "  parent=0");
    static const char *const uuids[] = {
        "''",
        "x'61'",
        "'a\"b'",
        "'a\\b'",
        "'a\tb'",
        "'a\x7f'",
        "'a\xc3\xa9'",
        "CAST(x'ff' AS TEXT)",
        "'a' || char(0) || 'b'",
        "'0123456789012345678901234567890123456'",
    };
    for (size_t i = 0; i < sizeof(uuids) / sizeof(uuids[0]); i++) {
        char sql[128];
        snprintf(sql, sizeof(sql), "UPDATE resource_providers SET uuid = %s WHERE id = 2",
                 uuids[i]);
        expect_not_loaded(fixture, store, sql, "provider(2");
        expect_not_loaded(fixture, store, "SELECT 1", "inventory(2");
    }
    expect_loaded(fixture, store, "UPDATE resource_providers SET uuid = '[a b]~!#-^' WHERE id = 2",
                  "provider(2 [a b]~!#-^ ");
    expect_not_loaded(fixture, store, "UPDATE resource_classes SET name = x'41' WHERE id = 10000",
                      "class(");
    store_close(store);
}

/* What a load leaves out, a follow leaves out, too. */
static void test_follow_reads_as_a_load(void **state)
{
    struct fixture *fixture = *state;
    struct store *first = open_seeded(fixture, NULL);
    struct store *second = fixture_open(fixture);
    static const char *const by_foreign_writer[] = {
        "UPDATE consumers SET consumer_type_id = 77",
        "UPDATE consumers SET consumer_type_id = 'abc'",
        "UPDATE resource_classes SET name = x'41' WHERE id = 0",
        ("UPDATE resource_classes SET name = 'VCPU' WHERE id = 0;"
         "UPDATE resource_providers SET uuid = x'61' WHERE id = 1"),
        "UPDATE resource_providers SET uuid = 'a\"b' WHERE id = 1",
        "UPDATE resource_providers SET uuid = 'a' || char(0) WHERE id = 1",
        "UPDATE resource_providers SET uuid = '[a b]~!#-^' WHERE id = 1",
        "UPDATE users SET external_id = x'61'",
    };
    for (size_t i = 0; i < sizeof(by_foreign_writer) / sizeof(by_foreign_writer[0]); i++) {
        struct buf followed = {0};
        struct buf loaded = {0};
        struct store_stamp stamp;
        foreign(fixture->path, by_foreign_writer[i]);
        expect_news(fixture, first, STORE_NEWS_RELOAD);
        struct change_list list = changes_of(fixture);
        add_allocation(&list, 10 + (int64_t)i, 1, UUID_C, 2, 0, 1);
        commit_changes(fixture, second, &list);
        assert_int_equal(lock_into(fixture, first, &followed), STORE_NEWS_FOLLOW);
        assert_true(end_news(first, &stamp));
        dump_store(fixture, first, &loaded);
        buf_append_char(&loaded, '\0');
        const char *consumer = strstr(loaded.data, "consumer(");
        assert_int_equal(followed.len > sizeof("consumer_reset(1 " UUID_C ") 0 0\n"),
                         consumer != NULL);
        if (consumer != NULL) {
            buf_append_char(&followed, '\0');
            assert_string_equal(strstr(followed.data, "consumer("), consumer);
        }
        buf_free(&followed);
        buf_free(&loaded);
    }
    store_close(first);
    store_close(second);
}

/* A child gets a parent again that a load does not know: it becomes a root. */
static void test_follow_below_an_invisible_parent(void **state)
{
    struct fixture *fixture = *state;
    struct store *first = open_seeded(fixture, NULL);
    struct store *second = fixture_open(fixture);
    foreign(fixture->path, "UPDATE resource_providers SET uuid = x'61' WHERE id = 1;"
                           "UPDATE resource_providers SET parent_provider_id = 1 WHERE id = 2");
    expect_news(fixture, first, STORE_NEWS_RELOAD);
    struct change_list list = changes_of(fixture);
    add_provider(&list, 3, 1, 1, UUID_D, "d");
    commit_changes(fixture, second, &list);
    struct buf out = {0};
    struct store_stamp stamp;
    assert_int_equal(lock_into(fixture, first, &out), STORE_NEWS_FOLLOW);
    buf_append_char(&out, '\0');
    assert_non_null(strstr(out.data, "provider(3 " UUID_D " d parent=0 root=3 gen=0)"));
    assert_true(end_news(first, &stamp));
    buf_free(&out);
    store_close(first);
    store_close(second);
}

static void expect_refused(struct fixture *fixture, struct store *store, const char *words)
{
    fixture->err = (struct err){.arena = fixture->arena};
    enum store_news begun = store_begin_read(store, &fixture->err);
    if (begun == STORE_NEWS_RELOAD) {
        struct store_stamp stamp;
        struct buf out = {0};
        assert_int_equal(store_load(store, dump_change, &out, &fixture->err), STORE_FAILED);
        end_news(store, &stamp);
        buf_free(&out);
    } else {
        assert_int_equal(begun, STORE_NEWS_FAILED);
    }
    assert_int_equal(fixture->err.status, 503);
    assert_non_null(
        memmem(fixture->err.message.data, fixture->err.message.len, words, strlen(words)));
}

static void test_ids_at_the_end(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    foreign(fixture->path, "UPDATE allocations SET id = 9223372036854775806");
    expect_refused(fixture, store, "has run out of ids");
    foreign(fixture->path, "UPDATE allocations SET id = 1");
    expect_news(fixture, store, STORE_NEWS_RELOAD);
    store_close(store);
}

static void expect_written(struct fixture *fixture, struct store *store)
{
    int64_t generation =
        foreign(fixture->path, "SELECT generation FROM resource_providers WHERE id = 1");
    struct change_list list = changes_of(fixture);
    add_generation(&list, 1, generation, generation + 1);
    commit_changes(fixture, store, &list);
    assert_int_equal(foreign(fixture->path, "SELECT (SELECT seq FROM berth_head) ="
                                            " (SELECT max(seq) FROM berth_log)"),
                     1);
}

/* berth's own tables: whatever is deleted from them is restored. */
static void test_our_rows(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    static const char *const harm[] = {
        "DELETE FROM berth_head",
        "UPDATE berth_head SET seq = 0",
        "UPDATE berth_head SET seq = -7",
        "UPDATE berth_head SET seq = 'abc'",
        "UPDATE berth_head SET seq = 1000",
        "DELETE FROM berth_log",
        "UPDATE berth_log SET entities = zeroblob(5000000), change = 'abc', created_at = x''",
        "DELETE FROM berth_log; DELETE FROM berth_head",
    };
    for (size_t i = 0; i < sizeof(harm) / sizeof(harm[0]); i++) {
        struct store_stamp stamp;
        foreign(fixture->path, harm[i]);
        assert_int_equal(read_into(fixture, store, NULL), STORE_NEWS_RELOAD);
        assert_true(end_news(store, &stamp));
        expect_written(fixture, store);
        foreign(fixture->path, harm[i]);
        store_close(store);
        store = fixture_open(fixture);
        expect_written(fixture, store);
    }
    foreign(fixture->path, "UPDATE berth_head SET seq = 9223372036854775807");
    expect_refused(fixture, store, "another program wrote to berth_head or berth_log; delete");
    foreign(fixture->path, "DELETE FROM berth_head");
    expect_written(fixture, store);
    store_close(store);
}

static void test_our_tables(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    static const char *const harm[] = {
        "DROP TABLE berth_head",
        "DROP TABLE berth_log",
        "DROP TABLE berth_head; DROP TABLE berth_log",
    };
    for (int i = 0; i < 6; i++) {
        struct store_stamp stamp;
        foreign(fixture->path, harm[i / 2]);
        enum store_news begun =
            i % 2 == 0 ? read_into(fixture, store, NULL) : lock_into(fixture, store, NULL);
        assert_int_equal(begun, STORE_NEWS_FAILED);
        assert_int_equal(read_into(fixture, store, NULL), STORE_NEWS_RELOAD);
        assert_true(end_news(store, &stamp));
        expect_written(fixture, store);
    }
    store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_figures_are_cut, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_odd_generations_can_be_written, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_ids_below_one, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_references_that_are_no_integers, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_names_that_are_none, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_follow_reads_as_a_load, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_follow_below_an_invisible_parent, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_ids_at_the_end, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_our_rows, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_our_tables, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
