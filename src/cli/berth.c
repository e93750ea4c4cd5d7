/* berth: the operator's tool. Each row of the table is a command with a file of its own. One
 * thread. */
#include <stdio.h>
#include <string.h>

#include "cli/audit_command.h"
#include "cli/config_command.h"
#include "cli/output.h"
#include "cli/policy_command.h"
#include "conf/command_line.h"

static const struct command_line_switch program_switches[] = {
    {"--help", "-h", NULL, "Show this help and exit.", SWITCH_HELP, NULL, NULL, NULL},
    {"--version", NULL, NULL, "Show the version and exit.", SWITCH_VERSION, NULL, NULL, NULL},
    {"--config-file", NULL, "FILE", "As behind a command.", SWITCH_CONFIG_FILE, NULL, NULL, NULL},
    {"--config-dir", NULL, "DIR", "As behind a command.", SWITCH_CONFIG_DIR, NULL, NULL, NULL},
    {.name = NULL},
};

struct command {
    const char *name;
    const char *help;
    int (*run)(int argc, char **argv, struct conf_inputs *inputs);
};

static const struct command commands[] = {
    {"audit", "Look for holds and placements of plans that have lost each other.", audit_command},
    {"config", "Check and show configurations, and print pages about every option.",
     config_command},
    {"policy", "Look at the policies in force, ask them, and print pages about every rule.",
     policy_command},
};

enum {
    COMMAND_COUNT = sizeof(commands) / sizeof(commands[0]),
    WRONG = 2 /* the exit code */
};

static void print_help(FILE *out)
{
    fputs("usage: berth [SWITCH]... COMMAND ...\n\nswitches:\n", out);
    command_line_print_switches(program_switches, out);
    fputs("\ncommands; berth COMMAND --help tells more:\n", out);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        command_line_print_entry(commands[i].name, commands[i].help, out);
}

int main(int argc, char **argv)
{
    struct command_line line;
    command_line_parse(program_switches, argc, argv, &line);
    if (line.action == COMMAND_LINE_HELP) {
        print_help(stdout);
        return output_end("berth", 0, WRONG);
    }
    if (line.action == COMMAND_LINE_VERSION) {
        printf("berth %s\n", BERTH_VERSION);
        return output_end("berth", 0, WRONG);
    }
    for (size_t i = 0; line.action == COMMAND_LINE_RUN && i < COMMAND_COUNT && line.rest < argc;
         i++)
        if (strcmp(argv[line.rest], commands[i].name) == 0)
            return output_end(
                "berth", commands[i].run(argc - line.rest, argv + line.rest, &line.inputs), WRONG);
    if (line.action == COMMAND_LINE_WRONG)
        fprintf(stderr, "berth: %s\n", line.error);
    else if (line.rest < argc)
        fprintf(stderr, "berth: no such command: %s\n", argv[line.rest]);
    print_help(stderr);
    return WRONG;
}
