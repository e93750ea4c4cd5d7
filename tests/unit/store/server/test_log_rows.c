/* States of the log: what of a row is in its digest, and stamps. */
#include "store/server/log_rows.h"

#include "unit.h"

static const char MARK[] = "0123456789abcdef";
static const char ZEROS[LOG_DIGEST_LEN];

static struct log_row row_of(int64_t number)
{
    return (struct log_row){
        .number = number,
        .mark = {MARK, LOG_MARK_LEN},
        .before = {ZEROS, LOG_DIGEST_LEN},
        .entries = SLICE_LIT("entries"),
    };
}

static void test_each_part_counts(void **state)
{
    (void)state;
    struct log_state first, other;
    struct log_row row = row_of(7);
    assert_true(log_row_state(&row, &first));
    assert_int_equal(first.number, 7);
    assert_memory_equal(first.mark, MARK, LOG_MARK_LEN);
    assert_true(log_row_state(&row, &other));
    assert_true(log_state_equal(&first, &other));
    for (unsigned part = 0; part < 4; part++) {
        row = row_of(part == 0 ? 8 : 7);
        if (part == 1)
            row.mark.data = "0123456789abcdeF";
        if (part == 2)
            row.before.data = MARK;
        if (part == 3)
            row.entries = SLICE_LIT("entrieS");
        assert_true(log_row_state(&row, &other));
        assert_memory_not_equal(first.digest, other.digest, LOG_DIGEST_LEN);
        assert_false(log_state_equal(&first, &other));
    }
}

/* What another program wrote is no state. */
static void test_invalid_rows(void **state)
{
    (void)state;
    struct log_state found;
    struct log_row row = row_of(0);
    assert_false(log_row_state(&row, &found));
    row = row_of(1);
    row.mark.len--;
    assert_false(log_row_state(&row, &found));
    row = row_of(1);
    row.before.len++;
    assert_false(log_row_state(&row, &found));
}

/* Not even an empty log has the stamp that is never current. */
static void test_stamps(void **state)
{
    (void)state;
    const struct store_stamp none = {{0}};
    struct log_state found = {0};
    struct store_stamp empty = log_state_stamp(&found, 0);
    assert_memory_not_equal(&empty, &none, sizeof(none));
    struct log_row row = row_of(1);
    assert_true(log_row_state(&row, &found));
    struct store_stamp one = log_state_stamp(&found, 0);
    assert_memory_not_equal(&empty, &one, sizeof(one));
    found.digest[0] ^= 1;
    struct store_stamp changed = log_state_stamp(&found, 0);
    assert_memory_not_equal(&changed, &one, sizeof(one));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_part_counts),
        cmocka_unit_test(test_invalid_rows),
        cmocka_unit_test(test_stamps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
