/* A pipeline over a database in memory, with a log that the test reads. */
#ifndef BERTH_TESTS_ENGINE_LOGGED_PIPELINE_H
#define BERTH_TESTS_ENGINE_LOGGED_PIPELINE_H

#include "memory_store/memory_store.h"

#include <sys/types.h>

#include "base/arena.h"
#include "engine/pipeline.h"

struct logged_pipeline {
    struct memory_database database;
    struct store *store;
    struct arena *arena;
    struct replica *replica;
    struct pipeline *pipeline;
    int log;
    off_t log_read; /* so far */
};

enum { LOGGED_BYTES = 1024 };

/* For cmocka: *state is a struct logged_pipeline. */
int logged_pipeline_setup(void **state);
int logged_pipeline_teardown(void **state);

/* What the log has got since the last time, as a string; returns its length. */
size_t logged_pipeline_read(struct logged_pipeline *logged, char text[LOGGED_BYTES]);

#endif
