/* A directory with policy files of its own. */
#ifndef BERTH_TESTS_POLICY_DIRECTORY_H
#define BERTH_TESTS_POLICY_DIRECTORY_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "unit.h"

struct directory {
    struct arena *arena;
    char path[64];
};

static inline int directory_make(void **state)
{
    struct directory *d = calloc(1, sizeof(*d));
    assert_non_null(d);
    d->arena = arena_create();
    snprintf(d->path, sizeof(d->path), "/tmp/berth-policy-XXXXXX");
    assert_non_null(mkdtemp(d->path));
    *state = d;
    return 0;
}

static inline int directory_drop(void **state)
{
    struct directory *d = *state;
    const char *command =
        arena_printf(d->arena, "chmod -R u+rwx '%s'; rm -rf '%s'", d->path, d->path).data;
    assert_int_equal(system(command), 0);
    arena_destroy(d->arena);
    free(d);
    return 0;
}

static inline const char *directory_path(struct directory *d, const char *name)
{
    return arena_printf(d->arena, "%s/%s", d->path, name).data;
}

static inline const char *directory_sub(struct directory *d, const char *name)
{
    const char *path = directory_path(d, name);
    assert_int_equal(mkdir(path, 0700), 0);
    return path;
}

/* Written some seconds ago, so that no test waits until it counts as complete. */
static inline const char *directory_write(struct directory *d, const char *name, const char *text)
{
    static long age_s = 1000;
    const char *path = directory_path(d, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    now.tv_sec -= age_s--;
    const struct timespec times[2] = {now, now};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    return path;
}

#endif
