/* How values are written. That the server reads the same values is in test_statements.c. */
#include "store/mariadb/session/literal.h"

#include "unit.h"

static void expect(struct buf *sql, const char *text, size_t len)
{
    assert_int_equal(sql->len, len);
    assert_memory_equal(sql->data, text, len);
    buf_free(sql);
}

#define EXPECT(sql, text) expect((sql), (text), sizeof(text) - 1)
static void expect_text(struct slice value, const char *text, size_t len)
{
    struct buf sql = {0};
    mariadb_literal_text(&sql, value);
    assert_true(sql.len < mariadb_literal_bytes(value));
    expect(&sql, text, len);
}

#define TEXT(value, text) expect_text(SLICE_LIT(value), (text), sizeof(text) - 1)

static void test_texts(void **state)
{
    (void)state;
    struct buf sql = {0};
    TEXT("", "''");
    TEXT("plain", "'plain'");
    TEXT("'", "''''");
    TEXT("''", "''''''");
    TEXT("it's 'so'", "'it''s ''so'''");
    TEXT("\"q\"`;--\n", "'\"q\"`;--\n'");
    TEXT("a\0b", "'a\0b'");
    TEXT("\xf0\x9f\x98\x80", "'\xf0\x9f\x98\x80'");
    TEXT("\\", "_utf8mb4 x'5c'");
    TEXT("\\'\0\xc3\xb6", "_utf8mb4 x'5c2700c3b6'");
    mariadb_literal_text(&sql, (struct slice){NULL, 0});
    EXPECT(&sql, "NULL");
}

static void test_compared(void **state)
{
    (void)state;
    struct buf sql = {0};
    mariadb_literal_compared(&sql, SLICE_LIT("a-b"));
    EXPECT(&sql, "_ascii 'a-b'");
    mariadb_literal_compared(&sql, SLICE_LIT("a'b"));
    EXPECT(&sql, "_ascii 'a''b'");
    mariadb_literal_compared(&sql, SLICE_LIT("\\"));
    EXPECT(&sql, "_ascii x'5c'");
    mariadb_literal_compared(&sql, SLICE_LIT("\xc3\xb6"));
    EXPECT(&sql, "_utf8mb4 '\xc3\xb6'");
}

static void test_binary(void **state)
{
    (void)state;
    struct buf sql = {0};
    mariadb_literal_binary(&sql, SLICE_LIT(""));
    EXPECT(&sql, "x''");
    mariadb_literal_binary(&sql, SLICE_LIT("\0\xff'"));
    EXPECT(&sql, "x'00ff27'");
    mariadb_literal_binary(&sql, (struct slice){NULL, 0});
    EXPECT(&sql, "NULL");
    mariadb_literal_blob(&sql, (struct slice){NULL, 0});
    EXPECT(&sql, "x''");
    mariadb_literal_blob(&sql, SLICE_LIT("\xff"));
    EXPECT(&sql, "x'ff'");
}

static void test_numbers(void **state)
{
    (void)state;
    struct buf sql = {0};
    mariadb_literal_int(&sql, INT64_MIN);
    EXPECT(&sql, "-9223372036854775808");
    mariadb_literal_reference(&sql, 0);
    EXPECT(&sql, "NULL");
    mariadb_literal_reference(&sql, 7);
    EXPECT(&sql, "7");
    mariadb_literal_double(&sql, 1);
    EXPECT(&sql, "1e0");
    mariadb_literal_double(&sql, 16.1);
    EXPECT(&sql, "16.100000000000001e0");
    mariadb_literal_double(&sql, -3.40282e+38);
    EXPECT(&sql, "-3.4028200000000001e+38");
    mariadb_literal_double(&sql, 5e-324);
    EXPECT(&sql, "4.9406564584124654e-324");
}

static void test_times(void **state)
{
    (void)state;
    struct buf sql = {0};
    const int64_t last_us = INT64_C(1764273599999999);
    mariadb_literal_second(&sql, 0);
    EXPECT(&sql, "NULL");
    mariadb_literal_instant(&sql, 0);
    EXPECT(&sql, "NULL");
    mariadb_literal_second(&sql, last_us);
    EXPECT(&sql, "'2025-11-27 19:59:59'");
    mariadb_literal_instant(&sql, last_us);
    EXPECT(&sql, "'2025-11-27 19:59:59.999999'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),  cmocka_unit_test(test_compared),
        cmocka_unit_test(test_binary), cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
