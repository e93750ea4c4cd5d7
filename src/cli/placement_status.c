/* placement-status: checks a deployment before an upgrade. Exit codes: 0; 1 when a check warns; 2
 * when one fails, or for a wrong command line; 255 when the checks could not be made (one line
 * gives the reason). One thread. */
#include <stdio.h>

#include "base/arena.h"
#include "cli/output.h"
#include "cli/tool_arguments.h"
#include "cli/upgrade_checks.h"
#include "conf/load.h"
#include "log/settings.h"

enum { UNEXPECTED = 255 };

static const struct command_line_switch check_switches[] = {
    {"--help", "-h", NULL, "Show this help and exit.", SWITCH_HELP, NULL, NULL, NULL},
    {"--json", NULL, NULL, "Print the results as JSON instead of a table.", SWITCH_OWN, NULL, NULL,
     NULL},
    {.name = NULL},
};

static const struct tool_command commands[] = {
    {"check", NULL,
     "Check whether the database and the policy file are ready for the next release.",
     check_switches, 0},
    {.name = NULL},
};

static const struct tool tool = {
    .name = "placement-status",
    .purpose = "Checks the status of a deployment of the Placement service.",
    .category = "upgrade",
    .category_help = "Commands for upgrades; see upgrade --help.",
    .commands = commands,
    .without_category = 2,
    .without_command = 2,
    .details = "exit codes:\n"
               "  0    all checks passed\n"
               "  1    a check found something to look at; the upgrade may still succeed\n"
               "  2    a check failed: fix this before upgrading; or the command line is wrong\n"
               "  255  the checks could not be made",
};

int main(int argc, char **argv)
{
    struct tool_arguments arguments;
    if (!tool_arguments_parse(&tool, argc, argv, stdout, stderr, &arguments))
        return arguments.exit_code;

    struct err err = {.arena = arena_create()};
    struct upgrade_results results;
    struct conf *conf = conf_load(&arguments.inputs, &err);
    if (conf != NULL)
        log_set_debug(conf->debug);
    int code = UNEXPECTED;
    if (conf != NULL && upgrade_checks_run(conf, &arguments.inputs, &results, &err)) {
        upgrade_checks_print(&results, command_line_own(&arguments.line, "--json") != NULL, stdout);
        code = (int)upgrade_checks_verdict(&results);
    } else {
        fprintf(stderr, "placement-status: %.*s\n", SLICE_ARG(err.message));
    }
    conf_destroy(conf);
    arena_destroy(err.arena);
    return output_end("placement-status", code, UNEXPECTED);
}
