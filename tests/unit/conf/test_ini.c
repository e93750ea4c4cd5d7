/* The dialect; the expected results were observed in oslo.config 9.0.0 with the same texts. */
#include "conf/ini.h"
#include "conf/whitespace.h"
#include "unit.h"

static struct arena *arena;

/* The entries as "section/key=value@line|", or "error@line". */
static const char *parsed(const char *text, size_t len)
{
    struct ini_file file;
    struct ini_error error;
    struct slice out = {"", 0};
    if (!ini_parse((struct slice){text, len}, arena, &file, &error)) {
        assert_true(strlen(error.what) > 0);
        return arena_printf(arena, "error@%u", error.line).data;
    }
    for (size_t i = 0; i < file.n; i++)
        out = arena_printf(arena, "%.*s%.*s/%.*s=%.*s@%u|", SLICE_ARG(out),
                           SLICE_ARG(file.entries[i].section), SLICE_ARG(file.entries[i].key),
                           SLICE_ARG(file.entries[i].value), file.entries[i].line);
    return out.data;
}

#define EXPECT(in, out) assert_string_equal(parsed(in, sizeof(in) - 1), out)

static void assignments(void **state)
{
    (void)state;
    EXPECT("", "");
    EXPECT("[g]\nc=1\nd : 2\n", "g/c=1@2|g/d=2@3|");
    EXPECT("[g]\nc:1=2\nd=1:2", "g/c=1=2@2|g/d=1:2@3|");
    EXPECT("[g]\nc=\nc=2", "g/c=@2|g/c=2@3|");
    EXPECT("[g]\nC=1\n[H]\n[g]\nc=x ; y # z", "g/C=1@2|g/c=x ; y # z@5|");
    EXPECT("[ g ]\nc d = 1", " g /c d=1@2|");
}

static void continuation_lines(void **state)
{
    (void)state;
    EXPECT("[g]\na = 1\n  2\n\t3 \nb=4\n", "g/a=1\n2\n3@2|g/b=4@5|");
    EXPECT("[g]\na=1\n # x\n", "g/a=1\n# x@2|");
    EXPECT("[g]\nl=\n m\n", "g/l=\nm@2|");
    EXPECT("[g]\na=1\n#c\n d", "error@4");
    EXPECT("[g]\na=1\n\n d", "error@4");
    EXPECT("[g]\na=1\n   \n d", "error@4");
    EXPECT("[g]\n\ta=1", "error@2");
    EXPECT(" a=1", "error@1");
}

static void quotes(void **state)
{
    (void)state;
    EXPECT("[g]\na=\" 7 \"\nb='x'y'\nc=\"x\nd='\ne=''\nf='a','b'",
           "g/a= 7 @2|g/b=x'y@3|g/c=\"x@4|g/d=@5|g/e=@6|g/f=a','b@7|");
    EXPECT("[g]\na = \"x\"\n  \"y\"\n", "g/a=x\n\"y\"@2|");
}

static void comments_and_ends_of_lines(void **state)
{
    (void)state;
    EXPECT("# c\n; d\n\n[g]\r\nc=1\r\nd=2\rE=3\r", "g/c=1@5|g/d=2@6|g/E=3@7|");
    EXPECT("\xef\xbb\xbf[g]\na=1", "g/a=1@2|");
    EXPECT("[g]\na=\xc2\xa0x\xc2\xa0\n", "g/a=x@2|");
}

static void errors(void **state)
{
    (void)state;
    EXPECT("a=1\n[g]", "error@1");
    EXPECT("[g]\na\n", "error@2");
    EXPECT("[g]\n =1\n", "error@2");
    EXPECT("[g]\n=1\n", "error@2");
    EXPECT("[]\na=1", "error@1");
    EXPECT("[g\na=1", "error@1");
    EXPECT("[g] # c\na=1", "error@1");
    EXPECT("[g]\na=1\nb=\0002\n", "error@3");
    EXPECT("[g]\n# \xe4\n", "error@2");
    EXPECT("[g]\n# \xc3\xa4\n", "");
}

static void section_names(void **state)
{
    (void)state;
    assert_true(ini_section_is(SLICE_LIT("API"), "api"));
    assert_true(ini_section_is(SLICE_LIT("DEFAULT"), "DEFAULT"));
    assert_false(ini_section_is(SLICE_LIT("default"), "DEFAULT"));
    assert_false(ini_section_is(SLICE_LIT("api "), "api"));
}

static void expect_stripped(const char *text, const char *out)
{
    struct slice stripped = whitespace_strip(slice_of(text));
    assert_true(slice_equal(stripped, slice_of(out)));
}

static void white_space(void **state)
{
    (void)state;
    expect_stripped("", "");
    expect_stripped(" \t\v\f\x1c\x1f", "");
    expect_stripped("\xe2\x80\x83 a b\xe3\x80\x80\xc2\x85", "a b");
    expect_stripped("\xe1\x9a\x80x\xe2\x81\x9f\xe2\x80\xaf\xe2\x80\xa8", "x");
    /* Neither U+200B nor an invalid sequence is white space in Python. */
    expect_stripped("\xe2\x80\x8b", "\xe2\x80\x8b");
    expect_stripped("\xe2\x80", "\xe2\x80");
    expect_stripped("\x80\xa0", "\x80\xa0");
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
        cmocka_unit_test(assignments), cmocka_unit_test(continuation_lines),
        cmocka_unit_test(quotes),      cmocka_unit_test(comments_and_ends_of_lines),
        cmocka_unit_test(errors),      cmocka_unit_test(section_names),
        cmocka_unit_test(white_space),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
