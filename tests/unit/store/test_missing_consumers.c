/* A file with consumers that have allocations and no row: they get one before memory has what was
 * read. */
#include "fixture.h"
#include "shim.h"

#include <sys/stat.h>
#include <unistd.h>

#define ABANDON "DELETE FROM consumers WHERE uuid = '" UUID_C "'"

static void complete(struct fixture *fixture)
{
    fixture->completes_consumers = true;
    fixture->owner = (struct repair_owner){SLICE_LIT("nobody"), SLICE_LIT("none")};
}

static bool contains(const struct buf *text, const char *part)
{
    return text->len > 0 && memmem(text->data, text->len, part, strlen(part)) != NULL;
}

static void ignore(void *cls, const struct change *change)
{
    (void)cls;
    (void)change;
}

static const struct differences *find_no_difference(void *cls)
{
    static const struct differences none;
    (void)cls;
    return &none;
}

/* One load, or merge into memory that has everything. */
static enum store_result read_once(struct fixture *fixture, struct store *store, bool merges,
                                   struct buf *out)
{
    const struct store_comparer comparer = {ignore, find_no_difference, NULL};
    struct store_stamp stamp;
    bool merged = true;
    fixture->err = (struct err){.arena = fixture->arena};
    assert_int_equal(store_begin_read(store, &fixture->err), STORE_NEWS_RELOAD);
    out->len = 0;
    enum store_result result =
        merges ? store_merge(store, &comparer, dump_change, out, &merged, &fixture->err)
               : store_load(store, dump_change, out, &fixture->err);
    assert_int_equal(merged, result == STORE_OK || !merges);
    assert_int_equal(store_end_read(store, &stamp), result == STORE_OK && !shim.read_only);
    return result;
}

static void expect_created(struct fixture *fixture)
{
    struct buf rows = {0};
    foreign_rows(fixture->path,
                 "SELECT c.uuid, p.external_id, u.external_id, c.generation FROM consumers c"
                 " JOIN projects p ON p.id = project_id JOIN users u ON u.id = user_id",
                 &rows);
    buf_append_char(&rows, '\0');
    assert_string_equal(rows.data, UUID_C "|nobody|none|0\n");
    buf_free(&rows);
}

static void test_load(void **state)
{
    struct fixture *fixture = *state;
    struct buf out = {0};
    complete(fixture);
    store_close(open_seeded(fixture, NULL));
    foreign(fixture->path, ABANDON);
    foreign(fixture->path, "INSERT INTO allocations (resource_provider_id, consumer_id,"
                           " resource_class_id, used) VALUES (2, '" UUID_C "', 0, 5)");
    struct store *store = fixture_open(fixture);
    assert_int_equal(read_once(fixture, store, false, &out), STORE_TAKEN);
    assert_int_equal(store_figures(store).skipped_rows, 0); /* nothing is left out */
    assert_int_equal(read_once(fixture, store, false, &out), STORE_OK);
    assert_true(contains(&out, " " UUID_C " 1 0 3)"));
    assert_true(contains(&out, " " UUID_C " 2 0 5)"));
    expect_created(fixture);
    expect_news(fixture, store, STORE_NEWS_NONE);
    assert_int_equal(store_figures(store).skipped_rows, 0);
    buf_free(&out);
    store_close(store);
}

static void test_merge(void **state)
{
    struct fixture *fixture = *state;
    struct buf out = {0};
    complete(fixture);
    struct store *store = open_seeded(fixture, NULL);
    expect_news(fixture, store, STORE_NEWS_NONE);
    foreign(fixture->path, ABANDON);
    assert_int_equal(read_once(fixture, store, true, &out), STORE_TAKEN);
    assert_int_equal(read_once(fixture, store, true, &out), STORE_OK);
    expect_created(fixture);
    expect_news(fixture, store, STORE_NEWS_NONE);
    buf_free(&out);
    store_close(store);
}

/* Without an owner, and where the file cannot be written, they are left out, and counted. */
static void expect_left_out(struct fixture *fixture)
{
    struct buf out = {0};
    struct store *store = fixture_open(fixture);
    assert_int_equal(read_once(fixture, store, false, &out), STORE_OK);
    assert_false(contains(&out, UUID_C));
    assert_int_equal(store_figures(store).skipped_rows, 1);
    assert_int_equal(foreign(fixture->path, "SELECT count(*) FROM consumers"), 0);
    buf_free(&out);
    store_close(store);
}

static void test_no_owner(void **state)
{
    struct fixture *fixture = *state;
    store_close(open_seeded(fixture, NULL));
    foreign(fixture->path, ABANDON);
    expect_left_out(fixture);
}

static void test_read_only(void **state)
{
    struct fixture *fixture = *state;
    complete(fixture);
    store_close(open_seeded(fixture, NULL));
    foreign(fixture->path, ABANDON);
    shim.read_only = true;
    expect_left_out(fixture);
}

/* Another program has the lock for longer than is waited for. */
static void test_cannot_create(void **state)
{
    struct fixture *fixture = *state;
    struct buf out = {0};
    complete(fixture);
    store_close(open_seeded(fixture, NULL));
    foreign(fixture->path, ABANDON);
    fixture->busy_timeout_ms = 100;
    struct store *store = fixture_open(fixture);
    struct store *holder = fixture_open(fixture);
    assert_int_equal(read_once(fixture, store, false, &out), STORE_TAKEN);
    assert_int_equal(lock_store(holder, &fixture->err), STORE_LOCKED);
    assert_int_equal(store_begin_read(store, &fixture->err), STORE_NEWS_FAILED);
    assert_int_equal(fixture->err.status, 503);
    store_unlock(holder);
    assert_int_equal(read_once(fixture, store, false, &out), STORE_OK);
    assert_true(contains(&out, " " UUID_C " 1 0 3)"));
    expect_created(fixture);
    buf_free(&out);
    store_close(holder);
    store_close(store);
}

/* Under the lock there is a transaction already: they get it after that. */
static void test_locked(void **state)
{
    struct fixture *fixture = *state;
    struct buf out = {0};
    complete(fixture);
    store_close(open_seeded(fixture, NULL));
    foreign(fixture->path, ABANDON);
    struct store *store = fixture_open(fixture);
    assert_int_equal(lock_store(store, &fixture->err), STORE_LOCKED);
    assert_int_equal(read_once(fixture, store, false, &out), STORE_TAKEN);
    assert_int_equal(read_once(fixture, store, false, &out), STORE_TAKEN);
    store_unlock(store);
    assert_int_equal(read_once(fixture, store, false, &out), STORE_OK);
    assert_true(contains(&out, " " UUID_C " 1 0 3)"));
    expect_created(fixture);
    buf_free(&out);
    store_close(store);
}

/* No client can name it: it gets no row, and does not keep others from being read. */
static void test_not_a_uuid(void **state)
{
    struct fixture *fixture = *state;
    struct buf out = {0};
    complete(fixture);
    store_close(open_seeded(fixture, NULL));
    foreign(fixture->path, "INSERT INTO allocations (resource_provider_id, consumer_id,"
                           " resource_class_id, used) VALUES (2, 'a\"b', 0, 5)");
    struct store *store = fixture_open(fixture);
    assert_int_equal(read_once(fixture, store, false, &out), STORE_OK);
    assert_int_equal(store_figures(store).skipped_rows, 1);
    assert_int_equal(foreign(fixture->path, "SELECT count(*) FROM consumers"), 1);
    buf_free(&out);
    store_close(store);
}

int main(void)
{
    shim_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_load, shim_setup, shim_teardown),
        cmocka_unit_test_setup_teardown(test_merge, shim_setup, shim_teardown),
        cmocka_unit_test_setup_teardown(test_no_owner, shim_setup, shim_teardown),
        cmocka_unit_test_setup_teardown(test_read_only, shim_setup, shim_teardown),
        cmocka_unit_test_setup_teardown(test_cannot_create, shim_setup, shim_teardown),
        cmocka_unit_test_setup_teardown(test_locked, shim_setup, shim_teardown),
        cmocka_unit_test_setup_teardown(test_not_a_uuid, shim_setup, shim_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
