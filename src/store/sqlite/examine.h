/* Checks whether a file is a complete Placement database, and describes its contents. */
#ifndef BERTH_STORE_SQLITE_EXAMINE_H
#define BERTH_STORE_SQLITE_EXAMINE_H

#include "store/backup.h"

/* For a file that no other process has open, possibly in the state after a crash: first writes the
 * contents of its -wal or -journal into the file, and leaves it in the journal mode DELETE, as a
 * single file. `name` is the file's name in err's message. */
bool examine_copy(const char *path, const char *name, const struct backup_watch *watch,
                  struct backup_facts *facts, struct err *err) BERTH_MUST_CHECK;

#endif
