/* JSON as rows store it. */
#include "baremetal/write/json_text.h"

#include "unit.h"

static void assert_kept(const char *text, const char *want)
{
    struct arena *arena = arena_create();
    json_t *value = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    assert_non_null(value);
    assert_string_equal(json_text(value, arena).data, want);
    json_decref(value);
    arena_destroy(arena);
}

static void values(void **state)
{
    (void)state;
    assert_kept("{}", "{}");
    assert_kept("[ ]", "[]");
    assert_kept("{\"b\": [1, -2, true, false, null], \"a\": {\"c\": \"d\"}}",
                "{\"b\":[1,-2,true,false,null],\"a\":{\"c\":\"d\"}}");
    assert_kept("9223372036854775807", "9223372036854775807");
    assert_kept("-9223372036854775808", "-9223372036854775808");
}

static void floats_have_their_shortest_digits(void **state)
{
    (void)state;
    assert_kept("[0.1, 1.0, 1e22, -0.0, 1.5e-7]", "[0.1,1.0,1e+22,-0.0,1.5e-07]");
}

static void texts_are_ascii(void **state)
{
    (void)state;
    assert_kept("\"a\\u0000\\n\\\"\\\\ \xc3\xbf\"", "\"a\\u0000\\n\\\"\\\\ \\u00ff\"");
    assert_kept("{\"\xf0\x9f\x98\x80\": 1}", "{\"\\ud83d\\ude00\":1}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),
        cmocka_unit_test(floats_have_their_shortest_digits),
        cmocka_unit_test(texts_are_ascii),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
