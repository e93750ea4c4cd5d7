/* Types and references, as oslo.config 9.0.0 reads the same texts. */
#include "conf/interpolate.h"
#include "conf/value.h"
#include "unit.h"

static struct arena *arena;

/* The converted value as interpolation prints it, "unset", or "no: " and the reason. */
static const char *converted(struct option option, const char *text)
{
    struct conf_value value = {.option = &option};
    struct slice given = slice_of(text);
    struct slice why;
    if (!value_convert(&value, &given, 1, arena, &why))
        return arena_printf(arena, "no: %.*s", SLICE_ARG(why)).data;
    if (!value.is_set)
        return "unset";
    struct buf out = {0};
    value_print(&value, &out);
    const char *printed = arena_copy(arena, buf_slice(&out)).data;
    buf_free(&out);
    return printed;
}

#define EXPECT(option, in, out) assert_string_equal(converted((option), (in)), (out))

static void booleans(void **state)
{
    (void)state;
    const struct option option = {.type = OPTION_BOOLEAN};
    EXPECT(option, "true", "True");
    EXPECT(option, "Yes", "True");
    EXPECT(option, "ON", "True");
    EXPECT(option, "1", "True");
    EXPECT(option, "False", "False");
    EXPECT(option, "no", "False");
    EXPECT(option, "off", "False");
    EXPECT(option, "0", "False");
    EXPECT(option, "", "no: must be true or false, not ''");
    EXPECT(option, " true", "no: must be true or false, not ' true'");
    EXPECT(option, "2", "no: must be true or false, not '2'");
}

static void integers(void **state)
{
    (void)state;
    const struct option option = {.type = OPTION_INTEGER};
    const struct option bounded = {.type = OPTION_INTEGER, .min = -1, .max = 10};
    EXPECT(option, " 7 ", "7");
    EXPECT(option, "-1_0", "-10");
    EXPECT(option, "+05", "5");
    EXPECT(option, "", "unset");
    EXPECT(option, "1.0", "no: must be a whole number, not '1.0'");
    EXPECT(option, "0x10", "no: must be a whole number, not '0x10'");
    EXPECT(option, "-", "no: must be a whole number, not '-'");
    EXPECT(option, "1__0", "no: must be a whole number, not '1__0'");
    EXPECT(option, "_1", "no: must be a whole number, not '_1'");
    EXPECT(option, "9223372036854775807", "9223372036854775807");
    EXPECT(option, "9223372036854775808", "no: must fit into 64 bits, not '9223372036854775808'");
    EXPECT(bounded, "-1", "-1");
    EXPECT(bounded, "10", "10");
    EXPECT(bounded, "11", "no: must be between -1 and 10");
    EXPECT(bounded, "-2", "no: must be between -1 and 10");
}

static void floats(void **state)
{
    (void)state;
    const struct option option = {.type = OPTION_FLOAT, .max = 20};
    EXPECT(option, "1e1", "10.0");
    EXPECT(option, "0.1", "0.1");
    EXPECT(option, "1_0.5", "10.5");
    EXPECT(option, " .5 ", "0.5");
    EXPECT(option, "", "unset");
    EXPECT(option, "20.5", "no: must be between 0 and 20");
    EXPECT(option, "0x1", "no: must be a number, not '0x1'");
    EXPECT(option, "nan", "no: must be a number, not 'nan'");
    EXPECT(option, "1s", "no: must be a number, not '1s'");
    EXPECT(option, "1_", "no: must be a number, not '1_'");
}

static void strings(void **state)
{
    (void)state;
    const struct option option = {.type = OPTION_STRING};
    const struct option choice = {.type = OPTION_STRING, .choices = "keystone|noauth2"};
    const struct option any_case = {
        .type = OPTION_STRING, .choices = "Days|size", .choices_any_case = true};
    EXPECT(option, "", "");
    EXPECT(option, " a\nb", " a\nb");
    EXPECT(any_case, "days", "days");
    EXPECT(any_case, "SIZE", "SIZE");
    EXPECT(any_case, "day", "no: must be one of Days, size, not 'day'");
    EXPECT(choice, "noauth2", "noauth2");
    EXPECT(choice, "keystone", "keystone");
    EXPECT(choice, "key", "no: must be one of keystone, noauth2, not 'key'");
    EXPECT(choice, "NOAUTH2", "no: must be one of keystone, noauth2, not 'NOAUTH2'");
    EXPECT(choice, "", "no: must be one of keystone, noauth2, not ''");
}

static void lists(void **state)
{
    (void)state;
    const struct option option = {.type = OPTION_LIST};
    EXPECT(option, "a,b", "['a', 'b']");
    EXPECT(option, " a ,, b ,,", "['a', '', 'b']");
    EXPECT(option, "\na,\nb", "['a', 'b']");
    EXPECT(option, "\"a,b\"", "['\"a', 'b\"']");
    EXPECT(option, "a\nb\\", "['a\\nb\\\\']");
    EXPECT(option, ",", "[]");
    EXPECT(option, "", "[]");
}

static bool find(void *context, struct slice name, struct buf *out)
{
    if (slice_equal(name, SLICE_LIT("bad")))
        return false;
    buf_append_char(out, '<');
    buf_append_slice(out, name);
    buf_append_slice(out, slice_of(context));
    return true;
}

static const char *expanded(const char *text)
{
    struct buf out = {0};
    char end[] = ">";
    bool ok = interpolate_expand(slice_of(text), (struct interpolate_lookup){find, end}, &out);
    const char *copy = ok ? arena_copy(arena, buf_slice(&out)).data : NULL;
    buf_free(&out);
    return copy;
}

static void references(void **state)
{
    (void)state;
    assert_string_equal(expanded("$a ${b}c $d.e-f $g."), "<a> <b>c <d.e>-f <g.>");
    assert_string_equal(expanded("$$a \\$b $$$c"), "$a $b $<c>");
    assert_string_equal(expanded("$5 $ ${} ${a b} ${a $. $-"), "$5 $ ${} ${a b} ${a $. $-");
    assert_string_equal(expanded("\\x$_9\\"), "\\x<_9>\\");
    assert_string_equal(expanded("$\\$x \\$$y"), "$<x> $<y>");
    assert_null(expanded("x$bad"));
}

static int setup(void **state)
{
    (void)state;
    arena = arena_create();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_destroy(arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(booleans), cmocka_unit_test(integers), cmocka_unit_test(floats),
        cmocka_unit_test(strings),  cmocka_unit_test(lists),    cmocka_unit_test(references),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
