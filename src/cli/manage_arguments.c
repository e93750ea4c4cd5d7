/* Three levels, each with switches of its own: placement-manage, db, and the command. Exit codes
 * and where things are printed are the Python tool's; its switches for logging are taken and set
 * the options of the same names. The main thread. */
#include "cli/manage_arguments.h"

#include <string.h>

#define LOG_SWITCH(name, other, argument, option, value)                                           \
    {                                                                                              \
        (name), (other), (argument), NULL, SWITCH_OPTION, "DEFAULT", (option), (value)             \
    }
#define LOG_FLAG(name, option)                                                                     \
    LOG_SWITCH("--" name, NULL, NULL, option, "true"),                                             \
        LOG_SWITCH("--no" name, NULL, NULL, option, "false")

/* Switches without a help text have no effect here, like the options that they set. */
static const struct command_line_switch program_switches[] = {
    {"--help", "-h", NULL, "Show this help and exit.", SWITCH_HELP, NULL, NULL, NULL},
    {"--version", NULL, NULL, "Show the version and exit.", SWITCH_VERSION, NULL, NULL, NULL},
    {"--config-file", NULL, "PATH",
     "Read this configuration file; may be repeated, later ones win.", SWITCH_CONFIG_FILE, NULL,
     NULL, NULL},
    {"--config-dir", NULL, "DIR", "Read the *.conf of this directory, sorted; may be repeated.",
     SWITCH_CONFIG_DIR, NULL, NULL, NULL},
    {"--debug", "-d", NULL, "Log at level DEBUG.", SWITCH_OPTION, "DEFAULT", "debug", "true"},
    {"--nodebug", NULL, NULL, "The inverse of --debug.", SWITCH_OPTION, "DEFAULT", "debug",
     "false"},
    LOG_SWITCH("--log-config-append", "--log-config", "PATH", "log_config_append", NULL),
    LOG_SWITCH("--log_config", NULL, "PATH", "log_config_append", NULL),
    LOG_SWITCH("--log-date-format", NULL, "FORMAT", "log_date_format", NULL),
    LOG_SWITCH("--log-dir", "--logdir", "DIR", "log_dir", NULL),
    LOG_SWITCH("--log-file", "--logfile", "PATH", "log_file", NULL),
    LOG_SWITCH("--syslog-log-facility", NULL, "FACILITY", "syslog_log_facility", NULL),
    LOG_FLAG("use-journal", "use_journal"),
    LOG_FLAG("use-json", "use_json"),
    LOG_FLAG("use-syslog", "use_syslog"),
    LOG_FLAG("watch-log-file", "watch_log_file"),
    {.name = NULL},
};

static const struct command_line_switch inner_switches[] = {
    {"--help", "-h", NULL, "Show this help and exit.", SWITCH_HELP, NULL, NULL, NULL},
    {.name = NULL},
};

struct command {
    const char *name;
    const char *argument; /* NULL: none */
    const char *help;
    enum manage_command command;
};

static const struct command commands[] = {
    {"sync", NULL, "Bring the schema to the newest revision.", MANAGE_SYNC},
    {"version", NULL, "Print the revision of the schema.", MANAGE_VERSION},
    {"stamp", "VERSION", "Set the revision without migrating.", MANAGE_STAMP},
};

enum { COMMAND_COUNT = sizeof(commands) / sizeof(commands[0]) };

static const char PROGRAM_USAGE[] = "usage: placement-manage [SWITCH]... db COMMAND\n";
static const char DB_USAGE[] = "usage: placement-manage db [-h] {sync,version,stamp} ...\n";

static void print_program_help(FILE *out)
{
    fprintf(out, "%s\nLooks after the database of the Placement service.\n\nswitches:\n",
            PROGRAM_USAGE);
    command_line_print_switches(program_switches, out);
    fprintf(out, "\ncommands:\n  %-24s %s\n", "db", "Database commands; see db --help.");
}

static void print_db_help(FILE *out)
{
    fprintf(out, "%s\nswitches:\n", DB_USAGE);
    command_line_print_switches(inner_switches, out);
    fputs("\ncommands:\n", out);
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        char left[64];
        snprintf(left, sizeof(left), "%s %s", commands[i].name,
                 commands[i].argument == NULL ? "" : commands[i].argument);
        fprintf(out, "  %-24s %s\n", left, commands[i].help);
    }
}

static void print_command_usage(const struct command *command, FILE *out)
{
    fprintf(out, "usage: placement-manage db %s [-h]%s%s\n", command->name,
            command->argument == NULL ? "" : " ",
            command->argument == NULL ? "" : command->argument);
}

static void print_command_help(const struct command *command, FILE *out)
{
    print_command_usage(command, out);
    fprintf(out, "\n%s\n\nswitches:\n", command->help);
    command_line_print_switches(inner_switches, out);
}

static bool end(struct manage_arguments *arguments, int exit_code)
{
    arguments->exit_code = exit_code;
    return false;
}

static bool parse_command(const struct command *command, int argc, char *const *argv, FILE *out,
                          FILE *errors, struct manage_arguments *arguments)
{
    struct command_line line;
    command_line_parse(inner_switches, argc, argv, &line);
    int rest = argc - line.rest;
    int wanted = command->argument != NULL;
    if (line.action == COMMAND_LINE_HELP) {
        print_command_help(command, out);
        return end(arguments, 0);
    }
    if (line.action == COMMAND_LINE_WRONG) {
        fprintf(errors, "%splacement-manage: error: %s\n", PROGRAM_USAGE, line.error);
        return end(arguments, 2);
    }
    if (rest > wanted) {
        fprintf(errors, "%splacement-manage: error: unrecognized arguments: %s\n", PROGRAM_USAGE,
                argv[line.rest + wanted]);
        return end(arguments, 2);
    }
    if (rest < wanted) {
        print_command_usage(command, errors);
        fprintf(errors, "placement-manage db %s: error: the following arguments are required: %s\n",
                command->name, command->argument);
        return end(arguments, 2);
    }
    arguments->command = command->command;
    arguments->revision = wanted ? argv[line.rest] : NULL;
    return true;
}

static bool parse_db(int argc, char *const *argv, FILE *out, FILE *errors,
                     struct manage_arguments *arguments)
{
    struct command_line line;
    command_line_parse(inner_switches, argc, argv, &line);
    if (line.action == COMMAND_LINE_WRONG) {
        fprintf(errors, "%splacement-manage: error: %s\n", PROGRAM_USAGE, line.error);
        return end(arguments, 2);
    }
    if (line.action == COMMAND_LINE_HELP || line.rest == argc) {
        print_db_help(out);
        return end(arguments, 0);
    }
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(argv[line.rest], commands[i].name) == 0)
            return parse_command(&commands[i], argc - line.rest, argv + line.rest, out, errors,
                                 arguments);
    fprintf(errors,
            "%splacement-manage db: error: invalid choice: '%s' (choose from 'sync', 'version', "
            "'stamp')\n",
            DB_USAGE, argv[line.rest]);
    return end(arguments, 2);
}

bool manage_arguments_parse(int argc, char *const *argv, FILE *out, FILE *errors,
                            struct manage_arguments *arguments)
{
    struct command_line line;
    *arguments = (struct manage_arguments){.command = MANAGE_SYNC};
    command_line_parse(program_switches, argc, argv, &line);
    arguments->inputs = line.inputs;
    switch (line.action) {
    case COMMAND_LINE_HELP:
        print_program_help(out);
        return end(arguments, 0);
    case COMMAND_LINE_VERSION:
        fprintf(out, "%s\n", BERTH_VERSION);
        return end(arguments, 0);
    case COMMAND_LINE_WRONG:
        fprintf(errors, "%splacement-manage: error: %s\n", PROGRAM_USAGE, line.error);
        return end(arguments, 2);
    case COMMAND_LINE_RUN:
        break;
    }
    if (line.rest == argc) {
        print_program_help(out);
        return end(arguments, 1);
    }
    if (strcmp(argv[line.rest], "db") == 0)
        return parse_db(argc - line.rest, argv + line.rest, out, errors, arguments);
    fprintf(errors,
            "%splacement-manage: error: argument command: invalid choice: '%s' (choose from "
            "'db')\n",
            PROGRAM_USAGE, argv[line.rest]);
    return end(arguments, 2);
}
