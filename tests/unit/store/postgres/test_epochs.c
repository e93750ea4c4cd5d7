/* When an instance has to begin an epoch: the database went back, and no row is there that memory
 * did not have. */
#include "store/postgres/epochs.h"
#include "unit.h"

static void take(struct epochs *epochs, const char *rows, int64_t gone)
{
    epochs_note(epochs, slice_of(rows));
    epochs_take(epochs, gone);
}

static void begun_by_the_first(void **state)
{
    (void)state;
    struct epochs epochs = {0};
    take(&epochs, "", 0);
    assert_false(epochs.is_due);
    assert_int_equal(epochs_newest(&epochs).epoch, 0);
    take(&epochs, "", 5);
    assert_true(epochs.is_due);
    take(&epochs, "", 0); /* what others write does not change that */
    assert_true(epochs.is_due);
    take(&epochs, "1:6:1", 0);
    assert_false(epochs.is_due);
    assert_int_equal(epochs_newest(&epochs).epoch, 1);
    take(&epochs, "1:6:1,2:8:2", 9); /* found out after somebody else */
    assert_false(epochs.is_due);
    assert_int_equal(epochs_newest(&epochs).epoch, 2);
    epochs_free(&epochs);
}

/* A row of its own is known as well: it does not count for the next time. */
static void own_row_is_known(void **state)
{
    (void)state;
    struct epochs epochs = {0};
    take(&epochs, "1:6:1", 0);
    take(&epochs, "1:6:1", 9);
    assert_true(epochs.is_due);
    epochs.pending = 2;
    epochs.began_us = 7;
    epochs_commit(&epochs, 10);
    assert_false(epochs.is_due);
    assert_int_equal(epochs_newest(&epochs).epoch, 2);
    epochs_commit(&epochs, 11); /* the next batch inserts none */
    take(&epochs, "1:6:1,2:10:7", 12);
    assert_true(epochs.is_due);
    epochs_free(&epochs);
}

/* The database has lost rows, too, and numbers them again. */
static void rows_are_lost(void **state)
{
    (void)state;
    struct epochs epochs = {0};
    take(&epochs, "1:6:1,2:10:7", 0);
    take(&epochs, "1:6:1", 12);
    assert_true(epochs.is_due);
    take(&epochs, "1:6:1,2:9:8", 0);
    assert_false(epochs.is_due);
    take(&epochs, "1:4:9", 11);
    assert_false(epochs.is_due);
    assert_int_equal(epochs_newest(&epochs).epoch, 1);
    epochs_free(&epochs);
}

/* An earlier process of the instance had the rows up to the second one. */
static void known_from_an_earlier_process(void **state)
{
    (void)state;
    const struct epochs_left left = {.rows = {{1, 6, 1}, {2, 10, 7}}};
    static const struct {
        const char *rows;
        bool is_due;
    } cases[] = {
        {"1:6:1,2:10:7", true},         {"1:6:1", true},  {"", true}, {"1:6:1,2:9:8", false},
        {"1:6:1,2:10:7,3:12:9", false}, {"1:5:9", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct epochs epochs = {0};
        epochs_restore(&epochs, &left);
        take(&epochs, cases[i].rows, 12);
        assert_int_equal(epochs.is_due, cases[i].is_due);
        epochs_free(&epochs);
    }
}

/* Behind the last row, the buffer still has what was there before. */
static void shorter_than_before(void **state)
{
    (void)state;
    struct epochs epochs = {0};
    take(&epochs, "1:6:12345", 0);
    take(&epochs, "1:6:1", 0);
    assert_int_equal(epochs_newest(&epochs).began_us, 1);
    assert_int_equal(epochs_leave(&epochs).rows[0].began_us, 1);
    epochs_free(&epochs);
}

/* Of more rows than fit, the newest ones are left, and the others are known by their numbers. */
static void many_are_left(void **state)
{
    (void)state;
    struct epochs earlier = {0};
    struct buf rows = {0};
    for (int i = 1; i <= EPOCHS_LEFT + 3; i++)
        buf_printf(&rows, "%s%d:%d:7", i == 1 ? "" : ",", i, i * 10);
    buf_append_char(&rows, '\0');
    take(&earlier, rows.data, 0);
    const struct epochs_left left = epochs_leave(&earlier);
    assert_int_equal(left.rows[0].epoch, 4);
    assert_int_equal(left.rows[EPOCHS_LEFT - 1].number, (EPOCHS_LEFT + 3) * 10);
    struct epochs epochs = {0};
    epochs_restore(&epochs, &left);
    take(&epochs, rows.data, 500);
    assert_true(epochs.is_due); /* nobody else has begun it */
    assert_int_equal(epochs_newest(&epochs).epoch, EPOCHS_LEFT + 3);
    epochs_free(&epochs);
    epochs_free(&earlier);
    buf_free(&rows);
}

/* An earlier process has found out, and has not written since. */
static void due_since_an_earlier_process(void **state)
{
    (void)state;
    struct epochs earlier = {0};
    take(&earlier, "1:6:1", 0);
    take(&earlier, "1:6:1", 12);
    const struct epochs_left left = epochs_leave(&earlier);
    struct epochs epochs = {0};
    epochs_restore(&epochs, &left);
    take(&epochs, "1:6:1", 0);
    assert_true(epochs.is_due);
    assert_int_equal(epochs.gone, 12);
    take(&epochs, "1:6:1,2:10:7", 0); /* another instance has begun it */
    assert_int_equal(epochs_leave(&epochs).gone, 0);
    epochs_free(&epochs);
    epochs_free(&earlier);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(begun_by_the_first),
        cmocka_unit_test(own_row_is_known),
        cmocka_unit_test(rows_are_lost),
        cmocka_unit_test(known_from_an_earlier_process),
        cmocka_unit_test(shorter_than_before),
        cmocka_unit_test(many_are_left),
        cmocka_unit_test(due_since_an_earlier_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
