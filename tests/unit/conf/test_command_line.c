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
    assert_int_equal(PARSE("-V"), COMMAND_LINE_VERSION);
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
    expect_wrong("--config-file", NULL, "argument --config-file: expected one argument");
    expect_wrong("--listen", "--debug", "argument --listen: expected one argument");
    expect_wrong("--debug=1", NULL, "argument --debug: takes no value");
    expect_wrong("-dx", NULL, "unrecognized arguments: -dx");
    expect_wrong("--debugging", NULL, "unrecognized arguments: --debugging");
    expect_wrong("--confg-file=x", NULL,
                 "unrecognized arguments: --confg-file=x; did you mean --config-file?");
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

static const struct command_line_switch own_switches[] = {
    {"--all", "-a", NULL, "All of them.", SWITCH_OWN, NULL, NULL, NULL},
    {"--max-count", NULL, "N",
     "A text that is too long to stand in one line behind the switch and so goes on in the next "
     "one.",
     SWITCH_OWN, NULL, NULL, NULL},
    {"--name-without-help", NULL, NULL, NULL, SWITCH_OWN, NULL, NULL, NULL},
    {"--name-as-long-as-that", "-n", "X", "Below.", SWITCH_OWN, NULL, NULL, NULL},
    {.name = NULL},
};

static const char *words[2];
static unsigned words_n;

static enum command_line_action parse_own(const char *const *arguments)
{
    char *argv[16] = {"program"};
    int argc = 1;
    for (; arguments[argc - 1] != NULL; argc++)
        argv[argc] = (char *)arguments[argc - 1];
    command_line_parse_words(own_switches, argc, argv, words, 2, &words_n, &line);
    return line.action;
}

#define PARSE_OWN(...) parse_own((const char *const[]){__VA_ARGS__, NULL})

static void own(void **state)
{
    (void)state;
    assert_int_equal(PARSE_OWN("-a", "--max-count", "1", "--max-count=2"), COMMAND_LINE_RUN);
    assert_string_equal(command_line_own(&line, "--all"), "");
    assert_string_equal(command_line_own(&line, "--max-count"), "2");
    assert_null(command_line_own(&line, "--name-as-long-as-that"));
    assert_int_equal(PARSE_OWN("-a", "-a", "-a", "-a", "-a", "-a", "-a", "-a", "-a"),
                     COMMAND_LINE_WRONG);
}

/* What argparse takes for a number is a value, even after a dash. */
static void values_with_a_dash(void **state)
{
    (void)state;
    static const char *const values[] = {"-1", "-0.5", "-.5", "-", "x-"};
    static const char *const none[] = {"-x", "--", "-1x", "-1.", "-.", "--all"};
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        assert_int_equal(PARSE_OWN("--max-count", values[i]), COMMAND_LINE_RUN);
        assert_string_equal(command_line_own(&line, "--max-count"), values[i]);
    }
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        assert_int_equal(PARSE_OWN("--max-count", none[i]), COMMAND_LINE_WRONG);
        assert_string_equal(line.error, "argument --max-count: expected one argument");
    }
}

static void words_between_switches(void **state)
{
    (void)state;
    assert_int_equal(PARSE_OWN("one", "-a", "two", "--max-count=3"), COMMAND_LINE_RUN);
    assert_int_equal(words_n, 2);
    assert_string_equal(words[0], "one");
    assert_string_equal(words[1], "two");
    assert_string_equal(command_line_own(&line, "--max-count"), "3");
    assert_int_equal(PARSE_OWN("--", "-a", "--"), COMMAND_LINE_RUN);
    assert_int_equal(words_n, 2);
    assert_string_equal(words[0], "-a");
    assert_string_equal(words[1], "--");
    assert_null(command_line_own(&line, "--all"));
    assert_int_equal(PARSE_OWN("one", "two", "three"), COMMAND_LINE_WRONG);
    assert_string_equal(line.error, "unrecognized arguments: three");
}

static void help_text(void **state)
{
    (void)state;
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    command_line_print_switches(own_switches, out);
    fclose(out);
    assert_string_equal(text,
                        "  --all, -a             All of them.\n"
                        "  --max-count N         A text that is too long to stand in one line "
                        "behind the\n"
                        "                        switch and so goes on in the next one.\n"
                        "  --name-as-long-as-that X, -n X\n"
                        "                        Below.\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sources_in_order),
        cmocka_unit_test(options),
        cmocka_unit_test(other_actions),
        cmocka_unit_test(errors),
        cmocka_unit_test(too_many),
        cmocka_unit_test(help_text),
        cmocka_unit_test(own),
        cmocka_unit_test(values_with_a_dash),
        cmocka_unit_test(words_between_switches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
