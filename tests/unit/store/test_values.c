/* Memory holds exactly what the database holds: each value that can be written is read back as it
 * was, by type of value, or in the form that the store has announced. Run on each kind of database.
 * */
#include "fixture.h"
#include "odd_texts.h"

#include <float.h>

#include "base/arena.h"
#include "model/node.h"
#include "store/record_tables.h"
#include "store/rows.h"

static const int32_t NUMBERS[] = {1, 2, 255, 32768, 65536, 1000000007, INT32_MAX - 1, INT32_MAX};
enum { NUMBER_COUNT = sizeof(NUMBERS) / sizeof(NUMBERS[0]) };

static const double RATIOS[] = {1.0,          16.1,
                                0.1,          1.0 / 3,
                                1.5,          0.0001,
                                16777217.0,   9007199254740993.0,
                                1e-300,       DBL_MIN,
                                DBL_TRUE_MIN, DBL_EPSILON,
                                1e15 + 0.3,   123456789.123456789,
                                3.40282e+38};
enum { RATIO_COUNT = sizeof(RATIOS) / sizeof(RATIOS[0]) };

/* Microseconds since 1970; 0 is NULL. */
static const int64_t TIMES[] = {0,
                                1,
                                999999,
                                1000000,
                                1790000000123456,
                                1790000000000000,
                                1709251199999999,
                                253402300799999999,
                                -1,
                                -62135596800000000};
enum { TIME_COUNT = sizeof(TIMES) / sizeof(TIMES[0]) };

/* As a client may have sent it. */
static const char *const DOCUMENTS[] = {
    "{}",
    "{ \"b\" : 1,\n\t\"a\":[ ] }",
    "{\"a\": 1, \"a\": 2}",
    "{\"n\": [1.0, 1e2, 1E+2, -0.0, 0.1000, 9007199254740993, 18446744073709551616, 1e308]}",
    "{\"u\": \"\\u0000 \\u00e9 \\ud83d\\ude00 \\/\"}",
    ("{\"\": \"\", \"\xc3\xa9\": \"" EMOJI "\"}"),
    "{\"t\": [true, false, null]}",
};
enum { DOCUMENT_COUNT = sizeof(DOCUMENTS) / sizeof(DOCUMENTS[0]) };

/* ---- comparing ---- */

struct reading {
    struct change_list list;
};

static void sink_keep(void *cls, const struct change *change)
{
    struct reading *reading = cls;
    if (change->kind != CHANGE_LOAD_PROVIDERS_END)
        change_append_copy(&reading->list, change);
}

static const struct change *find(const struct change_list *list, const struct change *wanted)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].kind == wanted->kind && list->items[i].row.id == wanted->row.id)
            return &list->items[i];
    fail_msg("a row of kind %d, id %lld, is not there", (int)wanted->kind,
             (long long)wanted->row.id);
    return NULL;
}

static void assert_same_column(const struct rows_info *table, const struct rows_column *column,
                               const struct change *written, const struct change *read)
{
    const char *a = (const char *)written + column->at;
    const char *b = (const char *)read + column->at;
    bool is_same;
    if (column->cell == CELL_TEXT)
        is_same = slice_equal(*(const struct slice *)(const void *)a,
                              *(const struct slice *)(const void *)b);
    else
        is_same = memcmp(a, b, column->bytes) == 0;
    if (!is_same)
        fail_msg("%s.%s is not what was written in row %lld", table->name, column->name,
                 (long long)written->row.id);
}

static void assert_same_row(const struct change *written, const struct change *read)
{
    if (written->kind >= CHANGE_NODE_PUT) {
        assert_true(record_equal(written->row.record, read->row.record));
        return;
    }
    const struct rows_info *table = rows_info(rows_inserted_by(written->kind));
    for (unsigned i = 0; i < table->count; i++)
        assert_same_column(table, &table->columns[i], written, read);
}

/* Another store reads each row of the list. */
static void assert_read(struct fixture *fixture, const struct change_list *list)
{
    struct store *other = fixture_open(fixture);
    struct reading reading = {.list = {.arena = fixture->arena}};
    assert_int_equal(store_begin_read(other, &fixture->err), STORE_NEWS_RELOAD);
    assert_int_equal(store_load(other, sink_keep, &reading, &fixture->err), STORE_OK);
    struct store_stamp stamp;
    assert_true(store_end_read(other, &stamp));
    for (size_t i = 0; i < list->count; i++)
        assert_same_row(&list->items[i], find(&reading.list, &list->items[i]));
    store_close(other);
}

/* As the plan of a batch ends: memory gets what is then in the list. */
static void adapt(struct store *store, const struct change_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        store_adapt(store, &list->items[i]);
}

/* Writes the list in one batch. */
static void assert_round_trip(struct fixture *fixture, const struct change_list *list)
{
    struct store *store = open_seeded(fixture, NULL);
    adapt(store, list);
    commit_changes(fixture, store, list);
    assert_read(fixture, list);
    store_close(store);
}

/* ---- types of values ---- */

static const enum change_kind kinds[] = {CHANGE_PROJECT_INSERT, CHANGE_USER_INSERT,
                                         CHANGE_CONSUMER_TYPE_INSERT, CHANGE_CLASS_INSERT,
                                         CHANGE_TRAIT_INSERT};

static void test_texts(void **state)
{
    struct fixture *fixture = *state;
    if (fixture_is_mariadb())
        skip(); /* see mariadb/test_equal_texts.c */
    struct change_list list = changes_of(fixture);
    for (int64_t i = 0; i < ODD_TEXTS_COUNT; i++) {
        int64_t id = 20000 + i;
        const char *uuid =
            arena_printf(fixture->arena, "aaaaaaaa-0000-4000-9000-%012lld", (long long)i).data;
        for (size_t kind = 0; kind < sizeof(kinds) / sizeof(kinds[0]); kind++)
            add_catalog(&list, kinds[kind], id, ODD_TEXTS[i]);
        add_provider(&list, id, 0, id, uuid, ODD_TEXTS[i]);
    }
    assert_round_trip(fixture, &list);
}

static void test_numbers(void **state)
{
    struct fixture *fixture = *state;
    struct change_list list = changes_of(fixture);
    for (int64_t i = 0; i < NUMBER_COUNT; i++) {
        int64_t id = 20000 + i;
        const char *uuid =
            arena_printf(fixture->arena, "aaaaaaaa-0000-4000-9000-%012lld", (long long)i).data;
        add_provider(&list, id, 0, id, uuid, uuid);
        list.items[list.count - 1].provider.generation = NUMBERS[i];
        add_inventory(&list, CHANGE_INVENTORY_INSERT, id, 0, NUMBERS[i]);
        struct change_inventory *inventory = &list.items[list.count - 1].inventory;
        inventory->reserved = NUMBERS[NUMBER_COUNT - 1 - i];
        inventory->min_unit = inventory->max_unit = inventory->step_size = NUMBERS[i];
        add_consumer(&list, CHANGE_CONSUMER_INSERT, id, uuid, NUMBERS[i]);
        list.items[list.count - 1].consumer.expected_generation = NUMBERS[i];
        add_allocation(&list, id, id, uuid, id, 0, NUMBERS[i]);
    }
    assert_round_trip(fixture, &list);
}

static void test_ratios(void **state)
{
    struct fixture *fixture = *state;
    struct change_list list = changes_of(fixture);
    for (int64_t i = 0; i < RATIO_COUNT; i++) {
        int64_t id = 20000 + i;
        const char *uuid =
            arena_printf(fixture->arena, "aaaaaaaa-0000-4000-9000-%012lld", (long long)i).data;
        add_provider(&list, id, 0, id, uuid, uuid);
        add_inventory(&list, CHANGE_INVENTORY_INSERT, id, 0, 10);
        list.items[list.count - 1].inventory.allocation_ratio = RATIOS[i];
    }
    assert_round_trip(fixture, &list);
}

static void test_times(void **state)
{
    struct fixture *fixture = *state;
    struct change_list list = changes_of(fixture);
    for (int64_t i = 0; i < TIME_COUNT; i++) {
        const char *name = arena_printf(fixture->arena, "project%lld", (long long)i).data;
        add_catalog(&list, CHANGE_PROJECT_INSERT, 20000 + i, name);
        list.items[list.count - 1].created_at_us = TIMES[i];
        list.items[list.count - 1].updated_at_us = TIMES[TIME_COUNT - 1 - i];
    }
    assert_round_trip(fixture, &list);
}

static void fill_node(struct record_value *values, const char *uuid, size_t i)
{
    record_init(&NODE_SHAPE, values);
    values[NODE_UUID].text = slice_of(uuid);
    values[NODE_NAME].text = slice_of(ODD_TEXTS[i % ODD_TEXTS_COUNT]);
    values[NODE_DESCRIPTION].text = slice_of(ODD_TEXTS[ODD_TEXTS_COUNT - 1 - i % ODD_TEXTS_COUNT]);
    values[NODE_LAST_ERROR].text = i % 3 == 0 ? (struct slice){NULL, 0} : SLICE_LIT("");
    values[NODE_EXTRA].text = slice_of(DOCUMENTS[i % DOCUMENT_COUNT]);
    values[NODE_TRAITS].text = i % 2 == 0 ? SLICE_LIT("") : SLICE_LIT("CUSTOM_A CUSTOM_B");
    values[NODE_AUTOMATED_CLEAN].number = (int64_t)(i % 3);
    values[NODE_SECURE_BOOT].number = (int64_t)((i + 1) % 3);
    values[NODE_DUE_AT].number = TIMES[i % TIME_COUNT];
    values[NODE_CREATED_AT].number = TIMES[(i + 3) % TIME_COUNT];
}

static void test_records(void **state)
{
    struct fixture *fixture = *state;
    struct change_list list = changes_of(fixture);
    struct record_value values[RECORD_FIELDS_MAX];
    for (size_t i = 0; i < ODD_TEXTS_COUNT; i++) {
        const char *uuid = arena_printf(fixture->arena, "aaaaaaaa-0000-4000-9000-%012zu", i).data;
        fill_node(values, uuid, i);
        struct change *change = add(&list, CHANGE_NODE_PUT);
        change->is_new = true;
        change->created_at_us = change->updated_at_us = 0;
        change->row.id = 20000 + (int64_t)i;
        change->row.record = record_pack(&NODE_SHAPE, change->row.id, values, fixture->arena);
    }
    assert_round_trip(fixture, &list);
}

/* What is deeper is refused, or no request can contain it (jansson's limit is 2048). */
static void test_deep_document(void **state)
{
    const int depth = fixture_is_mariadb() ? 30 : fixture_is_server() ? 2047 : 999;
    struct fixture *fixture = *state;
    struct buf text = {0};
    buf_append_lit(&text, "{\"a\": ");
    for (int i = 0; i < depth; i++)
        buf_append_char(&text, '[');
    for (int i = 0; i < depth; i++)
        buf_append_char(&text, ']');
    buf_append_char(&text, '}');
    struct record_value values[RECORD_FIELDS_MAX];
    fill_node(values, UUID_A, 0);
    values[NODE_EXTRA].text = buf_slice(&text);
    struct change_list list = changes_of(fixture);
    struct change *change = add(&list, CHANGE_NODE_PUT);
    change->is_new = true;
    change->row.id = 20000;
    change->row.record = record_pack(&NODE_SHAPE, 20000, values, fixture->arena);
    assert_round_trip(fixture, &list);
    buf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_texts, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_numbers, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_ratios, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_times, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_records, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_deep_document, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
