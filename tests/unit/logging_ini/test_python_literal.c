/* Python expressions in logging configurations. */
#include "logging_ini/python_literal.h"

#include "base/buf.h"
#include "conf/arena_group.h"
#include "unit.h"

static void print(struct buf *out, const struct python_value *value)
{
    switch (value->kind) {
    case PYTHON_NONE:
        buf_append_lit(out, "None");
        return;
    case PYTHON_TEXT:
        buf_printf(out, "'%s'", value->text.data);
        return;
    case PYTHON_INTEGER:
        buf_append_int(out, value->integer);
        return;
    case PYTHON_BOOLEAN:
        buf_append_slice(out, slice_of(value->integer ? "True" : "False"));
        return;
    case PYTHON_NAME:
        buf_append_slice(out, value->text);
        return;
    case PYTHON_SEQUENCE:
    case PYTHON_MAPPING:
        buf_append_char(out, value->kind == PYTHON_SEQUENCE ? '(' : '{');
        for (size_t i = 0; i < value->count; i++) {
            print(out, &value->items[i]);
            buf_append_char(out, ' ');
        }
        buf_append_char(out, value->kind == PYTHON_SEQUENCE ? ')' : '}');
        return;
    }
}

static void expect(const char *text, const char *expected)
{
    struct python_value value;
    struct buf out = {0};
    if (expected == NULL) {
        if (python_literal_parse(slice_of(text), arena, &value))
            fail_msg("%s", text);
        return;
    }
    if (!python_literal_parse(slice_of(text), arena, &value))
        fail_msg("%s", text);
    print(&out, &value);
    buf_append_char(&out, '\0');
    assert_string_equal(out.data, expected);
    buf_free(&out);
}

static void read(void **state)
{
    (void)state;
    expect("()", "()");
    expect(" ( sys.stdout , ) ", "(sys.stdout )");
    expect("(sys.stdout)", "sys.stdout");
    expect("('/var/log/x.log', \"a\", 10*1024 * 1024, 5)", "('/var/log/x.log' 'a' 10485760 5 )");
    expect("(('localhost', handlers.SYSLOG_UDP_PORT), handlers.SysLogHandler.LOG_USER)",
           "(('localhost' handlers.SYSLOG_UDP_PORT ) handlers.SysLogHandler.LOG_USER )");
    expect("{'filename': 'x', \"maxBytes\": 1_000, 'delay': True, 'encoding': None,}",
           "{'filename' 'x' 'maxBytes' 1000 'delay' True 'encoding' None }");
    expect("['a' 'b'\n 'c', -7, False]", "('abc' -7 False )");
    expect("'it\\'s\\n\\\\'", "'it's\n\\'");
    expect("{}", "{}");
    expect("sys.stdout,", "(sys.stdout )");
    expect("'x.log', 'a', 2", "('x.log' 'a' 2 )");
    expect("(u'x', r'C:\\n', U\"y\" R'z')", "('x' 'C:\\n' 'yz' )");
    expect("9223372036854775807", "9223372036854775807");
}

static void refused(void **state)
{
    (void)state;
    static const char *const BAD[] = {"",
                                      "(",
                                      ")",
                                      "(,)",
                                      "('a'",
                                      "'a",
                                      "'a\n'",
                                      "'\\x41'",
                                      "'\\",
                                      "{'a'}",
                                      "{'a': }",
                                      "{'a': 1, 'b'}",
                                      "(1 2)",
                                      "1 +",
                                      "os.path.join('a')",
                                      "f'x'",
                                      "9223372036854775808",
                                      "4294967296*4294967296",
                                      "-",
                                      "1*",
                                      "((((((((1,),),),),),),),)",
                                      "[1)",
                                      "%",
                                      "'a' % 1"};
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++)
        expect(BAD[i], NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, arena_group_setup, arena_group_teardown);
}
