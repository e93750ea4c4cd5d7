/* What a program's command line contributes to its configuration: the input of conf_load. */
#ifndef BERTH_CONF_INPUTS_H
#define BERTH_CONF_INPUTS_H

#include <stdbool.h>
#include <stddef.h>

enum { CONF_INPUTS_MAX = 64 };

/* A file, or a directory whose *.conf files are read in the order of their names. */
struct conf_source {
    const char *path;
    bool is_directory;
};

/* An option set on the command line. Several values of one option of type OPTION_MULTI together
 * replace those of files and environment; for other types the last one is used. */
struct conf_override {
    const char *section;
    const char *name;
    const char *value;
    const char *where; /* the switch, for messages */
};

/* All texts belong to the caller and must outlive the configuration load. */
struct conf_inputs {
    struct conf_source sources[CONF_INPUTS_MAX]; /* in the order of the command line */
    size_t sources_n;
    struct conf_override overrides[CONF_INPUTS_MAX];
    size_t overrides_n;
};

#endif
