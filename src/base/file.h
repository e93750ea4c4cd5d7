/* Whole files, read into memory. */
#ifndef BERTH_BASE_FILE_H
#define BERTH_BASE_FILE_H

#include "base/buf.h"
#include "base/err.h"

/* Reads all of the file, which may also be a pipe: until its writers close it, and nothing if it
 * has none. `what` names its kind in messages, "the configuration file". False: it cannot be read,
 * or is larger than `most_bytes`; err says so. */
bool file_read(const char *path, const char *what, size_t most_bytes, struct buf *out,
               struct err *err) BERTH_MUST_CHECK;

#endif
