/* Whether a file is a whole database of Placement, and what is in it. */
#ifndef BERTH_STORE_SQLITE_EXAMINE_H
#define BERTH_STORE_SQLITE_EXAMINE_H

#include "store/backup.h"

/* A file that nobody else has open, as SQLite may find it after a crash: first brings what is in
 * its -wal or -journal into the file, and leaves it in the journal mode DELETE, a single file.
 * `name` is what the message of err calls it. */
bool examine_copy(const char *path, const char *name, const struct backup_watch *watch,
                  struct backup_facts *facts, struct err *err) BERTH_MUST_CHECK;

#endif
