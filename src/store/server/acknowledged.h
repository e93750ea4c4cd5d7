/* A file that remembers the newest state that this instance has had, so that an instance that was
 * killed finds out after its restart whether the database went back meanwhile.
 *
 * It survives the process, not the machine: it is written with each batch, in memory that is mapped
 * from the file, and never synced. A write() would change the file's time, and a database on the
 * same disk would then wait for that with each of its commits. Without it, only that is not found
 * out. The writer only. */
#ifndef BERTH_STORE_SERVER_ACKNOWLEDGED_H
#define BERTH_STORE_SERVER_ACKNOWLEDGED_H

#include "store/server/epochs.h"
#include "store/server/log_rows.h"

struct slot;

struct acknowledged {
    int fd;             /* -1: there is no file */
    struct slot *slots; /* of the file; NULL: the same, or it cannot be written any more */
    uint64_t sequence;
};

/* Opens or creates the file in that directory (without data: none) for the database, which is known
 * by its URL without a password. Instances that share the directory have a file each. Returns the
 * state that an earlier process has left there, and fills in what it has left of epochs; all zero:
 * none. */
struct log_state acknowledged_open(struct acknowledged *file, struct slice directory,
                                   struct slice target, struct epochs_left *epochs);

/* If the file cannot be written any more, this is logged once, and it is left as it is. */
void acknowledged_write(struct acknowledged *file, const struct log_state *state,
                        const struct epochs_left *epochs);

void acknowledged_close(struct acknowledged *file);

#endif
