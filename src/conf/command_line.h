/* Parsing of a program's switches: table-driven, for berthd and the tools. */
#ifndef BERTH_CONF_COMMAND_LINE_H
#define BERTH_CONF_COMMAND_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "conf/inputs.h"

enum command_line_kind {
    SWITCH_HELP,
    SWITCH_VERSION,
    SWITCH_CONFIG_FILE,
    SWITCH_CONFIG_DIR,
    SWITCH_OPTION, /* sets an option of the table */
    SWITCH_OWN     /* the program's own switch: see command_line_own */
};

struct command_line_switch {
    const char *name; /* with its dashes; `other` is an alternative spelling, or NULL */
    const char *other;
    const char *argument; /* name of its argument in the help; NULL: it takes none */
    const char *help;     /* NULL: not shown in the help */
    enum command_line_kind kind;
    const char
        *section; /* SWITCH_OPTION: the option, and its value if the switch takes no argument */
    const char *option;
    const char *value;
};

enum command_line_action {
    COMMAND_LINE_RUN,
    COMMAND_LINE_HELP,
    COMMAND_LINE_VERSION,
    COMMAND_LINE_WRONG /* see `error` */
};

enum { COMMAND_LINE_OWN_MAX = 8 };

struct command_line {
    enum command_line_action action;
    int rest; /* index in argv of the first argument that is not a switch, or argc */
    char error[256];
    struct conf_inputs inputs; /* points into argv, as the next one does */
    struct {
        const char *name;
        const char *value;
    } own[COMMAND_LINE_OWN_MAX];
    unsigned own_n;
};

/* The switches of berthd, terminated by one without a name. */
extern const struct command_line_switch command_line_berthd[];

/* Reads switches from argv[1] up to the first argument that is not one. `--name value`,
 * `--name=value`, `-x value`, `-xvalue`; `--` ends them. --help and --version take effect as soon
 * as they are found. */
void command_line_parse(const struct command_line_switch *switches, int argc, char *const *argv,
                        struct command_line *out);

/* The same, but other arguments may appear anywhere between the switches: they are stored in
 * `words`. More than words_max of them are an error. */
void command_line_parse_words(const struct command_line_switch *switches, int argc,
                              char *const *argv, const char **words, unsigned words_max,
                              unsigned *words_n, struct command_line *out);

/* Appends the files, directories and options of `more`; false: there are too many. */
bool command_line_add_inputs(struct conf_inputs *inputs, const struct conf_inputs *more);

/* The same for a program that takes only switches: any other argument is an error. */
void command_line_parse_all(const struct command_line_switch *switches, int argc, char *const *argv,
                            struct command_line *out);

/* The last value given for a switch of kind SWITCH_OWN, by its `name`; "" for a switch without an
 * argument; NULL: it was not given. */
const char *command_line_own(const struct command_line *line, const char *name);

/* Prints a name and its description for a help text, to a width of 79. */
void command_line_print_entry(const char *name, const char *text, FILE *out);

/* Prints the switches that have a help text, each with its spellings, to a width of 79. */
void command_line_print_switches(const struct command_line_switch *switches, FILE *out);

#endif
