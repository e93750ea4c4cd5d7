/* The limits of the store: claims committed directly to SQLite, and fdatasync of the disk.
 *
 * A claim is what PUT /allocations of a new consumer writes: a consumers row, three allocations
 * rows, and the provider's generation by compare-and-swap. A batch of claims is one transaction
 * with one row of a log. It uses prepared statements, WAL, synchronous=FULL and joined writes as
 * berth does, but no HTTP and no planning: this is what a writer on this file system could reach at
 * that mean size of a batch.
 *
 * The database is a scratch copy in upstream's schema with providers (created by clouds.py).
 * Single-threaded. */
#include <fcntl.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "store/sqlite/joined_wal.h"

#define BATCH_MAX 4096

struct provider {
    int64_t id;
    int64_t generation;
};

struct limit {
    sqlite3 *db;
    sqlite3_stmt *begin, *consumer, *allocation, *generation, *log, *head, *commit;
    struct provider *providers;
    size_t provider_count, provider_next;
    uint64_t consumer_next, serial;
};

static double now_s(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void must(const struct limit *limit, int result, int wanted)
{
    if (result == wanted)
        return;
    fprintf(stderr, "limit_commit: %s\n", sqlite3_errmsg(limit->db));
    exit(1);
}

static void run(const struct limit *limit, const char *sql)
{
    must(limit, sqlite3_exec(limit->db, sql, NULL, NULL, NULL), SQLITE_OK);
}

static sqlite3_stmt *prepare(const struct limit *limit, const char *sql)
{
    sqlite3_stmt *statement;
    must(limit, sqlite3_prepare_v3(limit->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL),
         SQLITE_OK);
    return statement;
}

static void step(const struct limit *limit, sqlite3_stmt *statement)
{
    must(limit, sqlite3_step(statement), SQLITE_DONE);
    must(limit, sqlite3_reset(statement), SQLITE_OK);
}

static void open_database(struct limit *limit, const char *path)
{
    must(limit,
         sqlite3_open_v2(path, &limit->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
                         joined_wal_vfs()),
         SQLITE_OK);
    run(limit, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=4000;"
               "PRAGMA cache_size=-8192;"
               "CREATE TABLE IF NOT EXISTS limit_log (seq INTEGER PRIMARY KEY, entities BLOB);"
               "CREATE TABLE IF NOT EXISTS limit_head (id INTEGER PRIMARY KEY, seq INTEGER);"
               "INSERT OR IGNORE INTO limit_head VALUES (1, 0);"
               "INSERT OR IGNORE INTO projects (id, external_id) VALUES (1, 'limit');"
               "INSERT OR IGNORE INTO users (id, external_id) VALUES (1, 'limit')");
    limit->begin = prepare(limit, "BEGIN IMMEDIATE");
    limit->consumer =
        prepare(limit, "INSERT INTO consumers (created_at, updated_at, id, uuid, "
                       "project_id, user_id, generation) VALUES (?1, ?1, ?2, ?3, 1, 1, 1)");
    limit->allocation =
        prepare(limit, "INSERT INTO allocations (created_at, updated_at, resource_provider_id, "
                       "consumer_id, resource_class_id, used) VALUES (?1, ?1, ?2, ?3, ?4, ?5)");
    limit->generation =
        prepare(limit, "UPDATE resource_providers SET generation = ?3, updated_at = "
                       "?1 WHERE id = ?2 AND generation = ?3 - 1");
    limit->log = prepare(limit, "INSERT INTO limit_log (entities) VALUES (?1)");
    limit->head = prepare(limit, "UPDATE limit_head SET seq = seq + 1");
    limit->commit = prepare(limit, "COMMIT");

    sqlite3_stmt *all = prepare(limit, "SELECT id, generation FROM resource_providers ORDER BY id");
    size_t room = 0;
    while (sqlite3_step(all) == SQLITE_ROW) {
        if (limit->provider_count == room) {
            room = room == 0 ? 1024 : 2 * room;
            limit->providers = realloc(limit->providers, room * sizeof *limit->providers);
            if (limit->providers == NULL)
                exit(1);
        }
        limit->providers[limit->provider_count++] =
            (struct provider){sqlite3_column_int64(all, 0), sqlite3_column_int64(all, 1)};
    }
    sqlite3_finalize(all);
    all = prepare(limit, "SELECT coalesce(max(id), 0) + 1 FROM consumers");
    if (sqlite3_step(all) == SQLITE_ROW)
        limit->consumer_next = (uint64_t)sqlite3_column_int64(all, 0);
    sqlite3_finalize(all);
    if (limit->provider_count == 0) {
        fputs("limit_commit: no providers in the database\n", stderr);
        exit(1);
    }
}

static void claim(struct limit *limit, const char *now)
{
    static const int used[] = {1, 1024, 10}; /* VCPU, MEMORY_MB, DISK_GB: classes 0, 1, 2 */
    struct provider *p = &limit->providers[limit->provider_next++ % limit->provider_count];
    char uuid[40];
    /* as unordered as random uuids: a real table does not append to its index either */
    uint64_t mixed = (limit->serial++ + 1) * 0x9E3779B97F4A7C15U;
    int length = snprintf(uuid, sizeof uuid, "%08x-%04x-4%03x-8%03x-%012llx",
                          (unsigned)(mixed >> 32), (unsigned)(mixed >> 16) & 0xffff,
                          (unsigned)(mixed >> 4) & 0xfff, (unsigned)(mixed & 0xfff),
                          (unsigned long long)limit->consumer_next & 0xffffffffffff);

    sqlite3_bind_text(limit->consumer, 1, now, -1, SQLITE_STATIC);
    sqlite3_bind_int64(limit->consumer, 2, (int64_t)limit->consumer_next++);
    sqlite3_bind_text(limit->consumer, 3, uuid, length, SQLITE_STATIC);
    step(limit, limit->consumer);
    for (int i = 0; i < 3; i++) {
        sqlite3_bind_text(limit->allocation, 1, now, -1, SQLITE_STATIC);
        sqlite3_bind_int64(limit->allocation, 2, p->id);
        sqlite3_bind_text(limit->allocation, 3, uuid, length, SQLITE_STATIC);
        sqlite3_bind_int(limit->allocation, 4, i);
        sqlite3_bind_int(limit->allocation, 5, used[i]);
        step(limit, limit->allocation);
    }
    sqlite3_bind_text(limit->generation, 1, now, -1, SQLITE_STATIC);
    sqlite3_bind_int64(limit->generation, 2, p->id);
    sqlite3_bind_int64(limit->generation, 3, ++p->generation);
    step(limit, limit->generation);
    must(limit, sqlite3_changes(limit->db), 1);
}

static int commits(const char *path, double batch, double seconds)
{
    static unsigned char entities[BATCH_MAX * 16];
    struct limit limit = {0};
    open_database(&limit, path);
    double start = now_s(CLOCK_MONOTONIC), cpu = now_s(CLOCK_PROCESS_CPUTIME_ID), end = start;
    uint64_t claimed = 0, committed = 0;
    while (end - start < seconds) {
        /* a mean that is not an integer is reached by alternating between the two nearest sizes */
        uint64_t due = (uint64_t)((double)(committed + 1) * batch + 0.5);
        uint64_t size = due > claimed ? due - claimed : 1;
        step(&limit, limit.begin);
        for (uint64_t i = 0; i < size; i++)
            claim(&limit, "2026-01-01 00:00:00.000000");
        sqlite3_bind_blob(limit.log, 1, entities, (int)(size * 16), SQLITE_STATIC);
        step(&limit, limit.log);
        step(&limit, limit.head);
        step(&limit, limit.commit);
        claimed += size;
        committed++;
        end = now_s(CLOCK_MONOTONIC);
    }
    cpu = now_s(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    printf("{\"mean_batch\": %.2f, \"claims_per_s\": %.1f, \"commits_per_s\": %.1f, "
           "\"cpu_us_per_claim\": %.2f}\n",
           (double)claimed / (double)committed, (double)claimed / (end - start),
           (double)committed / (end - start), cpu * 1e6 / (double)claimed);
    return 0;
}

/* Writes and syncs one page repeatedly: in place (like a WAL that starts again), or at the end of a
 * growing file. */
static double syncs_per_s(const char *directory, double seconds, int growing)
{
    char path[4096], page[4096];
    memset(page, 'x', sizeof page);
    snprintf(path, sizeof path, "%s/limit_sync.tmp", directory);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0) {
        perror(path);
        exit(1);
    }
    unlink(path);
    off_t pages = 1024;
    for (off_t i = 0; i < pages && !growing; i++)
        if (pwrite(fd, page, sizeof page, i * (off_t)sizeof page) < 0)
            exit(1);
    fsync(fd);
    double start = now_s(CLOCK_MONOTONIC), end = start;
    off_t done = 0;
    while (end - start < seconds) {
        off_t at = growing ? done : done % pages;
        if (pwrite(fd, page, sizeof page, at * (off_t)sizeof page) < 0 || fdatasync(fd) != 0) {
            perror(path);
            exit(1);
        }
        done++;
        end = now_s(CLOCK_MONOTONIC);
    }
    close(fd);
    return (double)done / (end - start);
}

int main(int argc, char **argv)
{
    double seconds = argc == 4 ? strtod(argv[3], NULL) : 0;
    if (seconds > 0 && strcmp(argv[1], "sync") == 0) {
        double in_place = syncs_per_s(argv[2], seconds, 0);
        printf("{\"in_place_per_s\": %.0f, \"growing_per_s\": %.0f}\n", in_place,
               syncs_per_s(argv[2], seconds, 1));
        return 0;
    }
    double batch = argc == 4 ? strtod(argv[2], NULL) : 0;
    if (seconds > 0 && batch >= 1 && batch <= BATCH_MAX / 2.0)
        return commits(argv[1], batch, seconds);
    fputs("usage: limit_commit DATABASE MEAN_BATCH SECONDS\n"
          "       limit_commit sync DIRECTORY SECONDS\n",
          stderr);
    return 2;
}
