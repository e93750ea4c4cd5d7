/* Which policy files there are, and what is in them. */
#ifndef BERTH_POLICY_FILES_H
#define BERTH_POLICY_FILES_H

#include <sys/stat.h>

#include "conf/find.h"
#include "conf/settings.h"
#include "policy/set.h"

enum { POLICY_FILE_BYTES_MAX = 1024 * 1024, POLICY_FILES_MAX = 256 };

/* Where to look: names are searched as find_conf_beside does. */
struct policy_places {
    const char *file;                       /* "": none */
    const char *fallback_file;              /* if that does not exist; NULL: none */
    struct conf_texts directories_of_files; /* [oslo_policy] policy_dirs */
    const struct conf_inputs *inputs;
};

/* What tells whether a file is still the one that was read. */
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
    const char *missing; /* the file that somebody has named, and that is nowhere; or NULL */
};

/* From [oslo_policy]; the texts are the configuration's, which was loaded from the inputs. */
struct policy_places policy_places_of(const struct conf *conf, const struct conf_inputs *inputs);
struct policy_options policy_options_of(const struct conf *conf);

/* Lists what is there now; what is missing is no error. False: err has one line. */
bool policy_files_list(const struct policy_places *places, struct arena *arena,
                       struct policy_inventory *inventory, struct err *err) BERTH_MUST_CHECK;

bool policy_inventory_equal(const struct policy_inventory *a, const struct policy_inventory *b);

/* Reads the files into overrides, which point into the arena. Notes get what is odd about them.
 * False: err has one line with file and line. */
bool policy_files_read(const struct policy_inventory *inventory, struct arena *arena,
                       struct policy_overrides *overrides, struct policy_notes *notes,
                       struct err *err) BERTH_MUST_CHECK;

/* The rules of one file's text, behind those that are there. For policy_files_read. */
bool policy_file_take(const char *path, struct slice text, struct arena *arena,
                      struct policy_overrides *overrides, struct policy_notes *notes,
                      struct err *err) BERTH_MUST_CHECK;

#endif
