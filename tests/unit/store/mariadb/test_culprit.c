/* The row that a message of the server is about. */
#include "store/mariadb/exchange/culprit.h"

#include "base/arena.h"
#include "model/node.h"
#include "unit.h"

#define CLASS(row, text)                                                                           \
    {                                                                                              \
        .kind = CHANGE_CLASS_INSERT, .catalog = {.id = (row), .name = SLICE_LIT(text) }            \
    }
static const struct bundle_row ROWS[] = {{0, 0}, {1, 1}, {2, 2}, {3, 3}, {4, 4}, {5, 5}};

static size_t find(enum bundle_kind kind, const struct change *changes, size_t count,
                   unsigned error, const char *message, size_t row)
{
    const struct bundle chunk = {kind, 0, ROWS, count};
    return mariadb_culprit(&chunk, changes,
                           &(struct mariadb_row_failure){error, slice_of(message), row});
}

static const struct change NAMES[] = {
    CLASS(1, "a-b"),
    CLASS(2, "it's for key 'x'"),
    CLASS(3, "0123456789012345678901234567890123456789012345678901234567890 left"),
    CLASS(4, "0123456789012345678901234567890123456789012345678901234567891 right"),
    CLASS(5, "\xf0\x9f\x98\x80\x01\xc2\x80 \xc3\xb6"),
    CLASS(6, ""),
};

static size_t find_name(const char *message)
{
    return find(BUNDLE_CLASS_INSERT, NAMES, 6, MARIADB_ROW_DUPLICATE, message, 0);
}

static void test_duplicates(void **state)
{
    (void)state;
#define KEY "'uniq_resource_classes0name'"
    assert_int_equal(find_name("Duplicate entry 'a-b' for key " KEY), 0);
    assert_int_equal(find_name("Duplicate entry 'a-b' for key 'resource_classes.uniq_"
                               "resource_classes0name'"),
                     0);
    assert_int_equal(find_name("'a-b' \xe3\x81\xaf " KEY " \xe3\x81\xa7\xe3\x80\x82"), 0);
    assert_int_equal(find_name("Zvojen\xc3\xbd 'a-b' (\xc4\x8d\xc3\xadslo " KEY ")"), 0);
    assert_int_equal(find_name("Duplicate entry 'it's for key 'x'' for key " KEY), 1);
    assert_int_equal(find_name("Duplicate entry '' for key " KEY), 5);
    assert_int_equal(find_name("Duplicate entry '?\\0001\\0080 \xc3\xb6' for key " KEY), 4);
    assert_int_equal(find_name("Duplicate entry '3' for key 'PRIMARY'"), 2);
    assert_int_equal(find_name("Duplicate entry '6' for key 'resource_classes.PRIMARY'"), 5);
    assert_true(find_name("Duplicate entry 'A-B' for key " KEY) == SIZE_MAX);
    assert_true(find_name("Duplicate entry 'a-' for key " KEY) == SIZE_MAX);
    assert_true(find_name("Duplicate entry 'a-b-' for key " KEY) == SIZE_MAX);
    assert_true(find_name("Duplicate entry 'a-b' for key 'other'") == SIZE_MAX);
    assert_true(find_name("Duplicate entry '7' for key 'PRIMARY'") == SIZE_MAX);
    assert_true(find_name("Duplicate entry") == SIZE_MAX);
    assert_true(find_name("'") == SIZE_MAX);
    assert_true(find_name("''") == SIZE_MAX);
    assert_true(find_name("'''") == SIZE_MAX);
    assert_true(find_name("") == SIZE_MAX);
}

#define SIXTY "012345678901234567890123456789012345678901234567890123456789"

/* With the first 61 bytes and dots, or with the first 64. */
static void test_cut_values(void **state)
{
    (void)state;
    assert_int_equal(find_name("Duplicate entry '" SIXTY "0...' for key " KEY), 2);
    assert_int_equal(find_name("Duplicate entry '" SIXTY "1...' for key " KEY), 3);
    assert_int_equal(find_name("Duplicate entry '" SIXTY "0 le' for key " KEY), 2);
    assert_int_equal(find_name("Duplicate entry '" SIXTY "1 ri' for key " KEY), 3);
    assert_true(find_name("Duplicate entry '" SIXTY "2...' for key " KEY) == SIZE_MAX);
    assert_true(find_name("Duplicate entry '" SIXTY "...' for key " KEY) == SIZE_MAX);
    assert_true(find_name("Duplicate entry '0123...' for key " KEY) == SIZE_MAX);
}

static void test_several_columns(void **state)
{
    static const struct change inventories[] = {
        {.kind = CHANGE_INVENTORY_INSERT, .inventory = {.provider_id = 1, .class_id = 12}},
        {.kind = CHANGE_INVENTORY_INSERT, .inventory = {.provider_id = 11, .class_id = 2}},
        {.kind = CHANGE_INVENTORY_INSERT, .inventory = {.provider_id = 2, .class_id = 11}},
    };
    static const struct change links[] = {
        {.kind = CHANGE_PROVIDER_TRAIT_INSERT, .link = {1, 2}},
        {.kind = CHANGE_PROVIDER_TRAIT_INSERT, .link = {2, 1}},
    };
    (void)state;
    const char *message =
        "Duplicate entry '11-2' for key 'uniq_inventories0resource_provider_resource_class'";
    assert_int_equal(
        find(BUNDLE_INVENTORY_INSERT, inventories, 3, MARIADB_ROW_DUPLICATE, message, 0), 1);
    message = "Duplicate entry '2-1' for key 'PRIMARY'"; /* the trait comes first */
    assert_int_equal(
        find(BUNDLE_PROVIDER_TRAIT_INSERT, links, 2, MARIADB_ROW_DUPLICATE, message, 0), 0);
}

static void test_records(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct change_list list = {.arena = arena};
    for (int64_t id = 1; id <= 3; id++) {
        struct node_draft draft = node_draft_new(id);
        node_set_text(&draft, NODE_UUID, arena_printf(arena, "uuid-%d", (int)id));
        node_set_text(&draft, NODE_NAME, arena_printf(arena, "name-%d", (int)id));
        change_put_node(&list, node_pack(&draft, arena));
        list.items[list.count - 1].is_new = true;
    }
    enum bundle_kind kind = bundle_kind_of(&list.items[0]);
    assert_int_equal(find(kind, list.items, 3, MARIADB_ROW_DUPLICATE,
                          "Duplicate entry 'name-2' for key 'berth_nodes_name'", 0),
                     1);
    assert_int_equal(find(kind, list.items, 3, MARIADB_ROW_DUPLICATE,
                          "Duplicate entry 'uuid-3' for key 'berth_nodes.berth_nodes_uuid'", 0),
                     2);
    assert_true(find(kind, list.items, 3, MARIADB_ROW_DUPLICATE,
                     "Duplicate entry 'name-2' for key 'berth_nodes_uuid'", 0) == SIZE_MAX);
    arena_destroy(arena);
}

/* Two rows that the message does not distinguish. */
static void test_ambiguous(void **state)
{
    static const struct change changes[] = {CLASS(1, "\xf0\x9f\x98\x80"),
                                            CLASS(2, "\xf0\x9f\x98\x81"), CLASS(3, "?")};
    (void)state;
    const char *message = "Duplicate entry '?' for key " KEY;
    assert_true(find(BUNDLE_CLASS_INSERT, changes, 3, MARIADB_ROW_DUPLICATE, message, 0) ==
                SIZE_MAX);
    assert_int_equal(find(BUNDLE_CLASS_INSERT, changes, 1, MARIADB_ROW_DUPLICATE, message, 0), 0);
    assert_int_equal(find(BUNDLE_CLASS_INSERT, changes, 3, MARIADB_ROW_DUPLICATE, message, 2), 1);
}

static void test_positions(void **state)
{
    (void)state;
    assert_int_equal(find(BUNDLE_CLASS_INSERT, NAMES, 6, MARIADB_ROW_TOO_LONG,
                          "Data too long for column 'name' at row 3", 0),
                     2);
    assert_int_equal(find(BUNDLE_CLASS_INSERT, NAMES, 6, MARIADB_ROW_WRONG_FIELD_VALUE,
                          "Incorrect string value: '\\xF0\\x9F5' for column `d9`.`t`.`name` at "
                          "row 2",
                          0),
                     1);
    assert_int_equal(find(BUNDLE_CLASS_INSERT, NAMES, 6, MARIADB_ROW_TOO_LONG,
                          "\xe5\x88\x97'name'\xe8\xa1\x8c"
                          "6\xe6\x95\xb0",
                          0),
                     5);
    assert_int_equal(find(BUNDLE_CLASS_INSERT, NAMES, 6, MARIADB_ROW_OUT_OF_RANGE, "none", 4), 3);
    assert_true(find(BUNDLE_CLASS_INSERT, NAMES, 6, MARIADB_ROW_TOO_LONG, "at row 7", 0) ==
                SIZE_MAX);
    assert_true(find(BUNDLE_CLASS_INSERT, NAMES, 6, MARIADB_ROW_TOO_LONG, "at row 0", 0) ==
                SIZE_MAX);
    assert_true(find(BUNDLE_CLASS_INSERT, NAMES, 6, MARIADB_ROW_TOO_LONG,
                     "at row 00000000000000000000000001", 0) == SIZE_MAX);
    assert_true(find(BUNDLE_CLASS_INSERT, NAMES, 6, MARIADB_ROW_TOO_LONG, "no row", 0) == SIZE_MAX);
    /* an update counts other rows */
    assert_true(find(BUNDLE_INVENTORY_UPDATE, NAMES, 6, MARIADB_ROW_OUT_OF_RANGE, "at row 2", 0) ==
                SIZE_MAX);
    assert_int_equal(find(BUNDLE_CLASS_RENAME, NAMES, 1, MARIADB_ROW_TOO_LONG, "at row 9", 0), 0);
    /* not an error of a row: a deadlock */
    assert_true(find(BUNDLE_CLASS_INSERT, NAMES, 1, 1213, "at row 1", 1) == SIZE_MAX);
}

#define CONSUMER(row, of_type)                                                                     \
    {                                                                                              \
        .kind = CHANGE_CONSUMER_INSERT, .consumer = {.id = (row), .type_id = (of_type) }           \
    }
static const char REFERENCE[] =
    "Kann nicht hinzugef\xc3\xbcgt werden (`db`.`consumers`, CONSTRAINT `consumers_fkey` FOREIGN "
    "KEY (`consumer_type_id`) REFERENCES `consumer_types` (`id`))";

static void test_references(void **state)
{
    static const struct change one[] = {CONSUMER(1, 0), CONSUMER(2, 7), CONSUMER(3, 7)};
    static const struct change several[] = {CONSUMER(1, 6), CONSUMER(2, 7)};
    static const struct change none[] = {CONSUMER(1, 0), CONSUMER(2, 0)};
    const unsigned error = MARIADB_ROW_REFERENCE;
    (void)state;
    assert_int_equal(find(BUNDLE_CONSUMER_INSERT, one, 3, error, REFERENCE, 0), 1);
    assert_int_equal(find(BUNDLE_CONSUMER_INSERT, one, 3, error, REFERENCE, 3), 2);
    assert_true(find(BUNDLE_CONSUMER_INSERT, several, 2, error, REFERENCE, 0) == SIZE_MAX);
    assert_true(find(BUNDLE_CONSUMER_INSERT, none, 2, error, REFERENCE, 0) == SIZE_MAX);
    assert_true(find(BUNDLE_CONSUMER_INSERT, one, 3, error, "no", 0) == SIZE_MAX);
    assert_true(find(BUNDLE_CONSUMER_INSERT, one, 3, error, " FOREIGN KEY (`", 0) == SIZE_MAX);
    assert_true(find(BUNDLE_PROVIDER_DELETE, one, 3, MARIADB_ROW_REFERRED, REFERENCE, 0) ==
                SIZE_MAX);
    assert_int_equal(find(BUNDLE_PROVIDER_DELETE, one, 1, MARIADB_ROW_REFERRED, REFERENCE, 0), 0);
}

static struct slice key_of(unsigned error, const char *message)
{
    return mariadb_failed_key(&(struct mariadb_row_failure){error, slice_of(message), 0});
}

static void test_keys(void **state)
{
    (void)state;
    assert_true(
        slice_equal(key_of(MARIADB_ROW_DUPLICATE, "Duplicate entry 'x' for key 't.uniq_a0b'"),
                    SLICE_LIT("uniq_a0b")));
    assert_true(
        slice_equal(key_of(MARIADB_ROW_DUPLICATE, "Duplicate entry 'x.y' for key 'PRIMARY'"),
                    SLICE_LIT("PRIMARY")));
    assert_true(slice_equal(key_of(MARIADB_ROW_REFERENCE, REFERENCE), SLICE_LIT("consumers_fkey")));
    assert_null(key_of(MARIADB_ROW_TOO_LONG, "Data too long for column 'name' at row 3").data);
    assert_null(key_of(MARIADB_ROW_DUPLICATE, "no").data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_duplicates),      cmocka_unit_test(test_cut_values),
        cmocka_unit_test(test_several_columns), cmocka_unit_test(test_records),
        cmocka_unit_test(test_ambiguous),       cmocka_unit_test(test_positions),
        cmocka_unit_test(test_references),      cmocka_unit_test(test_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
