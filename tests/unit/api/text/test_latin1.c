/* Every byte becomes the character of that number. */
#include "api/text/latin1.h"
#include "api/text/query_string.h"
#include "unit.h"

static void every_byte(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    for (unsigned byte = 0; byte < 256; byte++) {
        char in[3] = {'a', (char)byte, 'z'};
        struct slice out = latin1_text(arena, (struct slice){in, 3});
        assert_int_equal(out.len, byte < 0x80 ? 3 : 4);
        assert_true(text_is_utf8(out));
        unsigned char first = (unsigned char)out.data[1];
        unsigned code =
            byte < 0x80 ? first : (first & 0x1fu) << 6 | ((unsigned char)out.data[2] & 0x3fu);
        assert_int_equal(code, byte);
        assert_int_equal(out.data[0], 'a');
        assert_int_equal(out.data[out.len - 1], 'z');
    }
    assert_int_equal(latin1_text(arena, (struct slice){0}).len, 0);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
