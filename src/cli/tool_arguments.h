/* The command line of a tool of the Python service: switches, a category, a command (operators.md,
 * Command lines). */
#ifndef BERTH_CLI_TOOL_ARGUMENTS_H
#define BERTH_CLI_TOOL_ARGUMENTS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/check.h"
#include "conf/command_line.h"

struct tool_command {
    const char *name;
    const char *word; /* name of its argument in the help; NULL: it takes none */
    const char *help;
    const struct command_line_switch *switches; /* --help among them */
    int id;                                     /* the tool's own number for it */
};

struct tool {
    const char *name;
    const char *purpose;
    const char *category; /* at least one */
    const char *category_help;
    const struct tool_command *commands; /* terminated by one without a name */
    int without_category; /* exit code; 2: reported as a wrong command line; otherwise the help is
                             shown */
    int without_command;
    const char *details; /* of the program's help, after the switches; NULL: none */
};

struct tool_arguments {
    const struct tool_command *command;
    const char *word;
    struct command_line line; /* the command's own switches */
    struct conf_inputs inputs;
    int exit_code; /* when there is nothing to run */
};

/* The switches of every tool, before the category: configuration and logging, as oslo.log registers
 * them. */
extern const struct command_line_switch tool_switches[];

/* For commands without switches of their own. */
extern const struct command_line_switch tool_help_switch[];

/* True: run the command. False: help, the version or an error has been printed, and the program
 * ends with `exit_code`; 2 for a wrong command line. */
bool tool_arguments_parse(const struct tool *tool, int argc, char *const *argv, FILE *out,
                          FILE *errors, struct tool_arguments *arguments) BERTH_MUST_CHECK;

#endif
