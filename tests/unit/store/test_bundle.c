/* Statements of limited size, and whose change an error of the database names. */
#include "store/bundle.h"

#include <stdio.h>

#include "base/arena.h"
#include "model/node.h"
#include "unit.h"

/* ---- size ---- */

static const struct bundle_row ROWS[] = {{0, 0}, {1, 1}, {2, 2}, {3, 3}, {4, 4}};
static const struct change SIZES[] = {{.row = {.id = 10}},
                                      {.row = {.id = 10}},
                                      {.row = {.id = 90}},
                                      {.row = {.id = 10}},
                                      {.row = {.id = 20}}};
static const struct bundle FIVE = {BUNDLE_CONSUMER_INSERT, 3, ROWS, 5};

static size_t size_of_row(const struct change *change)
{
    return (size_t)change->row.id;
}

static void assert_chunks(const struct bundle_limit *limit, const size_t *counts, size_t n)
{
    struct bundle chunk = {0};
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        assert_true(bundle_next_chunk(&FIVE, SIZES, limit, &chunk));
        assert_int_equal(chunk.count, counts[i]);
        assert_ptr_equal(chunk.rows, &ROWS[at]);
        assert_int_equal(chunk.kind, FIVE.kind);
        assert_int_equal(chunk.wave, FIVE.wave);
        at += counts[i];
    }
    assert_false(bundle_next_chunk(&FIVE, SIZES, limit, &chunk));
}

static void test_chunks(void **state)
{
    (void)state;
    assert_chunks(&(struct bundle_limit){.rows = 5}, (size_t[]){5}, 1);
    assert_chunks(&(struct bundle_limit){.rows = 100}, (size_t[]){5}, 1);
    assert_chunks(&(struct bundle_limit){.rows = 2}, (size_t[]){2, 2, 1}, 3);
    assert_chunks(&(struct bundle_limit){.rows = 1}, (size_t[]){1, 1, 1, 1, 1}, 5);
    assert_chunks(&(struct bundle_limit){5, 30, size_of_row}, (size_t[]){2, 1, 2}, 3);
    assert_chunks(&(struct bundle_limit){5, 29, size_of_row}, (size_t[]){2, 1, 1, 1}, 4);
    assert_chunks(&(struct bundle_limit){1, 1000, size_of_row}, (size_t[]){1, 1, 1, 1, 1}, 5);
    assert_chunks(&(struct bundle_limit){5, 0, size_of_row}, (size_t[]){1, 1, 1, 1, 1}, 5);
}

/* ---- who caused an error ---- */

static const struct change CHANGES[] = {
    {.kind = CHANGE_CONSUMER_INSERT,
     .consumer = {.id = 5, .project_id = 1, .user_id = 2, .type_id = 3, .uuid = {"u5", 2}}},
    {.kind = CHANGE_CONSUMER_INSERT,
     .consumer = {.id = 6, .project_id = 1, .user_id = 2, .type_id = 4, .uuid = {"u6", 2}}},
    {.kind = CHANGE_INVENTORY_INSERT, .inventory = {.provider_id = 1, .class_id = 2}},
    {.kind = CHANGE_INVENTORY_INSERT, .inventory = {.provider_id = 2, .class_id = 1}},
    {.kind = CHANGE_PROVIDER_INSERT,
     .provider = {.id = 7, .parent_id = 8, .root_id = 9, .uuid = {"pu", 2}, .name = {"pn", 2}}},
    {.kind = CHANGE_PROVIDER_GENERATION, .generation = {17, 1, 2}},
    {.kind = CHANGE_PROVIDER_GENERATION, .generation = {17, 2, 3}},
    {.kind = CHANGE_ALLOCATION_INSERT,
     .allocation = {.id = 4, .provider_id = 1, .class_id = 2, .consumer_uuid = {"u5", 2}}},
    {.kind = CHANGE_PROVIDER_TRAIT_INSERT, .link = {1, 3}},
    {.kind = CHANGE_PROVIDER_AGGREGATE_INSERT, .link = {1, 3}},
    {.kind = CHANGE_PROJECT_INSERT, .catalog = {.id = 1, .name = {"x", 1}}},
    {.kind = CHANGE_AGGREGATE_INSERT, .catalog = {.id = 1, .name = {"x", 1}}},
    {.kind = CHANGE_CLASS_RENAME, .catalog = {.id = 1, .name = {"x", 1}}},
    {.kind = CHANGE_CONSUMER_DELETE, .consumer = {.id = 5, .uuid = {"u5", 2}}},
    {.kind = CHANGE_ALLOCATIONS_OF_DELETE, .allocation = {.consumer_uuid = {"u5", 2}}},
};

/* The changes from `from` to `to` as one bundle, the rows backwards. */
static size_t find(size_t from, size_t to, const char *columns, const char *values)
{
    const struct bundle_key key = {slice_of(columns), slice_of(values)};
    struct bundle_row rows[4];
    struct bundle bundle = {bundle_kind_of(&CHANGES[from]), 0, rows, 0};
    for (size_t i = to; i-- > from;)
        rows[bundle.count++] = (struct bundle_row){(uint32_t)i, (uint32_t)i};
    return bundle_find(&bundle, CHANGES, &key);
}

static void test_find(void **state)
{
    (void)state;
    assert_int_equal(find(0, 2, "uuid", "u6"), 1);
    assert_int_equal(find(0, 2, "id", "6"), 1);
    assert_int_equal(find(0, 2, "consumer_type_id", "4"), 1);
    assert_int_equal(find(0, 2, "project_id", "1"), 0); /* the first of two */
    assert_int_equal(find(0, 2, "user_id", "2"), 0);
    const struct bundle forwards = {BUNDLE_CONSUMER_INSERT, 0, ROWS, 2};
    const struct bundle_key user = {SLICE_LIT("user_id"), SLICE_LIT("2")};
    assert_int_equal(bundle_find(&forwards, CHANGES, &user), 0);
    assert_true(find(0, 2, "uuid", "u7") == SIZE_MAX);
    assert_true(find(0, 2, "name", "u6") == SIZE_MAX);
    assert_true(find(0, 2, "id", "06") == SIZE_MAX);
    assert_int_equal(find(4, 5, "name", "pn"), 4);
    assert_int_equal(find(4, 5, "uuid", "pu"), 4);
    assert_int_equal(find(4, 5, "parent_provider_id", "8"), 4);
    assert_int_equal(find(4, 5, "root_provider_id", "9"), 4);
    assert_int_equal(find(7, 8, "consumer_id", "u5"), 7);
    assert_int_equal(find(7, 8, "resource_provider_id", "1"), 7);
    assert_int_equal(find(7, 8, "resource_class_id", "2"), 7);
    assert_int_equal(find(8, 9, "trait_id", "3"), 8);
    assert_int_equal(find(9, 10, "aggregate_id", "3"), 9);
    assert_true(find(9, 10, "trait_id", "3") == SIZE_MAX);
    assert_int_equal(find(10, 11, "external_id", "x"), 10);
    assert_int_equal(find(11, 12, "uuid", "x"), 11);
    assert_int_equal(find(12, 13, "name", "x"), 12);
    assert_int_equal(find(13, 14, "id", "5"), 13);
    assert_int_equal(find(13, 14, "uuid", "u5"), 13);
    assert_true(find(13, 14, "project_id", "0") == SIZE_MAX);
    assert_int_equal(find(14, 15, "consumer_id", "u5"), 14);
    assert_true(find(14, 15, "id", "0") == SIZE_MAX);
}

static void test_find_a_pair(void **state)
{
    (void)state;
    assert_int_equal(find(2, 4, "resource_provider_id, resource_class_id", "2, 1"), 3);
    assert_int_equal(find(2, 4, "resource_class_id, resource_provider_id", "1, 2"), 3);
    assert_true(find(2, 4, "resource_provider_id, resource_class_id", "2, 2") == SIZE_MAX);
    assert_true(find(2, 4, "resource_provider_id, resource_class_id", "2, 11") == SIZE_MAX);
    assert_true(find(2, 4, "resource_provider_id, resource_class_id", "2,1") == SIZE_MAX);
    assert_true(find(2, 4, "resource_provider_id, resource_class_id", "2") == SIZE_MAX);
    assert_true(find(2, 4, "resource_provider_id", "2, 1") == SIZE_MAX);
    assert_true(find(2, 4, "lower(name::text)", "2") == SIZE_MAX);
    assert_true(find(2, 4, "", "") == SIZE_MAX);
}

/* What separates values may be part of one. */
static void test_find_separators(void **state)
{
    static const char *const names[] = {"a, b", "a), (b", "a)=(b", ", ", "", "a"};
    enum { COUNT = sizeof(names) / sizeof(names[0]) };
    struct change changes[COUNT];
    struct bundle_row rows[COUNT];
    const struct bundle bundle = {BUNDLE_PROVIDER_INSERT, 0, rows, COUNT};
    (void)state;
    for (uint32_t i = 0; i < COUNT; i++) {
        changes[i] = (struct change){
            .kind = CHANGE_PROVIDER_INSERT,
            .provider = {.id = i + 1, .uuid = SLICE_LIT("u, 1"), .name = slice_of(names[i])}};
        rows[i] = (struct bundle_row){i, i};
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        char values[64];
        const struct bundle_key name = {SLICE_LIT("name"), slice_of(names[i])};
        assert_int_equal(bundle_find(&bundle, changes, &name), i);
        snprintf(values, sizeof(values), "u, 1, %s, %u", names[i], i + 1);
        const struct bundle_key all = {SLICE_LIT("uuid, name, id"), slice_of(values)};
        assert_int_equal(bundle_find(&bundle, changes, &all), i);
    }
}

static void test_find_folded(void **state)
{
    (void)state;
    static const struct bundle_row row = {5, 6};
    const struct bundle bundle = {BUNDLE_PROVIDER_GENERATION, 0, &row, 1};
    assert_int_equal(bundle_find_id(&bundle, CHANGES, 17), 5);
    assert_true(bundle_find_id(&bundle, CHANGES, 18) == SIZE_MAX);
}

static void test_find_record(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct record_value values[RECORD_FIELDS_MAX];
    record_init(&NODE_SHAPE, values);
    values[NODE_UUID].text = SLICE_LIT("u");
    values[NODE_NAME].text = SLICE_LIT("n");
    const struct change changes[] = {
        {.kind = CHANGE_NODE_PUT, .row = {7, record_pack(&NODE_SHAPE, 7, values, arena)}},
        {.kind = CHANGE_NODE_DELETE, .row = {8, NULL}}};
    static const struct bundle_row rows[] = {{0, 0}, {1, 1}};
    const struct bundle put = {BUNDLE_RECORD_UPDATE, 0, rows, 1};
    const struct bundle drop = {BUNDLE_RECORD_DELETE, 0, &rows[1], 1};
    const struct bundle_key name = {SLICE_LIT("name"), SLICE_LIT("n")};
    const struct bundle_key other = {SLICE_LIT("name"), SLICE_LIT("u")};
    const struct bundle_key null = {SLICE_LIT("instance_uuid"), SLICE_LIT("")};
    const struct bundle_key derived = {SLICE_LIT("links"), SLICE_LIT("")};
    assert_int_equal(bundle_find_id(&put, changes, 7), 0);
    assert_int_equal(bundle_find(&put, changes, &name), 0);
    assert_true(bundle_find(&put, changes, &other) == SIZE_MAX);
    assert_true(bundle_find(&put, changes, &null) == SIZE_MAX);
    assert_true(bundle_find(&put, changes, &derived) == SIZE_MAX);
    assert_int_equal(bundle_find_id(&drop, changes, 8), 1);
    assert_true(bundle_find(&drop, changes, &name) == SIZE_MAX);
    arena_destroy(arena);
}

static void test_request_of(void **state)
{
    (void)state;
    static const size_t ENDS[] = {0, 2, 2, 5, 6, 6};
    const struct store_batch batch = {.changes = CHANGES, .ends = ENDS, .requests = 6};
    static const size_t WANTED[] = {1, 1, 3, 3, 3, 4};
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(bundle_request_of(&batch, i), WANTED[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chunks),      cmocka_unit_test(test_find),
        cmocka_unit_test(test_find_a_pair), cmocka_unit_test(test_find_separators),
        cmocka_unit_test(test_find_folded), cmocka_unit_test(test_find_record),
        cmocka_unit_test(test_request_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
