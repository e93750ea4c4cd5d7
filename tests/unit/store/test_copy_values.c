/* What a target of a copy can hold, and in which form. */
#include "unit.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "store/copy_values.h"

static const struct copy_limits server = {.values = {.has_lengths = true, .refuses_nul = true},
                                          .time_least_us = -1000,
                                          .ratio_most = FLT_MAX};

struct row {
    struct copy_table table;
    struct cell cells[COPY_COLUMNS_MOST];
};

static void init(struct row *row, enum rows_table table)
{
    *row = (struct row){0};
    copy_table_describe(table, &row->table);
    for (unsigned i = 0; i < row->table.count; i++) {
        row->cells[i].is_null = !row->table.columns[i].is_needed;
        if (row->table.columns[i].cell == CELL_TEXT && row->table.columns[i].is_needed)
            row->cells[i].text = SLICE_LIT("x");
    }
    row->cells[row->table.key[0]].integer = 5;
}

static struct cell *cell(struct row *row, const char *column)
{
    struct cell *cell = &row->cells[copy_table_find(&row->table, column)];
    cell->is_null = false;
    return cell;
}

/* NULL: it fits. */
static void expect(const struct copy_limits *limits, const struct row *row, unsigned wrong,
                   const char *message)
{
    struct err err = {.arena = arena_create()};
    bool fits = copy_values_fit(limits, &row->table, row->cells, wrong, &err);
    assert_int_equal(fits, message == NULL);
    if (message != NULL)
        assert_string_equal(err.message.data, message);
    arena_destroy(err.arena);
}

#define PROVIDER "the target cannot hold resource_providers with id 5: "

static void texts(void **state)
{
    char long_name[201 * 4];
    struct row row;
    (void)state;
    init(&row, ROWS_PROVIDERS);
    expect(&server, &row, COPY_NOTHING_WRONG, NULL);
    for (unsigned i = 0; i < 201; i++)
        memcpy(&long_name[(size_t)4 * i], "\xf0\x9f\x98\x80", 4);
    cell(&row, "name")->text = (struct slice){long_name, (size_t)200 * 4};
    expect(&server, &row, COPY_NOTHING_WRONG, NULL);
    cell(&row, "name")->text.len += 4;
    expect(&server, &row, COPY_NOTHING_WRONG, PROVIDER "name has more than 200 characters");
    cell(&row, "name")->text = (struct slice){"a\0b", 3};
    expect(&server, &row, COPY_NOTHING_WRONG, PROVIDER "name contains U+0000");
    cell(&row, "name")->text = SLICE_LIT("a\xff");
    expect(&server, &row, COPY_NOTHING_WRONG, PROVIDER "name is not valid UTF-8");
    cell(&row, "name")->text = SLICE_LIT("");
    expect(&server, &row, COPY_NOTHING_WRONG, NULL);
    row.cells[copy_table_find(&row.table, "uuid")].is_null = true;
    expect(&server, &row, COPY_NOTHING_WRONG, PROVIDER "uuid is null");
}

static void rooms(void **state)
{
    struct copy_limits limits = server;
    struct row row;
    (void)state;
    init(&row, ROWS_PROVIDERS);
    unsigned column = row.table.columns[copy_table_find(&row.table, "name")].in_rows;
    limits.values.rooms[ROWS_PROVIDERS][column] = (struct text_room){.chars = 3, .utf8_bytes = 3};
    cell(&row, "name")->text = SLICE_LIT("\xe2\x82\xac");
    expect(&limits, &row, COPY_NOTHING_WRONG, NULL);
    cell(&row, "name")->text = SLICE_LIT("a\xf0\x9f\x98\x80");
    expect(&limits, &row, COPY_NOTHING_WRONG,
           PROVIDER "name contains the character '\xf0\x9f\x98\x80'");
    cell(&row, "name")->text = SLICE_LIT("abcd");
    expect(&limits, &row, COPY_NOTHING_WRONG, PROVIDER "name has more than 3 characters");
    limits.row_bytes_most = 6;
    cell(&row, "name")->text = SLICE_LIT("abc");
    expect(&limits, &row, COPY_NOTHING_WRONG,
           PROVIDER "name makes the row larger than the server's max_allowed_packet");
}

static void numbers(void **state)
{
    struct row row;
    (void)state;
    init(&row, ROWS_PROVIDERS);
    cell(&row, "generation")->integer = INT32_MAX;
    expect(&server, &row, COPY_NOTHING_WRONG, NULL);
    cell(&row, "generation")->integer = INT64_C(1) + INT32_MAX;
    expect(&server, &row, COPY_NOTHING_WRONG, PROVIDER "generation is not a number of 32 bits");
    init(&row, ROWS_PROVIDERS);
    expect(&server, &row, copy_table_find(&row.table, "generation"),
           PROVIDER "generation is not of the column's type");
    cell(&row, "created_at")->integer = -1001;
    expect(&server, &row, COPY_NOTHING_WRONG,
           PROVIDER "created_at is before the column's first time");
    init(&row, ROWS_INVENTORIES);
    cell(&row, "allocation_ratio")->ratio = 1e39;
    expect(&server, &row, COPY_NOTHING_WRONG,
           "the target cannot hold inventories with id 5: allocation_ratio is outside the column's "
           "range");
    cell(&row, "allocation_ratio")->ratio = INFINITY;
    expect(&server, &row, COPY_NOTHING_WRONG,
           "the target cannot hold inventories with id 5: allocation_ratio is outside the column's "
           "range");
}

#define NODE "the target cannot hold berth_nodes with id 5: "

static void records(void **state)
{
    char name[COPY_SHORT_BYTES + 1];
    struct copy_limits limits = server;
    struct row row;
    (void)state;
    limits.values.json_depth = 2;
    init(&row, ROWS_RECORDS);
    row.cells[0].integer = INT64_C(5);
    expect(&limits, &row, COPY_NOTHING_WRONG, NULL);
    expect(&limits, &row, copy_table_find(&row.table, "extra"), NODE "extra is not JSON");
    cell(&row, "extra")->text = SLICE_LIT("{\"a\": [[]]}");
    expect(&limits, &row, COPY_NOTHING_WRONG, NODE "extra is JSON with more than 2 levels");
    cell(&row, "extra")->text = SLICE_LIT("{\"a\": []}");
    memset(name, 'a', sizeof(name));
    cell(&row, "name")->text = (struct slice){name, COPY_SHORT_BYTES};
    cell(&row, "maintenance")->integer = 1;
    expect(&limits, &row, COPY_NOTHING_WRONG, NULL);
    cell(&row, "maintenance")->integer = 2;
    expect(&limits, &row, COPY_NOTHING_WRONG, NODE "maintenance is neither 0 nor 1");
    cell(&row, "maintenance")->integer = 0;
    cell(&row, "name")->text.len++;
    expect(&limits, &row, COPY_NOTHING_WRONG, NODE "name has more than 1020 bytes");
}

static void forms(void **state)
{
    static const struct value_forms mariadb = {.has_whole_seconds = true,
                                               .has_single_ratios = true};
    struct row row;
    struct row formed;
    (void)state;
    init(&row, ROWS_INVENTORIES);
    cell(&row, "created_at")->integer = 1700000000999999;
    cell(&row, "allocation_ratio")->ratio = 1.2428571;
    formed = row;
    copy_values_form(&mariadb, &formed.table, formed.cells);
    assert_int_equal(cell(&formed, "created_at")->integer, 1700000000000000);
    assert_true(cell(&formed, "allocation_ratio")->ratio == 1.24286);
    assert_int_equal(copy_values_differ(&row.table, row.cells, formed.cells),
                     copy_table_find(&row.table, "created_at"));
    init(&row, ROWS_RECORDS);
    cell(&row, "created_at")->integer = 1700000000999999;
    formed = row;
    copy_values_form(&mariadb, &formed.table, formed.cells);
    assert_int_equal(copy_values_differ(&row.table, row.cells, formed.cells), row.table.count);
}

static void shown(void **state)
{
    static const struct copy_column number = {.cell = CELL_INTEGER}, text = {.cell = CELL_TEXT},
                                    ratio = {.cell = CELL_RATIO}, time = {.cell = CELL_TIME};
    struct arena *arena = arena_create();
    char many[100];
    (void)state;
    memset(many, 'a', sizeof(many));
    const struct {
        const struct copy_column *column;
        struct cell cell;
        const char *text;
    } cases[] = {
        {&number, {.integer = -5}, "-5"},
        {&number, {.is_null = true}, "null"},
        {&ratio, {.ratio = 1.5}, "1.5"},
        {&text, {.text = SLICE_LIT("a")}, "'a'"},
        {&time, {.integer = 1700000000000001}, "2023-11-14 22:13:20.000001"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct slice found = copy_value_text(cases[i].column, &cases[i].cell, arena);
        assert_true(slice_equal(found, slice_of(cases[i].text)));
    }
    const struct cell large = {.text = {many, sizeof(many)}};
    assert_int_equal(copy_value_text(&text, &large, arena).len, 80 + strlen("'' ..."));
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts),   cmocka_unit_test(rooms), cmocka_unit_test(numbers),
        cmocka_unit_test(records), cmocka_unit_test(forms), cmocka_unit_test(shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
