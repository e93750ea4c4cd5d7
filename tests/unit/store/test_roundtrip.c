/* Every kind of change is written, and read back by a load of the same store and of another one. */
#include "fixture.h"
#include "records.h"

static void expect_load(struct fixture *fixture, struct store *store, const char *text)
{
    struct buf out = {0};
    dump_store(fixture, store, &out);
    expect_records(&out, text);
}

static void fill(struct change_list *list)
{
    add_catalog(list, CHANGE_CLASS_INSERT, 10000, "CUSTOM_GOLD");
    add_catalog(list, CHANGE_CLASS_INSERT, 10001, "CUSTOM_IRON");
    add_catalog(list, CHANGE_TRAIT_INSERT, 1000, "CUSTOM_FAST");
    add_catalog(list, CHANGE_TRAIT_INSERT, 1001, "CUSTOM_SLOW");
    add_catalog(list, CHANGE_AGGREGATE_INSERT, 1, UUID_D);
    add_catalog(list, CHANGE_PROJECT_INSERT, 1, "project");
    add_catalog(list, CHANGE_USER_INSERT, 1, "user");
    add_catalog(list, CHANGE_CONSUMER_TYPE_INSERT, 1, "INSTANCE");
    add_provider(list, 1, 0, 1, UUID_A, "host");
    add_provider(list, 2, 1, 1, UUID_B, "numa");
    add_inventory(list, CHANGE_INVENTORY_INSERT, 1, 0, 8);
    add_inventory(list, CHANGE_INVENTORY_INSERT, 1, 10000, 5);
    add_inventory(list, CHANGE_INVENTORY_INSERT, 2, 1, 6);
    add_link(list, CHANGE_PROVIDER_TRAIT_INSERT, 1, 1000);
    add_link(list, CHANGE_PROVIDER_TRAIT_INSERT, 2, 1000);
    add_link(list, CHANGE_PROVIDER_AGGREGATE_INSERT, 1, 1);
    add_generation(list, 1, 0, 1);
    add_consumer(list, CHANGE_CONSUMER_INSERT, 1, UUID_C, 1);
    add_allocation(list, 1, 1, UUID_C, 1, 0, 3);
    add_allocation(list, 2, 1, UUID_C, 2, 1, 4);
}

static const char filled[] =
    "class(10000 CUSTOM_GOLD) 1790000000123456 0\n"
    "class(10001 CUSTOM_IRON) 1790000000123456 0\n"
    "trait(1000 CUSTOM_FAST) 1790000000123456 0\n"
    "trait(1001 CUSTOM_SLOW) 1790000000123456 0\n"
    "aggregate(1 " UUID_D ") 1790000000123456 0\n"
    "project(1 project) 1790000000123456 0\n"
    "user(1 user) 1790000000123456 0\n"
    "type(1 INSTANCE) 1790000000123456 0\n"
    "provider(1 " UUID_A " host parent=0 root=1 gen=1) 1790000000123456 1790000000123458\n"
    "provider(2 " UUID_B " numa parent=1 root=1 gen=0) 1790000000123456 0\n"
    "end() 0 0\n"
    "inventory(1 0 8 1 2 3 4 1.5) 1790000000123456 0\n"
    "inventory(1 10000 5 1 2 3 4 1.5) 1790000000123456 0\n"
    "inventory(2 1 6 1 2 3 4 1.5) 1790000000123456 0\n"
    "has_trait(1 1000) 1790000000123456 0\n"
    "has_trait(2 1000) 1790000000123456 0\n"
    "in_aggregate(1 1) 1790000000123456 0\n"
    "consumer(1 " UUID_C " 1 1 type=1 gen=1) 1790000000123456 0\n"
    "allocation(1 1 " UUID_C " 1 0 3) 1790000000123456 0\n"
    "allocation(2 1 " UUID_C " 2 1 4) 1790000000123456 0\n";

static void alter(struct change_list *list)
{
    add_rename(list, 10001, "CUSTOM_IRON", "CUSTOM_TIN");
    add_catalog(list, CHANGE_TRAIT_DELETE, 1001, "");
    add_allocations_of(list, 1, UUID_C);
    add_allocation(list, 3, 1, UUID_C, 1, 0, 2);
    add_consumer(list, CHANGE_CONSUMER_UPDATE, 1, UUID_C, 2);
    add_inventory(list, CHANGE_INVENTORY_UPDATE, 1, 0, 9);
    add_inventory(list, CHANGE_INVENTORY_DELETE, 1, 10000, 0);
    add_catalog(list, CHANGE_CLASS_DELETE, 10000, "");
    add_link(list, CHANGE_PROVIDER_TRAIT_DELETE, 1, 1000);
    add_link(list, CHANGE_PROVIDER_AGGREGATE_DELETE, 1, 1);
    add_inventory(list, CHANGE_INVENTORY_DELETE, 2, 1, 0);
    add_link(list, CHANGE_PROVIDER_TRAIT_DELETE, 2, 1000);
    add(list, CHANGE_PROVIDER_DELETE)->provider.id = 2;
    struct change *update = add(list, CHANGE_PROVIDER_UPDATE);
    update->updated_at_us = 1790000000000000;
    update->provider = (struct change_provider){
        .id = 1, .root_id = 1, .name = SLICE_LIT("renamed"), .uuid = SLICE_LIT(UUID_A)};
}

static const char altered[] =
    "class(10001 CUSTOM_TIN) 1790000000123456 1790000000123457\n"
    "trait(1000 CUSTOM_FAST) 1790000000123456 0\n"
    "aggregate(1 " UUID_D ") 1790000000123456 0\n"
    "project(1 project) 1790000000123456 0\n"
    "user(1 user) 1790000000123456 0\n"
    "type(1 INSTANCE) 1790000000123456 0\n"
    "provider(1 " UUID_A " renamed parent=0 root=1 gen=1) 1790000000123456 1790000000000000\n"
    "end() 0 0\n"
    "inventory(1 0 9 1 2 3 4 1.5) 1790000000123456 1790000000123459\n"
    "consumer(1 " UUID_C " 1 1 type=1 gen=2) 1790000000123456 1790000000123460\n"
    "allocation(3 1 " UUID_C " 1 0 2) 1790000000123456 0\n";

static bool loads(struct fixture *fixture, struct store *store, const char *part)
{
    struct buf out = {0};
    dump_store(fixture, store, &out);
    bool is_there = memmem(out.data, out.len, part, strlen(part)) != NULL;
    buf_free(&out);
    return is_there;
}

static void test_every_kind(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture_open(fixture);
    struct change_list list = changes_of(fixture);
    fill(&list);
    commit_changes(fixture, store, &list);
    expect_load(fixture, store, filled);
    list = changes_of(fixture);
    alter(&list);
    commit_changes(fixture, store, &list);
    expect_load(fixture, store, altered);
    list = changes_of(fixture);
    add_consumer(&list, CHANGE_CONSUMER_UPDATE, 1, UUID_C, 3);
    list.items[0].is_generation_only = true;
    list.items[0].consumer.project_id = list.items[0].consumer.user_id = 2;
    list.items[0].consumer.type_id = 0;
    commit_changes(fixture, store, &list);
    assert_true(loads(fixture, store, "consumer(1 " UUID_C " 1 1 type=1 gen=3) "));
    list = changes_of(fixture);
    add_allocations_of(&list, 1, UUID_C);
    add_consumer(&list, CHANGE_CONSUMER_DELETE, 1, UUID_C, 0);
    commit_changes(fixture, store, &list);
    store_close(store);

    store = fixture_open(fixture);
    assert_false(loads(fixture, store, "consumer("));
    store_close(store);
}

static void test_in_memory(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture_try(fixture, "sqlite://", false, false);
    assert_non_null(store);
    struct change_list list = changes_of(fixture);
    fill(&list);
    struct store_stamp first = commit_changes(fixture, store, &list);
    expect_load(fixture, store, filled);
    list = changes_of(fixture);
    add_generation(&list, 1, 1, 2);
    struct store_stamp second = commit_changes(fixture, store, &list);
    assert_false(store_is_current(store, &first));
    assert_true(store_is_current(store, &second));
    store_upkeep(store);
    store_close(store);
}

static void test_rows_as_the_service_writes_them(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture_open(fixture);
    struct change_list list = changes_of(fixture);
    fill(&list);
    commit_changes(fixture, store, &list);
    struct buf out = {0};
    foreign_rows(fixture->path,
                 "SELECT * FROM resource_providers; SELECT * FROM consumers;"
                 "SELECT * FROM allocations WHERE id = 2; SELECT * FROM inventories WHERE id = 1;",
                 &out);
    buf_append_char(&out, '\0');
    assert_string_equal(out.data, "2026-09-21 14:13:20.123456|2026-09-21 14:13:20.123458|1|" UUID_A
                                  "|host|1|1|NULL\n"
                                  "2026-09-21 14:13:20.123456|NULL|2|" UUID_B "|numa|0|1|1\n"
                                  "2026-09-21 14:13:20.123456|NULL|1|" UUID_C "|1|1|1|1\n"
                                  "2026-09-21 14:13:20.123456|NULL|2|2|" UUID_C "|1|4\n"
                                  "2026-09-21 14:13:20.123456|NULL|1|1|0|8|1|2|3|4|1.5\n");
    buf_free(&out);
    store_close(store);
}

static void test_generations_are_compared(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture_open(fixture);
    struct change_list list = changes_of(fixture);
    fill(&list);
    commit_changes(fixture, store, &list);
    list = changes_of(fixture);
    add_consumer(&list, CHANGE_CONSUMER_UPDATE, 1, UUID_C, 2);
    add_generation(&list, 1, 7, 8);
    refuse_changes(fixture, store, &list);
    /* Memory and database were found to differ. */
    expect_news(fixture, store, STORE_NEWS_RELOAD);
    expect_load(fixture, store, filled);
    store_close(store);
}

static void test_next_ids(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture_open(fixture);
    struct store_stamp stamp;
    assert_int_equal(lock_into(fixture, store, NULL), STORE_NEWS_RELOAD);
    assert_int_equal(store_next_id(store, STORE_CLASSES), 10000);
    assert_int_equal(store_next_id(store, STORE_CLASSES), 10001);
    assert_int_equal(store_next_id(store, STORE_PROVIDERS), 1);
    assert_int_equal(store_next_id(store, STORE_TRAITS), 378);
    assert_true(end_news(store, &stamp));
    assert_int_equal(lock_into(fixture, store, NULL), STORE_NEWS_NONE);
    assert_int_equal(store_next_id(store, STORE_CLASSES), 10000);
    assert_true(end_news(store, &stamp));
    struct change_list list = changes_of(fixture);
    fill(&list);
    commit_changes(fixture, store, &list);
    foreign(fixture->path, "DELETE FROM allocations");
    assert_int_equal(lock_into(fixture, store, NULL), STORE_NEWS_RELOAD);
    assert_int_equal(store_next_id(store, STORE_CLASSES), 10002);
    assert_int_equal(store_next_id(store, STORE_PROVIDERS), 3);
    assert_int_equal(store_next_id(store, STORE_CONSUMERS), 2);
    assert_int_equal(store_next_id(store, STORE_ALLOCATIONS), 1);
    assert_true(end_news(store, &stamp));
    store_close(store);
}

/* Rows as no service writes them: read without harm; what cannot be shown is left out. */
static void test_odd_rows(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture_open(fixture);
    struct change_list list = changes_of(fixture);
    add_provider(&list, 1, 0, 1, UUID_A, "a");
    commit_changes(fixture, store, &list);
    foreign(
        fixture->path,
        "INSERT INTO projects (id, external_id) VALUES (1, 'p');"
        "INSERT INTO users (id, external_id) VALUES (1, 'u');"
        "UPDATE resource_providers SET root_provider_id = NULL, generation = NULL,"
        " created_at = 'yesterday', name = NULL;"
        "INSERT INTO resource_providers (id, uuid, name, parent_provider_id, root_provider_id)"
        " VALUES (2, '" UUID_B "', 'child', 1, NULL), (3, '" UUID_C "', 'ring', 4, 4),"
        " (4, '" UUID_D "', 'ring2', 3, 3), (5, '5', 'orphan', 99, 99),"
        " (6, '" UUID_D "-too-long', 'x', NULL, 6);"
        "INSERT INTO inventories (resource_provider_id, resource_class_id, total, reserved,"
        " min_unit, max_unit, step_size, allocation_ratio) VALUES"
        " (1, 0, 99999999999, -99999999999, 'x', 1, 1, 'nan'), (77, 0, 1, 1, 1, 1, 1, 1),"
        " (1, 77, 1, 1, 1, 1, 1, 1), (6, 0, 1, 1, 1, 1, 1, 1);"
        "INSERT INTO resource_provider_traits (trait_id, resource_provider_id) VALUES (9999, 1),"
        " (1, 77), (1, 2);"
        "INSERT INTO resource_provider_aggregates (aggregate_id, resource_provider_id)"
        " VALUES (9, 1);"
        "INSERT INTO placement_aggregates (id, uuid) VALUES (1, NULL);"
        "INSERT INTO consumers (id, uuid, project_id, user_id, generation, consumer_type_id)"
        " VALUES (1, '" UUID_A "', 1, 1, 2, 77), (2, '" UUID_B "', 9, 1, 2, NULL);"
        "INSERT INTO allocations (id, resource_provider_id, consumer_id, resource_class_id, used)"
        " VALUES (1, 1, '" UUID_A "', 0, 5), (2, 1, '" UUID_B "', 0, 5), (3, 1, 'none', 0, 5),"
        " (4, 77, '" UUID_A "', 0, 5), (5, 1, '" UUID_A "', 77, 5), (6, 6, '" UUID_A "', 0, 5);");
    struct buf out = {0};
    dump_store(fixture, store, &out);
    expect_records(&out, "project(1 p) 0 0\n"
                         "user(1 u) 0 0\n"
                         "provider(1 " UUID_A "  parent=0 root=1 gen=0) 0 0\n"
                         "provider(2 " UUID_B " child parent=1 root=1 gen=0) 0 0\n"
                         "provider(3 " UUID_C " ring parent=0 root=3 gen=0) 0 0\n"
                         "provider(4 " UUID_D " ring2 parent=3 root=3 gen=0) 0 0\n"
                         "provider(5 5 orphan parent=0 root=5 gen=0) 0 0\n"
                         "end() 0 0\n"
                         "inventory(1 0 2147483647 -2147483648 0 1 1 0) 0 0\n"
                         "has_trait(2 1) 0 0\n"
                         "consumer(1 " UUID_A " 1 1 type=0 gen=2) 0 0\n"
                         "allocation(1 1 " UUID_A " 1 0 5) 0 0\n");
    /* NULL counts as generation 0. */
    list = changes_of(fixture);
    add_generation(&list, 1, 0, 1);
    commit_changes(fixture, store, &list);
    assert_int_equal(
        foreign(fixture->path, "SELECT generation FROM resource_providers WHERE id = 1"), 1);
    store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_every_kind, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_in_memory, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_rows_as_the_service_writes_them, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_generations_are_compared, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_next_ids, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_odd_rows, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
