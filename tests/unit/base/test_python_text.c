/* Strings as Python's repr prints them; api/text/test_python_repr.c has the long list. */
#include "base/python_text.h"

#include "unit.h"

static const char *written(struct slice text, size_t bytes_max)
{
    static char copy[64];
    struct buf out = {0};
    python_text_write(&out, text, bytes_max);
    assert_true(out.len < sizeof(copy));
    memcpy(copy, out.data, out.len);
    copy[out.len] = '\0';
    buf_free(&out);
    return copy;
}

static void quotes_and_escapes(void **state)
{
    (void)state;
    assert_string_equal(written(SLICE_LIT(""), SIZE_MAX), "''");
    assert_string_equal(written(SLICE_LIT("it's"), SIZE_MAX), "\"it's\"");
    assert_string_equal(written(SLICE_LIT("a\\b\n\0"), SIZE_MAX), "'a\\\\b\\n\\x00'");
}

static void bounds(void **state)
{
    (void)state;
    assert_string_equal(written(SLICE_LIT("abc"), 3), "'ab...'");
    assert_string_equal(written(SLICE_LIT("abc"), 4), "'abc'");
    assert_string_equal(written(SLICE_LIT("abc"), 0), "'...'");
}

/* Invalid UTF-8 is shown in some form, and nothing after the text is read. */
static void malformed(void **state)
{
    (void)state;
    assert_int_equal(written(SLICE_LIT("\xe2\x80"), SIZE_MAX)[0], '\'');
    assert_int_equal(written(SLICE_LIT("\xff\x80\x80"), SIZE_MAX)[0], '\'');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quotes_and_escapes),
        cmocka_unit_test(bounds),
        cmocka_unit_test(malformed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
