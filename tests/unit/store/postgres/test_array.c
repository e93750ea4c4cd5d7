/* Arrays as parameters: the server says what it has received. */
#include "store/postgres/session/array.h"

#include "fixture.h"

static struct pg_session *session;
static struct arena *arena;

static int set_up(void **state)
{
    (void)state;
    arena = arena_create();
    session = open_session();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    pg_session_destroy(session);
    arena_destroy(arena);
    return 0;
}

/* The array's text form, by the server. */
static void expect_array(struct pg_array *array, const char *type, const char *expected)
{
    struct pg_rows rows = {0};
    struct err err = {.arena = arena};
    const struct pg_parameter parameter = pg_array_parameter(array);
    const struct pg_statement statement = {
        .sql = arena_printf(arena, "SELECT $1::%s::text%c", type, '\0').data,
        .parameters = &parameter,
        .parameters_n = 1,
    };
    if (pg_session_execute(session, &statement, &rows, soon(), &err) != SERVER_OK)
        fail_msg("%.*s", SLICE_ARG(err.message));
    assert_string_equal(pg_rows_bytes(&rows, 0, 0).data, expected);
    pg_rows_free(&rows);
    buf_free(&array->bytes);
}

static void test_numbers(void **state)
{
    (void)state;
    struct pg_array array = {0};
    pg_array_begin(&array, PG_INT4_ARRAY);
    pg_array_add_int(&array, 1);
    pg_array_add_null(&array);
    pg_array_add_int(&array, -1);
    pg_array_add_int(&array, INT32_MAX);
    pg_array_add_int(&array, INT32_MIN);
    assert_false(array.is_out_of_range);
    expect_array(&array, "int[]", "{1,NULL,-1,2147483647,-2147483648}");
    pg_array_begin(&array, PG_INT8_ARRAY);
    pg_array_add_int(&array, INT64_MAX);
    pg_array_add_int(&array, INT64_MIN);
    expect_array(&array, "bigint[]", "{9223372036854775807,-9223372036854775808}");
    pg_array_begin(&array, PG_FLOAT8_ARRAY);
    pg_array_add_float(&array, 16.1);
    pg_array_add_float(&array, 1.0);
    expect_array(&array, "float8[]", "{16.1,1}");
    pg_array_begin(&array, PG_BOOL_ARRAY);
    pg_array_add_bool(&array, true);
    pg_array_add_bool(&array, false);
    expect_array(&array, "boolean[]", "{t,f}");
}

static void test_numbers_that_are_too_large(void **state)
{
    (void)state;
    struct pg_array array = {0};
    pg_array_begin(&array, PG_INT4_ARRAY);
    pg_array_add_int(&array, INT32_MAX + INT64_C(1));
    assert_true(array.is_out_of_range);
    expect_array(&array, "int[]", "{NULL}");
}

static void test_texts(void **state)
{
    (void)state;
    struct pg_array array = {0};
    pg_array_begin(&array, PG_TEXT_ARRAY);
    pg_array_add_text(&array, SLICE_LIT(""));
    pg_array_add_text(&array, SLICE_LIT("NULL"));
    pg_array_add_text(&array, SLICE_LIT("a,\"{}\\ \xc3\xb6 \xf0\x9f\x98\x80"));
    assert_int_equal(array.nul_at, UINT32_MAX);
    expect_array(&array, "text[]", "{\"\",\"NULL\",\"a,\\\"{}\\\\ \xc3\xb6 \xf0\x9f\x98\x80\"}");
    pg_array_begin(&array, PG_TEXT_ARRAY);
    pg_array_add_text(&array, SLICE_LIT("a"));
    pg_array_add_text(&array, SLICE_LIT("b\0c"));
    pg_array_add_text(&array, SLICE_LIT("\0"));
    assert_int_equal(array.nul_at, 1);
    buf_free(&array.bytes);
}

static void test_times(void **state)
{
    (void)state;
    struct pg_array array = {0};
    pg_array_begin(&array, PG_TIMESTAMP_ARRAY);
    pg_array_add_time(&array, 0);
    pg_array_add_time(&array, 1);
    pg_array_add_time(&array, 1790000000123456);
    expect_array(&array, "timestamp[]",
                 "{NULL,\"1970-01-01 00:00:00.000001\",\"2026-09-21 14:13:20.123456\"}");
}

/* The memory of an array is used again. */
static void test_empty_and_again(void **state)
{
    (void)state;
    struct pg_array array = {0};
    pg_array_begin(&array, PG_INT4_ARRAY);
    pg_array_add_null(&array);
    pg_array_begin(&array, PG_INT4_ARRAY);
    expect_array(&array, "int[]", "{}");
    pg_array_begin(&array, PG_TEXT_ARRAY);
    pg_array_add_text(&array, SLICE_LIT("x"));
    expect_array(&array, "text[]", "{x}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_numbers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_numbers_that_are_too_large, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_texts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_times, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_empty_and_again, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
