/* Finds the process that has a file open. */
#ifndef BERTH_STORE_SQLITE_HOLDER_H
#define BERTH_STORE_SQLITE_HOLDER_H

#include <stdbool.h>
#include <sys/stat.h>

/* Room for "process 4194304 (fifteen letters)". */
enum { HOLDER_BYTES = 64 };

/* Looks in /proc for another process that has the file open for writing, and describes it. False:
 * none is visible; users other than root see only their own processes. Does not open the file. */
bool holder_find(const struct stat *file, char who[static HOLDER_BYTES]);

/* Whether another process holds one of SQLite's locks on the file. Never call this for a file that
 * this process has open through SQLite: closing it here would release SQLite's locks. */
bool holder_has_lock(const char *path);

#endif
