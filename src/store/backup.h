/* Copies of the whole database: making one while it is served, and restoring one.
 *
 * Each call opens the database of that SQLAlchemy URL and closes it again. On failure, err has one
 * clear line, and the database and any file that existed before are unchanged, unless the line says
 * that the new file is in place but its directory cannot be synced. The calling thread only. */
#ifndef BERTH_STORE_BACKUP_H
#define BERTH_STORE_BACKUP_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/slice.h"
#include "store/store.h"

/* Called many times a second while a copy is made or checked. `percent` refers to the step `what`.
 * Returning false aborts the call, which removes its unfinished file and fails. */
struct backup_watch {
    bool (*go_on)(void *cls, const char *what, unsigned percent);
    void *cls;
};

struct backup_facts {
    uint64_t bytes; /* of the file */
    char revision[STORE_REVISION_BYTES];
    int64_t providers;
};

/* Writes one committed state of the database to `file`, mode 0600, durably, and checks the copy
 * before it gets that name. Servers can keep writing meanwhile. The copy grows beside the final
 * name, as FILE.partial, which a later call replaces. `overwrite`: a regular file with that name is
 * replaced, atomically; otherwise it is an error. */
bool backup_make(struct slice connection, const char *file, bool overwrite,
                 const struct backup_watch *watch, struct backup_facts *facts,
                 struct err *err) BERTH_MUST_CHECK;

struct restore_result {
    struct backup_facts facts;
    char path[PATH_MAX]; /* of the database; no link */
    char kept[PATH_MAX]; /* path of the replaced database; "": there was none, or it is not kept */
};

/* Replaces the database with the copy `file`, and its -wal or -journal if it has one, atomically
 * and durably. First it checks the copy and that no process has the database open; no process can
 * open it until the end. Owner, group, mode and access control list of the database are kept.
 * `keep`: the replaced database is kept beside it, as NAME.replaced-DATE. */
bool backup_restore(struct slice connection, const char *file, bool keep,
                    const struct backup_watch *watch, struct restore_result *result,
                    struct err *err) BERTH_MUST_CHECK;

#endif
