/* The state in memory: the current version, the readers that pin one, the writer that makes the
 * next.
 *
 * Readers write the number of the current version into their own pin before they read; what a
 * version replaced is freed once no pinned version has it. Pinning never waits. */
#ifndef BERTH_REPLICA_REPLICA_H
#define BERTH_REPLICA_REPLICA_H

#include "replica/edit.h"

struct replica;
struct replica_reader;

/* A replica holding an empty version 0. */
struct replica *replica_create(void);

/* No reader may be open, no edit in the making. */
void replica_destroy(struct replica *replica);

/* A reader for one thread, which must close it before the replica ends; nothing is pinned then. Its
 * memory is the replica's. Any thread. */
struct replica_reader *replica_reader_open(struct replica *replica);
void replica_reader_close(struct replica_reader *reader);

/* The newest version, which stays whole until unpinned. A reader pins one version at a time. The
 * reader's thread. */
const struct version *replica_pin(struct replica_reader *reader);
void replica_unpin(struct replica_reader *reader);

/* The newest version, for the writer thread only. */
const struct version *replica_newest(const struct replica *replica);

/* Begins the next version as a copy of the newest, or from nothing for a load. Writer thread. */
struct edit *replica_edit(struct replica *replica);
struct edit *replica_edit_empty(struct replica *replica);

/* Makes the edit's version the current one; stamp tells which database state it is, and is copied.
 * The edit is consumed. Writer thread, as below. */
void replica_publish(struct replica *replica, struct edit *edit, const struct version_stamp *stamp);

/* Forgets an edit: the current version stays as it is. The edit is consumed. */
void replica_abandon(struct replica *replica, struct edit *edit);

/* Frees what readers have let go since the last publication, and returns memory to the system after
 * much of it was freed. Much is freed over several calls, of a few milliseconds each. To be called
 * a few times a second. Writer thread. */
void replica_tidy(struct replica *replica);

/* Publications of which something waits for a reader: for tests. Writer thread. */
size_t replica_waiting(const struct replica *replica);

/* As of the newest publication. */
struct replica_figures {
    uint64_t number;         /* the newest version's */
    uint64_t bytes;          /* of its nodes, as malloc hands them out */
    uint64_t retained;       /* older versions of which something is kept for readers */
    uint64_t retained_bytes; /* of the nodes that only those have */
};

/* Any thread. */
struct replica_figures replica_figures(const struct replica *replica);

#endif
