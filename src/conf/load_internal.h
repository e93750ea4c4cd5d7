/* What load.c (reads), resolve.c (decides) and settings.c (makes sense of it) share. */
#ifndef BERTH_CONF_LOAD_INTERNAL_H
#define BERTH_CONF_LOAD_INTERNAL_H

#include "base/arena.h"
#include "base/err.h"
#include "conf/ini.h"
#include "conf/inputs.h"
#include "conf/settings.h"

struct read_file {
    const char *path;
    struct ini_file ini;
};

struct texts_builder {
    const char **items;
    size_t n;
    size_t room;
};

void texts_add(struct texts_builder *texts, struct arena *arena, const char *text);

/* What is wrong. A load ends with the first fault; an examination goes on and gathers all. */
struct faults {
    struct err *err;
    struct texts_builder *all; /* NULL: a load */
    struct arena *arena;
    size_t of_files; /* how many of them are files that cannot be read */
};

/* To be called when something has failed: true if the work goes on without it. Its reason is then
 * gathered and err empty again. */
bool faults_go_on(struct faults *faults);

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

/* Fills the fields from conf->values. False: a value is well-formed but makes no sense. */
bool settings_fill(struct conf *conf, struct faults *faults) BERTH_MUST_CHECK;

/* For those who fill their section's part: err says that the option's item is not `what`. */
bool settings_refuse(struct err *err, const struct conf_value *value, const char *what,
                     const char *item);

/* Addresses and mount prefixes of an option of type OPTION_MULTI. */
bool settings_fill_listen(struct conf *conf, const char *section, const char *option,
                          const struct conf_listen **filled, size_t *count_filled,
                          struct err *err) BERTH_MUST_CHECK;
bool settings_fill_prefixes(struct conf *conf, const char *section, const char *option,
                            const struct slice **filled, size_t *count_filled,
                            struct err *err) BERTH_MUST_CHECK;

/* The addresses of a door with options `enabled` and `listen`: none, unless it is enabled or the
 * command line has one. */
bool settings_fill_door(struct conf *conf, const char *section, const struct conf_listen **filled,
                        size_t *count_filled, bool *is_default, struct err *err) BERTH_MUST_CHECK;

#endif
