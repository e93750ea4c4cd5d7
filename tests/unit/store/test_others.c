/* Changes of the file by others: another store's batches, a foreign writer's writes, another file
 * at the path. */
#include "fixture.h"
#include "records.h"

#include <stdio.h>
#include <unistd.h>

#include "fake_clock.h"

/* Two stores on one file; `first` has written the seed, and both have everything. */
static void open_two(struct fixture *fixture, struct store **first, struct store **second)
{
    struct store_stamp stamp;
    *first = open_seeded(fixture, NULL);
    *second = fixture_open(fixture);
    assert_int_equal(lock_into(fixture, *second, NULL), STORE_NEWS_RELOAD);
    assert_true(end_news(*second, &stamp));
}

static void expect_follow(struct fixture *fixture, struct store *store, const char *text)
{
    struct buf out = {0};
    struct store_stamp stamp;
    assert_int_equal(lock_into(fixture, store, &out), STORE_NEWS_FOLLOW);
    expect_records(&out, text);
    assert_true(end_news(store, &stamp));
    assert_true(store_is_current(store, &stamp));
    assert_int_equal(lock_into(fixture, store, NULL), STORE_NEWS_NONE);
    assert_true(end_news(store, &stamp));
}

static void test_follow_claim(void **state)
{
    struct fixture *fixture = *state;
    struct store *first;
    struct store *second;
    open_two(fixture, &first, &second);
    struct change_list list = changes_of(fixture);
    add_consumer(&list, CHANGE_CONSUMER_INSERT, 2, UUID_D, 1);
    add_allocation(&list, 2, 2, UUID_D, 2, 0, 5);
    add_allocation(&list, 3, 2, UUID_D, 1, 0, 1);
    add_generation(&list, 1, 0, 1);
    add_generation(&list, 2, 0, 1);
    commit_changes(fixture, second, &list);
    expect_follow(fixture, first,
                  "consumer_reset(2 " UUID_D ") 0 0\n"
                  "generation(1 1 1) 1790000000123456 1790000000123458\n"
                  "generation(2 1 1) 1790000000123456 1790000000123458\n"
                  "consumer(2 " UUID_D " 1 1 type=1 gen=1) 1790000000123456 0\n"
                  "allocation(2 2 " UUID_D " 2 0 5) 1790000000123456 0\n"
                  "allocation(3 2 " UUID_D " 1 0 1) 1790000000123456 0\n");
    /* And back, over several batches, one of which undoes the other. */
    list = changes_of(fixture);
    add_allocations_of(&list, 2, UUID_D);
    add_consumer(&list, CHANGE_CONSUMER_DELETE, 2, UUID_D, 0);
    commit_changes(fixture, first, &list);
    list = changes_of(fixture);
    add_inventory(&list, CHANGE_INVENTORY_UPDATE, 1, 0, 10);
    add_link(&list, CHANGE_PROVIDER_TRAIT_INSERT, 1, 5);
    add_generation(&list, 1, 1, 2);
    commit_changes(fixture, first, &list);
    expect_follow(fixture, second,
                  "consumer_reset(2 " UUID_D ") 0 0\n"
                  "provider_reset(1) 0 0\n"
                  "generation(1 2 2) 1790000000123456 1790000000123458\n"
                  "inventory(1 0 10 1 2 3 4 1.5) 1790000000123456 1790000000123459\n"
                  "has_trait(1 5) 1790000000123456 0\n");
    store_close(first);
    store_close(second);
}

static void test_follow_providers_and_catalogs(void **state)
{
    struct fixture *fixture = *state;
    struct store *first;
    struct store *second;
    open_two(fixture, &first, &second);
    struct change_list list = changes_of(fixture);
    /* A new parent (id 3) for b, and a tree that is deleted again. */
    add_catalog(&list, CHANGE_TRAIT_INSERT, 1000, "CUSTOM_A");
    add_catalog(&list, CHANGE_TRAIT_INSERT, 1001, "CUSTOM_B");
    add_catalog(&list, CHANGE_TRAIT_DELETE, 1001, "");
    add_rename(&list, 10000, "CUSTOM_GOLD", "CUSTOM_TIN");
    add_catalog(&list, CHANGE_AGGREGATE_INSERT, 1, UUID_D);
    add_provider(&list, 3, 0, 3, "33333333-0000-4000-8000-000000000003", "c");
    add_link(&list, CHANGE_PROVIDER_TRAIT_INSERT, 3, 1000);
    add_link(&list, CHANGE_PROVIDER_AGGREGATE_INSERT, 3, 1);
    struct change *update = add(&list, CHANGE_PROVIDER_UPDATE);
    update->provider =
        (struct change_provider){.id = 2, .parent_id = 3, .root_id = 3, .name = SLICE_LIT("moved")};
    commit_changes(fixture, second, &list);
    expect_follow(fixture, first,
                  "class_rename(10000 CUSTOM_TIN) 1790000000123456 1790000000123457\n"
                  "trait(1000 CUSTOM_A) 1790000000123456 0\n"
                  "aggregate(1 " UUID_D ") 1790000000123456 0\n"
                  "provider(3 33333333-0000-4000-8000-000000000003 c parent=0 root=3 gen=0)"
                  " 1790000000123456 0\n"
                  "provider_update(2 " UUID_B " moved parent=3 root=3 gen=0) 1790000000123456 0\n"
                  "generation(2 0 0) 1790000000123456 0\n"
                  "has_trait(3 1000) 1790000000123456 0\n"
                  "in_aggregate(3 1) 1790000000123456 0\n");
    /* Deleted, and its id and uuid used again for another provider. */
    list = changes_of(fixture);
    add_link(&list, CHANGE_PROVIDER_TRAIT_DELETE, 3, 1000);
    add_inventory(&list, CHANGE_INVENTORY_DELETE, 2, 0, 0);
    add(&list, CHANGE_PROVIDER_DELETE)->provider.id = 2;
    add_catalog(&list, CHANGE_TRAIT_DELETE, 1000, "");
    add_catalog(&list, CHANGE_CLASS_DELETE, 10000, "");
    add_provider(&list, 2, 1, 1, UUID_B, "again");
    commit_changes(fixture, first, &list);
    expect_follow(fixture, second,
                  "provider_reset(2) 0 0\n"
                  "provider_reset(3) 0 0\n"
                  "provider_delete(2) 0 0\n"
                  "class_delete(10000 ) 0 0\n"
                  "trait_delete(1000 ) 0 0\n"
                  "generation(3 0 0) 1790000000123456 0\n"
                  "provider(2 " UUID_B " again parent=1 root=1 gen=0) 1790000000123456 0\n"
                  "in_aggregate(3 1) 1790000000123456 0\n");
    /* A deletion together with a move is not followed row by row. */
    list = changes_of(fixture);
    update = add(&list, CHANGE_PROVIDER_UPDATE);
    update->provider = (struct change_provider){.id = 1, .root_id = 1, .name = SLICE_LIT("x")};
    add(&list, CHANGE_PROVIDER_DELETE)->provider.id = 2;
    commit_changes(fixture, first, &list);
    expect_news(fixture, second, STORE_NEWS_RELOAD);
    store_close(first);
    store_close(second);
}

/* News that were announced but not read are announced again, and keep memory from committing; once
 * read, they stay in memory, whatever becomes of the batch. */
static void test_news_are_read_once(void **state)
{
    struct fixture *fixture = *state;
    struct store *first;
    struct store *second;
    struct store_stamp stamp;
    open_two(fixture, &first, &second);
    for (int strange = 0; strange < 2; strange++) {
        enum store_news begun = strange ? STORE_NEWS_RELOAD : STORE_NEWS_FOLLOW;
        struct change_list list = changes_of(fixture);
        add_catalog(&list, CHANGE_TRAIT_INSERT, 1000 + strange, strange ? "CUSTOM_A" : "CUSTOM_B");
        commit_changes(fixture, second, &list);
        if (strange)
            foreign(fixture->path, "UPDATE resource_providers SET name = 'n' WHERE id = 2");
        list = changes_of(fixture);
        add_catalog(&list, CHANGE_TRAIT_INSERT, 1002, "VERY WRONG");
        add_catalog(&list, CHANGE_TRAIT_INSERT, 1002, "AND AGAIN");
        for (int i = 0; i < 2; i++) {
            bool foreign;
            fixture->err = (struct err){.arena = fixture->arena};
            assert_int_equal(lock_and_read(first, &fixture->err), begun);
            assert_false(store_end_read(first, &stamp));
            assert_int_equal(commit_list(first, &list, &stamp, &foreign, &fixture->err),
                             STORE_TAKEN);
        }
        expect_news(fixture, first, begun);
        for (int i = 0; i < 2; i++)
            assert_true(refuse_changes(fixture, first, &list)->is_duplicate);
        expect_news(fixture, first, STORE_NEWS_NONE);
    }
    store_close(first);
    store_close(second);
}

static void test_foreign_writer(void **state)
{
    struct fixture *fixture = *state;
    struct store *first;
    struct store *second;
    open_two(fixture, &first, &second);
    struct store_stamp stamp;
    assert_int_equal(lock_into(fixture, first, NULL), STORE_NEWS_NONE);
    assert_true(end_news(first, &stamp));
    foreign(fixture->path, "UPDATE resource_providers SET generation = 7 WHERE id = 1");
    assert_false(store_is_current(first, &stamp));
    expect_news(fixture, first, STORE_NEWS_RELOAD);
    expect_news(fixture, first, STORE_NEWS_NONE);
    expect_news(fixture, second, STORE_NEWS_RELOAD);

    /* A foreign writer and another instance, in either order: the log does not account for both. */
    for (int foreign_first = 0; foreign_first < 2; foreign_first++) {
        struct change_list list = changes_of(fixture);
        add_generation(&list, 1, 7 + foreign_first * 2, 8 + foreign_first * 2);
        add_generation(&list, 2, foreign_first * 2, 1 + foreign_first * 2);
        if (foreign_first)
            foreign(fixture->path, "UPDATE resource_providers SET name = 'n' WHERE id = 2");
        commit_changes(fixture, second, &list);
        if (!foreign_first)
            foreign(fixture->path, "UPDATE resource_providers SET name = 'm' WHERE id = 2");
        list = changes_of(fixture);
        add_generation(&list, 1, 8 + foreign_first * 2, 9 + foreign_first * 2);
        add_generation(&list, 2, 1 + foreign_first * 2, 2 + foreign_first * 2);
        commit_changes(fixture, second, &list);
        expect_news(fixture, first, STORE_NEWS_RELOAD);
    }
    store_close(first);
    store_close(second);
}

static void test_stamp(void **state)
{
    struct fixture *fixture = *state;
    struct store_stamp first;
    struct store *store = open_seeded(fixture, &first);
    struct change_list list = changes_of(fixture);
    add_generation(&list, 1, 0, 1);
    struct store_stamp second = commit_changes(fixture, store, &list);
    assert_false(store_is_current(store, &first));
    /* An empty transaction, a reader and a write that is rolled back change nothing. */
    expect_news(fixture, store, STORE_NEWS_NONE);
    foreign(fixture->path, "SELECT count(*) FROM traits; BEGIN IMMEDIATE;"
                           "DELETE FROM traits; ROLLBACK");
    assert_true(store_is_current(store, &second));
    /* A checkpoint without a new commit may change the stamp, but never causes a reload. */
    foreign(fixture->path, "PRAGMA wal_checkpoint(PASSIVE)");
    expect_news(fixture, store, STORE_NEWS_NONE);
    foreign(fixture->path, "PRAGMA wal_checkpoint(TRUNCATE)");
    expect_news(fixture, store, STORE_NEWS_NONE);
    list = changes_of(fixture);
    add_generation(&list, 1, 1, 2);
    struct store_stamp third = commit_changes(fixture, store, &list);
    assert_false(store_is_current(store, &second));
    assert_true(store_is_current(store, &third));
    store_close(store);
}

static void test_replaced(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    char copy[128];
    char sql[192];
    snprintf(copy, sizeof(copy), "%s.copy", fixture->path);
    snprintf(sql, sizeof(sql), "VACUUM INTO '%s'", copy);
    foreign(fixture->path, sql);
    struct change_list list = changes_of(fixture);
    add_generation(&list, 1, 0, 1);
    struct store_stamp stamp = commit_changes(fixture, store, &list);
    foreign(copy, "UPDATE resource_providers SET name = 'other' WHERE id = 1");

    /* The old file's WAL is still beside the path when the new file arrives. */
    assert_int_equal(rename(copy, fixture->path), 0);
    fake_clock_advance_ms(110); /* the file is looked at again */
    store_upkeep(store);
    assert_false(store_is_current(store, &stamp));
    struct buf out = {0};
    assert_int_equal(lock_into(fixture, store, &out), STORE_NEWS_RELOAD);
    assert_non_null(memmem(out.data, out.len, " other parent=0 root=1 gen=0", 28));
    buf_free(&out);
    assert_true(end_news(store, &stamp));
    list = changes_of(fixture);
    add_generation(&list, 1, 0, 5);
    stamp = commit_changes(fixture, store, &list);
    assert_int_equal(foreign(fixture->path, "SELECT generation FROM resource_providers"), 5);

    /* No file: refused; the next file: served. */
    snprintf(sql, sizeof(sql), "VACUUM INTO '%s'", copy);
    foreign(fixture->path, sql);
    assert_int_equal(unlink(fixture->path), 0);
    assert_int_equal(lock_into(fixture, store, NULL), STORE_NEWS_FAILED);
    assert_non_null(
        memmem(fixture->err.message.data, fixture->err.message.len, "no longer exists", 16));
    assert_false(store_is_current(store, &stamp));
    assert_int_equal(lock_into(fixture, store, NULL), STORE_NEWS_FAILED);
    FILE *garbage = fopen(fixture->path, "w");
    fputs("This is no database, and it is long enough to say so at once.", garbage);
    fclose(garbage);
    assert_int_equal(lock_into(fixture, store, NULL), STORE_NEWS_FAILED);
    assert_int_equal(rename(copy, fixture->path), 0);
    expect_news(fixture, store, STORE_NEWS_RELOAD);
    store_close(store);
    assert_int_equal(foreign(fixture->path, "SELECT generation FROM resource_providers"), 5);
    assert_int_equal(foreign(fixture->path, "PRAGMA integrity_check") +
                         foreign(fixture->path, "SELECT count(*) FROM resource_providers"),
                     2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_follow_claim, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_follow_providers_and_catalogs, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_news_are_read_once, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_foreign_writer, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_stamp, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_replaced, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
