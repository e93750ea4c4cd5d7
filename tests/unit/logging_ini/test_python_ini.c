/* The dialect of configparser. The expected results are those of Python 3.11. */
#include "logging_ini/python_ini.h"

#include "base/buf.h"
#include "conf/arena_group.h"
#include "unit.h"

static struct ini_file file;
static struct ini_error error;

static bool parse(const char *text)
{
    file = (struct ini_file){0};
    error = (struct ini_error){0};
    return python_ini_parse(slice_of(text), arena, &file, &error);
}

static void expect_key(const char *section, const char *key, const char *expected)
{
    const struct ini_entry *entry = python_ini_find(&file, slice_of(section), key);
    struct slice value;
    if (expected == NULL) {
        assert_null(entry);
        return;
    }
    assert_non_null(entry);
    if (!python_ini_expand(&file, entry, arena, &value, &error))
        fail_msg("%s", error.what);
    assert_string_equal(value.data, expected);
}

static void values(void **state)
{
    (void)state;
    assert_true(parse("# comment\n"
                      "; another\n"
                      "[DEFAULT]\n"
                      "everywhere = e\n"
                      "[a b]\n"
                      "Key = value ; no comment\n"
                      "  colon : x = y\n"
                      "empty =\n"
                      "quoted = \"as it is\"\n"
                      "[c] behind it\r\n"
                      "long = one\r\n"
                      "  two\n"
                      "\n"
                      "  # not this\n"
                      "\tthree\n"
                      "next = 4\n"
                      "   [indented]\n"
                      "   k=v\n"));
    expect_key("a b", "key", "value ; no comment\ncolon : x = y");
    expect_key("a b", "empty", "");
    expect_key("a b", "quoted", "\"as it is\"");
    expect_key("a b", "everywhere", "e");
    expect_key("c", "long", "one\ntwo\n\nthree");
    expect_key("c", "next", "4\n[indented]\nk=v");
    expect_key("c", "key", NULL);
    expect_key("nowhere", "everywhere", "e");
    assert_true(python_ini_has_section(&file, SLICE_LIT("c")));
    assert_false(python_ini_has_section(&file, SLICE_LIT("d")));
}

static void indentation(void **state)
{
    (void)state;
    assert_true(parse("[a]\n  x = 1\n y = 2\nz=3\n z=4\n"));
    expect_key("a", "x", "1");
    expect_key("a", "y", "2");
    expect_key("a", "z", "3\nz=4");
}

static void references(void **state)
{
    (void)state;
    assert_true(
        parse("[DEFAULT]\ndir = /var/log\n"
              "[a]\nfile = %(dir)s/x.log\nagain = <%(FILE)s> 100%%\n"
              "none = %(nothing)s\nopen = %(dir\nbare = 5%\nform = %(dir)d\nself = %(self)s\n"
              "x = %(y)s%(y)s%(y)s%(y)s%(y)s%(y)s%(y)s%(y)s\n"
              "y = %(z)s%(z)s%(z)s%(z)s%(z)s%(z)s%(z)s%(z)s\n"
              "z = %(w)s%(w)s%(w)s%(w)s%(w)s%(w)s%(w)s%(w)s\n"
              "w = %(v)s%(v)s%(v)s%(v)s%(v)s%(v)s%(v)s%(v)s\n"
              "v = 1234567890123456789012345678901234567890\n"));
    expect_key("a", "file", "/var/log/x.log");
    expect_key("a", "again", "</var/log/x.log> 100%");
    const struct {
        const char *key;
        const char *what;
    } bad[] = {{"none", "a reference to a key that does not exist"},
               {"open", "a % that does not begin a reference (write %%)"},
               {"bare", "a % that does not begin a reference (write %%)"},
               {"form", "a % that does not begin a reference (write %%)"},
               {"self", "references that are nested too deeply"},
               {"x", "a value of more than 64 KiB"}};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct slice value;
        const struct ini_entry *entry = python_ini_find(&file, SLICE_LIT("a"), bad[i].key);
        assert_false(python_ini_expand(&file, entry, arena, &value, &error));
        assert_string_equal(error.what, bad[i].what);
        assert_int_equal(error.line, entry->line);
    }
}

static void refused(void **state)
{
    (void)state;
    const struct {
        const char *text;
        unsigned line;
        const char *what;
    } bad[] = {
        {"a = b\n", 1, "assignment before the first section"},
        {"[a]\nb\n", 2, "neither a section nor an assignment: no = or : in it"},
        {"[a]\n= b\n", 2, "no name before the assignment"},
        {"[a]\n[b\n", 2, "a section without a name or its ]"},
        {"[]\n", 1, "a section without a name or its ]"},
        {"[a]\n[b]\n[a]\n", 3, "a section that exists already"},
        {"[a]\nx = 1\nX = 2\n", 3, "a key that exists already"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_false(parse(bad[i].text));
        assert_string_equal(error.what, bad[i].what);
        assert_int_equal(error.line, bad[i].line);
    }
    assert_false(python_ini_parse((struct slice){"[a]\nx=\0\n", 8}, arena, &file, &error));
    assert_string_equal(error.what, "NUL byte");
    struct buf many = {0};
    for (int i = 0; i < 4100; i++)
        buf_printf(&many, "[s%d]\n", i);
    assert_false(python_ini_parse(buf_slice(&many), arena, &file, &error));
    assert_string_equal(error.what, "more than 4096 keys and sections");
    assert_int_equal(error.line, 4097);
    buf_free(&many);
    assert_true(parse(""));
    assert_int_equal(file.n, 0);
}

/* Ten references on each of ten levels are ten thousand million. */
static void references_that_multiply(void **state)
{
    (void)state;
    struct buf text = {0};
    struct slice value;
    buf_append_lit(&text, "[s]\nk0 =\n");
    for (int i = 1; i <= 10; i++) {
        buf_printf(&text, "k%d =", i);
        for (int j = 0; j < 10; j++)
            buf_printf(&text, "%%(k%d)s", i - 1);
        buf_append_char(&text, '\n');
    }
    assert_true(python_ini_parse(buf_slice(&text), arena, &file, &error));
    const struct ini_entry *entry = python_ini_find(&file, SLICE_LIT("s"), "k10");
    assert_false(python_ini_expand(&file, entry, arena, &value, &error));
    assert_string_equal(error.what, "too many references");
    buf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),     cmocka_unit_test(indentation),
        cmocka_unit_test(references), cmocka_unit_test(references_that_multiply),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, arena_group_setup, arena_group_teardown);
}
