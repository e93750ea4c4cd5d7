/* Whether this process can serve requests: the database can be reached, its schema is supported,
 * memory follows it, and the process is not stopping. Checked on request, and answered within
 * READINESS_MOST_MS whatever the database does. */
#ifndef BERTH_API_SERVICES_READINESS_H
#define BERTH_API_SERVICES_READINESS_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/pipeline.h"

enum {
    READINESS_MOST_MS = 800,  /* within the usual timeout of probes, a second */
    READINESS_AGAIN_MS = 100, /* a request within this time gets the last report, unless there was a
                               * write */
    READINESS_TEXT_BYTES = 256
};

enum readiness_check {
    READINESS_DATABASE,
    READINESS_SCHEMA,
    READINESS_REPLICA,
    READINESS_SERVING, /* the process is not stopping */
    READINESS_CHECK_COUNT
};

struct readiness_report {
    struct readiness_finding {
        bool is_ok;
        char text[READINESS_TEXT_BYTES]; /* "reached", or the problem */
    } findings[READINESS_CHECK_COUNT];
};

/* A request that waits for a report. */
struct readiness_wait {
    bool is_fresh; /* set by the caller: only a report of what is read from now on counts */
    struct readiness_report report;            /* filled in before done is called */
    void (*done)(struct readiness_wait *wait); /* called once, on any thread, which it must not
                                                * delay; the wait is not used afterwards */
    uint64_t until_us;                         /* here and below: used by readiness.c */
    uint64_t probe;                            /* the first one whose report it accepts */
    struct readiness_wait *next;
};

struct readiness;

/* Both outlive it. NULL: its thread could not be started. */
struct readiness *readiness_start(struct pipeline *pipeline, struct replica *replica);

/* Requests a report. Any thread. May call done before it returns. */
void readiness_ask(struct readiness *readiness, struct readiness_wait *wait);

/* From now on READINESS_SERVING fails, because the process drains. */
void readiness_begin_stop(struct readiness *readiness);

/* Call it when there are no more requests. It returns when the database has answered the last
 * probe, and frees everything. */
void readiness_stop(struct readiness *readiness);

bool readiness_is_ready(const struct readiness_report *report);

/* "database", "schema", "replica", "serving" */
const char *readiness_check_name(enum readiness_check check);

/* Whether the process is alive: the writer has run within this time, which is longer than it waits
 * for locks. */
enum { ALIVE_MOST_S = 30 };
static inline bool readiness_is_alive(const struct pipeline_figures *figures)
{
    return figures->silent_us < ALIVE_MOST_S * 1000000ULL;
}

#endif
