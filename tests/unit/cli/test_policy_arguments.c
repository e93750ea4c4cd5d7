/* The command line of berth policy. */
#include "cli/policy_arguments.h"

#include <stdlib.h>
#include <string.h>

#include "unit.h"

static struct policy_arguments arguments;
static struct conf_inputs inputs;
static char *out;
static char *errors;

static bool parse(const char *const *words)
{
    char *argv[POLICY_ASKED_MAX + 8] = {"policy"};
    int argc = 1;
    size_t len;
    for (; words[argc - 1] != NULL; argc++)
        argv[argc] = (char *)(uintptr_t)words[argc - 1];
    free(out);
    free(errors);
    inputs = (struct conf_inputs){.sources_n = 0};
    FILE *out_stream = open_memstream(&out, &len);
    FILE *error_stream = open_memstream(&errors, &len);
    bool run = policy_arguments_parse(argc, argv, &inputs, out_stream, error_stream, &arguments);
    fclose(out_stream);
    fclose(error_stream);
    return run;
}

#define PARSE(...) parse((const char *const[]){__VA_ARGS__, NULL})

static void expect_wrong(const char *words)
{
    assert_int_equal(arguments.exit_code, 2);
    assert_string_equal(out, "");
    if (strstr(errors, words) == NULL)
        fail_msg("%s", errors);
}

static void actions(void **state)
{
    (void)state;
    assert_true(PARSE("list"));
    assert_int_equal(arguments.action, POLICY_ACTION_LIST);
    assert_false(arguments.redundant);
    assert_true(PARSE("--redundant", "list", "--config-file", "a", "--config-dir=b"));
    assert_true(arguments.redundant);
    assert_int_equal(inputs.sources_n, 2);
    assert_false(inputs.sources[0].is_directory);
    assert_true(inputs.sources[1].is_directory);
    assert_string_equal(inputs.sources[1].path, "b");
    assert_true(PARSE("sample"));
    assert_int_equal(arguments.action, POLICY_ACTION_SAMPLE);
    assert_true(PARSE("validate", "--policy-file", "p"));
    assert_int_equal(arguments.action, POLICY_ACTION_VALIDATE);
    assert_string_equal(arguments.policy_file, "p");
    assert_true(PARSE("reference"));
    assert_int_equal(arguments.action, POLICY_ACTION_REFERENCE);
    assert_false(PARSE("--help"));
    assert_int_equal(arguments.exit_code, 0);
    assert_non_null(strstr(out, "usage: berth policy ACTION"));
}

static void checks(void **state)
{
    (void)state;
    assert_true(PARSE("check", "a", "--target", "k=v=w", "b", "--token-file", "t", "--target=x="));
    assert_int_equal(arguments.action, POLICY_ACTION_CHECK);
    assert_int_equal(arguments.word_count, 3);
    assert_string_equal(arguments.words[1], "a");
    assert_string_equal(arguments.words[2], "b");
    assert_string_equal(arguments.token_file, "t");
    assert_int_equal(arguments.target_count, 2);
    assert_true(slice_equal(arguments.targets[0].key, SLICE_LIT("k")));
    assert_true(slice_equal(arguments.targets[0].value, SLICE_LIT("v=w")));
    assert_non_null(arguments.targets[1].value.data);
    assert_int_equal(arguments.targets[1].value.len, 0);
    assert_true(PARSE("check", "--token-file=-"));
    assert_int_equal(arguments.word_count, 1);
}

static void wrong(void **state)
{
    (void)state;
    assert_false(parse((const char *const[]){NULL}));
    expect_wrong("an action is missing");
    assert_false(PARSE("nothing"));
    expect_wrong("no such action: nothing");
    assert_false(PARSE("chekc"));
    expect_wrong("no such action: chekc; did you mean check?\n");
    assert_false(PARSE("list", "x"));
    expect_wrong("unexpected argument: x");
    assert_false(PARSE("check", "a"));
    expect_wrong("check needs --token-file");
    assert_false(PARSE("list", "--nothing"));
    expect_wrong("unrecognized arguments: --nothing");
    assert_false(PARSE("list", "--config-file"));
    expect_wrong("argument --config-file: expected one argument");
    assert_false(PARSE("check", "--target", "k"));
    expect_wrong("not KEY=VALUE: k");
    const char *many[COMMAND_LINE_OWN_MAX + 2] = {0};
    for (unsigned i = 0; i <= COMMAND_LINE_OWN_MAX; i++)
        many[i] = "--target=k=v";
    assert_false(parse(many));
    expect_wrong("too many switches");
}

static int end(void **state)
{
    (void)state;
    free(out);
    free(errors);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(actions),
        cmocka_unit_test(checks),
        cmocka_unit_test(wrong),
    };
    return cmocka_run_group_tests(tests, NULL, end);
}
