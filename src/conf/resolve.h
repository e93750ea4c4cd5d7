/* Turns the texts that files, switches, the environment and the table have for each option into one
 * value. */
#ifndef BERTH_CONF_RESOLVE_H
#define BERTH_CONF_RESOLVE_H

#include "conf/faults.h"
#include "conf/ini.h"
#include "conf/inputs.h"
#include "conf/value.h"

struct read_file {
    const char *path;
    struct ini_file ini;
};

/* Everything that may set an option, by rank. */
struct resolve_from {
    const struct conf_inputs *inputs; /* overrides the environment, which overrides the files */
    const struct read_file *files;    /* the last one is used */
    size_t files_n;
    const struct conf_override *embedded; /* defaults that replace the table's */
    size_t embedded_n;
};

/* Selects, interpolates and converts the value of every option in the table. `values` has room for
 * all; deprecated names in use are noted. `auth_section`: the section that options of_auth_plugin
 * were read from, in lower case or DEFAULT. In an examination, an invalid value is replaced by the
 * default. */
bool resolve_options(const struct resolve_from *from, struct arena *arena,
                     struct conf_value *values, struct texts_builder *deprecated,
                     const char **auth_section, struct faults *faults) BERTH_MUST_CHECK;

#endif
