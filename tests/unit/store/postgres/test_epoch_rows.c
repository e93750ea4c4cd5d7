/* The text in which the server tells all epochs. */
#include "store/postgres/log/log_sql.h"
#include "unit.h"

static void rows_in_their_order(void **state)
{
    struct epoch_rows rows;
    (void)state;
    pg_epoch_rows(SLICE_LIT("1:500:1795667861001792,2:-7:-3"), &rows);
    assert_int_equal(rows.count, 2);
    assert_int_equal(rows.at[0].epoch, 1);
    assert_int_equal(rows.at[0].number, 500);
    assert_int_equal(rows.at[0].began_us, 1795667861001792);
    assert_int_equal(rows.at[1].number, -7);
    assert_int_equal(rows.at[1].began_us, -3);
    epoch_rows_free(&rows);
    pg_epoch_rows((struct slice){0}, &rows);
    assert_int_equal(rows.count, 0);
    epoch_rows_free(&rows);
}

/* What is behind the text is none of its last number. */
static void ends_with_the_text(void **state)
{
    struct epoch_rows rows;
    (void)state;
    pg_epoch_rows((struct slice){"1:6:12345", 7}, &rows);
    assert_int_equal(rows.at[0].began_us, 123);
    epoch_rows_free(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_in_their_order),
        cmocka_unit_test(ends_with_the_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
