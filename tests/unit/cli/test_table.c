/* Tables and lines as Python's prettytable and textwrap write them; the expected texts are their
 * output. */
#include "cli/table.h"

#include <stdlib.h>

#include "unit.h"

static void expect_table(const struct table *table, const char *wanted)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    table_print(table, out);
    fclose(out);
    assert_string_equal(text, wanted);
    free(text);
}

static void text_in_the_middle(void **state)
{
    (void)state;
    static const char *const titles[] = {"Migration", "Total Found", "Completed"};
    static const char *const cells[] = {"set_root_provider_ids",       "0",      "10",
                                        "create_incomplete_consumers", "123456", "123"};
    struct table table = {.columns = 3, .titles = titles, .cells = cells, .rows = 2};
    expect_table(&table, "+-----------------------------+-------------+-----------+\n"
                         "|          Migration          | Total Found | Completed |\n"
                         "+-----------------------------+-------------+-----------+\n"
                         "|    set_root_provider_ids    |      0      |     10    |\n"
                         "| create_incomplete_consumers |    123456   |    123    |\n"
                         "+-----------------------------+-------------+-----------+\n");
}

static void boxes(void **state)
{
    (void)state;
    static const char *const titles[] = {"Upgrade Check Results"};
    static const char *const cells[] = {"Check: a\nResult: Success\nDetails: None",
                                        "Check: longer than the title\n\nx"};
    struct table table = {
        .columns = 1, .is_boxed = true, .titles = titles, .cells = cells, .rows = 2};
    expect_table(&table, "+------------------------------+\n"
                         "| Upgrade Check Results        |\n"
                         "+------------------------------+\n"
                         "| Check: a                     |\n"
                         "| Result: Success              |\n"
                         "| Details: None                |\n"
                         "+------------------------------+\n"
                         "| Check: longer than the title |\n"
                         "|                              |\n"
                         "| x                            |\n"
                         "+------------------------------+\n");
}

static void expect_wrapped(const char *text, size_t width, size_t indent, const char *wanted)
{
    struct buf out = {0};
    table_wrap(&out, text, width, indent);
    buf_append_char(&out, '\0');
    assert_string_equal(out.data, wanted);
    buf_free(&out);
}

static void lines(void **state)
{
    (void)state;
    expect_wrapped("None", 60, 2, "None");
    expect_wrapped("aa bb cc", 5, 1, "aa bb\n cc");
    expect_wrapped("aa  bb cc", 5, 1, "aa\n bb\n cc");
    expect_wrapped("aaaa bbbb", 4, 2, "aaaa\n  bb\n  bb");
    expect_wrapped("a bbbbbbb", 4, 1, "a bb\n bbb\n bb");
}

static void hyphens(void **state)
{
    (void)state;
    expect_wrapped("one placement-manage db", 16, 0, "one placement-\nmanage db");
    expect_wrapped("an a-b c1-d2", 5, 0, "an\na-b\nc1-d2");
    expect_wrapped("There are 12345 incomplete consumers table records for existing allocations. "
                   "Run the \"placement-manage db online_data_migrations\" command.",
                   60, 2,
                   "There are 12345 incomplete consumers table records for\n"
                   "  existing allocations. Run the \"placement-manage db\n"
                   "  online_data_migrations\" command.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_in_the_middle),
        cmocka_unit_test(boxes),
        cmocka_unit_test(lines),
        cmocka_unit_test(hyphens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
