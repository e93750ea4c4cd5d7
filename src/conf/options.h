/* THE table of options: every option of placement.conf that berth knows, upstream's and its own. */
#ifndef BERTH_CONF_OPTIONS_H
#define BERTH_CONF_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"

enum option_type {
    OPTION_STRING,
    OPTION_INTEGER,
    OPTION_FLOAT,
    OPTION_BOOLEAN,
    OPTION_LIST, /* one text, parts separated by commas */
    OPTION_MULTI /* every assignment adds a string */
};

enum option_effect {
    OPTION_IN_EFFECT,
    OPTION_NO_EFFECT /* known and validated, but without effect here; logged once if it is set */
};

struct option_name {
    const char *section; /* lower case, or DEFAULT */
    const char *name;
};

enum { OPTION_OLD_NAMES = 2 };

struct option {
    const char *section;  /* first: see suggest_section() */
    const char *name;     /* with underscores, as files and the environment write it */
    const char *help;     /* one sentence */
    const char *fallback; /* the default as a file would write it; NULL: none. For OPTION_MULTI:
                             the values separated by commas */
    const char *choices;  /* for OPTION_STRING: the allowed values, separated by |; NULL: any */
    bool choices_any_case;
    bool of_auth_plugin; /* read from the section that [keystone_authtoken] auth_section names, if
                            it is set; so is its deprecated name */
    enum option_type type;
    enum option_effect effect;
    int64_t min; /* bounds of numbers; both 0: none */
    int64_t max;
    struct option_name deprecated[OPTION_OLD_NAMES]; /* older names; section NULL: no more */
    bool is_mutable; /* a reload applies a new value; changes of other options need a restart */
    bool is_secret;  /* never logged or shown */
};

/* The section in the table of options that are of_auth_plugin. */
#define OPTION_AUTH_SECTION "keystone_authtoken"

/* All options, in the order of the table. */
extern const struct option option_table[];
extern const size_t option_count;

/* Finds an option by its current name; NULL if there is none. The section is compared as in
 * ini_section_is. */
const struct option *option_find(struct slice section, struct slice name);

/* Finds an option by its current name or a deprecated one. */
const struct option *option_find_any(struct slice section, struct slice name);

/* The row of an option whose name the program itself uses. It must exist. */
const struct option *option_named(const char *section, const char *name);

#endif
