/* Three levels, each with switches of its own: the program, the category, the command. Exit codes
 * and output streams are those of the Python tools; their logging switches are accepted and set the
 * options of the same names. The main thread. */
#include "cli/tool_arguments.h"

#include <stdint.h>
#include <string.h>

#include "cli/output.h"
#include "conf/suggest.h"

#define LOG_SWITCH(name, other, argument, option, value, help)                                     \
    {                                                                                              \
        (name), (other), (argument), (help), SWITCH_OPTION, "DEFAULT", (option), (value)           \
    }
#define LOG_FLAG(name, option, help)                                                               \
    LOG_SWITCH("--" name, NULL, NULL, option, "true", help),                                       \
        LOG_SWITCH("--no" name, NULL, NULL, option, "false", "The inverse of --" name ".")

const struct command_line_switch tool_switches[] = {
    {"--help", "-h", NULL, "Show this help and exit.", SWITCH_HELP, NULL, NULL, NULL},
    {"--version", "-V", NULL, "Show the version and exit.", SWITCH_VERSION, NULL, NULL, NULL},
    {"--config-file", NULL, "PATH",
     "Read this file instead of the first placement.conf in ~/.placement, ~, /etc/placement and "
     "/etc. May be repeated; later files override earlier ones.",
     SWITCH_CONFIG_FILE, NULL, NULL, NULL},
    {"--config-dir", NULL, "DIR",
     "Read the *.conf files in this directory, in the order of their names, instead of those in "
     "the first placement.conf.d in the same places. May be repeated.",
     SWITCH_CONFIG_DIR, NULL, NULL, NULL},
    {"--debug", "-d", NULL, "Log at level DEBUG.", SWITCH_OPTION, "DEFAULT", "debug", "true"},
    {"--nodebug", NULL, NULL, "The inverse of --debug.", SWITCH_OPTION, "DEFAULT", "debug",
     "false"},
    LOG_SWITCH("--log-config-append", "--log-config", "PATH", "log_config_append", NULL,
               "Set [DEFAULT] log_config_append: a logging configuration in Python's format."),
    LOG_SWITCH("--log_config", NULL, "PATH", "log_config_append", NULL, NULL),
    LOG_SWITCH("--log-date-format", NULL, "FORMAT", "log_date_format", NULL,
               "Set [DEFAULT] log_date_format: how times are written, in strftime's syntax."),
    LOG_SWITCH("--log-dir", "--logdir", "DIR", "log_dir", NULL,
               "Set [DEFAULT] log_dir: the directory of --log-file."),
    LOG_SWITCH("--log-file", "--logfile", "PATH", "log_file", NULL,
               "Set [DEFAULT] log_file: log to this file instead of standard error."),
    LOG_SWITCH("--syslog-log-facility", NULL, "FACILITY", "syslog_log_facility", NULL,
               "Set [DEFAULT] syslog_log_facility, such as LOG_LOCAL0."),
    LOG_FLAG("use-journal", "use_journal", "Log to the journal."),
    LOG_FLAG("use-json", "use_json", "Write log lines as JSON."),
    LOG_FLAG("use-syslog", "use_syslog", "Log to syslog."),
    LOG_FLAG("watch-log-file", "watch_log_file", "Reopen the log file when it is moved."),
    {.name = NULL},
};

const struct command_line_switch tool_help_switch[] = {
    {"--help", "-h", NULL, "Show this help and exit.", SWITCH_HELP, NULL, NULL, NULL},
    {.name = NULL},
};

struct parser {
    const struct tool *tool;
    FILE *out;
    FILE *errors;
    struct tool_arguments *arguments;
};

static bool end(const struct parser *p, int exit_code)
{
    p->arguments->exit_code = exit_code;
    return false;
}

/* A list of names in quotes or braces, as argparse prints choices. */
static void print_choices(const struct tool *tool, const char *quote, const char *between,
                          FILE *out)
{
    for (const struct tool_command *at = tool->commands; at->name != NULL; at++)
        fprintf(out, "%s%s%s%s", at == tool->commands ? "" : between, quote, at->name, quote);
}

static void print_usage(const struct tool *tool, FILE *out)
{
    fprintf(out, "usage: %s [SWITCH]... %s COMMAND\n", tool->name, tool->category);
}

static void print_category_usage(const struct tool *tool, FILE *out)
{
    fprintf(out, "usage: %s %s [-h] {", tool->name, tool->category);
    print_choices(tool, "", ",", out);
    fputs("} ...\n", out);
}

static void print_command_usage(const struct tool *tool, const struct tool_command *command,
                                FILE *out)
{
    fprintf(out, "usage: %s %s %s [-h]", tool->name, tool->category, command->name);
    for (const struct command_line_switch *at = command->switches; at->name != NULL; at++)
        if (at->kind != SWITCH_HELP)
            fprintf(out, " [%s%s%s]", at->name, at->argument == NULL ? "" : " ",
                    at->argument == NULL ? "" : at->argument);
    fprintf(out, "%s%s\n", command->word == NULL ? "" : " ",
            command->word == NULL ? "" : command->word);
}

static void print_commands(const struct tool *tool, FILE *out)
{
    fputs("\ncommands:\n", out);
    for (const struct tool_command *at = tool->commands; at->name != NULL; at++) {
        char name[64];
        snprintf(name, sizeof(name), "%s%s%s", at->name, at->word == NULL ? "" : " ",
                 at->word == NULL ? "" : at->word);
        command_line_print_entry(name, at->help, out);
    }
}

static void tool_arguments_print_help(const struct tool *tool, FILE *out)
{
    print_usage(tool, out);
    fprintf(out, "\n%s\n\nswitches:\n", tool->purpose);
    command_line_print_switches(tool_switches, out);
    fputs("\ncategories:\n", out);
    command_line_print_entry(tool->category, tool->category_help, out);
    print_commands(tool, out);
    if (tool->details != NULL)
        fprintf(out, "\n%s\n", tool->details);
}

static void print_category_help(const struct tool *tool, FILE *out)
{
    print_category_usage(tool, out);
    fputs("\nswitches:\n", out);
    command_line_print_switches(tool_help_switch, out);
    print_commands(tool, out);
}

static void print_command_help(const struct tool *tool, const struct tool_command *command,
                               FILE *out)
{
    print_command_usage(tool, command, out);
    fprintf(out, "\n%s\n\nswitches:\n", command->help);
    command_line_print_switches(command->switches, out);
}

static bool wrong_line(const struct parser *p, const char *error)
{
    print_usage(p->tool, p->errors);
    fprintf(p->errors, "%s: error: %s\n", p->tool->name, error);
    return end(p, 2);
}

static bool parse_command(const struct parser *p, const struct tool_command *command, int argc,
                          char *const *argv)
{
    struct command_line *line = &p->arguments->line;
    const char *word = NULL;
    unsigned wanted = command->word != NULL;
    unsigned n;
    command_line_parse_words(command->switches, argc, argv, &word, wanted, &n, line);
    if (line->action == COMMAND_LINE_HELP) {
        print_command_help(p->tool, command, p->out);
        return end(p, 0);
    }
    if (line->action == COMMAND_LINE_WRONG)
        return wrong_line(p, line->error);
    if (n < wanted) {
        print_command_usage(p->tool, command, p->errors);
        fprintf(p->errors, "%s %s %s: error: the following arguments are required: %s\n",
                p->tool->name, p->tool->category, command->name, command->word);
        return end(p, 2);
    }
    p->arguments->command = command;
    p->arguments->word = word;
    return true;
}

static bool wrong_command(const struct parser *p, const char *word)
{
    const struct tool *tool = p->tool;
    print_category_usage(tool, p->errors);
    fprintf(p->errors, "%s %s: error: argument {", tool->name, tool->category);
    print_choices(tool, "", ",", p->errors);
    fprintf(p->errors, "}: invalid choice: '%s' (choose from ", word);
    print_choices(tool, "'", ", ", p->errors);
    fputc(')', p->errors);
    output_suggestion(p->errors,
                      suggest_name(word, tool->commands, sizeof(tool->commands[0]), SIZE_MAX));
    return end(p, 2);
}

/* If there is only one command, its switches may also appear before it. */
static bool parse_only_command(const struct parser *p, int argc, char *const *argv)
{
    const struct tool_command *command = p->tool->commands;
    struct command_line *line = &p->arguments->line;
    const char *word = NULL;
    unsigned n;
    command_line_parse_words(command->switches, argc, argv, &word, 1, &n, line);
    if (line->action == COMMAND_LINE_WRONG)
        return wrong_line(p, line->error);
    if (line->action == COMMAND_LINE_HELP) {
        print_command_help(p->tool, command, p->out);
        return end(p, 0);
    }
    if (n == 0) {
        print_command_usage(p->tool, command, p->errors);
        fprintf(p->errors, "%s %s: error: the following arguments are required: %s\n",
                p->tool->name, p->tool->category, command->name);
        return end(p, p->tool->without_command);
    }
    p->arguments->command = command;
    return strcmp(word, command->name) == 0 || wrong_command(p, word);
}

static bool parse_category(const struct parser *p, int argc, char *const *argv)
{
    const struct tool *tool = p->tool;
    struct command_line line;
    if (tool->commands[1].name == NULL)
        return parse_only_command(p, argc, argv);
    command_line_parse(tool_help_switch, argc, argv, &line);
    if (line.action == COMMAND_LINE_WRONG)
        return wrong_line(p, line.error);
    if (line.action == COMMAND_LINE_HELP) {
        print_category_help(tool, p->out);
        return end(p, 0);
    }
    if (line.rest == argc) {
        print_category_help(tool, p->out);
        return end(p, tool->without_command);
    }
    for (const struct tool_command *at = tool->commands; at->name != NULL; at++)
        if (strcmp(argv[line.rest], at->name) == 0)
            return parse_command(p, at, argc - line.rest, argv + line.rest);
    return wrong_command(p, argv[line.rest]);
}

bool tool_arguments_parse(const struct tool *tool, int argc, char *const *argv, FILE *out,
                          FILE *errors, struct tool_arguments *arguments)
{
    const struct parser p = {tool, out, errors, arguments};
    struct command_line line;
    *arguments = (struct tool_arguments){.command = NULL};
    command_line_parse(tool_switches, argc, argv, &line);
    arguments->inputs = line.inputs;
    switch (line.action) {
    case COMMAND_LINE_HELP:
        tool_arguments_print_help(tool, out);
        return end(&p, 0);
    case COMMAND_LINE_VERSION:
        fprintf(out, "%s\n", BERTH_VERSION);
        return end(&p, 0);
    case COMMAND_LINE_WRONG:
        return wrong_line(&p, line.error);
    case COMMAND_LINE_RUN:
        break;
    }
    if (line.rest == argc) {
        tool_arguments_print_help(tool, tool->without_category == 2 ? errors : out);
        return end(&p, tool->without_category);
    }
    if (strcmp(argv[line.rest], tool->category) == 0)
        return parse_category(&p, argc - line.rest, argv + line.rest);
    print_usage(tool, errors);
    fprintf(errors, "%s: error: argument command: invalid choice: '%s' (choose from '%s')",
            tool->name, argv[line.rest], tool->category);
    output_suggestion(errors,
                      suggest_name(argv[line.rest], &tool->category, sizeof(tool->category), 1));
    return end(&p, 2);
}
