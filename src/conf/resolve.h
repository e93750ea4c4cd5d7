/* From the texts that files, switches, the environment and the table have for each option to one
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

/* Everything that may say something about an option, by rank. */
struct resolve_from {
    const struct conf_inputs *inputs; /* wins over the environment, which wins over the files */
    const struct read_file *files;    /* the last wins */
    size_t files_n;
    const struct conf_override *embedded; /* defaults that replace the table's */
    size_t embedded_n;
};

/* Decides, interpolates and converts every option of the table. `values` has room for all;
 * deprecated names in use are noted. `auth_section`: where options of_auth_plugin were read, in
 * lower case or DEFAULT. In an examination a bad value gives way to the default. */
bool resolve_options(const struct resolve_from *from, struct arena *arena,
                     struct conf_value *values, struct texts_builder *deprecated,
                     const char **auth_section, struct faults *faults) BERTH_MUST_CHECK;

#endif
