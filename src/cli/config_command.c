/* The actions of berth config as a table. They read the same files, variables and switches as
 * berthd. The main thread. */
#include "cli/config_command.h"

#include <stdio.h>
#include <string.h>

#include "cli/config_pages.h"
#include "cli/config_report.h"
#include "cli/output.h"
#include "conf/command_line.h"
#include "conf/load.h"
#include "conf/suggest.h"

#define HELP_ROW                                                                                   \
    {                                                                                              \
        "--help", "-h", NULL, "Show this help and exit.", SWITCH_HELP, NULL, NULL, NULL            \
    }
#define SOURCE_ROWS                                                                                \
    {"--config-file",                                                                              \
     NULL,                                                                                         \
     "FILE",                                                                                       \
     "Read this file instead of the first placement.conf in ~/.placement, ~, /etc/placement and "  \
     "/etc. May be repeated; later files override earlier ones.",                                  \
     SWITCH_CONFIG_FILE,                                                                           \
     NULL,                                                                                         \
     NULL,                                                                                         \
     NULL},                                                                                        \
    {                                                                                              \
        "--config-dir", NULL, "DIR",                                                               \
            "Read the *.conf files in this directory, in the order of their names, instead of "    \
            "those in the first placement.conf.d in the same places. May be repeated.",            \
            SWITCH_CONFIG_DIR, NULL, NULL, NULL                                                    \
    }

static const struct command_line_switch page_switches[] = {HELP_ROW, {.name = NULL}};

static const struct command_line_switch validate_switches[] = {
    HELP_ROW,
    SOURCE_ROWS,
    {"--strict", NULL, NULL, "Exit with 1 for warnings, too.", SWITCH_OWN, NULL, NULL, NULL},
    /* berthd's, so that a unit can pass the same switches to both */
    {"--listen", NULL, "ADDRESS:PORT", "The same as for berthd.", SWITCH_OPTION, "berth", "listen",
     NULL},
    {"--admin-listen", NULL, "ADDRESS:PORT", "The same as for berthd.", SWITCH_OPTION, "berth",
     "admin_listen", NULL},
    {"--baremetal-listen", NULL, "ADDRESS:PORT", "The same as for berthd.", SWITCH_OPTION,
     "baremetal", "listen", NULL},
    {"--valet-listen", NULL, "ADDRESS:PORT", "The same as for berthd.", SWITCH_OPTION, "valet",
     "listen", NULL},
    {"--debug", "-d", NULL, "The same as for berthd.", SWITCH_OPTION, "DEFAULT", "debug", "true"},
    {.name = NULL},
};

static const struct command_line_switch show_switches[] = {
    HELP_ROW,
    SOURCE_ROWS,
    {"--all", NULL, NULL, "Show defaults, too.", SWITCH_OWN, NULL, NULL, NULL},
    {.name = NULL},
};

struct arguments {
    const struct command_line *line;
    const struct conf_inputs *inputs;
    const char *const *words;
    unsigned words_n;
};

struct action {
    const char *name;
    const char *words; /* names of its arguments in the help; NULL: none */
    unsigned words_max;
    const char *help;
    const struct command_line_switch *switches;
    void (*write)(FILE *out); /* prints a page, or NULL */
    int (*run)(const struct arguments *arguments);
};

static int validate(const struct arguments *arguments)
{
    struct conf *conf = conf_examine(arguments->inputs);
    struct config_problems problems = config_report_problems(conf, arguments->inputs, stdout);
    conf_destroy(conf);
    bool strict = command_line_own(arguments->line, "--strict") != NULL;
    return problems.errors > 0 || (strict && problems.warnings > 0) ? 1 : 0;
}

static int show(const struct arguments *arguments)
{
    struct err err = {.arena = arena_create()};
    struct conf *conf = conf_load(arguments->inputs, &err);
    const char *section = arguments->words_n > 0 ? arguments->words[0] : NULL;
    const char *name = arguments->words_n > 1 ? arguments->words[1] : NULL;
    bool all = command_line_own(arguments->line, "--all") != NULL;
    bool ok = conf != NULL && config_report_values(conf, all, section, name, stdout);
    if (conf == NULL)
        fprintf(stderr, "berth config: %.*s\n", SLICE_ARG(err.message));
    else if (!ok && name == NULL)
        fprintf(stderr, "berth config: there is no section [%s]\n", section);
    else if (!ok)
        fprintf(stderr, "berth config: there is no option [%s] %s\n", section, name);
    int code = conf == NULL ? 2 : ok ? 0 : 1;
    conf_destroy(conf);
    arena_destroy(err.arena);
    return code;
}

static const struct action actions[] = {
    {"validate", NULL, 0,
     "Read the configuration as berthd would, and report what is wrong with it: invalid values, "
     "and anything else in Keystone's settings, policy files and certificates that berthd would "
     "not start with; options that are unknown, have old names, or have no effect; certificates "
     "that expire soon.",
     validate_switches, NULL, validate},
    {"show", "[SECTION [OPTION]]", 2,
     "Print the values in force that have been set explicitly, with the source of each. Secrets "
     "are masked.",
     show_switches, NULL, show},
    {"sample", NULL, 0, "Print a commented placement.conf with every option at its default.",
     page_switches, config_write_sample, NULL},
    {"reference", NULL, 0, "Print a description of every option, in Markdown.", page_switches,
     config_write_reference, NULL},
    {"manual", NULL, 0, "Print the same in mdoc, for the manual.", page_switches,
     config_write_manual, NULL},
};

enum { ACTION_COUNT = sizeof(actions) / sizeof(actions[0]) };

static void config_command_print_help(FILE *out)
{
    fputs("usage: berth config ACTION [SWITCH]...\n\nChecks and shows "
          "configurations.\n\nactions:\n",
          out);
    for (size_t i = 0; i < ACTION_COUNT; i++) {
        char name[64];
        snprintf(name, sizeof(name), "%s%s%s", actions[i].name, actions[i].words == NULL ? "" : " ",
                 actions[i].words == NULL ? "" : actions[i].words);
        command_line_print_entry(name, actions[i].help, out);
    }
    fputs("\nberth config ACTION --help lists an action's switches.\n", out);
}

static int config_command_run(const struct action *action, int argc, char **argv,
                              struct conf_inputs *inputs)
{
    struct command_line line;
    const char *words[2] = {NULL, NULL};
    struct arguments arguments = {.line = &line, .inputs = inputs, .words = words};
    command_line_parse_words(action->switches, argc, argv, words, action->words_max,
                             &arguments.words_n, &line);
    if (line.action == COMMAND_LINE_HELP) {
        printf("usage: berth config %s%s%s [SWITCH]...\n\n%s\n\nswitches:\n", action->name,
               action->words == NULL ? "" : " ", action->words == NULL ? "" : action->words,
               action->help);
        command_line_print_switches(action->switches, stdout);
        return 0;
    }
    if (line.action != COMMAND_LINE_RUN) {
        fprintf(stderr, "berth config %s: %s\n", action->name, line.error);
        return 2;
    }
    if (!command_line_add_inputs(inputs, &line.inputs)) {
        fprintf(stderr, "berth config %s: too many configuration files\n", action->name);
        return 2;
    }
    if (action->write == NULL)
        return action->run(&arguments);
    action->write(stdout);
    return 0;
}

int config_command(int argc, char **argv, struct conf_inputs *inputs)
{
    if (argc < 2) {
        config_command_print_help(stderr);
        return 2;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        config_command_print_help(stdout);
        return 0;
    }
    for (size_t i = 0; i < ACTION_COUNT; i++)
        if (strcmp(argv[1], actions[i].name) == 0)
            return config_command_run(&actions[i], argc - 1, argv + 1, inputs);
    fprintf(stderr, "berth config: no such action: %s", argv[1]);
    output_suggestion(stderr, suggest_name(argv[1], actions, sizeof(actions[0]), ACTION_COUNT));
    return 2;
}
