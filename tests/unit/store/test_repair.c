/* Finding and completing rows of old releases: what is found, in how many steps, what is written,
 * and what happens if nothing needs repair. tests/cli/ compares with the Python service. */
#include "store/repair.h"

#include <string.h>

#include "fixture.h"
#include "store/schema.h"

#define PROVIDERS                                                                                  \
    "INSERT INTO resource_providers (id, uuid, name, generation, root_provider_id,"                \
    " parent_provider_id) VALUES (1, 'u1', 'n1', 0, NULL, NULL), (2, 'u2', 'n2', 0, NULL, 1),"     \
    " (3, 'u3', 'n3', 0, 3, NULL)"
#define ALLOCATIONS                                                                                \
    "INSERT INTO allocations (resource_provider_id, consumer_id, resource_class_id, used) VALUES"  \
    " (1, 'c1', 0, 1), (1, 'c1', 1, 1), (1, 'c2', 0, 1), (2, 'c3', 0, 1)"

static const struct repair_owner OWNER = {SLICE_LIT("project"), SLICE_LIT("user")};

static struct slice url(const struct fixture *fixture)
{
    return slice_of(fixture->url);
}

static void fill(struct fixture *fixture)
{
    assert_true(schema_sync(url(fixture), &fixture->err));
    foreign(fixture->path, PROVIDERS);
    foreign(fixture->path, ALLOCATIONS);
}

static void roots(void **state)
{
    struct fixture *fixture = *state;
    bool found = false;
    int64_t done = 0;
    fill(fixture);
    assert_true(repair_find_missing_roots(url(fixture), &found, &fixture->err) && found);
    assert_true(repair_set_roots(url(fixture), 1, &done, &fixture->err));
    assert_int_equal(done, 1);
    assert_true(repair_set_roots(url(fixture), 50, &done, &fixture->err));
    assert_int_equal(done, 1);
    assert_true(repair_set_roots(url(fixture), 50, &done, &fixture->err));
    assert_int_equal(done, 0);
    assert_true(repair_find_missing_roots(url(fixture), &found, &fixture->err) && !found);
    assert_int_equal(foreign(fixture->path,
                             "SELECT count(*) FROM resource_providers WHERE root_provider_id = id"
                             " AND coalesce(length(updated_at) = 26, 0) = (id < 3)"),
                     3);
}

static void consumers(void **state)
{
    struct fixture *fixture = *state;
    int64_t count = 0;
    int64_t done = 0;
    fill(fixture);
    assert_true(repair_count_missing_consumers(url(fixture), &count, &fixture->err));
    assert_int_equal(count, 3);
    assert_true(repair_create_consumers(url(fixture), &OWNER, 2, &done, &fixture->err));
    assert_int_equal(done, 2);
    assert_true(repair_create_consumers(url(fixture), &OWNER, 2, &done, &fixture->err));
    assert_int_equal(done, 1);
    assert_true(repair_create_consumers(url(fixture), &OWNER, 2, &done, &fixture->err));
    assert_int_equal(done, 0);
    assert_true(repair_count_missing_consumers(url(fixture), &count, &fixture->err));
    assert_int_equal(count, 0);
    struct buf rows = {0};
    foreign_rows(fixture->path,
                 "SELECT c.uuid, p.external_id, u.external_id, generation, length(c.created_at),"
                 " (SELECT count(*) FROM projects) FROM consumers c JOIN projects p"
                 " ON p.id = project_id JOIN users u ON u.id = user_id ORDER BY c.uuid",
                 &rows);
    buf_append_char(&rows, '\0');
    assert_string_equal(rows.data, "c1|project|user|0|26|1\nc2|project|user|0|26|1\n"
                                   "c3|project|user|0|26|1\n");
    buf_free(&rows);
}

/* No project is created that no consumer needs. */
static void nothing_to_do(void **state)
{
    struct fixture *fixture = *state;
    int64_t done = 7;
    bool found = true;
    assert_true(schema_sync(url(fixture), &fixture->err));
    assert_true(repair_create_consumers(url(fixture), &OWNER, 50, &done, &fixture->err));
    assert_int_equal(done, 0);
    assert_true(repair_set_roots(url(fixture), 50, &done, &fixture->err));
    assert_int_equal(done, 0);
    assert_true(repair_find_missing_roots(url(fixture), &found, &fixture->err) && !found);
    assert_int_equal(foreign(fixture->path, "SELECT count(*) FROM projects"), 0);
}

static void without_tables(void **state)
{
    struct fixture *fixture = *state;
    int64_t n;
    bool found;
    char revision[33] = "x";
    assert_true(schema_version(url(fixture), revision, &fixture->err));
    assert_string_equal(revision, "");
    assert_false(repair_find_missing_roots(url(fixture), &found, &fixture->err));
    assert_non_null(strstr(fixture->err.message.data, "cannot be opened"));
    foreign(fixture->path, "PRAGMA user_version = 1");
    fixture->err.status = 0;
    assert_false(repair_find_missing_roots(url(fixture), &found, &fixture->err));
    assert_non_null(strstr(fixture->err.message.data, "no such table: resource_providers"));
    fixture->err.status = 0;
    assert_false(repair_count_missing_consumers(url(fixture), &n, &fixture->err));
    fixture->err.status = 0;
    assert_false(repair_set_roots(url(fixture), 1, &n, &fixture->err));
    fixture->err.status = 0;
    assert_false(repair_create_consumers(url(fixture), &OWNER, 1, &n, &fixture->err));
    assert_non_null(strstr(fixture->err.message.data, "no such table: allocations"));
    fixture->err.status = 0;
    assert_false(
        repair_count_missing_consumers(SLICE_LIT("sqlite:////no/such/db"), &n, &fixture->err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(roots, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(consumers, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(nothing_to_do, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(without_tables, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
