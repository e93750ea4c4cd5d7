/* The commit of one batch, from when it is handed to the store to its publication. For whoever has
 * the seat (seat.h). */
#ifndef BERTH_ENGINE_COMMIT_H
#define BERTH_ENGINE_COMMIT_H

#include "engine/planned.h"
#include "store/store.h"

struct edit;
struct pipeline;

struct commit {
    struct edit *edit; /* what was planned, as the next version */
    struct planned planned;
    uint64_t began_us;
    enum store_result result; /* STORE_PENDING: it is on its way */
    struct store_stamp stamp;
    bool is_foreign;
};

/* Hands the batch over. `err`, here and below: why it could not be committed; all with the arena of
 * the batch. */
void commit_begin(struct pipeline *pipeline, struct commit *commit, struct err *err);

/* Waits until it is decided, which takes seconds if the connection is lost and the database cannot
 * be reached. Reads that need news wait for a commit only as long as one usually takes. `ahead`:
 * requests that arrive meanwhile are planned on top of it. Does nothing if it is decided. */
void commit_await(struct pipeline *pipeline, struct commit *commit, bool ahead, struct err *err);

/* It is decided: makes it visible, or undoes it. Returns the result. */
enum store_result commit_end(struct pipeline *pipeline, struct commit *commit);

#endif
