/* A file that is written beside its final name, and renamed when it is complete.
 *
 * It is called NAME and a suffix, and locked while a process writes to it. A file left by a killed
 * process is used again. */
#ifndef BERTH_STORE_SQLITE_PARTIAL_H
#define BERTH_STORE_SQLITE_PARTIAL_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/check.h"
#include "base/err.h"

struct partial {
    char final[PATH_MAX]; /* absolute; no directory in it is a link */
    char path[PATH_MAX];
    int fd; /* -1: closed */
    int directory;
    bool is_in_place; /* it has its final name */
};

/* The absolute name of a file that need not exist; its directory must. False: err. */
bool partial_resolve(const char *file, char final[static PATH_MAX],
                     struct err *err) BERTH_MUST_CHECK;

/* Creates it empty, mode 0600, for `final` as returned by partial_resolve(). False: err;
 * partial_drop() may be called nevertheless. */
bool partial_open(struct partial *partial, const char *final, const char *suffix,
                  struct err *err) BERTH_MUST_CHECK;

/* Gives it the final name, durably. Without `overwrite`, an existing file with that name is an
 * error. If the last step, the sync of the directory, fails, the file already has its name; err
 * says so. */
bool partial_finish(struct partial *partial, bool overwrite, struct err *err) BERTH_MUST_CHECK;

/* Removes it unless it is finished, and any files that SQLite left beside it; closes it. */
void partial_drop(struct partial *partial);

/* err gets "'PATH' cannot be WHAT: REASON" by errno. Always false. */
bool partial_fail(const char *path, const char *what, struct err *err);

/* `path` and a suffix such as "-wal". False: too long. */
bool partial_beside(const char *path, const char *suffix, char beside[static PATH_MAX]);

#endif
