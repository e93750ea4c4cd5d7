/* Copies the WAL into the database file in a separate thread.
 *
 * It uses a connection that nothing else uses meanwhile, and SQLite's PASSIVE checkpoint: writers
 * and readers continue, and nothing is written that a connection could mistake for a foreign
 * commit. Commits made while it runs remain to be copied. */
#ifndef BERTH_STORE_SQLITE_COPIER_H
#define BERTH_STORE_SQLITE_COPIER_H

#include <pthread.h>
#include <stdatomic.h>

#include "store/sqlite/db.h"

/* Initialised with zeros: idle. Its functions are for one thread at a time. */
struct copier {
    bool is_started;  /* the thread has yet to be joined */
    int left_frames;  /* frames left by the last run because a reader uses an old state; -1: the run
                         failed */
    bool sync_failed; /* in any run: pages copied before may be lost, and are not copied again */
    struct db *db;
    pthread_t thread;
    atomic_bool is_done;
};

/* Starts it on that connection, which belongs to the copier until it is idle. False: no thread can
 * be started. Only while it is idle. */
bool copier_start(struct copier *copier, struct db *db) BERTH_MUST_CHECK;

/* Whether it is still running. The connection and left_frames may only be used while it is idle. */
bool copier_is_busy(struct copier *copier);

/* Returns when it is idle. */
void copier_wait(struct copier *copier);

#endif
