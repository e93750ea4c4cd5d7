/* The switches form a table: a new one, such as another API's listener, is one more row, and its
 * value overrides the option that it names. Only used while the process starts: one thread. */
#include "conf/command_line.h"

#include <stdint.h>
#include <string.h>

#include "conf/suggest.h"

enum { HELP_COLUMN = 24, HELP_WIDTH = 79 };

const struct command_line_switch command_line_berthd[] = {
    {"--help", "-h", NULL, "Show this help and exit.", SWITCH_HELP, NULL, NULL, NULL},
    {"--version", "-V", NULL, "Show the version and exit.", SWITCH_VERSION, NULL, NULL, NULL},
    {"--config-file", NULL, "FILE",
     "Read this file instead of the first placement.conf in ~/.placement, ~, /etc/placement and "
     "/etc. May be repeated; later files override earlier ones.",
     SWITCH_CONFIG_FILE, NULL, NULL, NULL},
    {"--config-dir", NULL, "DIR",
     "Read the *.conf files in this directory, in the order of their names, instead of those in "
     "the first placement.conf.d in the same places. May be repeated.",
     SWITCH_CONFIG_DIR, NULL, NULL, NULL},
    {"--listen", NULL, "ADDRESS:PORT",
     "Serve the Placement API here, or https://ADDRESS:PORT, or unix:/PATH, regardless of [berth] "
     "listen. May be repeated.",
     SWITCH_OPTION, "berth", "listen", NULL},
    {"--admin-listen", NULL, "ADDRESS:PORT",
     "Serve metrics and health here, regardless of [berth] admin_listen. May be repeated.",
     SWITCH_OPTION, "berth", "admin_listen", NULL},
    {"--baremetal-listen", NULL, "ADDRESS:PORT",
     "Serve the bare metal API here, regardless of [baremetal] enabled and listen. May be "
     "repeated.",
     SWITCH_OPTION, "baremetal", "listen", NULL},
    {"--valet-listen", NULL, "ADDRESS:PORT",
     "Serve the Valet API here, regardless of [valet] enabled and listen. May be repeated.",
     SWITCH_OPTION, "valet", "listen", NULL},
    {"--debug", "-d", NULL, "Log at level DEBUG.", SWITCH_OPTION, "DEFAULT", "debug", "true"},
    {.name = NULL},
};

/* The messages are those of Python's argparse. */
static bool wrong(struct command_line *out, const char *before, const char *argument,
                  const char *behind)
{
    out->action = COMMAND_LINE_WRONG;
    snprintf(out->error, sizeof(out->error), "%s %s%s", before, argument, behind);
    return false;
}

/* An argument that is not a known switch, with the switch that was probably meant. */
static bool wrong_switch(const struct command_line_switch *switches, const char *argument,
                         struct command_line *out)
{
    char name[64];
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(argument, "="), argument);
    const char *meant = strncmp(name, "--", 2) != 0
                            ? NULL
                            : suggest_name(name, switches, sizeof(*switches), SIZE_MAX);
    if (meant == NULL)
        return wrong(out, "unrecognized arguments:", argument, "");
    (void)wrong(out, "unrecognized arguments:", argument, "; did you mean ");
    size_t len = strlen(out->error);
    snprintf(out->error + len, sizeof(out->error) - len, "%s?", meant);
    return false;
}

/* Whether the argument spells the switch `name`. `value` is the text attached to it, or NULL. */
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

static bool command_line_take(const struct command_line_switch *known, const char *value,
                              struct command_line *out)
{
    struct conf_inputs *inputs = &out->inputs;
    if (inputs->sources_n == CONF_INPUTS_MAX || inputs->overrides_n == CONF_INPUTS_MAX)
        return wrong(out, "argument", known->name, ": too many switches");
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
    case SWITCH_OWN:
        if (out->own_n == COMMAND_LINE_OWN_MAX)
            return wrong(out, "argument", known->name, ": too many switches");
        out->own[out->own_n].name = known->name;
        out->own[out->own_n++].value = known->argument != NULL ? value : "";
        return true;
    }
    return false;
}

/* A negative number is not a switch, nor is a lone dash. */
static bool looks_like_a_switch(const char *argument)
{
    if (argument[0] != '-' || argument[1] == '\0')
        return false;
    size_t digits = strspn(argument + 1, "0123456789");
    if (argument[1 + digits] == '\0')
        return false;
    size_t fraction = strspn(argument + 1 + digits + 1, "0123456789");
    return argument[1 + digits] != '.' || fraction == 0 ||
           argument[1 + digits + 1 + fraction] != '\0';
}

/* Continues at out->rest. True: a `--` has ended the switches for good. */
static bool parse_on(const struct command_line_switch *switches, int argc, char *const *argv,
                     struct command_line *out)
{
    while (out->rest < argc) {
        const char *argument = argv[out->rest];
        const char *value;
        if (strcmp(argument, "--") == 0) {
            out->rest++;
            return true;
        }
        if (argument[0] != '-' || argument[1] == '\0')
            return false;
        const struct command_line_switch *known = find_switch(switches, argument, &value);
        if (known == NULL)
            return wrong_switch(switches, argument, out);
        out->rest++;
        if (known->argument == NULL && value != NULL)
            return wrong(out, "argument", known->name, ": takes no value");
        if (known->argument != NULL && value == NULL) {
            /* As in argparse, a switch is never taken as a value, so a forgotten value is
             * noticed. */
            if (out->rest == argc || looks_like_a_switch(argv[out->rest]))
                return wrong(out, "argument", known->name, ": expected one argument");
            value = argv[out->rest++];
        }
        if (!command_line_take(known, value, out))
            return false;
    }
    return false;
}

void command_line_parse(const struct command_line_switch *switches, int argc, char *const *argv,
                        struct command_line *out)
{
    *out = (struct command_line){.rest = 1};
    (void)parse_on(switches, argc, argv, out);
}

void command_line_parse_words(const struct command_line_switch *switches, int argc,
                              char *const *argv, const char **words, unsigned words_max,
                              unsigned *words_n, struct command_line *out)
{
    bool switches_ended = false;
    *out = (struct command_line){.rest = 1};
    *words_n = 0;
    for (;;) {
        if (!switches_ended)
            switches_ended = parse_on(switches, argc, argv, out);
        if (out->action != COMMAND_LINE_RUN || out->rest == argc)
            return;
        if (*words_n == words_max) {
            (void)wrong(out, "unrecognized arguments:", argv[out->rest], "");
            return;
        }
        words[(*words_n)++] = argv[out->rest++];
    }
}

void command_line_parse_all(const struct command_line_switch *switches, int argc, char *const *argv,
                            struct command_line *out)
{
    unsigned none;
    command_line_parse_words(switches, argc, argv, NULL, 0, &none, out);
}

const char *command_line_own(const struct command_line *line, const char *name)
{
    for (unsigned i = line->own_n; i-- > 0;)
        if (strcmp(line->own[i].name, name) == 0)
            return line->own[i].value;
    return NULL;
}

void command_line_print_entry(const char *name, const char *text, FILE *out)
{
    size_t column = (size_t)fprintf(out, "  %s", name);
    if (column + 1 >= HELP_COLUMN) {
        putc('\n', out);
        column = 0;
    }
    fprintf(out, "%*s", (int)(HELP_COLUMN - column), "");
    column = HELP_COLUMN;
    while (*text != '\0') {
        size_t len = strcspn(text, " ");
        if (column > HELP_COLUMN && column + 1 + len > HELP_WIDTH) {
            fprintf(out, "\n%*s", HELP_COLUMN, "");
            column = HELP_COLUMN;
        }
        column += (size_t)fprintf(out, "%s%.*s", column > HELP_COLUMN ? " " : "", (int)len, text);
        text += len + strspn(text + len, " ");
    }
    putc('\n', out);
}

void command_line_print_switches(const struct command_line_switch *switches, FILE *out)
{
    for (const struct command_line_switch *at = switches; at->name != NULL; at++) {
        const char *between = at->argument == NULL ? "" : " ";
        const char *argument = at->argument == NULL ? "" : at->argument;
        char names[128];
        if (at->help == NULL)
            continue;
        if (at->other == NULL)
            snprintf(names, sizeof(names), "%s%s%s", at->name, between, argument);
        else
            snprintf(names, sizeof(names), "%s%s%s, %s%s%s", at->name, between, argument, at->other,
                     between, argument);
        command_line_print_entry(names, at->help, out);
    }
}

bool command_line_add_inputs(struct conf_inputs *inputs, const struct conf_inputs *more)
{
    if (inputs->sources_n + more->sources_n > CONF_INPUTS_MAX ||
        inputs->overrides_n + more->overrides_n > CONF_INPUTS_MAX)
        return false;
    for (size_t i = 0; i < more->sources_n; i++)
        inputs->sources[inputs->sources_n++] = more->sources[i];
    for (size_t i = 0; i < more->overrides_n; i++)
        inputs->overrides[inputs->overrides_n++] = more->overrides[i];
    return true;
}
