/* The switches as a table: a new one, such as another door's listener, is one more row, and its
 * value is an override of the option it names. While the process starts: one thread. */
#include "conf/command_line.h"

#include <string.h>

const struct command_line_switch command_line_berthd[] = {
    {"--help", "-h", NULL, "Show this help and exit.", SWITCH_HELP, NULL, NULL, NULL},
    {"--version", NULL, NULL, "Show the version and exit.", SWITCH_VERSION, NULL, NULL, NULL},
    {"--config-file", NULL, "FILE",
     "Read this configuration file; may be repeated, later ones win.", SWITCH_CONFIG_FILE, NULL,
     NULL, NULL},
    {"--config-dir", NULL, "DIR", "Read the *.conf of this directory, sorted; may be repeated.",
     SWITCH_CONFIG_DIR, NULL, NULL, NULL},
    {"--listen", NULL, "ADDRESS:PORT",
     "Serve the Placement API here, or https://ADDRESS:PORT, or unix:/PATH; may be repeated.",
     SWITCH_OPTION, "berth", "listen", NULL},
    {"--debug", "-d", NULL, "Log at level DEBUG.", SWITCH_OPTION, "DEFAULT", "debug", "true"},
    {.name = NULL},
};

static bool wrong(struct command_line *out, const char *what, const char *argument)
{
    out->action = COMMAND_LINE_WRONG;
    snprintf(out->error, sizeof(out->error), "%s: %s", what, argument);
    return false;
}

/* Does the argument spell the switch `name`? `value` is what is attached to it, or NULL. */
static bool spells(const char *argument, const char *name, bool takes_value, const char **value)
{
    *value = NULL;
    size_t len = name == NULL ? 0 : strlen(name);
    if (len == 0 || strncmp(argument, name, len) != 0)
        return false;
    if (argument[len] == '\0')
        return true;
    if (name[1] != '-') {
        *value = argument + len;
        return takes_value;
    }
    *value = argument + len + 1;
    return argument[len] == '=';
}

static const struct command_line_switch *find_switch(const struct command_line_switch *switches,
                                                     const char *argument, const char **value)
{
    for (const struct command_line_switch *at = switches; at->name != NULL; at++)
        if (spells(argument, at->name, at->argument != NULL, value) ||
            spells(argument, at->other, at->argument != NULL, value))
            return at;
    return NULL;
}

static bool take(const struct command_line_switch *known, const char *value,
                 struct command_line *out)
{
    struct conf_inputs *inputs = &out->inputs;
    if (inputs->sources_n == CONF_INPUTS_MAX || inputs->overrides_n == CONF_INPUTS_MAX)
        return wrong(out, "too many switches at", known->name);
    switch (known->kind) {
    case SWITCH_HELP:
        out->action = COMMAND_LINE_HELP;
        return false;
    case SWITCH_VERSION:
        out->action = COMMAND_LINE_VERSION;
        return false;
    case SWITCH_CONFIG_FILE:
    case SWITCH_CONFIG_DIR:
        inputs->sources[inputs->sources_n++] =
            (struct conf_source){value, known->kind == SWITCH_CONFIG_DIR};
        return true;
    case SWITCH_OPTION:
        inputs->overrides[inputs->overrides_n++] =
            (struct conf_override){known->section, known->option,
                                   known->argument != NULL ? value : known->value, known->name};
        return true;
    }
    return false;
}

void command_line_parse(const struct command_line_switch *switches, int argc, char *const *argv,
                        struct command_line *out)
{
    *out = (struct command_line){.rest = 1};
    while (out->rest < argc) {
        const char *argument = argv[out->rest];
        const char *value;
        if (strcmp(argument, "--") == 0) {
            out->rest++;
            return;
        }
        if (argument[0] != '-' || argument[1] == '\0')
            return;
        const struct command_line_switch *known = find_switch(switches, argument, &value);
        if (known == NULL) {
            (void)wrong(out, "unrecognized arguments", argument);
            return;
        }
        out->rest++;
        if (known->argument == NULL && value != NULL) {
            (void)wrong(out, "takes no value", known->name);
            return;
        }
        if (known->argument != NULL && value == NULL) {
            /* As argparse has it: the next switch is no value, so one that was forgotten shows. */
            if (out->rest == argc || argv[out->rest][0] == '-') {
                (void)wrong(out, "expected one argument", known->name);
                return;
            }
            value = argv[out->rest++];
        }
        if (!take(known, value, out))
            return;
    }
}

void command_line_parse_all(const struct command_line_switch *switches, int argc, char *const *argv,
                            struct command_line *out)
{
    command_line_parse(switches, argc, argv, out);
    if (out->action == COMMAND_LINE_RUN && out->rest < argc)
        (void)wrong(out, "unrecognized arguments", argv[out->rest]);
}

void command_line_print_switches(const struct command_line_switch *switches, FILE *out)
{
    for (const struct command_line_switch *at = switches; at->name != NULL; at++) {
        char left[64];
        if (at->help == NULL)
            continue;
        snprintf(left, sizeof(left), "%s%s%s%s%s", at->name, at->other == NULL ? "" : ", ",
                 at->other == NULL ? "" : at->other, at->argument == NULL ? "" : " ",
                 at->argument == NULL ? "" : at->argument);
        fprintf(out, "  %-24s %s\n", left, at->help);
    }
}
