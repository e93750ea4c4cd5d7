/* The row that a message names. The statements themselves run in the tests of the contract. */
#include "store/postgres/exchange/write_sql.h"

#include <stdio.h>

#include "base/arena.h"
#include "model/node.h"
#include "unit.h"

static void test_rows_of_messages(void **state)
{
    static const struct {
        const char *message;
        size_t row;
    } cases[] = {
        {"cannot be written: invalid input syntax for type integer: \"!1\"", 0},
        {"ung\xc3\xbcltige Eingabesyntax f\xc3\xbcr Typ integer: \xc2\xbb!270\xc2\xab", 269},
        {"\"!", SIZE_MAX},
        {"\"!\"", SIZE_MAX},
        {"\"!0\"", SIZE_MAX},
        {"\"!x\" and \"!2\"", 1},
        {"the database 'postgresql://u!1@h/d!7?' cannot be written: \"!3\"", 2},
        {"duplicate key value violates unique constraint \"uniq\"", SIZE_MAX},
        {"", SIZE_MAX},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(write_sql_row(slice_of(cases[i].message)), cases[i].row);
}

/* Only records can be large. */
static void test_bytes_of_rows(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct change_list list = {.arena = arena};
    char *text = arena_alloc(arena, 1000);
    memset(text, 'x', 1000);
    struct node_draft draft = node_draft_new(1);
    node_set_text(&draft, NODE_UUID, SLICE_LIT("aaaaaaaa-0000-4000-8000-000000000001"));
    node_set_text(&draft, NODE_NAME, (struct slice){text, 1000});
    change_put_node(&list, node_pack(&draft, arena));
    change_append(&list, CHANGE_NODE_DELETE)->row.id = 1;
    change_append(&list, CHANGE_CONSUMER_INSERT)->consumer.id = 1;
    list.items[0].is_new = true;
    assert_in_range(write_sql_bytes(&list.items[0]), 1000, 3000);
    list.items[0].is_new = false;
    assert_in_range(write_sql_bytes(&list.items[0]), 1000, 3000);
    assert_int_equal(write_sql_bytes(&list.items[1]), 0);
    assert_int_equal(write_sql_bytes(&list.items[2]), 0);
    arena_destroy(arena);
}

/* Each kind of bundle has a statement, with as many arrays as it is given. */
static void test_statements_have_their_arrays(void **state)
{
    (void)state;
    struct pg_array arrays[WRITE_SQL_ARRAYS_MOST] = {0};
    for (int kind = 0; kind < BUNDLE_KIND_COUNT; kind++) {
        const struct bundle none = {.kind = (enum bundle_kind)kind};
        struct buf sql = {0};
        char mark[8];
        size_t count = write_sql_fill(&none, NULL, arrays);
        write_sql_append((enum bundle_kind)kind, &sql);
        assert_int_equal(strlen(sql.data), sql.len);
        assert_true(count > 0);
        snprintf(mark, sizeof(mark), "$%zu:", count);
        assert_non_null(strstr(sql.data, mark));
        snprintf(mark, sizeof(mark), "$%zu:", count + 1);
        assert_null(strstr(sql.data, mark));
        buf_free(&sql);
    }
    for (size_t i = 0; i < WRITE_SQL_ARRAYS_MOST; i++)
        buf_free(&arrays[i].bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_of_messages),
        cmocka_unit_test(test_bytes_of_rows),
        cmocka_unit_test(test_statements_have_their_arrays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
