/* A pipeline on a real file in a directory of its own, and a connection of somebody else to it. */
#ifndef BERTH_TESTS_WRITE_BENCH_H
#define BERTH_TESTS_WRITE_BENCH_H

#include <sqlite3.h>

#include "base/arena.h"
#include "engine/pipeline.h"

struct bench {
    char directory[64];
    char path[96];
    char url[112];
    struct arena *arena;
    struct store *store;
    struct replica *replica;
    struct pipeline *pipeline;
    sqlite3 *shell;
};

/* How long a write waits for a lock: so long that only a test that moves its clock ends the wait.
 */
enum { BENCH_BUSY_MS = 60000 };

struct bench *bench_open(void);
void bench_close(struct bench *bench);

/* What somebody else does to the file; it has to work. */
void bench_shell(struct bench *bench, const char *sql);

#endif
