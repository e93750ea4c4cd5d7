/* The command line of a tool such as placement-manage. Exit codes and streams were observed in the
 * Python tools 8.0.0. */
#include "cli/tool_arguments.h"

#include <stdlib.h>
#include <string.h>

#include "unit.h"

enum { SYNC, VERSION, STAMP, MIGRATE };

static const struct command_line_switch migrate_switches[] = {
    {"--help", "-h", NULL, "Show this help and exit.", SWITCH_HELP, NULL, NULL, NULL},
    {"--max-count", NULL, "NUMBER", "At most so many.", SWITCH_OWN, NULL, NULL, NULL},
    {.name = NULL},
};

static const struct tool_command command_table[] = {
    {"sync", NULL, "Syncs.", tool_help_switch, SYNC},
    {"version", NULL, "Prints.", tool_help_switch, VERSION},
    {"stamp", "VERSION", "Stamps.", tool_help_switch, STAMP},
    {"online_data_migrations", NULL, "Migrates.", migrate_switches, MIGRATE},
    {.name = NULL},
};

static struct tool tool = {
    .name = "placement-manage",
    .purpose = "Purpose.",
    .category = "db",
    .category_help = "Commands.",
    .commands = command_table,
    .details = "Details.",
};

static struct tool_arguments arguments;
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
    bool run = tool_arguments_parse(&tool, argc, argv, out_stream, error_stream, &arguments);
    fclose(out_stream);
    fclose(error_stream);
    return run;
}

#define PARSE(...) parse((const char *const[]){__VA_ARGS__, NULL})

/* Ends with this code; the text is on standard output (codes 0 and 1) or standard error. */
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
    assert_int_equal(arguments.command->id, SYNC);
    assert_true(PARSE("--config-file", "a", "-d", "--config-dir=b", "db", "version"));
    assert_int_equal(arguments.command->id, VERSION);
    assert_int_equal(arguments.inputs.sources_n, 2);
    assert_string_equal(arguments.inputs.sources[1].path, "b");
    assert_int_equal(arguments.inputs.overrides_n, 1);
    assert_true(PARSE("db", "stamp", "422ece571366"));
    assert_int_equal(arguments.command->id, STAMP);
    assert_string_equal(arguments.word, "422ece571366");
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
    EXPECT_END(0, BERTH_VERSION "\n", "-V");
}

static void errors_of_the_caller(void **state)
{
    (void)state;
    EXPECT_END(2, "invalid choice: 'bogus' (choose from 'db')", "bogus");
    EXPECT_END(2,
               "placement-manage db: error: argument {sync,version,stamp,online_data_migrations}: "
               "invalid choice: 'bogus' (choose from 'sync', 'version', 'stamp', "
               "'online_data_migrations')\n",
               "db", "bogus");
    EXPECT_END(2, "'online_data_migrations'); did you mean sync?\n", "db", "snyc");
    EXPECT_END(2, "(choose from 'db'); did you mean db?\n", "dbs");
    EXPECT_END(2, "unrecognized arguments: --dbug; did you mean --debug?", "--dbug", "db");
    EXPECT_END(2, "the following arguments are required: VERSION", "db", "stamp");
    EXPECT_END(2, "unrecognized arguments: extra", "db", "version", "extra");
    EXPECT_END(2, "unrecognized arguments: b", "db", "stamp", "a", "b");
    EXPECT_END(2, "unrecognized arguments: --bogus", "--bogus");
    EXPECT_END(2, "unrecognized arguments: --version", "db", "--version");
    EXPECT_END(2, "unrecognized arguments: --debug", "db", "sync", "--debug");
    EXPECT_END(2, "argument --config-file: expected one argument", "--config-file");
}

static void switches_of_commands(void **state)
{
    (void)state;
    assert_true(PARSE("db", "online_data_migrations", "--max-count", "-1"));
    assert_int_equal(arguments.command->id, MIGRATE);
    assert_string_equal(command_line_own(&arguments.line, "--max-count"), "-1");
    assert_true(PARSE("db", "online_data_migrations"));
    assert_null(command_line_own(&arguments.line, "--max-count"));
    EXPECT_END(0, "usage: placement-manage db online_data_migrations [-h] [--max-count NUMBER]\n",
               "db", "online_data_migrations", "-h");
    EXPECT_END(2, "argument --max-count: expected one argument", "db", "online_data_migrations",
               "--max-count");
    EXPECT_END(0, "Stamps.", "db", "stamp", "1", "-h");
}

/* Every row of the program's help names its switch once, and none is missing. */
static void whole_help(void **state)
{
    (void)state;
    EXPECT_END(0, "\nDetails.\n", "-h");
    for (const struct command_line_switch *at = tool_switches; at->name != NULL; at++) {
        char line[64];
        snprintf(line, sizeof(line), "\n  %s", at->name);
        assert_true(at->help == NULL || strstr(out, line) != NULL);
    }
    assert_non_null(strstr(out, "  stamp VERSION         Stamps.\n"));
    assert_non_null(strstr(out, "  db                    Commands.\n"));
}

static const struct tool_command check_table[] = {
    {"check", NULL, "Checks.", migrate_switches, SYNC},
    {.name = NULL},
};

/* The switches of a single command may precede or follow it. */
static void only_command(void **state)
{
    (void)state;
    tool.commands = check_table;
    tool.without_command = 2;
    assert_true(PARSE("db", "--max-count", "1", "check"));
    assert_ptr_equal(arguments.command, check_table);
    assert_string_equal(command_line_own(&arguments.line, "--max-count"), "1");
    assert_true(PARSE("db", "check", "--max-count=2"));
    assert_string_equal(command_line_own(&arguments.line, "--max-count"), "2");
    EXPECT_END(2,
               "usage: placement-manage db check [-h] [--max-count NUMBER]\n"
               "placement-manage db: error: the following arguments are required: check\n",
               "db");
    EXPECT_END(2, "invalid choice: 'bogus' (choose from 'check')", "db", "bogus");
    EXPECT_END(2, "unrecognized arguments: again", "db", "check", "again");
    EXPECT_END(2, "unrecognized arguments: --bogus", "db", "check", "--bogus");
    EXPECT_END(0, "Checks.", "db", "-h");
    EXPECT_END(0, "Checks.", "db", "check", "-h");
    tool.commands = command_table;
    tool.without_command = 0;
}

/* placement-status requires a category. */
static void categories_are_required(void **state)
{
    (void)state;
    tool.without_category = 2;
    assert_false(PARSE(NULL));
    assert_int_equal(arguments.exit_code, 2);
    assert_string_equal(out, "");
    tool.without_category = 1;
}

static int setup(void **state)
{
    (void)state;
    tool.without_category = 1;
    return 0;
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
        cmocka_unit_test(switches_of_commands),
        cmocka_unit_test(whole_help),
        cmocka_unit_test(only_command),
        cmocka_unit_test(categories_are_required),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
