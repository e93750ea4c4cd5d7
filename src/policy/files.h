/* Which policy files exist, and what they contain. */
#ifndef BERTH_POLICY_FILES_H
#define BERTH_POLICY_FILES_H

#include <sys/stat.h>

#include "conf/find.h"
#include "conf/settings.h"
#include "policy/set.h"

enum { POLICY_FILE_BYTES_MAX = 1024 * 1024, POLICY_FILES_MAX = 256 };

/* Where to look: names are looked up as in find_conf_beside. */
struct policy_places {
    const char *file;                       /* "": none */
    const char *fallback_file;              /* used if that does not exist; NULL: none */
    struct conf_texts directories_of_files; /* [oslo_policy] policy_dirs */
    const struct conf_inputs *inputs;
};

/* The values that show whether a file has changed since it was read. */
struct policy_file {
    const char *path;
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec modified;
    struct timespec changed;
};

struct policy_inventory {
    struct policy_file *files; /* in the order of reading */
    size_t count;
    size_t capacity;
    const char *main; /* policy_file, where it was found; NULL: not found */
    const char
        *missing; /* policy_file as configured, if it was set explicitly but not found; or NULL */
    const char **directories; /* as many as directories_of_files; NULL: not found */
    size_t directory_count;
};

/* From [oslo_policy]; the texts belong to the configuration, which was loaded from the inputs. */
struct policy_places policy_places_of(const struct conf *conf, const struct conf_inputs *inputs);
struct policy_options policy_options_of(const struct conf *conf);

/* Lists the files that exist now; a missing one is not an error. False: err has one line. */
bool policy_files_list(const struct policy_places *places, struct arena *arena,
                       struct policy_inventory *inventory, struct err *err) BERTH_MUST_CHECK;

bool policy_inventory_equal(const struct policy_inventory *a, const struct policy_inventory *b);

/* The file or directory of the places that existed before and does not exist now; NULL: none. Files
 * within a directory may disappear. */
const char *policy_inventory_find_gone(const struct policy_inventory *before,
                                       const struct policy_inventory *now);

/* Reads the files into overrides, which point into the arena. Problems are added to the notes.
 * False: err has one line with file and line. */
bool policy_files_read(const struct policy_inventory *inventory, struct arena *arena,
                       struct policy_overrides *overrides, struct policy_notes *notes,
                       struct err *err) BERTH_MUST_CHECK;

/* Appends the rules of one file's text. For policy_files_read. */
bool policy_file_take(const char *path, struct slice text, struct arena *arena,
                      struct policy_overrides *overrides, struct policy_notes *notes,
                      struct err *err) BERTH_MUST_CHECK;

#endif
