/* See logged_pipeline.h. */
#include "logged_pipeline.h"

#include <stdlib.h>
#include <unistd.h>

#include "log/log.h"
#include "log/settings.h"
#include "unit.h"

int logged_pipeline_setup(void **state)
{
    struct logged_pipeline *logged = calloc(1, sizeof(*logged));
    char path[] = "/tmp/berth-test-logged-XXXXXX";
    memory_database_init(&logged->database);
    logged->store = memory_store_open(&logged->database);
    logged->log = mkstemp(path);
    assert_true(logged->log >= 0);
    assert_int_equal(unlink(path), 0);
    log_start(logged->log, false);
    logged->arena = arena_create();
    logged->replica = replica_create();
    struct err err = {.arena = logged->arena};
    logged->pipeline = pipeline_create(logged->store, logged->replica, NULL, &err);
    assert_non_null(logged->pipeline);
    *state = logged;
    return 0;
}

int logged_pipeline_teardown(void **state)
{
    struct logged_pipeline *logged = *state;
    log_stop();
    close(logged->log);
    pipeline_destroy(logged->pipeline);
    replica_destroy(logged->replica);
    store_close(logged->store);
    memory_database_free(&logged->database);
    arena_destroy(logged->arena);
    free(logged);
    return 0;
}

size_t logged_pipeline_read(struct logged_pipeline *logged, char text[LOGGED_BYTES])
{
    ssize_t len = pread(logged->log, text, LOGGED_BYTES - 1, logged->log_read);
    assert_true(len >= 0);
    text[len] = '\0';
    logged->log_read += len;
    return (size_t)len;
}
