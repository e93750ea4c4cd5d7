/* Packing, opening, comparing and words, over a small shape with every kind of field. */
#include "base/arena.h"
#include "model/record.h"
#include "unit.h"

enum {
    TEXT,
    EMPTY,
    FLAG,
    MAYBE,
    TIME,
    JSON,
    WORDS,
    REFERENCE,
    SECRET,
    STORED,
    LINKS = STORED,
    ALL
};

static const struct record_field fields[ALL] = {
    [TEXT] = {.name = "text", .kind = RECORD_TEXT, .flags = RECORD_NULLABLE},
    [EMPTY] = {.name = "empty", .kind = RECORD_TEXT, .initial = ""},
    [FLAG] = {.name = "flag", .kind = RECORD_BOOL, .initial = "true"},
    [MAYBE] = {.name = "maybe", .kind = RECORD_BOOL, .flags = RECORD_NULLABLE},
    [TIME] = {.name = "time", .kind = RECORD_TIME},
    [JSON] = {.name = "json", .kind = RECORD_JSON, .initial = "{}"},
    [WORDS] = {.name = "words", .kind = RECORD_WORDS, .initial = ""},
    [REFERENCE] = {.name = "reference", .kind = RECORD_REFERENCE},
    [SECRET] = {.name = "secret", .kind = RECORD_TEXT, .flags = RECORD_NULLABLE | RECORD_INTERNAL},
    [LINKS] = {.name = "links", .kind = RECORD_DERIVED},
};
static const struct record_shape shape = {fields, ALL, STORED};

static int setup(void **state)
{
    *state = arena_create();
    return 0;
}

static int teardown(void **state)
{
    arena_destroy(*state);
    return 0;
}

static void expect_text(const struct record *record, unsigned field, struct slice text)
{
    assert_false(record_is_null(record, field));
    assert_true(slice_equal(record_text(record, field), text));
}

static void a_new_row_has_initial_values(void **state)
{
    struct record_value values[STORED];
    record_init(&shape, values);
    const struct record *record = record_pack(&shape, 7, values, *state);
    assert_int_equal(record->id, 7);
    assert_int_equal(record->bytes % 8, 0);
    assert_true(record_is_null(record, TEXT));
    assert_null(record_text(record, TEXT).data);
    expect_text(record, EMPTY, SLICE_LIT(""));
    assert_true(record_bool(record, FLAG));
    assert_true(record_is_null(record, MAYBE));
    assert_false(record_bool(record, MAYBE));
    assert_int_equal(record_number(record, TIME), 0);
    expect_text(record, JSON, SLICE_LIT("{}"));
    expect_text(record, WORDS, SLICE_LIT(""));
    assert_int_equal(record_number(record, REFERENCE), 0);
}

static void null_is_kept_only_where_it_may_be(void **state)
{
    struct record_value values[STORED] = {0};
    const struct record *nulls = record_pack(&shape, 7, values, *state);
    record_init(&shape, values);
    assert_true(record_equal(nulls, record_pack(&shape, 7, values, *state)));
    values[MAYBE].number = RECORD_FALSE;
    const struct record *record = record_pack(&shape, 7, values, *state);
    assert_false(record_is_null(record, MAYBE));
    assert_false(record_bool(record, MAYBE));
    values[FLAG].number = RECORD_FALSE;
    assert_false(record_bool(record_pack(&shape, 7, values, *state), FLAG));
}

static void every_kind_comes_back(void **state)
{
    struct record_value values[STORED] = {
        [TEXT].text = {"a\0b", 3},
        [EMPTY].text = SLICE_LIT("no longer"),
        [FLAG].number = RECORD_FALSE,
        [MAYBE].number = RECORD_TRUE,
        [TIME].number = -5,
        [JSON].text = SLICE_LIT("{\"a\": 1}"),
        [WORDS].text = SLICE_LIT("B A B"),
        [REFERENCE].number = INT64_MAX,
        [SECRET].text = SLICE_LIT(""),
    };
    const struct record *record = record_pack(&shape, INT64_MAX, values, *state);
    struct record_value again[STORED];
    memset(again, 0xff, sizeof(again));
    record_open(&shape, record, again);
    for (unsigned i = 0; i < STORED; i++) {
        assert_int_equal(again[i].text.data == NULL, values[i].text.data == NULL);
        assert_true(slice_equal(again[i].text, values[i].text));
        assert_int_equal(again[i].number, values[i].number);
    }
    assert_true(record_equal(record, record_pack(&shape, INT64_MAX, again, *state)));
    again[SECRET].text.data = NULL;
    assert_false(record_equal(record, record_pack(&shape, INT64_MAX, again, *state)));
    assert_false(record_equal(record, record_pack(&shape, 1, values, *state)));
    /* It contains no pointer to itself. */
    struct record *copy = arena_alloc(*state, record->bytes);
    memcpy(copy, record, record->bytes);
    expect_text(copy, JSON, SLICE_LIT("{\"a\": 1}"));
    expect_text(copy, TEXT, (struct slice){"a\0b", 3});
}

/* Equal texts of adjacent fields are stored once. */
static void texts_that_repeat(void **state)
{
    struct record_value values[STORED] = {[TEXT].text = SLICE_LIT("same"),
                                          [EMPTY].text = SLICE_LIT("same"),
                                          [SECRET].text = SLICE_LIT("same")};
    const struct record *record = record_pack(&shape, 1, values, *state);
    assert_ptr_equal(record_text(record, TEXT).data, record_text(record, EMPTY).data);
    expect_text(record, EMPTY, SLICE_LIT("same"));
    expect_text(record, JSON, SLICE_LIT("{}"));
    expect_text(record, SECRET, SLICE_LIT("same"));
    values[TEXT].text = SLICE_LIT("");
    values[EMPTY].text = SLICE_LIT("");
    record = record_pack(&shape, 1, values, *state);
    assert_false(record_is_null(record, TEXT));
    expect_text(record, SECRET, SLICE_LIT("same"));
    struct record_value again[STORED];
    record_open(&shape, record, again);
    assert_true(record_equal(record, record_pack(&shape, 1, again, *state)));
}

static void a_text_of_the_greatest_length(void **state)
{
    struct record_value values[STORED] = {0};
    char *long_text = arena_zalloc(*state, RECORD_TEXT_MAX);
    values[TEXT].text = values[EMPTY].text = (struct slice){long_text, RECORD_TEXT_MAX};
    values[SECRET].text = SLICE_LIT("behind");
    const struct record *record = record_pack(&shape, 1, values, *state);
    assert_int_equal(record_text(record, EMPTY).len, RECORD_TEXT_MAX);
    expect_text(record, SECRET, SLICE_LIT("behind"));
}

static void fields_are_found_by_name(void **state)
{
    (void)state;
    assert_int_equal(record_find(&shape, SLICE_LIT("text")), TEXT);
    assert_int_equal(record_find(&shape, SLICE_LIT("links")), LINKS);
    assert_int_equal(record_find(&shape, SLICE_LIT("secret")), -1);
    assert_int_equal(record_find(&shape, SLICE_LIT("Text")), -1);
    assert_int_equal(record_find(&shape, SLICE_LIT("tex")), -1);
    assert_int_equal(record_find(&shape, SLICE_LIT("")), -1);
}

static const struct record *row(struct arena *arena, int64_t id, unsigned field,
                                struct record_value value)
{
    struct record_value values[STORED];
    record_init(&shape, values);
    values[field] = value;
    return record_pack(&shape, id, values, arena);
}

/* Each before the next one, whatever their ids are. */
static void expect_ascending(struct arena *arena, unsigned field, const struct record_value *values,
                             int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < count; j++) {
            const struct record *a = row(arena, count - i, field, values[i]);
            const struct record *b = row(arena, count - j, field, values[j]);
            int order = record_compare(&shape, a, b, field);
            assert_int_equal((order > 0) - (order < 0), (i > j) - (i < j));
        }
}

static void rows_sort_null_first(void **state)
{
    const struct record_value texts[] = {{{NULL, 0}, 0},      {SLICE_LIT(""), 0},
                                         {SLICE_LIT("A"), 0}, {SLICE_LIT("AB"), 0},
                                         {SLICE_LIT("a"), 0}, {SLICE_LIT("\xc3\xa9"), 0}};
    expect_ascending(*state, TEXT, texts, 6);
    const struct record_value bools[] = {
        {.number = RECORD_NULL}, {.number = RECORD_FALSE}, {.number = RECORD_TRUE}};
    expect_ascending(*state, MAYBE, bools, 3);
    const struct record_value times[] = {{.number = 0}, {.number = 1}, {.number = INT64_MAX}};
    expect_ascending(*state, TIME, times, 3);
}

static void ties_are_broken_by_id(void **state)
{
    struct record_value value = {SLICE_LIT("same"), 0};
    const struct record *a = row(*state, 1, TEXT, value);
    const struct record *b = row(*state, 2, TEXT, value);
    assert_true(record_compare(&shape, a, b, TEXT) < 0);
    assert_true(record_compare(&shape, b, a, TEXT) > 0);
    assert_int_equal(record_compare(&shape, a, a, TEXT), 0);
    value.text = SLICE_LIT("z");
    assert_true(record_compare(&shape, row(*state, 1, TEXT, value), b, RECORD_BY_ID) < 0);
}

static void words(void **state)
{
    const struct slice list[] = {SLICE_LIT("B"), SLICE_LIT("AB"), SLICE_LIT("B"), SLICE_LIT("A")};
    struct slice as_given = record_join_words(*state, list, 4, false);
    struct slice sorted = record_join_words(*state, list, 4, true);
    assert_true(slice_equal(as_given, SLICE_LIT("B AB B A")));
    assert_true(slice_equal(sorted, SLICE_LIT("A AB B")));
    assert_true(slice_equal(record_join_words(*state, list, 0, true), SLICE_LIT("")));
    assert_non_null(record_join_words(*state, list, 0, true).data);
    struct slice word;
    unsigned count = 0;
    while (record_next_word(&as_given, &word))
        assert_true(slice_equal(word, list[count++]));
    assert_int_equal(count, 4);
    assert_true(record_has_word(sorted, SLICE_LIT("AB")));
    assert_false(record_has_word(sorted, SLICE_LIT("a")));
    assert_false(record_has_word(sorted, SLICE_LIT("A AB")));
    assert_false(record_has_word(SLICE_LIT(""), SLICE_LIT("A")));
    assert_true(record_has_words(sorted, SLICE_LIT("")));
    assert_true(record_has_words(sorted, SLICE_LIT("B A B")));
    assert_false(record_has_words(sorted, SLICE_LIT("B C")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_new_row_has_initial_values, setup, teardown),
        cmocka_unit_test_setup_teardown(null_is_kept_only_where_it_may_be, setup, teardown),
        cmocka_unit_test_setup_teardown(every_kind_comes_back, setup, teardown),
        cmocka_unit_test_setup_teardown(texts_that_repeat, setup, teardown),
        cmocka_unit_test_setup_teardown(a_text_of_the_greatest_length, setup, teardown),
        cmocka_unit_test(fields_are_found_by_name),
        cmocka_unit_test_setup_teardown(rows_sort_null_first, setup, teardown),
        cmocka_unit_test_setup_teardown(ties_are_broken_by_id, setup, teardown),
        cmocka_unit_test_setup_teardown(words, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
