/* The arena of a test program, for cmocka_run_group_tests. */
#ifndef BERTH_TESTS_UNIT_CONF_ARENA_GROUP_H
#define BERTH_TESTS_UNIT_CONF_ARENA_GROUP_H

#include "base/arena.h"

static struct arena *arena;

static inline int arena_group_setup(void **state)
{
    (void)state;
    arena = arena_create();
    return 0;
}

static inline int arena_group_teardown(void **state)
{
    (void)state;
    arena_destroy(arena);
    return 0;
}

#endif
