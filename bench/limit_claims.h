/* Claims in batches, as berth's writer would send them to a database server, but without HTTP and
 * without planning. What limit_postgres.c and limit_mariadb.c have in common.
 *
 * A claim is what PUT /allocations of a new consumer writes. The changes, the row of the log and
 * the order of the statements come from berth's own code, the session is the one of its writer, and
 * the log continues as berth would continue it. While one batch is on its way, the next one is
 * built: this is what one writer on this server could reach at that mean size of a batch.
 *
 * The database is a scratch copy in upstream's schema with providers (filled by clouds.py).
 * Single-threaded, except for the store's own threads, which sleep. */
#ifndef BERTH_BENCH_LIMIT_CLAIMS_H
#define BERTH_BENCH_LIMIT_CLAIMS_H

#include "base/arena.h"
#include "store/server/log_rows.h"
#include "store/server/session.h"
#include "store/waves.h"

enum {
    LIMIT_BATCH_MOST = 1024,
    LIMIT_CLASSES = 3,                     /* VCPU, MEMORY_MB, DISK_GB: classes 0, 1, 2 */
    LIMIT_CHANGES = 1 + LIMIT_CLASSES + 1, /* of a claim */
    LIMIT_UUID_ROOM = 40,
};

/* A batch, until the next one with the same `at` is built. */
struct limit_batch {
    size_t at; /* 0 or 1 */
    struct arena *arena;
    size_t claims;
    struct change changes[LIMIT_BATCH_MOST * LIMIT_CHANGES];
    size_t ends[LIMIT_BATCH_MOST];
    char uuids[LIMIT_BATCH_MOST][LIMIT_UUID_ROOM];
    struct buf entries;
    unsigned char mark[LOG_MARK_LEN];
    struct log_state before;
    struct log_row row;
    struct waves waves;
};

/* How a server gets them. `self` is what limit_claims_main() was given. Failures end the process.
 */
struct limit_client {
    const char *scheme; /* with which the URL begins */
    const char *server; /* its name, for messages */
    void (*open)(void *self, struct server_session *session);
    /* The rows of a query whose columns are integers, one after another; the memory is kept. */
    int64_t *(*read)(void *self, const char *sql, size_t columns, size_t *rows);
    /* Makes of a batch what send() sends. */
    void (*build)(void *self, const struct limit_batch *batch);
    /* Called once, with a batch that was built, before the first is sent. NULL: nothing is to do.
     */
    void (*begin)(void *self, const struct limit_batch *batch);
    void (*send)(void *self, const struct limit_batch *batch);
    void (*await)(void *self, const struct limit_batch *batch);
    void (*end)(void *self); /* NULL: nothing is to do */
    /* The CPU time so far of the server for this connection; the server is on this machine. */
    double (*cpu_s)(void *self);
};

/* The whole program: commits claims and prints what that took. Returns the exit status. */
int limit_claims_main(const struct limit_client *client, void *self, int argc, char **argv);

/* The CPU time so far of a process or thread. */
double limit_cpu_s(long long id);

/* Ends the process if there is no memory. */
void *limit_zalloc(size_t count, size_t size);

#endif
