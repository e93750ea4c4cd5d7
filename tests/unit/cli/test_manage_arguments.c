/* The command line of placement-manage. Exit codes and streams were seen in the Python tool 8.0.0.
 */
#include "cli/manage_arguments.h"

#include <stdlib.h>
#include <string.h>

#include "unit.h"

static struct manage_arguments arguments;
static char *out;
static char *errors;

static bool parse(const char *const *words)
{
    char *argv[16] = {"placement-manage"};
    int argc = 1;
    size_t len;
    for (; words[argc - 1] != NULL; argc++)
        argv[argc] = (char *)words[argc - 1];
    free(out);
    free(errors);
    FILE *out_stream = open_memstream(&out, &len);
    FILE *error_stream = open_memstream(&errors, &len);
    bool run = manage_arguments_parse(argc, argv, out_stream, error_stream, &arguments);
    fclose(out_stream);
    fclose(error_stream);
    return run;
}

#define PARSE(...) parse((const char *const[]){__VA_ARGS__, NULL})

/* Ends with this code; the words stand on standard output (codes 0 and 1) or standard error. */
#define EXPECT_END(code, words, ...)                                                               \
    do {                                                                                           \
        assert_false(PARSE(__VA_ARGS__));                                                          \
        assert_int_equal(arguments.exit_code, code);                                               \
        assert_non_null(strstr((code) == 2 ? errors : out, words));                                \
        assert_string_equal((code) == 2 ? out : errors, "");                                       \
    } while (0)

static void commands(void **state)
{
    (void)state;
    assert_true(PARSE("db", "sync"));
    assert_int_equal(arguments.command, MANAGE_SYNC);
    assert_true(PARSE("--config-file", "a", "-d", "--config-dir=b", "db", "version"));
    assert_int_equal(arguments.command, MANAGE_VERSION);
    assert_int_equal(arguments.inputs.sources_n, 2);
    assert_string_equal(arguments.inputs.sources[1].path, "b");
    assert_int_equal(arguments.inputs.overrides_n, 1);
    assert_true(PARSE("db", "stamp", "422ece571366"));
    assert_int_equal(arguments.command, MANAGE_STAMP);
    assert_string_equal(arguments.revision, "422ece571366");
}

static void logging_switches(void **state)
{
    (void)state;
    assert_true(PARSE("--log-file", "f", "--logdir=d", "--nodebug", "--use-json", "--nouse-syslog",
                      "--log-config", "c", "db", "sync"));
    assert_int_equal(arguments.inputs.overrides_n, 6);
    assert_string_equal(arguments.inputs.overrides[0].name, "log_file");
    assert_string_equal(arguments.inputs.overrides[2].value, "false");
    assert_string_equal(arguments.inputs.overrides[3].value, "true");
    assert_string_equal(arguments.inputs.overrides[4].value, "false");
    assert_string_equal(arguments.inputs.overrides[5].value, "c");
}

static void helps(void **state)
{
    (void)state;
    assert_false(parse((const char *const[]){NULL}));
    assert_int_equal(arguments.exit_code, 1);
    assert_non_null(strstr(out, "usage: placement-manage"));
    EXPECT_END(1, "usage: placement-manage", "--debug");
    EXPECT_END(0, "--config-dir DIR", "--help");
    EXPECT_END(0, "stamp VERSION", "db");
    EXPECT_END(0, "stamp VERSION", "db", "-h");
    EXPECT_END(0, "usage: placement-manage db stamp [-h] VERSION", "db", "stamp", "--help");
    EXPECT_END(0, BERTH_VERSION "\n", "--version");
}

static void errors_of_the_caller(void **state)
{
    (void)state;
    EXPECT_END(2, "invalid choice: 'bogus' (choose from 'db')", "bogus");
    EXPECT_END(2, "placement-manage db: error: invalid choice: 'bogus'", "db", "bogus");
    EXPECT_END(2, "the following arguments are required: VERSION", "db", "stamp");
    EXPECT_END(2, "unrecognized arguments: extra", "db", "version", "extra");
    EXPECT_END(2, "unrecognized arguments: b", "db", "stamp", "a", "b");
    EXPECT_END(2, "unrecognized arguments: --bogus", "--bogus");
    EXPECT_END(2, "unrecognized arguments: --version", "db", "--version");
    EXPECT_END(2, "unrecognized arguments: --debug", "db", "sync", "--debug");
    EXPECT_END(2, "expected one argument: --config-file", "--config-file");
}

static int teardown(void **state)
{
    (void)state;
    free(out);
    free(errors);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands),
        cmocka_unit_test(logging_switches),
        cmocka_unit_test(helps),
        cmocka_unit_test(errors_of_the_caller),
    };
    return cmocka_run_group_tests(tests, NULL, teardown);
}
