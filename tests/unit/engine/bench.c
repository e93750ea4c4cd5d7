/* See bench.h. */
#include "engine/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "unit.h"

struct bench *bench_open(void)
{
    struct bench *bench = calloc(1, sizeof(*bench));
    snprintf(bench->directory, sizeof(bench->directory), "/tmp/berth-pipeline-XXXXXX");
    assert_non_null(mkdtemp(bench->directory));
    snprintf(bench->path, sizeof(bench->path), "%s/db", bench->directory);
    snprintf(bench->url, sizeof(bench->url), "sqlite:///%s", bench->path);
    bench->arena = arena_create();
    struct err err = {.arena = bench->arena};
    struct store_options options = {.connection = slice_of(bench->url),
                                    .busy_timeout_ms = BENCH_BUSY_MS,
                                    .sync_schema = true,
                                    .create_missing_file = true,
                                    .synchronous_off = true};
    bench->store = store_open(&options, &err);
    assert_non_null(bench->store);
    bench->replica = replica_create();
    bench->pipeline = pipeline_start(bench->store, bench->replica, NULL, &err);
    assert_non_null(bench->pipeline);
    assert_int_equal(sqlite3_open(bench->path, &bench->shell), SQLITE_OK);
    sqlite3_busy_timeout(bench->shell, 5000);
    return bench;
}

void bench_close(struct bench *bench)
{
    static const char *const suffixes[] = {"", "-wal", "-shm"};
    sqlite3_close(bench->shell);
    pipeline_stop(bench->pipeline);
    replica_destroy(bench->replica);
    store_close(bench->store);
    for (size_t i = 0; i < 3; i++) {
        char name[128];
        snprintf(name, sizeof(name), "%s%s", bench->path, suffixes[i]);
        unlink(name);
    }
    rmdir(bench->directory);
    arena_destroy(bench->arena);
    free(bench);
}

void bench_shell(struct bench *bench, const char *sql)
{
    char *message = NULL;
    if (sqlite3_exec(bench->shell, sql, NULL, NULL, &message) != SQLITE_OK)
        print_error("%s\n", message);
    assert_null(message);
}
