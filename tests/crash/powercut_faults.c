/* Commits traits to a store on the power-cut VFS while some of its syncs and writes fail, and at
 * random moments, between any two writes, looks at what a power cut would leave: every commit that
 * was acknowledged is there, none that was refused, and none in part.
 *
 * powercut_faults DIRECTORY SEED CUTS. One thread commits, the store's copier is another. */
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "powercut_vfs.h"
#include "store/store.h"

enum {
    TRAITS_A_COMMIT = 12,
    COMMITS = 400,    /* to one file */
    WAL_FRAMES = 200, /* it starts over some times in these */
    LOOK_SHARE = 40,  /* one of so many writes and syncs is the last */
};

enum outcome { UNDECIDED, ACKNOWLEDGED, REFUSED, OUTCOME_COUNT };

static char path[256], cut_path[256];
static pthread_mutex_t looking = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool armed;
static _Atomic unsigned char outcomes[COMMITS];
static unsigned long long chance;
static int cuts, wanted_cuts, problems;

static unsigned below(unsigned limit)
{
    chance = chance * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)((chance >> 33) % limit);
}

static void copy_file(const char *from, const char *to, const char *suffix)
{
    char names[2][300];
    static char bytes[1 << 16];
    snprintf(names[0], sizeof(names[0]), "%s%s", from, suffix);
    snprintf(names[1], sizeof(names[1]), "%s%s", to, suffix);
    FILE *source = fopen(names[0], "rb");
    FILE *target = fopen(names[1], "wb");
    size_t count;
    if (source == NULL || target == NULL)
        abort();
    while ((count = fread(bytes, 1, sizeof(bytes), source)) > 0)
        fwrite(bytes, 1, count, target);
    fclose(source);
    fclose(target);
}

static void complain(const char *what, int commit, int count)
{
    problems++;
    printf("cut %d: commit %d, %s: %d of %d traits are there\n", cuts, commit, what, count,
           TRAITS_A_COMMIT);
}

static void check_known(const unsigned char *known, const int *counts)
{
    for (int i = 0; i < COMMITS; i++) {
        if (known[i] == ACKNOWLEDGED && counts[i] != TRAITS_A_COMMIT)
            complain("acknowledged", i, counts[i]);
        if (known[i] == REFUSED && counts[i] != 0)
            complain("refused", i, counts[i]);
        if (counts[i] != 0 && counts[i] != TRAITS_A_COMMIT)
            complain("in part", i, counts[i]);
    }
}

static void look_into(const unsigned char *known)
{
    int counts[COMMITS] = {0};
    sqlite3 *file;
    sqlite3_stmt *rows;
    if (sqlite3_open_v2(cut_path, &file, SQLITE_OPEN_READWRITE, "unix") != SQLITE_OK ||
        sqlite3_prepare_v2(file, "SELECT name FROM traits WHERE name LIKE 'CUSTOM_%'", -1, &rows,
                           NULL) != SQLITE_OK) {
        problems++;
        printf("cut %d: %s\n", cuts, sqlite3_errmsg(file));
        return;
    }
    int rc;
    while ((rc = sqlite3_step(rows)) == SQLITE_ROW)
        counts[atoi(strrchr((const char *)sqlite3_column_text(rows, 0), '_') + 1)]++;
    sqlite3_finalize(rows);
    if (rc == SQLITE_DONE && cuts % 8 == 0 &&
        sqlite3_prepare_v2(file, "PRAGMA integrity_check", -1, &rows, NULL) == SQLITE_OK) {
        rc = sqlite3_step(rows);
        if (rc != SQLITE_ROW || strcmp((const char *)sqlite3_column_text(rows, 0), "ok") != 0)
            rc = SQLITE_CORRUPT;
        else
            rc = SQLITE_DONE;
        sqlite3_finalize(rows);
    }
    if (rc != SQLITE_DONE) {
        problems++;
        printf("cut %d: the file is broken\n", cuts);
    }
    sqlite3_close(file);
    check_known(known, counts);
}

static void maybe_cut(void)
{
    if (!armed || pthread_mutex_trylock(&looking) != 0)
        return;
    if (cuts < wanted_cuts && below(LOOK_SHARE) == 0) {
        unsigned char known[COMMITS];
        for (int i = 0; i < COMMITS; i++)
            known[i] = outcomes[i];
        powercut_hold(true);
        copy_file(path, cut_path, "");
        copy_file(path, cut_path, "-wal");
        powercut_hold(false);
        cuts++;
        look_into(known);
    }
    pthread_mutex_unlock(&looking);
}

static void forget(void *cls, const struct change *change)
{
    (void)cls;
    (void)change;
}

static bool lock(struct store *store, struct err *err)
{
    enum store_lock locked;
    while ((locked = store_lock(store, err)) == STORE_LOCK_HELD)
        ;
    return locked == STORE_LOCKED;
}

static bool take_news(struct store *store, struct err *err)
{
    struct store_stamp stamp;
    enum store_news news = store_begin_read(store, err);
    if (news == STORE_NEWS_FAILED)
        return false;
    enum store_result result = news == STORE_NEWS_RELOAD ? store_load(store, forget, NULL, err)
                               : news == STORE_NEWS_FOLLOW
                                   ? store_follow(store, NULL, forget, NULL, err)
                                   : STORE_OK;
    store_end_read(store, &stamp);
    return result == STORE_OK;
}

/* Every other batch is planned under a lock. */
static bool begin(struct store *store, bool locks, struct err *err)
{
    if (locks && !lock(store, err))
        return false;
    bool ok = take_news(store, err);
    if (!ok)
        store_unlock(store);
    return ok;
}

static enum outcome commit(struct store *store, struct arena *arena, int number)
{
    struct err err = {.arena = arena};
    struct change_list list = {.arena = arena};
    struct store_stamp stamp;
    bool foreign;
    if (!begin(store, number % 2 == 0, &err))
        return REFUSED;
    for (int i = 0; i < TRAITS_A_COMMIT; i++) {
        struct change *change = change_append(&list, CHANGE_TRAIT_INSERT);
        change->created_at_us = 1;
        change->catalog.id = store_next_id(store, STORE_TRAITS);
        change->catalog.name = arena_printf(arena, "CUSTOM_%08X_%d_%d", below(1u << 31), i, number);
    }
    const struct store_batch batch = {.changes = list.items, .ends = &list.count, .requests = 1};
    enum store_result result = store_commit(store, &batch, &stamp, &foreign, &err);
    return result == STORE_OK ? ACKNOWLEDGED : result == STORE_UNKNOWN ? UNDECIDED : REFUSED;
}

static void remove_file(const char *name)
{
    static const char *const suffixes[] = {"", "-wal", "-shm"};
    for (int i = 0; i < 3; i++) {
        char full[300];
        snprintf(full, sizeof(full), "%s%s", name, suffixes[i]);
        unlink(full);
    }
}

static void play_file(const char *directory, int number, int totals[OUTCOME_COUNT + 1])
{
    struct arena *opening = arena_create();
    struct err err = {.arena = opening};
    snprintf(path, sizeof(path), "%s/faults-%d.db", directory, number);
    struct store_options options = {
        .connection = arena_printf(opening, "sqlite:///%s", path),
        .busy_timeout_ms = 500,
        .sync_schema = true,
        .create_missing_file = true,
        .wal_frames = WAL_FRAMES,
    };
    struct store *store = store_open(&options, &err);
    if (store == NULL)
        abort();
    memset((void *)outcomes, UNDECIDED, sizeof(outcomes));
    powercut_fail(20 + below(42), 20 + below(42), chance | 1);
    armed = true;
    for (int i = 0; i < COMMITS; i++) {
        struct arena *arena = arena_create();
        enum outcome outcome = commit(store, arena, i);
        outcomes[i] = (unsigned char)outcome;
        totals[outcome]++;
        arena_destroy(arena);
        store_upkeep(store);
    }
    armed = false;
    powercut_fail(0, 0, 0);
    totals[OUTCOME_COUNT] += (int)store_figures(store).checkpoints;
    store_close(store);
    arena_destroy(opening);
    remove_file(path);
    remove_file(cut_path);
}

int main(int argc, char **argv)
{
    int totals[OUTCOME_COUNT + 1] = {0};
    if (argc != 4)
        return 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    chance = strtoull(argv[2], NULL, 10) * 2654435761u + 1;
    wanted_cuts = atoi(argv[3]);
    snprintf(cut_path, sizeof(cut_path), "%s/cut.db", argv[1]);
    powercut_register(96);
    powercut_watch(maybe_cut);
    for (int i = 0; cuts < wanted_cuts && problems < 10; i++)
        play_file(argv[1], i, totals);
    printf("%d cuts; %d commits acknowledged, %d refused, %d unknown; %d checkpoints\n", cuts,
           totals[ACKNOWLEDGED], totals[REFUSED], totals[UNDECIDED], totals[OUTCOME_COUNT]);
    return problems == 0 && totals[ACKNOWLEDGED] > 0 && totals[REFUSED] > 0 ? 0 : 1;
}
