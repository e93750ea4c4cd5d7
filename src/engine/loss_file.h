/* The file that names what is gone: a line of JSON for the event, one for each loss, and one at the
 * end, without which the file is incomplete. */
#ifndef BERTH_ENGINE_LOSS_FILE_H
#define BERTH_ENGINE_LOSS_FILE_H

#include <limits.h>

#include "base/buf.h"
#include "replica/losses.h"
#include "store/store.h"

struct loss_file {
    int fd; /* -1: there is none */
    bool has_failed;
    int error; /* of errno, once it has failed */
    uint64_t losses;
    struct buf buf;
    const struct version *before;
    const struct version *after;
    char path[PATH_MAX];
};

/* Creates a new file in the directory. If it cannot be created or written, loss_file_end() says so.
 * Both versions outlive it. */
void loss_file_begin(struct loss_file *file, const char *directory, struct slice host,
                     const struct store_going_back *event, const struct version *before,
                     const struct version *after);

void loss_file_add(struct loss_file *file, const struct loss *loss);

/* Writes the rest, makes the file durable and closes it. False: it is incomplete, or was not
 * created; file->error has the reason. */
bool loss_file_end(struct loss_file *file) BERTH_MUST_CHECK;

#endif
