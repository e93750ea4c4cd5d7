/* Connections that lead nowhere: URLs, paths, and files that cannot be written. And a tree whose
 * top another program has removed. */
#include "fixture.h"
#include "shim.h"

#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/schema.h"
#include "store/sqlite/internal.h"

/* NULL: it is accepted. */
static void expect_error(struct fixture *fixture, bool ok, const char *text)
{
    struct slice message = fixture->err.message;
    assert_int_equal(ok, text == NULL);
    assert_int_equal(fixture->err.status, text == NULL ? 0 : 503);
    if (text != NULL && memmem(message.data, message.len, text, strlen(text)) == NULL)
        fail_msg("%.*s", SLICE_ARG(message));
    fixture->err = (struct err){.arena = fixture->arena};
}

static void expect_tools(struct fixture *fixture, const char *url, const char *text)
{
    char revision[33];
    expect_error(fixture, schema_sync(slice_of(url), &fixture->err), text);
    expect_error(fixture, schema_stamp(slice_of(url), SLICE_LIT("base"), &fixture->err), text);
    expect_error(fixture, schema_version(slice_of(url), revision, &fixture->err), text);
}

static void test_urls(void **state)
{
    struct fixture *fixture = *state;
    static char url[PATH_MAX + 100] = "sqlite:////";
    expect_tools(fixture, "mysql://host/placement", "mysql");
    assert_null(fixture_try(fixture, "mysql://host/placement", true, true));
    expect_error(fixture, false, "mysql");
    memset(url + strlen(url), 'x', PATH_MAX);
    expect_tools(fixture, url, "the path of the database is too long");
    assert_null(fixture_try(fixture, url, true, true));
    expect_error(fixture, false, "cannot be opened");
}

/* A relative path, where the process's directory has been removed. */
static void test_no_directory(void **state)
{
    struct fixture *fixture = *state;
    char dir[128];
    char before[PATH_MAX];
    snprintf(dir, sizeof(dir), "%s/removed", fixture->dir);
    assert_non_null(getcwd(before, sizeof(before)));
    assert_int_equal(mkdir(dir, 0700), 0);
    assert_int_equal(chdir(dir), 0);
    assert_int_equal(rmdir(dir), 0);
    struct store *store = fixture_try(fixture, "sqlite:///db", true, true);
    assert_int_equal(chdir(before), 0);
    assert_null(store);
    expect_error(fixture, false, "the database's path is relative and there is no directory");
}

static void test_read_only(void **state)
{
    struct fixture *fixture = *state;
    store_close(open_seeded(fixture, NULL));
    shim.read_only = true;
    expect_error(fixture, schema_sync(slice_of(fixture->url), &fixture->err),
                 "cannot be opened: it is read-only");
    shim.closed_directory = true;
    assert_null(fixture_try(fixture, fixture->url, true, false));
    expect_error(fixture, false, "cannot be opened: it is read-only, and so is its directory");
    shim.closed_directory = false;
    struct store *store = fixture_try(fixture, fixture->url, true, false);
    struct store_stamp stamp;
    assert_non_null(store);
    assert_int_equal(read_into(fixture, store, NULL), STORE_NEWS_RELOAD);
    end_news(store, &stamp);
    store_close(store);
}

/* Another program removes one of berth's tables from a file that cannot be written: it can be
 * served again when it can be written. */
static void test_read_only_without_tables(void **state)
{
    struct fixture *fixture = *state;
    store_close(open_seeded(fixture, NULL));
    shim.read_only = true;
    struct store *store = fixture_try(fixture, fixture->url, true, false);
    assert_non_null(store);
    shim.read_only = false;
    foreign(fixture->path, "DROP TABLE berth_log");
    shim.read_only = true;
    for (int again = 0; again < 2; again++) {
        assert_int_equal(store_begin_read(store, &fixture->err), STORE_NEWS_FAILED);
        expect_error(fixture, false, "berth_log");
    }
    shim.read_only = false;
    expect_news(fixture, store, STORE_NEWS_RELOAD);
    expect_news(fixture, store, STORE_NEWS_NONE);
    store_close(store);
}

static void update(struct change_list *list, int64_t id, int64_t parent, const char *uuid,
                   const char *name)
{
    add(list, CHANGE_PROVIDER_UPDATE)->provider = (struct change_provider){.id = id,
                                                                           .parent_id = parent,
                                                                           .root_id = 2,
                                                                           .uuid = slice_of(uuid),
                                                                           .name = slice_of(name)};
}

static void expect_place(const struct buf *seen, const char *place)
{
    if (memmem(seen->data, seen->len, place, strlen(place)) == NULL)
        fail_msg("%.*s", SLICE_ARG(buf_slice(seen)));
}

/* A follow sees the same roots as a load where a chain of parents is broken. */
static void test_top_is_removed(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture_open(fixture);
    struct change_list list = changes_of(fixture);
    struct store_stamp stamp;
    struct buf loaded = {0};
    struct buf followed = {0};
    add_provider(&list, 1, 0, 1, UUID_A, "top");
    add_provider(&list, 2, 1, 1, UUID_B, "middle");
    add_provider(&list, 3, 2, 1, UUID_D, "end");
    commit_changes(fixture, store, &list);
    foreign(fixture->path, "DELETE FROM resource_providers WHERE id = 1");
    assert_int_equal(lock_into(fixture, store, &loaded), STORE_NEWS_RELOAD);
    assert_true(end_news(store, &stamp));
    expect_place(&loaded, " middle parent=0 root=2");
    expect_place(&loaded, " end parent=2 root=2");
    struct store *other = fixture_open(fixture);
    list = changes_of(fixture);
    update(&list, 3, 2, UUID_D, "new-end");
    commit_changes(fixture, other, &list);
    assert_int_equal(lock_into(fixture, store, &followed), STORE_NEWS_FOLLOW);
    assert_true(end_news(store, &stamp));
    expect_place(&followed, " new-end parent=2 root=2");
    buf_free(&loaded);
    buf_free(&followed);
    store_close(other);
    store_close(store);
}

int main(void)
{
    shim_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_urls, shim_setup, shim_teardown),
        cmocka_unit_test_setup_teardown(test_no_directory, shim_setup, shim_teardown),
        cmocka_unit_test_setup_teardown(test_read_only, shim_setup, shim_teardown),
        cmocka_unit_test_setup_teardown(test_read_only_without_tables, shim_setup, shim_teardown),
        cmocka_unit_test_setup_teardown(test_top_is_removed, shim_setup, shim_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
