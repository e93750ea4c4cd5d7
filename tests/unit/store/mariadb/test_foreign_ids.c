/* Views of berth_foreign as texts, and their conditions. */
#include "store/mariadb/foreign/foreign_ids.h"

#include <stdlib.h>

#include "unit.h"

static void expect_text(const int64_t *ids, size_t count, const char *text)
{
    struct mariadb_foreign_ids made = {0};
    for (size_t i = 0; i < count; i++)
        mariadb_foreign_ids_add(&made, ids[i]);
    char *found = mariadb_foreign_ids_end(&made);
    assert_string_equal(found, text);
    free(found);
}
#define EXPECT_TEXT(text, ...)                                                                     \
    expect_text((const int64_t[]){__VA_ARGS__},                                                    \
                sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t), text)

static void test_texts(void **state)
{
    (void)state;
    expect_text(NULL, 0, "");
    EXPECT_TEXT("7", 7);
    EXPECT_TEXT("7,8", 7, 8);
    EXPECT_TEXT("7,8,9", 7, 8, 9);
    EXPECT_TEXT("7-10/1", 7, 8, 9, 10);
    EXPECT_TEXT("1,2,4,8", 1, 2, 4, 8);
}

static void test_runs(void **state)
{
    (void)state;
    EXPECT_TEXT("1-10/3", 1, 4, 7, 10);
    EXPECT_TEXT("1,3-12/3,13,20", 1, 3, 6, 9, 12, 13, 20);
    EXPECT_TEXT("1-4/1,6-9/1", 1, 2, 3, 4, 6, 7, 8, 9);
    EXPECT_TEXT("1,2,4,5,7,8", 1, 2, 4, 5, 7, 8);
    EXPECT_TEXT("9223372036854775806,9223372036854775807", INT64_MAX - 1, INT64_MAX);
}

static void expect_condition(const char *text, const char *condition)
{
    struct buf sql = {0};
    mariadb_foreign_ids_condition(text, &sql);
    buf_append_char(&sql, '\0');
    assert_string_equal(sql.data, condition);
    buf_free(&sql);
}

static void test_conditions(void **state)
{
    (void)state;
    expect_condition(NULL, "TRUE");
    expect_condition("", "TRUE");
    expect_condition("3", "TRUE AND id NOT IN (3)");
    expect_condition("3,7-31/4,40", "TRUE AND id NOT IN (3,40) AND NOT (id BETWEEN 7 AND 31 AND "
                                    "(id - 7) % 4 = 0)");
    /* What is none: all notes are new. */
    static const char *const wrong[] = {
        "x",  "1,3-", "1,3-7", "1,3-7/", "3 OR 1", "3-",   "3-7",    "3-7/",   "7-3/1",   "3-7/0",
        "-3", "3;4",  "3,x",   "0",      ",3",     "3,,4", "3-7/1x", "3-7/-1", "3-7-9/1", "3/1,4"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        expect_condition(wrong[i], "TRUE");
}

/* What finds no place is new again. */
static void test_bounded(void **state)
{
    (void)state;
    struct mariadb_foreign_ids made = {0};
    int64_t id = 1000000000;
    for (int i = 0; i < 200000; i++)
        mariadb_foreign_ids_add(&made, id += i % 2 == 0 ? 1 : 5);
    char *text = mariadb_foreign_ids_end(&made);
    assert_in_range(strlen(text), MARIADB_FOREIGN_IDS_BYTES_MOST - 100,
                    MARIADB_FOREIGN_IDS_BYTES_MOST);
    struct buf sql = {0};
    mariadb_foreign_ids_condition(text, &sql);
    assert_true(sql.len > MARIADB_FOREIGN_IDS_BYTES_MOST / 2);
    buf_free(&sql);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
