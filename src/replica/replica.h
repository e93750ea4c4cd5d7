/* The state in memory: the current version, the readers that pin one, and the writer that makes the
 * next.
 *
 * Readers store the number of the current version in their own pin before they read; what a version
 * replaced is freed once no pinned version has it. Pinning never waits. */
#ifndef BERTH_REPLICA_REPLICA_H
#define BERTH_REPLICA_REPLICA_H

#include "replica/edit.h"

struct replica;
struct replica_reader;

/* Creates a replica with an empty version 0. */
struct replica *replica_create(void);

/* No reader may be open, and no edit in progress. */
void replica_destroy(struct replica *replica);

/* Opens a reader for one thread, which must close it before the replica is destroyed, with nothing
 * pinned. The replica owns its memory. Any thread. */
struct replica_reader *replica_reader_open(struct replica *replica);
void replica_reader_close(struct replica_reader *reader);

/* Pins and returns the newest version, which stays unchanged until it is unpinned. A reader pins
 * one version at a time. The reader's thread. */
const struct version *replica_pin(struct replica_reader *reader);
void replica_unpin(struct replica_reader *reader);

/* The newest version, for the writer only (engine/seat.h). */
const struct version *replica_newest(const struct replica *replica);

/* Begins the next version: as a copy of the newest or, for a load, empty. The writer. */
struct edit *replica_edit(struct replica *replica);
/* The version after one that has not been published yet: as a copy of that edit's, which must not
 * change any more. They are published in this order, and abandoned in the reverse. */
struct edit *replica_edit_on(struct replica *replica, const struct edit *below);
struct edit *replica_edit_empty(struct replica *replica);

/* Makes the edit's version the current one. The stamp identifies its state of the database, and is
 * copied. The edit must not be used afterwards. The writer, as below. */
void replica_publish(struct replica *replica, struct edit *edit, const struct version_stamp *stamp);

/* The same, and frees nothing: that is left to replica_tidy(). */
void replica_publish_at_once(struct replica *replica, struct edit *edit,
                             const struct version_stamp *stamp);

/* Discards an edit; the current version stays. The edit must not be used afterwards. */
void replica_abandon(struct replica *replica, struct edit *edit);

/* Frees what readers have released since the last publication, and returns memory to the system
 * after freeing much of it. Large amounts are freed over several calls of a few milliseconds each.
 * Call it a few times a second. The writer. */
void replica_tidy(struct replica *replica);

/* The number of publications whose garbage waits for a reader: for tests. The writer. */
size_t replica_waiting(const struct replica *replica);

/* The state at the newest publication. */
struct replica_figures {
    uint64_t number;         /* of the newest version */
    uint64_t bytes;          /* of its nodes, as malloc accounts for them */
    uint64_t retained;       /* older versions of which something is kept for readers */
    uint64_t retained_bytes; /* of the nodes that only those versions have */
};

/* Any thread. */
struct replica_figures replica_figures(const struct replica *replica);

#endif
