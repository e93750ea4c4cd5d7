/* The WAL, its index or the database file is removed while the store has them open: what was
 * acknowledged survives a crash at any moment after that. */
#include "salvage.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/sqlite/internal.h"

static void test_taken_away_between_commits(void **state)
{
    struct fixture *fixture = *state;
    for (int what = 1; what <= (SALVAGE_WAL | SALVAGE_INDEX); what++) {
        struct store *store = salvage_open_first(fixture);
        assert_int_equal(salvage_try_commit(fixture, store, 0), STORE_OK);
        for (int64_t i = 1; i < 4; i++) {
            salvage_take_away(fixture, what);
            assert_int_equal(salvage_try_commit(fixture, store, i), STORE_OK);
            salvage_expect_after_crash(fixture, fixture->path, i + 1);
            assert_int_equal(salvage_try_commit(fixture, store, i + 1), STORE_OK);
            assert_int_equal(foreign(fixture->path, "UPDATE resource_providers SET generation ="
                                                    " generation - 1; SELECT 1"),
                             1);
        }
        store_close(store);
        salvage_expect_after_crash(fixture, fixture->path, 4);
        assert_int_equal(remove(fixture->path), 0);
    }
}

/* Without any request: the upkeep notices. */
static void test_taken_away_at_rest(void **state)
{
    struct fixture *fixture = *state;
    for (int what = 1; what <= (SALVAGE_WAL | SALVAGE_INDEX); what++) {
        struct store *store = salvage_open_first(fixture);
        assert_int_equal(salvage_try_commit(fixture, store, 0), STORE_OK);
        salvage_take_away(fixture, what);
        sqlite_of(store)->file_checked_at_us = 0; /* 100 ms ago */
        store_upkeep(store);
        salvage_expect_after_crash(fixture, fixture->path, 1);
        expect_news(fixture, store, STORE_NEWS_RELOAD);
        store_close(store);
        assert_int_equal(remove(fixture->path), 0);
    }
}

/* The WAL is elsewhere, with a link to it in its place: SQLite follows no link there. */
static void test_a_link_in_its_place(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = salvage_open_first(fixture);
    char name[128];
    char elsewhere[128];
    salvage_name_of(fixture, "-wal", name);
    salvage_name_of(fixture, "-elsewhere", elsewhere);
    assert_int_equal(salvage_try_commit(fixture, store, 0), STORE_OK);
    assert_int_equal(rename(name, elsewhere), 0);
    assert_int_equal(symlink(elsewhere, name), 0);
    sqlite_of(store)->file_checked_at_us = 0; /* 100 ms ago */
    store_upkeep(store);
    unlink(name); /* as an operator would after a crash */
    salvage_expect_after_crash(fixture, fixture->path, 1);
    expect_news(fixture, store, STORE_NEWS_RELOAD);
    assert_int_equal(salvage_try_commit(fixture, store, 1), STORE_OK);
    salvage_expect_after_crash(fixture, fixture->path, 2);
    store_close(store);
    unlink(elsewhere);
}

/* A copy from before the last commits replaces the WAL: it is not applied to the file, whether or
 * not the file had everything already. */
static void test_an_older_copy_in_its_place(void **state)
{
    struct fixture *fixture = *state;
    char name[128];
    char older[128];
    salvage_name_of(fixture, "-wal", name);
    salvage_name_of(fixture, "-older", older);
    for (int is_copied = 0; is_copied < 2; is_copied++) {
        struct store *store = salvage_open_first(fixture);
        for (int64_t i = 0; i < 8; i += 4) {
            assert_int_equal(salvage_try_commit(fixture, store, i), STORE_OK);
            salvage_copy_file(name, older);
            assert_int_equal(salvage_try_commit(fixture, store, i + 1), STORE_OK);
            if (is_copied)
                salvage_checkpoint(store);
            assert_int_equal(rename(older, name), 0);
            if (i == 0) {
                sqlite_of(store)->file_checked_at_us = 0; /* 100 ms ago */
                store_upkeep(store);
                salvage_expect_after_crash(fixture, fixture->path, i + 2);
            }
            assert_int_equal(salvage_try_commit(fixture, store, i + 2), STORE_OK);
            salvage_expect_after_crash(fixture, fixture->path, i + 3);
            assert_int_equal(salvage_try_commit(fixture, store, i + 3), STORE_OK);
        }
        store_close(store);
        salvage_expect_after_crash(fixture, fixture->path, 8);
        assert_int_equal(remove(fixture->path), 0);
    }
}

struct cut {
    const char *name;
    off_t left;
};

static void cut_off(void *cls)
{
    const struct cut *cut = cls;
    assert_int_equal(truncate(cut->name, cut->left), 0);
}

/* The WAL is emptied, or its last byte is removed: its contents are lost, but nothing is
 * acknowledged after the gap. */
static void test_cut_off(void **state)
{
    struct fixture *fixture = *state;
    char name[128];
    salvage_name_of(fixture, "-wal", name);
    for (int how = 0; how < 4; how++) {
        bool is_emptied = how % 2 == 0;
        bool is_in_transaction = how / 2 == 0;
        struct store *store = salvage_open_first(fixture);
        struct store_stamp stamp;
        salvage_checkpoint(store);
        assert_int_equal(salvage_try_commit(fixture, store, 0), STORE_OK);
        assert_true(sentinel_read(sqlite_of(store)->sentinel, &stamp));
        off_t missing = is_in_transaction ? (off_t)sentinel_stamp_frame_bytes(&stamp) : 1;
        off_t left = is_emptied ? 0 : (off_t)sentinel_stamp_wal_bytes(&stamp) - missing;
        struct cut cut = {name, left};
        struct salvage_meanwhile meanwhile = {cut_off, &cut, 0};
        if (is_in_transaction)
            assert_int_equal(salvage_commit_meanwhile(fixture, store, 1, &meanwhile),
                             STORE_UNKNOWN);
        else
            cut_off(&cut);
        fixture->err = (struct err){.arena = fixture->arena};
        expect_news(fixture, store, STORE_NEWS_RELOAD);
        salvage_expect_after_crash(fixture, fixture->path, 0);
        for (int64_t i = 0; i < 3; i++) {
            assert_int_equal(salvage_try_commit(fixture, store, i), STORE_OK);
            salvage_expect_after_crash(fixture, fixture->path, i + 1);
        }
        store_close(store);
        assert_int_equal(remove(fixture->path), 0);
    }
}

struct taken {
    const struct fixture *fixture;
    int what;
};

static void take_away(void *cls)
{
    const struct taken *taken = cls;
    salvage_take_away(taken->fixture, taken->what);
}

static void test_taken_away_in_a_transaction(void **state)
{
    struct fixture *fixture = *state;
    for (int what = 1; what <= (SALVAGE_WAL | SALVAGE_INDEX); what++) {
        struct store *store = salvage_open_first(fixture);
        struct taken taken = {fixture, what};
        struct salvage_meanwhile meanwhile = {take_away, &taken, 0};
        assert_int_equal(salvage_commit_meanwhile(fixture, store, 0, &meanwhile), STORE_OK);
        salvage_expect_after_crash(fixture, fixture->path, 1);
        assert_int_equal(salvage_try_commit(fixture, store, 1), STORE_OK);
        salvage_expect_after_crash(fixture, fixture->path, 2);
        store_close(store);
        assert_int_equal(remove(fixture->path), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_taken_away_between_commits, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_taken_away_at_rest, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_a_link_in_its_place, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_an_older_copy_in_its_place, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_cut_off, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_taken_away_in_a_transaction, fixture_setup,
                                        fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
