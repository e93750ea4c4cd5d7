/* Raw commits through the store, without HTTP, planning or memory: claims of three classes in
 * batches of 1, 8 and 64; the load of 10 000 hosts with 100 000 allocations; and the longest waits
 * after a reader has held the WAL and releases it. A program, not a test: bench_commits [DIRECTORY
 * [SECONDS [MIB]]]; MIB is the size to which the WAL grows behind that reader. */
#include "fixture.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { HOSTS = 10000, CONSUMERS = 33334, BATCH_MOST = 64 };

static double seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void must(bool ok, const struct err *err)
{
    if (ok)
        return;
    fprintf(stderr, "%.*s\n", SLICE_ARG(err->message));
    exit(1);
}

static void count_change(void *cls, const struct change *change)
{
    (void)change;
    ++*(long *)cls;
}

static int64_t generations[HOSTS + 1];

static void claim(struct store *store, struct change_list *list, uint64_t number)
{
    int64_t host = 1 + (int64_t)(number * 7919 % HOSTS);
    int64_t id = store_next_id(store, STORE_CONSUMERS);
    const char *uuid = arena_printf(list->arena, "%08lx-0000-4000-8000-%012lx",
                                    number * 2654435761 & 0xffffffff, number)
                           .data;
    add_consumer(list, CHANGE_CONSUMER_INSERT, id, uuid, 1);
    for (int64_t class = 0; class < 3; class ++)
        add_allocation(list, store_next_id(store, STORE_ALLOCATIONS), id, uuid, host, class, 1);
    add_generation(list, host, generations[host], generations[host] + 1);
    generations[host]++;
}

static void fill(struct store *store, struct arena *arena)
{
    struct err err = {.arena = arena};
    struct store_stamp stamp;
    bool foreign;
    struct change_list list = {.arena = arena};
    add_catalog(&list, CHANGE_PROJECT_INSERT, 1, "project");
    add_catalog(&list, CHANGE_USER_INSERT, 1, "user");
    add_catalog(&list, CHANGE_CONSUMER_TYPE_INSERT, 1, "INSTANCE");
    for (int64_t id = 1; id <= HOSTS; id++) {
        const char *name = arena_printf(arena, "host-%06ld", id).data;
        const char *uuid = arena_printf(arena, "%08lx-1111-4111-8111-000000000000", id).data;
        add_provider(&list, id, 0, id, uuid, name);
        for (int64_t class = 0; class < 3; class ++)
            add_inventory(&list, CHANGE_INVENTORY_INSERT, id, class, 1000);
        add_link(&list, CHANGE_PROVIDER_TRAIT_INSERT, id, 1 + id % 300);
    }
    long rows = 0;
    must(lock_and_read(store, &err) == STORE_NEWS_RELOAD, &err);
    must(store_load(store, count_change, &rows, &err) == STORE_OK, &err);
    must(store_end_read(store, &stamp), &err);
    for (uint64_t number = 0; number < CONSUMERS; number++)
        claim(store, &list, number);
    must(commit_list(store, &list, &stamp, &foreign, &err) == STORE_OK, &err);
    store_upkeep(store);
}

/* By this process, to any file. */
static double written_kib(void)
{
    FILE *file = fopen("/proc/self/io", "r");
    unsigned long long bytes = 0;
    if (file == NULL || fscanf(file, "rchar: %*u wchar: %llu", &bytes) != 1)
        bytes = 0;
    if (file != NULL)
        fclose(file);
    return (double)bytes / 1024;
}

static void measure_commits(struct store *store, int batch, double duration, uint64_t *number)
{
    struct arena *arena = arena_create();
    long commits = 0;
    double began = seconds(CLOCK_MONOTONIC);
    double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    double written = written_kib();
    while (seconds(CLOCK_MONOTONIC) - began < duration) {
        arena_reset(arena);
        struct err err = {.arena = arena};
        struct store_stamp stamp;
        bool foreign;
        struct change_list list = {.arena = arena};
        size_t ends[BATCH_MOST];
        must(lock_and_read(store, &err) == STORE_NEWS_NONE, &err);
        must(store_end_read(store, &stamp), &err);
        for (int i = 0; i < batch; i++) {
            claim(store, &list, (*number)++);
            ends[i] = list.count;
        }
        const struct store_batch changes = {
            .changes = list.items, .ends = ends, .requests = (size_t)batch};
        must(store_commit(store, &changes, &stamp, &foreign, &err) == STORE_OK, &err);
        store_upkeep(store);
        commits++;
    }
    double took = seconds(CLOCK_MONOTONIC) - began;
    cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    double claims = (double)commits * batch;
    printf("batch %3d: %8.0f commits/s %8.0f claims/s %7.1f us CPU and %.2f KiB written a claim\n",
           batch, (double)commits / took, claims / took, cpu * 1e6 / claims,
           (written_kib() - written) / claims);
    arena_destroy(arena);
}

static off_t wal_bytes(const char *path)
{
    struct stat file;
    char wal[300];
    snprintf(wal, sizeof(wal), "%s-wal", path);
    return stat(wal, &file) == 0 ? file.st_size : 0;
}

/* The longest of each step of a batch, in seconds. */
struct longest {
    double begin, commit, upkeep;
};

static void note(double *longest, double *since)
{
    double now = seconds(CLOCK_MONOTONIC);
    if (now - *since > *longest)
        *longest = now - *since;
    *since = now;
}

static void commit_noting(struct store *store, uint64_t *number, struct longest *longest)
{
    struct arena *arena = arena_create();
    struct err err = {.arena = arena};
    struct change_list list = {.arena = arena};
    struct store_stamp stamp;
    bool foreign;
    double at = seconds(CLOCK_MONOTONIC);
    must(lock_and_read(store, &err) == STORE_NEWS_NONE, &err);
    must(store_end_read(store, &stamp), &err);
    note(&longest->begin, &at);
    for (int i = 0; i < 8; i++)
        claim(store, &list, (*number)++);
    at = seconds(CLOCK_MONOTONIC);
    must(commit_list(store, &list, &stamp, &foreign, &err) == STORE_OK, &err);
    note(&longest->commit, &at);
    store_upkeep(store);
    note(&longest->upkeep, &at);
    arena_destroy(arena);
}

static void print_longest(const char *when, off_t wal, const struct longest *longest)
{
    printf("%s: WAL %ld MiB; longest begin %.1f ms, commit %.1f ms, upkeep %.1f ms\n", when,
           (long)(wal >> 20), longest->begin * 1e3, longest->commit * 1e3, longest->upkeep * 1e3);
}

static void measure_reader(struct store *store, const char *path, off_t limit, double duration,
                           uint64_t *number)
{
    struct longest before = {0};
    struct longest after = {0};
    sqlite3 *reader;
    check(sqlite3_open(path, &reader) == SQLITE_OK);
    check(sqlite3_exec(reader, "BEGIN; SELECT count(*) FROM berth_head", NULL, NULL, NULL) ==
          SQLITE_OK);
    while (wal_bytes(path) < limit)
        commit_noting(store, number, &before);
    print_longest("behind a reader", wal_bytes(path), &before);
    check(sqlite3_close(reader) == SQLITE_OK);
    double end = seconds(CLOCK_MONOTONIC) + duration;
    while (seconds(CLOCK_MONOTONIC) < end)
        commit_noting(store, number, &after);
    print_longest("after it let go", wal_bytes(path), &after);
}

static void measure_load(const char *url)
{
    struct arena *arena = arena_create();
    struct err err = {.arena = arena};
    struct store_options options = {.connection = slice_of(url), .busy_timeout_ms = 5000};
    double began = seconds(CLOCK_MONOTONIC);
    struct store *store = store_open(&options, &err);
    must(store != NULL, &err);
    double opened = seconds(CLOCK_MONOTONIC);
    long rows = 0;
    must(lock_and_read(store, &err) == STORE_NEWS_RELOAD, &err);
    must(store_load(store, count_change, &rows, &err) == STORE_OK, &err);
    struct store_stamp stamp;
    must(end_news(store, &stamp), &err);
    double loaded = seconds(CLOCK_MONOTONIC);
    long current = 0;
    double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; i < 10000000; i++)
        current += store_is_current(store, &stamp);
    double asked = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("open %.1f ms, load of %ld rows %.1f ms; store_is_current %.1f ns (%ld); %ld KiB "
           "resident\n",
           (opened - began) * 1e3, rows, (loaded - opened) * 1e3, asked * 100, current,
           usage.ru_maxrss);
    store_close(store);
    arena_destroy(arena);
}

int main(int argc, char **argv)
{
    char url[256];
    const char *directory = argc > 1 ? argv[1] : "/tmp";
    double duration = argc > 2 ? atof(argv[2]) : 3;
    snprintf(url, sizeof(url), "sqlite:///%s/bench-commits.db", directory);
    const char *path = url + strlen("sqlite:///");
    unlink(path);
    struct arena *arena = arena_create();
    struct err err = {.arena = arena};
    struct store_options options = {.connection = slice_of(url),
                                    .busy_timeout_ms = 5000,
                                    .sync_schema = true,
                                    .create_missing_file = true};
    struct store *store = store_open(&options, &err);
    must(store != NULL, &err);
    fill(store, arena);
    store_close(store);
    arena_destroy(arena);
    measure_load(url);
    arena = arena_create();
    err.arena = arena;
    store = store_open(&options, &err);
    must(store != NULL, &err);
    long rows = 0;
    struct store_stamp stamp;
    must(lock_and_read(store, &err) == STORE_NEWS_RELOAD, &err);
    must(store_load(store, count_change, &rows, &err) == STORE_OK, &err);
    must(end_news(store, &stamp), &err);
    uint64_t number = CONSUMERS;
    static const int batches[] = {1, 8, BATCH_MOST};
    for (size_t i = 0; i < 3; i++)
        measure_commits(store, batches[i], duration, &number);
    measure_reader(store, path, (argc > 3 ? atol(argv[3]) : 200) << 20, duration, &number);
    store_close(store);
    arena_destroy(arena);
    unlink(path);
    return 0;
}
