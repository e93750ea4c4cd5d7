/* Every kind of bundle on a server, plain and refused. */
#include "changes.h"

#include <stdio.h>

enum { MANY = 300 };
static const char *const CHARSETS[] = {"utf8mb3", "utf8mb4"};
enum { CHARSETS_COUNT = 2 };

/* ---- written ---- */

static void test_inserts(void **state)
{
    (void)state;
    for (int i = 0; i < CHARSETS_COUNT; i++) {
        struct server server;
        begin(&server, CHARSETS[i]);
        struct change row = read_row(&server, ROWS_PROVIDERS, 2);
        assert_int_equal(row.provider.parent_id, 1);
        assert_int_equal(row.provider.root_id, 1);
        assert_int_equal(row.provider.generation, 3);
        assert_true(slice_equal(row.provider.name, SLICE_LIT("name-2")));
        assert_true(slice_equal(row.provider.uuid, SLICE_LIT("uuid-2")));
        /* whole seconds */
        assert_int_equal(row.created_at_us, CREATED_S * second_us);
        assert_int_equal(row.updated_at_us, UPDATED_S * second_us);
        assert_int_equal(read_row(&server, ROWS_PROVIDERS, 1).provider.parent_id, 0);
        row = read_row(&server, ROWS_CONSUMERS, 1);
        assert_int_equal(row.consumer.generation, 7);
        assert_int_equal(row.consumer.type_id, 0);
        row = read_row(&server, ROWS_ALLOCATIONS, 3);
        assert_int_equal(row.allocation.id, 3);
        assert_int_equal(row.allocation.consumer_id, 3);
        assert_int_equal(row.allocation.used, 5);
        assert_int_equal(read_row(&server, ROWS_HOLDERS, 3).allocation.consumer_id, 3);
        assert_int_equal(count_rows(&server, ROWS_INVENTORIES, 1), 2);
        assert_int_equal(read_row(&server, ROWS_PROVIDER_TRAITS, 1).link.other_id, 1);
        assert_int_equal(read_row(&server, ROWS_PROVIDER_AGGREGATES, 1).link.other_id, 1);
        assert_int_equal(read_row(&server, ROWS_PARENTS, 2).provider.parent_id, 1);
        server_end(&server);
    }
}

static void test_updates(void **state)
{
    struct server server;
    (void)state;
    begin(&server, "utf8mb3");
    add_rename(&server, 1, SLICE_LIT("class-1"), SLICE_LIT("RENAMED"));
    struct change *change = add(&server, CHANGE_PROVIDER_UPDATE);
    change->provider = (struct change_provider){.id = 2,
                                                .parent_id = 3,
                                                .root_id = 3,
                                                .uuid = SLICE_LIT("uuid-2"),
                                                .name = SLICE_LIT("moved\\'")};
    change = add(&server, CHANGE_PROVIDER_UPDATE);
    change->provider = (struct change_provider){
        .id = 1, .root_id = 1, .uuid = SLICE_LIT("uuid-1"), .name = SLICE_LIT("root")};
    add_inventory(&server, CHANGE_INVENTORY_UPDATE, 1, 1, 11, 1);
    add_inventory(&server, CHANGE_INVENTORY_UPDATE, 3, 2, 33, 0.1);
    change = add_consumer(&server, CHANGE_CONSUMER_UPDATE, 1, 7, 8);
    change->consumer.type_id = 1;
    add_consumer(&server, CHANGE_CONSUMER_UPDATE, 2, 7, 9);
    add_consumer(&server, CHANGE_CONSUMER_UPDATE, 3, 7, 8)->is_generation_only = true;
    add_generation(&server, 3, 3, 4);
    add_generation(&server, 1, 3, 4);
    add_generation(&server, 3, 4, 5); /* folded */
    expect_written(&server);
    assert_true(slice_equal(read_row(&server, ROWS_CLASSES, 1).catalog.name, SLICE_LIT("RENAMED")));
    struct change row = read_row(&server, ROWS_PROVIDERS, 2);
    assert_true(slice_equal(row.provider.name, SLICE_LIT("moved\\'")));
    assert_int_equal(row.provider.parent_id, 3);
    assert_int_equal(row.provider.root_id, 3);
    assert_int_equal(row.provider.generation, 3);
    assert_int_equal(read_row(&server, ROWS_PROVIDERS, 1).provider.generation, 4);
    assert_int_equal(read_row(&server, ROWS_PROVIDERS, 3).provider.generation, 5);
    assert_int_equal(read_row(&server, ROWS_CONSUMERS, 1).consumer.generation, 8);
    assert_int_equal(read_row(&server, ROWS_CONSUMERS, 1).consumer.type_id, 1);
    assert_int_equal(read_row(&server, ROWS_CONSUMERS, 2).consumer.generation, 9);
    assert_int_equal(read_row(&server, ROWS_CONSUMERS, 2).consumer.type_id, 0);
    assert_int_equal(read_row(&server, ROWS_CONSUMERS, 3).consumer.generation, 8);
    assert_string_equal(
        value_of(&server, "SELECT GROUP_CONCAT(total ORDER BY id) FROM inventories"),
        "11,20,10,20,10,33");
    assert_string_equal(value_of(&server, "SELECT CONCAT_WS(',',reserved,min_unit,max_unit,"
                                          "step_size,allocation_ratio,updated_at) FROM inventories"
                                          " WHERE resource_provider_id=3 AND resource_class_id=2"),
                        "1,2,3,4,0.1,2025-11-27 20:01:00");
    server_end(&server);
}

/* All of them, and with equal values. */
static void test_roots(void **state)
{
    struct server server;
    (void)state;
    begin(&server, "utf8mb3");
    for (int64_t id = 1; id <= 2; id++) {
        struct change *change = add(&server, CHANGE_PROVIDER_UPDATE);
        change->is_root_only = true;
        change->provider =
            (struct change_provider){.id = id, .root_id = 3, .uuid = text_of(&server, "uuid-", id)};
    }
    expect_written(&server);
    assert_int_equal(read_row(&server, ROWS_PROVIDERS, 2).provider.root_id, 3);
    assert_int_equal(read_row(&server, ROWS_PROVIDERS, 2).provider.parent_id, 1);
    for (int round = 0; round < 2; round++) /* a row that stays as it is counts, too */
        add_rename(&server, 1, SLICE_LIT("class-1"), SLICE_LIT("class-1"));
    add_inventory(&server, CHANGE_INVENTORY_UPDATE, 1, 1, 10, 1.5);
    add_inventory(&server, CHANGE_INVENTORY_UPDATE, 1, 2, 20, 16.1);
    expect_written(&server);
    server_end(&server);
}

static void test_deletes(void **state)
{
    struct server server;
    (void)state;
    begin(&server, "utf8mb4");
    run(server.mysql, "UPDATE resource_providers SET generation = NULL WHERE id = 2");
    for (int64_t id = 1; id <= 3; id++) {
        add_allocations_of(&server, id);
        add_consumer(&server, CHANGE_CONSUMER_DELETE, id, 7, 0);
        add_link(&server, CHANGE_PROVIDER_TRAIT_DELETE, id, 1);
        add_link(&server, CHANGE_PROVIDER_AGGREGATE_DELETE, id, 1);
        add_inventory(&server, CHANGE_INVENTORY_DELETE, id, 1, 0, 0);
        add_inventory(&server, CHANGE_INVENTORY_DELETE, id, 2, 0, 0);
    }
    for (int64_t id = 1; id <= 3; id++)
        add_name(&server, CHANGE_TRAIT_DELETE, id, text_of(&server, "trait-", id));
    add_provider_delete(&server, 2, 0); /* NULL counts as 0 */
    add_provider_delete(&server, 1, 3);
    add_provider_delete(&server, 3, 3);
    add_name(&server, CHANGE_CLASS_DELETE, 2, SLICE_LIT("class-2"));
    expect_written(&server);
    assert_string_equal(value_of(&server, "SELECT COUNT(*) FROM allocations"), "0");
    assert_string_equal(value_of(&server, "SELECT COUNT(*) FROM consumers"), "0");
    assert_string_equal(value_of(&server, "SELECT COUNT(*) FROM resource_provider_traits"), "0");
    assert_string_equal(value_of(&server, "SELECT COUNT(*) FROM resource_provider_aggregates"),
                        "0");
    assert_string_equal(value_of(&server, "SELECT COUNT(*) FROM inventories"), "0");
    assert_string_equal(value_of(&server, "SELECT COUNT(*) FROM traits"), "0");
    assert_string_equal(value_of(&server, "SELECT COUNT(*) FROM resource_providers"), "0");
    assert_string_equal(value_of(&server, "SELECT COUNT(*) FROM resource_classes"), "2");
    server_end(&server);
}

/* Bundles that are more than one statement. */
static void test_many(void **state)
{
    struct server server;
    char sql[100];
    (void)state;
    begin(&server, "utf8mb3");
    for (int64_t id = 10; id < 10 + 5 * MANY; id++) {
        add_provider(&server, id, 0, id);
        add_inventory(&server, CHANGE_INVENTORY_INSERT, id, 1, (int32_t)id, 1);
        add_consumer(&server, CHANGE_CONSUMER_INSERT, id, 0, 0);
        add_allocation(&server, id, id, id, 1);
    }
    expect_written(&server);
    for (int64_t id = 10; id < 10 + MANY; id++) {
        add_generation(&server, id, 3, id);
        add_consumer(&server, CHANGE_CONSUMER_UPDATE, id, 0, id)->is_generation_only = true;
        add_inventory(&server, CHANGE_INVENTORY_UPDATE, id, 1, (int32_t)-id, 1);
        add_allocations_of(&server, id + MANY);
        add_consumer(&server, CHANGE_CONSUMER_DELETE, id + MANY, 0, 0);
        add_inventory(&server, CHANGE_INVENTORY_DELETE, id + MANY, 1, 0, 0);
        add_provider_delete(&server, id + MANY, 3);
    }
    expect_written(&server);
    snprintf(sql, sizeof(sql), "SELECT COUNT(*) FROM resource_providers WHERE generation=id");
    assert_string_equal(value_of(&server, sql), "301"); /* 3 is one of them */
    assert_string_equal(value_of(&server, "SELECT COUNT(*) FROM consumers WHERE generation=id"),
                        "300");
    assert_string_equal(
        value_of(&server, "SELECT COUNT(*) FROM inventories WHERE total=-resource_provider_id"),
        "300");
    assert_string_equal(value_of(&server, "SELECT COUNT(*) FROM allocations"), "1203");
    /* one of many is not there */
    for (int64_t id = 10; id < 10 + MANY; id++)
        add_generation(&server, id, id == 200 ? 3 : id, id + 1);
    expect_missing(&server, BUNDLE_PROVIDER_GENERATION);
    assert_string_equal(value_of(&server, sql), "301");
    server_end(&server);
}

/* ---- refused ---- */

static void test_missing(void **state)
{
    struct server server;
    (void)state;
    begin(&server, "utf8mb3");
    run(server.mysql, "UPDATE resource_providers SET generation = NULL WHERE id = 2");
    for (int more = 0; more < 2; more++) { /* alone, and beside a row that is there */
#define BOTH(there, missing, kind)                                                                 \
    if (more) {                                                                                    \
        (there);                                                                                   \
    }                                                                                              \
    (missing);                                                                                     \
    expect_missing(&server, kind)
        BOTH(add_consumer(&server, CHANGE_CONSUMER_DELETE, 1, 7, 0),
             add_consumer(&server, CHANGE_CONSUMER_DELETE, 2, 6, 0), BUNDLE_CONSUMER_DELETE);
        BOTH(add_consumer(&server, CHANGE_CONSUMER_DELETE, 1, 7, 0),
             add_consumer(&server, CHANGE_CONSUMER_DELETE, 9, 7, 0), BUNDLE_CONSUMER_DELETE);
        BOTH(add_link(&server, CHANGE_PROVIDER_TRAIT_DELETE, 1, 1),
             add_link(&server, CHANGE_PROVIDER_TRAIT_DELETE, 1, 2), BUNDLE_PROVIDER_TRAIT_DELETE);
        BOTH(add_link(&server, CHANGE_PROVIDER_AGGREGATE_DELETE, 1, 1),
             add_link(&server, CHANGE_PROVIDER_AGGREGATE_DELETE, 1, 2),
             BUNDLE_PROVIDER_AGGREGATE_DELETE);
        BOTH(add_inventory(&server, CHANGE_INVENTORY_DELETE, 1, 1, 0, 0),
             add_inventory(&server, CHANGE_INVENTORY_DELETE, 1, 3, 0, 0), BUNDLE_INVENTORY_DELETE);
        BOTH(add_provider_delete(&server, 2, 0), add_provider_delete(&server, 3, 0),
             BUNDLE_PROVIDER_DELETE);
        BOTH(add_provider_delete(&server, 2, 0), add_provider_delete(&server, 9, 3),
             BUNDLE_PROVIDER_DELETE);
        BOTH(add_name(&server, CHANGE_TRAIT_DELETE, 2, SLICE_LIT("trait-2")),
             add_name(&server, CHANGE_TRAIT_DELETE, 9, SLICE_LIT("trait-9")), BUNDLE_TRAIT_DELETE);
        BOTH(add_name(&server, CHANGE_CLASS_DELETE, 3, SLICE_LIT("class-3")),
             add_name(&server, CHANGE_CLASS_DELETE, 9, SLICE_LIT("class-9")), BUNDLE_CLASS_DELETE);
        BOTH(add_rename(&server, 3, SLICE_LIT("class-3"), SLICE_LIT("x")),
             add_rename(&server, 9, SLICE_LIT("class-9"), SLICE_LIT("y")), BUNDLE_CLASS_RENAME);
        BOTH(add_inventory(&server, CHANGE_INVENTORY_UPDATE, 1, 1, 5, 1),
             add_inventory(&server, CHANGE_INVENTORY_UPDATE, 2, 3, 5, 1), BUNDLE_INVENTORY_UPDATE);
        BOTH(add_consumer(&server, CHANGE_CONSUMER_UPDATE, 1, 7, 8),
             add_consumer(&server, CHANGE_CONSUMER_UPDATE, 2, 6, 7), BUNDLE_CONSUMER_UPDATE);
        BOTH(add_consumer(&server, CHANGE_CONSUMER_UPDATE, 1, 7, 8)->is_generation_only = true,
             add_consumer(&server, CHANGE_CONSUMER_UPDATE, 2, 6, 7)->is_generation_only = true,
             BUNDLE_CONSUMER_GENERATION);
        BOTH(add_generation(&server, 2, 0, 1), add_generation(&server, 1, 0, 1),
             BUNDLE_PROVIDER_GENERATION);
        BOTH(add_generation(&server, 1, 3, 4), add_generation(&server, 9, 3, 4),
             BUNDLE_PROVIDER_GENERATION);
#undef BOTH
        struct change *change = add(&server, CHANGE_PROVIDER_UPDATE);
        change->provider = (struct change_provider){.id = 9, .name = SLICE_LIT("x")};
        expect_missing(&server, BUNDLE_PROVIDER_UPDATE);
        change = add(&server, CHANGE_PROVIDER_UPDATE);
        change->is_root_only = true;
        change->provider = (struct change_provider){.id = 9, .root_id = 1};
        expect_missing(&server, BUNDLE_PROVIDER_ROOT);
    }
    /* it need not have any */
    add_allocations_of(&server, 9);
    add_allocations_of(&server, 1);
    add_allocations_of(&server, 1);
    add_generation(&server, 2, 0, 1); /* NULL counts as 0 */
    expect_written(&server);
    assert_string_equal(value_of(&server, "SELECT COUNT(*) FROM allocations"), "2");
    server_end(&server);
}

/* The first statement that is refused ends the batch: nothing is left of those before it. */
static void test_nothing_remains(void **state)
{
    struct server server;
    (void)state;
    begin(&server, "utf8mb3");
    add_allocations_of(&server, 1);
    add_consumer(&server, CHANGE_CONSUMER_INSERT, 20, 0, 0);
    add_generation(&server, 1, 2, 3);
    struct outcome outcome = commit(&server);
    assert_false(outcome.is_ok);
    assert_int_equal(outcome.chunk.kind, BUNDLE_PROVIDER_GENERATION);
    assert_string_equal(value_of(&server, "SELECT COUNT(*) FROM allocations"), "3");
    assert_string_equal(value_of(&server, "SELECT COUNT(*) FROM consumers"), "3");
    server_end(&server);
}

/* ---- locks ---- */

/* Two batches with different rows of small tables do not wait for each other, however many rows
 * either changes. */
static void test_locks(void **state)
{
    (void)state;
    for (int64_t rows = 1; rows <= 2; rows++) {
        struct server server;
        server_begin(&server, "utf8mb3");
        for (int64_t id = 1; id <= 4; id++) {
            add_provider(&server, id, 0, id);
            add_name(&server, CHANGE_TRAIT_INSERT, id, text_of(&server, "t", id));
            add_name(&server, CHANGE_CLASS_INSERT, id, text_of(&server, "c", id));
            add_name(&server, CHANGE_CLASS_INSERT, id + 100, text_of(&server, "d", id));
            add_inventory(&server, CHANGE_INVENTORY_INSERT, id, 1, 10, 1.5);
            add_inventory(&server, CHANGE_INVENTORY_INSERT, id, 2, 20, 16.1);
            add_link(&server, CHANGE_PROVIDER_AGGREGATE_INSERT, id, 1);
            add_consumer(&server, CHANGE_CONSUMER_INSERT, id, 0, 7);
            add_allocation(&server, id, id, id, 1);
        }
        add_name(&server, CHANGE_TRAIT_INSERT, 50, SLICE_LIT("of all"));
        expect_written(&server);
        MYSQL *other = server_connect(&server);
        for (int turn = 0; turn < 2; turn++) {
            for (int64_t id = 1 + turn; id <= 2 * rows; id += 2) {
                add_allocations_of(&server, id);
                add_consumer(&server, CHANGE_CONSUMER_DELETE, id, 7, 0);
                add_generation(&server, id, 3, 4);
                add_link(&server, CHANGE_PROVIDER_AGGREGATE_DELETE, id, 1);
                add_inventory(&server, CHANGE_INVENTORY_UPDATE, id, 1, 5 + (int32_t)id, 1);
                add_inventory(&server, CHANGE_INVENTORY_DELETE, id, 2, 0, 0);
                add_name(&server, CHANGE_TRAIT_DELETE, id, text_of(&server, "t", id));
                add_name(&server, CHANGE_CLASS_DELETE, id + 100, text_of(&server, "d", id));
                add_rename(&server, id, text_of(&server, "c", id), text_of(&server, "e", id));
            }
            struct outcome outcome = begin_batch(&server, turn == 0 ? server.mysql : other);
            if (!outcome.is_ok)
                fail_msg("%u: %s", outcome.error, outcome.message);
        }
        mysql_close(other);
        server_end(&server);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inserts),
        cmocka_unit_test(test_updates),
        cmocka_unit_test(test_roots),
        cmocka_unit_test(test_deletes),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_missing),
        cmocka_unit_test(test_nothing_remains),
        cmocka_unit_test(test_locks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
