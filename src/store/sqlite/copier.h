/* Copies the WAL into the database file in a thread of its own.
 *
 * On a connection that nothing else uses meanwhile, by SQLite's PASSIVE checkpoint: writers and
 * readers go on, and nothing that a connection could take for a foreign commit is written. What is
 * committed while it runs stays to be copied. */
#ifndef BERTH_STORE_SQLITE_COPIER_H
#define BERTH_STORE_SQLITE_COPIER_H

#include <pthread.h>
#include <stdatomic.h>

#include "store/sqlite/db.h"

/* All zero: at rest. Its functions are for one thread at a time. */
struct copier {
    bool is_started;  /* the thread is still to be joined */
    int left_frames;  /* of those that the last run found, because somebody reads an old state; -1:
                         it failed */
    bool sync_failed; /* in any run: what was copied before may be lost, and is not copied again */
    struct db *db;
    pthread_t thread;
    atomic_bool is_done;
};

/* Starts it on that connection, which is the copier's until it rests. False: no thread is to be
 * had. Only while it rests. */
bool copier_start(struct copier *copier, struct db *db) BERTH_MUST_CHECK;

/* Whether it is still at work. Only while it rests may the connection and left_frames be used. */
bool copier_is_busy(struct copier *copier);

/* Returns when it rests. */
void copier_wait(struct copier *copier);

#endif
