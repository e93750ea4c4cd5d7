/* Shows the state of the database file without a system call.
 *
 * A second connection that never writes keeps SQLite's wal-index mapped. Its first 48 bytes (the
 * header, copy 1, of "WAL-mode File Format") change with every commit of any process: they are the
 * stamp. */
#ifndef BERTH_STORE_SQLITE_SENTINEL_H
#define BERTH_STORE_SQLITE_SENTINEL_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>
#include <time.h>

#include "store/sqlite/copier.h"
#include "store/sqlite/db.h"
#include "store/store.h"

enum { SENTINEL_FRAME_HEADER_BYTES = 24 }; /* before each page in the WAL */

/* The file and its checkpoints at one moment: see overwritten.c. */
struct sentinel_look {
    uint64_t salts; /* of the WAL */
    uint32_t copied;
    uint32_t attempted;
    off_t size;
    struct timespec modified;
};

struct sentinel {
    struct db db;
    const _Atomic uint64_t *index; /* a mapping of our own, which outlives the connection; NULL: not
                                      available, data_version is used instead */
    const volatile void *region;   /* the connection's mapping of the same */
    pthread_mutex_t lock;          /* protects data_version, which any thread may query */
    sqlite3_stmt *data_version;
    struct copier copier; /* on this connection; only if there is an index */
    dev_t device;         /* of the file that was opened */
    ino_t inode;
    char *wal_path; /* paths of its WAL and its index; NULL: not known */
    char *index_path;
    ino_t wal_inode; /* 0: there was none */
    ino_t index_inode;
    bool wal_is_cut; /* frames that the index counts were found to be missing */
    bool is_closed;  /* the connection is */
    bool has_looked;
    struct sentinel_look last_look; /* if has_looked */
    int64_t retired_at_us;
    struct sentinel *next_retired;
};

/* Opens the connection and maps the index. NULL and err on failure. The caller owns it. */
struct sentinel *sentinel_open(const struct db_options *options, struct err *err);

/* Closes the connection, after which nothing is current. Threads may still be inside
 * sentinel_is_current(). Waits for the copier. `abandon` as in db_close(). */
void sentinel_disconnect(struct sentinel *sentinel, bool abandon);

/* Disconnects, and frees it: no thread may be inside sentinel_is_current(). */
void sentinel_close(struct sentinel *sentinel, bool abandon);

/* The current state. False if the state is being replaced at this moment. */
bool sentinel_read(struct sentinel *sentinel, struct store_stamp *stamp);

/* Any thread, wait-free if there is an index. */
bool sentinel_is_current(struct sentinel *sentinel, const struct store_stamp *stamp);

/* The number of commits in that state, which each commit of any process raises by one and which
 * restarts only when SQLite rebuilds a broken index; and the number of frames in the WAL. Only with
 * an index. */
uint32_t sentinel_stamp_change(const struct store_stamp *stamp);
uint32_t sentinel_stamp_frames(const struct store_stamp *stamp);

/* The size of those frames in the file: 0 without any. Only with an index. */
uint64_t sentinel_stamp_wal_bytes(const struct store_stamp *stamp);

/* A frame with its header. Only with an index. */
size_t sentinel_stamp_frame_bytes(const struct store_stamp *stamp);

/* Where the next frame begins in the file. Only with an index. */
uint64_t sentinel_stamp_wal_end(const struct store_stamp *stamp);

/* Frames that a checkpoint has already copied. Only with an index. */
uint32_t sentinel_backfilled(const struct sentinel *sentinel);

/* Takes or releases SQLite's write lock, for this connection. False: another process holds it. */
bool sentinel_lock_writing(struct sentinel *sentinel, bool lock);

/* Changes the wal-index to say that no frame has been copied yet, so that all are copied again.
 * Only while the copier is idle. False: another process copies, writes or reads only from the file,
 * and could start the WAL over: to be retried. */
bool sentinel_forget_copied(struct sentinel *sentinel) BERTH_MUST_CHECK;

/* Whether that connection has the same file open: the two are opened one after the other. */
bool sentinel_shares_file(const struct sentinel *sentinel, struct db *other);

enum sentinel_file { SENTINEL_SAME, SENTINEL_REPLACED, SENTINEL_GONE };

/* Whether the path still leads to the file that was opened: one stat(). */
enum sentinel_file sentinel_check_file(const struct sentinel *sentinel);

/* Whether the WAL, and the WAL and the index, at their paths are those that were opened, and the
 * WAL is as long as the index says: one stat() each. True without an index. */
bool sentinel_has_wal(struct sentinel *sentinel);
bool sentinel_has_wal_and_index(struct sentinel *sentinel);

/* overwritten.c: whether something other than a checkpoint has written to the file since the last
 * call. False in doubt, at the first call, and without an index. */
bool sentinel_sees_overwriting(struct sentinel *sentinel);

/* After a commit: whether the open WAL `wal` still has the last frame of the state `before` it.
 * Truncating the file removes that frame first, and a commit fills the gap with zeros. */
bool sentinel_has_frames(struct sentinel *sentinel, sqlite3_file *wal,
                         const struct store_stamp *before);

/* salvage.c: the file, its WAL or its index was removed, moved, replaced or truncated under the
 * connection, which still holds them open. Copies what only the open WAL has into the open file,
 * durably, and empties the file that took the WAL's place. */
enum sentinel_salvage {
    SENTINEL_SALVAGED, /* or there was nothing to copy */
    SENTINEL_BLOCKED,  /* another process reads, writes or copies, or the disk fails: to be retried
                        */
    SENTINEL_LOST, /* another process has written elsewhere since, or to the WAL itself: the file
                      was left alone */
};
enum sentinel_salvage sentinel_salvage(struct sentinel *sentinel);

/* After SENTINEL_REPLACED, before the new file is opened: removes the old file's WAL and index if
 * they are still beside the path, so that SQLite does not apply them to the new file. */
void sentinel_remove_stale_wal(const struct sentinel *sentinel);

#endif
