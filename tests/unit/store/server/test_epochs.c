/* When an instance has to begin an epoch: the database went back, and no row is there that memory
 * did not have. */
#include "store/server/epochs.h"

#include <string.h>

#include "unit.h"

enum { ROWS_MOST = 3 };

/* The first row with the epoch 0 ends them. */
static void take(struct epochs *epochs, const struct epoch_row *rows, size_t most, int64_t gone)
{
    struct epoch_rows read = {0};
    for (size_t i = 0; i < most && rows[i].epoch > 0; i++)
        epoch_rows_append(&read, &rows[i]);
    epochs_note(epochs, &read);
    assert_int_equal(read.count, 0); /* it belongs to the epochs */
    epochs_take(epochs, gone);
}

#define TAKE(epochs, gone, ...)                                                                    \
    take(epochs, (const struct epoch_row[ROWS_MOST]){__VA_ARGS__}, ROWS_MOST, gone)

static void begun_by_the_first(void **state)
{
    (void)state;
    struct epochs epochs = {0};
    TAKE(&epochs, 0, {0});
    assert_false(epochs.is_due);
    assert_int_equal(epochs_newest(&epochs).epoch, 0);
    TAKE(&epochs, 5, {0});
    assert_true(epochs.is_due);
    TAKE(&epochs, 0, {0}); /* what others write does not change that */
    assert_true(epochs.is_due);
    TAKE(&epochs, 0, {1, 6, 1});
    assert_false(epochs.is_due);
    assert_int_equal(epochs_newest(&epochs).epoch, 1);
    TAKE(&epochs, 9, {1, 6, 1}, {2, 8, 2}); /* found out after somebody else */
    assert_false(epochs.is_due);
    assert_int_equal(epochs_newest(&epochs).epoch, 2);
    epochs_free(&epochs);
}

/* A row of its own is known as well: it does not count for the next time. */
static void own_row_is_known(void **state)
{
    (void)state;
    struct epochs epochs = {0};
    TAKE(&epochs, 0, {1, 6, 1});
    TAKE(&epochs, 9, {1, 6, 1});
    assert_true(epochs.is_due);
    struct epoch_insert insert;
    assert_true(epochs_begin(&epochs, 10, &insert));
    assert_int_equal(insert.row.epoch, 2);
    assert_int_equal(insert.row.number, 10);
    assert_non_null(strstr(insert.reason, "batch 9 is gone"));
    epochs_commit(&epochs, 10);
    assert_false(epochs.is_due);
    assert_int_equal(epochs_newest(&epochs).epoch, 2);
    assert_false(epochs_begin(&epochs, 11, &insert));
    epochs_commit(&epochs, 11);
    assert_int_equal(epochs_newest(&epochs).number, 10);
    TAKE(&epochs, 12, {1, 6, 1}, {2, 10, insert.row.began_us});
    assert_true(epochs.is_due);
    epochs_free(&epochs);
}

/* The database has lost rows, too, and numbers them again. */
static void rows_are_lost(void **state)
{
    (void)state;
    struct epochs epochs = {0};
    TAKE(&epochs, 0, {1, 6, 1}, {2, 10, 7});
    TAKE(&epochs, 12, {1, 6, 1});
    assert_true(epochs.is_due);
    TAKE(&epochs, 0, {1, 6, 1}, {2, 9, 8});
    assert_false(epochs.is_due);
    TAKE(&epochs, 11, {1, 4, 9});
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
        struct epoch_row rows[ROWS_MOST];
        bool is_due;
    } cases[] = {
        {{{1, 6, 1}, {2, 10, 7}}, true},
        {{{1, 6, 1}}, true},
        {{{0}}, true},
        {{{1, 6, 1}, {2, 9, 8}}, false},
        {{{1, 6, 1}, {2, 10, 7}, {3, 12, 9}}, false},
        {{{1, 5, 9}}, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct epochs epochs = {0};
        epochs_restore(&epochs, &left);
        take(&epochs, cases[i].rows, ROWS_MOST, 12);
        assert_int_equal(epochs.is_due, cases[i].is_due);
        epochs_free(&epochs);
    }
}

/* Of more rows than fit, the newest ones are left, and the others are known by their numbers. */
static void many_are_left(void **state)
{
    (void)state;
    struct epochs earlier = {0};
    struct epoch_row rows[EPOCHS_LEFT + 3];
    for (int i = 1; i <= EPOCHS_LEFT + 3; i++)
        rows[i - 1] = (struct epoch_row){i, i * 10, 7};
    take(&earlier, rows, EPOCHS_LEFT + 3, 0);
    const struct epochs_left left = epochs_leave(&earlier);
    assert_int_equal(left.rows[0].epoch, 4);
    assert_int_equal(left.rows[EPOCHS_LEFT - 1].number, (EPOCHS_LEFT + 3) * 10);
    struct epochs epochs = {0};
    epochs_restore(&epochs, &left);
    take(&epochs, rows, EPOCHS_LEFT + 3, 500);
    assert_true(epochs.is_due); /* nobody else has begun it */
    assert_int_equal(epochs_newest(&epochs).epoch, EPOCHS_LEFT + 3);
    epochs_free(&epochs);
    epochs_free(&earlier);
}

/* An earlier process has found out, and has not written since. */
static void due_since_an_earlier_process(void **state)
{
    (void)state;
    struct epochs earlier = {0};
    TAKE(&earlier, 0, {1, 6, 1});
    TAKE(&earlier, 12, {1, 6, 1});
    const struct epochs_left left = epochs_leave(&earlier);
    struct epochs epochs = {0};
    epochs_restore(&epochs, &left);
    TAKE(&epochs, 0, {1, 6, 1});
    assert_true(epochs.is_due);
    assert_int_equal(epochs.gone, 12);
    TAKE(&epochs, 0, {1, 6, 1}, {2, 10, 7}); /* another instance has begun it */
    assert_int_equal(epochs_leave(&epochs).gone, 0);
    epochs_free(&epochs);
    epochs_free(&earlier);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(begun_by_the_first), cmocka_unit_test(own_row_is_known),
        cmocka_unit_test(rows_are_lost),      cmocka_unit_test(known_from_an_earlier_process),
        cmocka_unit_test(many_are_left),      cmocka_unit_test(due_since_an_earlier_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
