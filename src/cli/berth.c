/* berth: the operator's tool. Each row of the table is a command with a file of its own; "help" is
 * handled here, by running the command with --help. One thread. */
#include <stdio.h>
#include <string.h>

#include "cli/audit_command.h"
#include "cli/backup_command.h"
#include "cli/config_command.h"
#include "cli/output.h"
#include "cli/policy_command.h"
#include "cli/status_command.h"
#include "conf/command_line.h"
#include "conf/suggest.h"

static const struct command_line_switch program_switches[] = {
    {"--help", "-h", NULL, "Show this help and exit.", SWITCH_HELP, NULL, NULL, NULL},
    {"--version", "-V", NULL, "Show the version and exit.", SWITCH_VERSION, NULL, NULL, NULL},
    {"--config-file", NULL, "FILE", "Read this file instead of the first placement.conf found.",
     SWITCH_CONFIG_FILE, NULL, NULL, NULL},
    {"--config-dir", NULL, "DIR", "Also read the *.conf files in this directory.",
     SWITCH_CONFIG_DIR, NULL, NULL, NULL},
    {.name = NULL},
};

struct command {
    const char *name;
    const char *help;
    int (*run)(int argc, char **argv, struct conf_inputs *inputs);
};

static int help_command(int argc, char **argv, struct conf_inputs *inputs);

static const struct command commands[] = {
    {"audit", "List inconsistencies between plans, holds and servers.", audit_command},
    {"backup", "Write a consistent copy of the database to a file while berthd serves it.",
     backup_command},
    {"config", "Check and show configurations, and print reference pages for all options.",
     config_command},
    {"help", "Show this help, or that of a command: berth help COMMAND [ACTION].", help_command},
    {"policy", "Show and check the policies in force, and print reference pages for all rules.",
     policy_command},
    {"restore", "Replace the database with a backup; berthd must be stopped.", restore_command},
    {"status", "Show what the berthd on this machine serves, and whether it is ready.",
     status_command},
};

enum {
    HELP_WORDS_MAX = 3, /* COMMAND ACTION --help */
    COMMAND_COUNT = sizeof(commands) / sizeof(commands[0]),
    WRONG = 2 /* the exit code */
};

static void berth_print_help(FILE *out)
{
    fputs("usage: berth [SWITCH]... COMMAND ...\n\nswitches:\n", out);
    command_line_print_switches(program_switches, out);
    fputs("\ncommands:\n", out);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        command_line_print_entry(commands[i].name, commands[i].help, out);
}

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(name, commands[i].name) == 0)
            return &commands[i];
    return NULL;
}

static int wrong_command(const char *name)
{
    fprintf(stderr, "berth: no such command: %s", name);
    output_suggestion(stderr, suggest_name(name, commands, sizeof(commands[0]), COMMAND_COUNT));
    fputs("berth --help lists the commands\n", stderr);
    return WRONG;
}

/* The arguments from argv[1] on: nothing, a command, or a command and its action. */
static int help_command(int argc, char **argv, struct conf_inputs *inputs)
{
    char help_switch[] = "--help"; /* argv is not const */
    char *words[HELP_WORDS_MAX + 1] = {NULL};
    int count = 0;
    if (argc == 1 || strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 ||
        strcmp(argv[1], "-h") == 0) {
        berth_print_help(stdout);
        return 0;
    }
    const struct command *command = find_command(argv[1]);
    if (command == NULL)
        return wrong_command(argv[1]);
    for (int i = 1; i < argc && count < HELP_WORDS_MAX - 1; i++)
        words[count++] = argv[i];
    words[count++] = help_switch;
    return command->run(count, words, inputs);
}

static int berth_run(int argc, char **argv, struct conf_inputs *inputs)
{
    const struct command *command = find_command(argv[0]);
    return command == NULL ? wrong_command(argv[0]) : command->run(argc, argv, inputs);
}

int main(int argc, char **argv)
{
    struct command_line line;
    command_line_parse(program_switches, argc, argv, &line);
    if (line.action == COMMAND_LINE_HELP) {
        berth_print_help(stdout);
        return output_end("berth", 0, WRONG);
    }
    if (line.action == COMMAND_LINE_VERSION) {
        printf("berth %s\n", BERTH_VERSION);
        return output_end("berth", 0, WRONG);
    }
    if (line.action == COMMAND_LINE_RUN && line.rest < argc)
        return output_end("berth", berth_run(argc - line.rest, argv + line.rest, &line.inputs),
                          WRONG);
    if (line.action == COMMAND_LINE_WRONG)
        fprintf(stderr, "berth: %s\n", line.error);
    berth_print_help(stderr);
    return WRONG;
}
