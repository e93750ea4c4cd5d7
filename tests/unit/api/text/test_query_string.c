/* Query strings and percent-encoding (placement spec, Query strings). */
#include <stdlib.h>

#include "api/text/query_string.h"
#include "base/arena.h"
#include "base/buf.h"
#include "unit.h"

/* Pairs as "name=value|name=value|". */
static void assert_pairs(struct slice raw, struct slice want, bool is_utf8)
{
    struct arena *arena = arena_create();
    struct query_string query = query_string_parse(arena, raw);
    struct buf text = {0};
    for (size_t i = 0; i < query.count; i++) {
        buf_append_slice(&text, query.pairs[i].name);
        buf_append_char(&text, '=');
        buf_append_slice(&text, query.pairs[i].value);
        buf_append_char(&text, '|');
    }
    if (!slice_equal(buf_slice(&text), want))
        fail_msg("%.*s: %.*s", SLICE_ARG(raw), SLICE_ARG(buf_slice(&text)));
    assert_int_equal(query.is_utf8, is_utf8);
    buf_free(&text);
    arena_destroy(arena);
}

#define PAIRS(raw, want) assert_pairs(SLICE_LIT(raw), SLICE_LIT(want), true)

static void pairs(void **state)
{
    (void)state;
    assert_pairs((struct slice){0}, SLICE_LIT(""), true);
    PAIRS("", "");
    PAIRS("a=1", "a=1|");
    PAIRS("a=1&b=2;c=3", "a=1|b=2|c=3|");
    PAIRS("&;a=1&&;b;&", "a=1|b=|");
    PAIRS("a", "a=|");
    PAIRS("a=", "a=|");
    PAIRS("=a", "=a|");
    PAIRS("=", "=|");
    PAIRS("a=b=c", "a=b=c|");
    PAIRS("a=1&a=2", "a=1|a=2|");
    PAIRS("a+b=c+d%2B", "a b=c d+|");
    PAIRS("%61=%3d%26%3B", "a==&;|");
    PAIRS("a=%", "a=%|");
    PAIRS("a=%4", "a=%4|");
    PAIRS("a=%4g%g4%41", "a=%4g%g4A|");
    PAIRS("a=%%41", "a=%A|");
    PAIRS("a=%00", "a=\0|");
    PAIRS("a=%C3%a4\xc3\xa4", "a=\xc3\xa4\xc3\xa4|");
    assert_pairs(SLICE_LIT("a=%ff"), SLICE_LIT("a=\xff|"), false);
    assert_pairs(SLICE_LIT("%ff&b=1"), SLICE_LIT("\xff=|b=1|"), false);
}

static void first_and_last(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct query_string query = query_string_parse(arena, SLICE_LIT("a=1&b=2&a=3&c"));
    assert_true(slice_equal(query_string_first(&query, SLICE_LIT("a")), SLICE_LIT("1")));
    assert_true(slice_equal(query_string_last(&query, SLICE_LIT("a")), SLICE_LIT("3")));
    assert_non_null(query_string_last(&query, SLICE_LIT("c")).data);
    assert_int_equal(query_string_first(&query, SLICE_LIT("c")).len, 0);
    assert_null(query_string_first(&query, SLICE_LIT("d")).data);
    assert_null(query_string_last(&query, SLICE_LIT("")).data);
    arena_destroy(arena);
}

static void paths(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct slice raw = SLICE_LIT("/a+b%20c%2Fd%zz");
    assert_true(slice_equal(percent_decode(arena, raw, false), SLICE_LIT("/a+b c/d%zz")));
    assert_true(slice_equal(percent_decode(arena, raw, true), SLICE_LIT("/a b c/d%zz")));
    raw = SLICE_LIT("/plain");
    assert_ptr_equal(percent_decode(arena, raw, true).data, raw.data); /* nothing to copy */
    arena_destroy(arena);
}

/* The bytes of a code point, whether or not it is allowed. */
static struct slice encode(uint32_t code, unsigned len, char out[4])
{
    static const unsigned char LEAD[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (unsigned i = len; i-- > 1; code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)(len == 1 ? code : LEAD[len] | code);
    return (struct slice){out, len};
}

static void utf8(void **state)
{
    (void)state;
    static const uint32_t FROM[] = {0, 0, 0x80, 0x800, 0x10000};
    static const uint32_t TO[] = {0, 0x7f, 0x7ff, 0xffff, 0x10ffff};
    static const uint32_t MOST[] = {0, 0x7f, 0x7ff, 0xffff, 0x1fffff};
    for (unsigned len = 1; len <= 4; len++)
        for (uint32_t code = 0; code <= MOST[len]; code += len < 4 ? 1 : 7) {
            char out[4];
            bool valid = code >= FROM[len] && code <= TO[len] && (code < 0xd800 || code > 0xdfff);
            struct slice text = encode(code, len, out);
            if (text_is_utf8(text) != valid)
                fail_msg("%u bytes, U+%04X", len, code);
            if (len > 1 && text_is_utf8((struct slice){out, len - 1}))
                fail_msg("cut: %u bytes, U+%04X", len, code);
        }
    for (unsigned byte = 0x80; byte < 0x100; byte++) {
        char lone[2] = {(char)byte, 'a'};
        assert_false(text_is_utf8((struct slice){lone, 2}));
    }
    assert_true(text_is_utf8(SLICE_LIT("a\0\xc3\xa4")));
    assert_true(text_is_utf8(SLICE_LIT("")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs),
        cmocka_unit_test(first_and_last),
        cmocka_unit_test(paths),
        cmocka_unit_test(utf8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
