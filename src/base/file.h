/* Reads whole files into memory. */
#ifndef BERTH_BASE_FILE_H
#define BERTH_BASE_FILE_H

#include "base/buf.h"
#include "base/err.h"

/* Reads the whole file. A pipe is read until its writers close it; a pipe without a writer reads as
 * empty. `what` names the kind of file in messages, for example "the configuration file". False:
 * the file cannot be read or is larger than `most_bytes`; err states the reason. */
bool file_read(const char *path, const char *what, size_t most_bytes, struct buf *out,
               struct err *err) BERTH_MUST_CHECK;

#endif
