/* Commits traits to a store on the power-cut VFS, as fast as it can, until it is killed, and says
 * after each commit which was the last: powercut.py looks whether they are there. One thread. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "powercut_vfs.h"
#include "store/store.h"

enum { TRAITS_A_COMMIT = 40, UPKEEP_EVERY = 8 };

static void forget(void *cls, const struct change *change)
{
    (void)cls;
    (void)change;
}

static void need(bool good, const struct err *err)
{
    if (good)
        return;
    fprintf(stderr, "powercut_store: %.*s\n", SLICE_ARG(err->message));
    exit(1);
}

static void lock(struct store *store, struct err *err)
{
    enum store_lock locked;
    while ((locked = store_lock(store, err)) == STORE_LOCK_HELD)
        ;
    need(locked == STORE_LOCKED, err);
}

static void take_news(struct store *store, struct err *err)
{
    struct store_stamp stamp;
    switch (store_begin_read(store, err)) {
    case STORE_NEWS_NONE:
        break;
    case STORE_NEWS_FOLLOW:
        need(store_follow(store, NULL, forget, NULL, err) == STORE_OK, err);
        break;
    case STORE_NEWS_RELOAD:
    case STORE_NEWS_WENT_BACK:
        need(store_load(store, forget, NULL, err) == STORE_OK, err);
        break;
    case STORE_NEWS_FAILED:
        need(false, err);
    }
    store_end_read(store, &stamp);
}

/* One commit; the id of its last trait. */
static int64_t commit(struct store *store, struct arena *arena)
{
    struct err err = {.arena = arena};
    struct change_list list = {.arena = arena};
    struct store_stamp stamp;
    bool foreign;
    int64_t id = 0;
    lock(store, &err);
    take_news(store, &err);
    for (int i = 0; i < TRAITS_A_COMMIT; i++) {
        id = store_next_id(store, STORE_TRAITS);
        struct change *change = change_append(&list, CHANGE_TRAIT_INSERT);
        change->created_at_us = 1;
        change->catalog.id = id;
        /* Names are spread over the index, so that a commit writes many pages. */
        change->catalog.name =
            arena_printf(arena, "CUSTOM_%08" PRIX32 "_%" PRId64, (uint32_t)id * 2654435761u, id);
    }
    const struct store_batch batch = {.changes = list.items, .ends = &list.count, .requests = 1};
    need(store_commit(store, &batch, &stamp, &foreign, &err) == STORE_OK, &err);
    return id;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    powercut_register((unsigned)strtoul(argv[3], NULL, 10));
    struct arena *opening = arena_create();
    struct err err = {.arena = opening};
    struct store_options options = {
        .connection = arena_printf(opening, "sqlite:///%s", argv[1]),
        .busy_timeout_ms = 1000,
        .sync_schema = true,
        .create_missing_file = true,
        .synchronous_off = strcmp(argv[2], "off") == 0,
    };
    struct store *store = store_open(&options, &err);
    need(store != NULL, &err);
    for (unsigned n = 1;; n++) {
        struct arena *arena = arena_create();
        char line[32];
        int len = snprintf(line, sizeof(line), "%" PRId64 "\n", commit(store, arena));
        if (write(STDOUT_FILENO, line, (size_t)len) != len)
            return 1;
        arena_destroy(arena);
        if (n % UPKEEP_EVERY == 0)
            store_upkeep(store);
    }
}
