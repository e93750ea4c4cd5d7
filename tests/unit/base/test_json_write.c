/* Writing JSON: escapes and floats as Python's json module writes them. */
#include "base/json_write.h"
#include "unit.h"

static void check_string(const char *in, size_t len, const char *out)
{
    struct buf buf = {0};
    json_write_string(&buf, (struct slice){in, len});
    buf_append_char(&buf, '\0');
    assert_string_equal(buf.data, out);
    buf_free(&buf);
}

#define EXPECT(in, out) check_string(in, sizeof(in) - 1, out)

static void strings(void **state)
{
    (void)state;
    EXPECT("", "\"\"");
    EXPECT("a/b'c", "\"a/b'c\"");
    EXPECT("q\"b\\", "\"q\\\"b\\\\\"");
    EXPECT("a\0b", "\"a\\u0000b\"");
    EXPECT("\n\r\t\b\f\x1f\x7f", "\"\\n\\r\\t\\b\\f\\u001f\x7f\"");
    EXPECT("\xc3\xa9", "\"\\u00e9\"");
    EXPECT("\xe2\x82\xac", "\"\\u20ac\"");
    EXPECT("\xf0\x9f\x98\x80", "\"\\ud83d\\ude00\"");
    EXPECT("\xff"
           "a",
           "\"\\ufffda\"");
    EXPECT("\xc3", "\"\\ufffd\"");
    EXPECT("\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"");
}

static void check_double(double value, const char *out)
{
    struct buf buf = {0};
    json_write_double(&buf, value);
    buf_append_char(&buf, '\0');
    assert_string_equal(buf.data, out);
    buf_free(&buf);
}

/* A text is processed eight bytes at a time: every byte, at every position of a word and after it.
 */
static void every_byte_at_every_place(void **state)
{
    (void)state;
    for (int byte = 0; byte < 256; byte++) {
        for (size_t at = 0; at < 19; at++) {
            char text[19];
            memset(text, '~', sizeof(text));
            text[at] = (char)byte;
            struct buf whole = {0};
            struct buf pieces = {0};
            json_write_string(&whole, (struct slice){text, sizeof(text)});
            buf_append_char(&pieces, '"');
            for (size_t i = 0; i < sizeof(text); i++) {
                struct buf one = {0};
                json_write_string(&one, (struct slice){text + i, 1});
                buf_append(&pieces, one.data + 1, one.len - 2);
                buf_free(&one);
            }
            buf_append_char(&pieces, '"');
            assert_int_equal(whole.len, pieces.len);
            assert_memory_equal(whole.data, pieces.data, whole.len);
            buf_free(&whole);
            buf_free(&pieces);
        }
    }
}

static void doubles(void **state)
{
    (void)state;
    check_double(1.0, "1.0");
    check_double(16.0, "16.0");
    check_double(0.1, "0.1");
    check_double(1.5, "1.5");
    check_double(-2.25, "-2.25");
    check_double(0.0, "0.0");
    check_double(1e15, "1000000000000000.0");
    check_double(1e16, "1e+16");
    check_double(3.40282e+38, "3.40282e+38");
    check_double(0.0001, "0.0001");
    check_double(0.00001, "1e-05");
    check_double(1.0 / 3, "0.3333333333333333");
    check_double(123456.789, "123456.789");
}

static void integers(void **state)
{
    (void)state;
    struct buf buf = {0};
    buf_append_int(&buf, INT64_MIN);
    buf_append_int(&buf, 0);
    buf_append_int(&buf, INT64_MAX);
    buf_append_char(&buf, '\0');
    assert_string_equal(buf.data, "-922337203685477580809223372036854775807");
    buf_free(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings),
        cmocka_unit_test(every_byte_at_every_place),
        cmocka_unit_test(doubles),
        cmocka_unit_test(integers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
