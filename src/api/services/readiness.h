/* Whether this process can serve: is the database reached, is its schema right, does memory follow
 * it, is nobody stopping us. Asked now, and answered within READINESS_MOST_MS whatever the database
 * does. */
#ifndef BERTH_API_SERVICES_READINESS_H
#define BERTH_API_SERVICES_READINESS_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/pipeline.h"

enum {
    READINESS_MOST_MS = 800,  /* within what probes usually wait: a second */
    READINESS_AGAIN_MS = 100, /* who asks sooner, and nobody wrote, gets the last answer */
    READINESS_TEXT_BYTES = 256
};

enum readiness_check {
    READINESS_DATABASE,
    READINESS_SCHEMA,
    READINESS_REPLICA,
    READINESS_SERVING, /* not stopping */
    READINESS_CHECK_COUNT
};

struct readiness_report {
    struct readiness_finding {
        bool is_ok;
        char text[READINESS_TEXT_BYTES]; /* "reached", or what is wrong */
    } findings[READINESS_CHECK_COUNT];
};

/* Somebody who waits for a report. */
struct readiness_wait {
    bool is_fresh; /* the caller's: only what is read from now on counts, no report of before */
    struct readiness_report report;            /* filled before done */
    void (*done)(struct readiness_wait *wait); /* called once, on any thread, which it does not hold
                                                  up; the wait is not touched afterwards */
    uint64_t until_us;                         /* here and below: readiness.c's */
    uint64_t probe;                            /* the first whose report it takes */
    struct readiness_wait *next;
};

struct readiness;

/* Both outlive it. NULL: its thread cannot be started. */
struct readiness *readiness_start(struct pipeline *pipeline, struct replica *replica);

/* Any thread. May call done before it returns. */
void readiness_ask(struct readiness *readiness, struct readiness_wait *wait);

/* From now on READINESS_SERVING fails: the process drains. */
void readiness_begin_stop(struct readiness *readiness);

/* Nobody asks any more. Returns when the database has answered what it was asked, and frees. */
void readiness_stop(struct readiness *readiness);

bool readiness_is_ready(const struct readiness_report *report);

/* "database", "schema", "replica", "serving" */
const char *readiness_check_name(enum readiness_check check);

/* Whether the process is alive: the writer has given a sign of life within this time, which is more
 * than it waits for locks. */
enum { ALIVE_MOST_S = 30 };
static inline bool readiness_is_alive(const struct pipeline_figures *figures)
{
    return figures->silent_us < ALIVE_MOST_S * 1000000ULL;
}

#endif
