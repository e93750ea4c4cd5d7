/* Requests that the database refuses, without effect on others, and rows that a load leaves out. */
#include "fixture.h"

#include <stdio.h>
#include <unistd.h>

#include "model/node.h"

/* A provider without a uuid that can be shown, a consumer without a project, a node without a uuid.
 */
static const char ODD_ROWS[] =
    "INSERT INTO resource_providers (id, uuid, name, generation, root_provider_id)"
    " VALUES (50, x'00', 'odd', 0, 50);"
    "INSERT INTO consumers (id, uuid, project_id, user_id, generation)"
    " VALUES (60, '" UUID_D "', 77, 1, 1);"
    "INSERT INTO berth_nodes (id, name) VALUES (70, 'odd node');"
    "INSERT INTO inventories (resource_provider_id, resource_class_id, total, reserved, min_unit,"
    " max_unit, step_size, allocation_ratio) VALUES (90, 0, 1, 0, 1, 1, 1, 1)";
enum { ODD_COUNT = 4 };

static struct store *open_odd(struct fixture *fixture)
{
    struct store *store = open_seeded(fixture, NULL);
    foreign(fixture->path, ODD_ROWS);
    expect_news(fixture, store, STORE_NEWS_RELOAD);
    return store;
}

static void expect_refused(struct fixture *fixture, struct store *store,
                           const struct change_list *list, const char *columns)
{
    const struct store_refusal *why = refuse_changes(fixture, store, list);
    assert_string_equal(why->columns, columns);
    assert_int_equal(why->change, list->count - 1);
    assert_true(why->is_duplicate);
    assert_false(why->memory_is_wrong);
}

static void test_a_duplicate_is_no_reason_to_reload(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_odd(fixture);
    for (int i = 0; i < 3; i++) {
        struct change_list list = changes_of(fixture);
        add_generation(&list, 1, 0, 1);
        add_provider(&list, 100, 0, 100, "eeeeeeee-0000-4000-8000-000000000005", "odd");
        expect_refused(fixture, store, &list, "resource_providers.name");
        list = changes_of(fixture);
        add_consumer(&list, CHANGE_CONSUMER_INSERT, 100, UUID_D, 1);
        expect_refused(fixture, store, &list, "consumers.uuid");
        expect_news(fixture, store, STORE_NEWS_NONE);
    }
    struct change_list list = changes_of(fixture);
    add_generation(&list, 1, 0, 1); /* nothing of it has happened */
    commit_changes(fixture, store, &list);
    store_close(store);
}

/* A row that differs after every reload causes one reload, not one with each request. */
static void test_a_mismatch_reloads_once(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    foreign(fixture->path, "CREATE TRIGGER others BEFORE UPDATE ON resource_providers"
                           " WHEN old.id = 1 BEGIN SELECT RAISE(IGNORE); END");
    expect_news(fixture, store, STORE_NEWS_RELOAD);
    struct change_list list = changes_of(fixture);
    add_generation(&list, 1, 0, 1);
    for (int i = 0; i < 4; i++) {
        const struct store_refusal *why = refuse_changes(fixture, store, &list);
        assert_int_equal(why->memory_is_wrong, i == 0);
        assert_false(why->is_duplicate);
        expect_news(fixture, store, i == 0 ? STORE_NEWS_RELOAD : STORE_NEWS_NONE);
    }
    foreign(fixture->path, "DROP TRIGGER others");
    expect_news(fixture, store, STORE_NEWS_RELOAD);
    commit_changes(fixture, store, &list);
    store_close(store);
}

static bool is_taken(struct store *store, enum change_kind kind, unsigned field, const char *text)
{
    return store_is_taken(store, kind, field, slice_of(text));
}

static void test_names_of_skipped_rows_are_taken(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_odd(fixture);
    assert_int_equal(store_figures(store).skipped_rows, ODD_COUNT);
    assert_true(is_taken(store, CHANGE_PROVIDER_INSERT, 0, "odd"));
    assert_false(is_taken(store, CHANGE_PROVIDER_INSERT, 0, "a"));
    assert_false(is_taken(store, CHANGE_CONSUMER_INSERT, 0, "odd"));
    assert_true(is_taken(store, CHANGE_CONSUMER_INSERT, 0, UUID_D));
    assert_false(is_taken(store, CHANGE_CONSUMER_INSERT, 0, UUID_C));
    assert_true(is_taken(store, CHANGE_NODE_PUT, NODE_NAME, "odd node"));
    assert_false(is_taken(store, CHANGE_NODE_PUT, NODE_UUID, "odd node"));
    /* Ids to which such rows refer are not given to new rows, which would then own those rows. */
    assert_int_equal(lock_into(fixture, store, NULL), STORE_NEWS_NONE);
    assert_int_equal(store_next_id(store, STORE_PROVIDERS), 91);
    assert_int_equal(store_next_id(store, STORE_PROJECTS), 78);
    struct store_stamp stamp;
    assert_true(end_news(store, &stamp));
    foreign(fixture->path, "DELETE FROM resource_providers WHERE id = 50");
    expect_news(fixture, store, STORE_NEWS_RELOAD);
    assert_false(is_taken(store, CHANGE_PROVIDER_INSERT, 0, "odd"));
    assert_true(is_taken(store, CHANGE_CONSUMER_INSERT, 0, UUID_D));
    assert_int_equal(store_figures(store).skipped_rows, ODD_COUNT - 1);
    store_close(store);
}

/* The number of occurrences of each line in what the reloads log. */
static void test_skipped_rows_are_named_once(void **state)
{
    struct fixture *fixture = *state;
    char path[128];
    snprintf(path, sizeof(path), "%s/log", fixture->dir);
    FILE *file = fopen(path, "w+");
    assert_non_null(file);
    fflush(stderr);
    int kept = dup(STDERR_FILENO);
    assert_true(dup2(fileno(file), STDERR_FILENO) >= 0);
    struct store *store = open_odd(fixture);
    for (int i = 0; i < 3; i++) {
        foreign(fixture->path, "UPDATE resource_providers SET generation = generation + 1");
        expect_news(fixture, store, STORE_NEWS_RELOAD);
    }
    foreign(fixture->path, "WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n"
                           " WHERE i < 199) INSERT INTO consumers (id, uuid, project_id, user_id,"
                           " generation) SELECT i, 'c' || i, 77, 1, 1 FROM n");
    for (int i = 0; i < 2; i++) {
        foreign(fixture->path, "UPDATE resource_providers SET generation = generation + 1");
        expect_news(fixture, store, STORE_NEWS_RELOAD);
    }
    store_close(store);
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    close(kept);
    char text[65536] = "";
    rewind(file);
    size_t len = fread(text, 1, sizeof(text) - 1, file);
    text[len] = '\0';
    fclose(file);
    static const char *const rows[] = {"resource_providers (id 50)", "consumers (id 60)",
                                       "berth_nodes (id 70)",
                                       "inventories (resource_provider_id 90)", "80 more rows"};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *first = strstr(text, rows[i]);
        if (first == NULL || strstr(first + 1, rows[i]) != NULL)
            print_error("%s in:\n%s\n", rows[i], text);
        assert_non_null(first);
        assert_null(strstr(first + 1, rows[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_duplicate_is_no_reason_to_reload, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_a_mismatch_reloads_once, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_names_of_skipped_rows_are_taken, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_skipped_rows_are_named_once, fixture_setup,
                                        fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
