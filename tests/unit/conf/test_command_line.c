/* Switches of berthd. */
#include "conf/command_line.h"

#include <stdlib.h>
#include <string.h>

#include "unit.h"

static struct command_line line;

static enum command_line_action parse(const char *const *words)
{
    char *argv[16] = {"berthd"};
    int argc = 1;
    for (; words[argc - 1] != NULL; argc++)
        argv[argc] = (char *)words[argc - 1];
    command_line_parse_all(command_line_berthd, argc, argv, &line);
    return line.action;
}

#define PARSE(...) parse((const char *const[]){__VA_ARGS__, NULL})

static void sources_in_order(void **state)
{
    (void)state;
    assert_int_equal(PARSE("--config-file", "a", "--config-dir=b", "--config-file=c=d"),
                     COMMAND_LINE_RUN);
    assert_int_equal(line.inputs.sources_n, 3);
    assert_string_equal(line.inputs.sources[0].path, "a");
    assert_false(line.inputs.sources[0].is_directory);
    assert_string_equal(line.inputs.sources[1].path, "b");
    assert_true(line.inputs.sources[1].is_directory);
    assert_string_equal(line.inputs.sources[2].path, "c=d");
}

static void options(void **state)
{
    (void)state;
    assert_int_equal(PARSE("--listen", "127.0.0.1:1", "-d", "--listen=[::1]:2"), COMMAND_LINE_RUN);
    assert_int_equal(line.inputs.overrides_n, 3);
    assert_string_equal(line.inputs.overrides[0].name, "listen");
    assert_string_equal(line.inputs.overrides[0].value, "127.0.0.1:1");
    assert_string_equal(line.inputs.overrides[1].section, "DEFAULT");
    assert_string_equal(line.inputs.overrides[1].value, "true");
    assert_string_equal(line.inputs.overrides[2].value, "[::1]:2");
    assert_string_equal(line.inputs.overrides[2].where, "--listen");
}

static void other_actions(void **state)
{
    (void)state;
    assert_int_equal(parse((const char *const[]){NULL}), COMMAND_LINE_RUN);
    assert_int_equal(PARSE("--debug", "--help", "--nonsense"), COMMAND_LINE_HELP);
    assert_int_equal(PARSE("-h"), COMMAND_LINE_HELP);
    assert_int_equal(PARSE("--version"), COMMAND_LINE_VERSION);
}

static void expect_wrong(const char *first, const char *second, const char *error)
{
    assert_int_equal(PARSE(first, second), COMMAND_LINE_WRONG);
    assert_string_equal(line.error, error);
}

static void errors(void **state)
{
    (void)state;
    expect_wrong("--nonsense", NULL, "unrecognized arguments: --nonsense");
    expect_wrong("--debug", "x", "unrecognized arguments: x");
    expect_wrong("--", "x", "unrecognized arguments: x");
    expect_wrong("-", NULL, "unrecognized arguments: -");
    expect_wrong("--config-file", NULL, "expected one argument: --config-file");
    expect_wrong("--listen", "--debug", "expected one argument: --listen");
    expect_wrong("--debug=1", NULL, "takes no value: --debug");
    expect_wrong("-dx", NULL, "unrecognized arguments: -dx");
    expect_wrong("--debugging", NULL, "unrecognized arguments: --debugging");
}

static void too_many(void **state)
{
    (void)state;
    char *argv[CONF_INPUTS_MAX + 3] = {"berthd"};
    for (int i = 1; i <= CONF_INPUTS_MAX + 1; i++)
        argv[i] = "--config-file=a";
    command_line_parse_all(command_line_berthd, CONF_INPUTS_MAX + 2, argv, &line);
    assert_int_equal(line.action, COMMAND_LINE_WRONG);
}

static void help_text(void **state)
{
    (void)state;
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    command_line_print_switches(command_line_berthd, out);
    fclose(out);
    assert_non_null(strstr(text, "  --listen ADDRESS:PORT    Serve"));
    assert_non_null(strstr(text, "  --debug, -d              Log"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sources_in_order), cmocka_unit_test(options),
        cmocka_unit_test(other_actions),    cmocka_unit_test(errors),
        cmocka_unit_test(too_many),         cmocka_unit_test(help_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
