/* The buffer: any bytes in order, and integers as printf writes them. */
#include <inttypes.h>
#include <stdio.h>

#include "base/buf.h"
#include "unit.h"

static void appends_in_order(void **state)
{
    (void)state;
    struct buf buf = {0};
    buf_append(&buf, NULL, 0);
    assert_null(buf.data);
    buf_append_slice(&buf, (struct slice){0});
    buf_append_lit(&buf, "a\0b");
    buf_append_char(&buf, '\0');
    buf_printf(&buf, "%s", "");
    buf_printf(&buf, "%05d", 7);
    buf_append_slice(&buf, SLICE_LIT("z"));
    assert_int_equal(buf.len, 10);
    assert_memory_equal(buf.data,
                        "a\0b\000000"
                        "07z",
                        10);
    struct slice all = buf_slice(&buf);
    assert_ptr_equal(all.data, buf.data);
    assert_int_equal(all.len, 10);
    buf_free(&buf);
    assert_null(buf.data);
    assert_int_equal(buf.cap, 0);
}

static void grows(void **state)
{
    (void)state;
    struct buf buf = {0};
    for (unsigned i = 0; i < 100000; i++)
        buf_append_char(&buf, (char)(i * 7));
    for (unsigned i = 0; i < 100000; i++)
        if (buf.data[i] != (char)(i * 7))
            fail_msg("byte %u", i);
    assert_true(buf.cap >= buf.len && buf.cap <= 4 * buf.len);
    char *at = buf_reserve(&buf, 1 << 20);
    assert_ptr_equal(at, buf.data + 100000);
    assert_int_equal(buf.len, 100000);
    assert_true(buf.cap - buf.len >= 1 << 20);
    assert_ptr_equal(buf_reserve(&buf, 1 << 20), at); /* enough room: it does not move */
    buf_free(&buf);
}

static void integers(void **state)
{
    (void)state;
    static const int64_t VALUES[] = {0,         1,         -1,           9,          10,
                                     -10,       99,        100,          2147483648, -2147483649,
                                     INT64_MAX, INT64_MIN, INT64_MIN + 1};
    for (size_t i = 0; i < sizeof(VALUES) / sizeof(VALUES[0]); i++) {
        struct buf buf = {0};
        char want[64];
        int len = snprintf(want, sizeof(want), "%" PRId64, VALUES[i]);
        buf_append_int(&buf, VALUES[i]);
        assert_int_equal(buf.len, len);
        assert_memory_equal(buf.data, want, (size_t)len);
        buf_free(&buf);
    }
    for (int64_t power = 1; power <= INT64_MAX / 10; power *= 10) { /* where the length changes */
        for (int64_t value = power - 1; value <= power + 1; value++) {
            char want[64];
            char got[DECIMAL_MAX];
            int len = snprintf(want, sizeof(want), "%" PRId64, value);
            assert_int_equal(decimal_write(got, value), len);
            assert_memory_equal(got, want, (size_t)len);
        }
    }
    struct buf buf = {0};
    for (int64_t value = 1; value < INT64_MAX / 7; value = value * 3 + 1) {
        char want[64];
        int len = snprintf(want, sizeof(want), "%" PRId64 "%" PRId64, value, -value);
        buf.len = 0;
        buf_append_int(&buf, value);
        buf_append_int(&buf, -value);
        assert_int_equal(buf.len, len);
        assert_memory_equal(buf.data, want, (size_t)len);
    }
    buf_free(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appends_in_order),
        cmocka_unit_test(grows),
        cmocka_unit_test(integers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
