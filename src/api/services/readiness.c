/* The writer queries the database (pipeline_probe), because only the writer may touch the file. A
 * separate thread answers the requests that the writer keeps waiting; nothing ever keeps that
 * thread waiting.
 *
 * There is one probe at a time, which serves all waiting requests, except those that came after it
 * began and require a fresh one, for which the next probe begins at once. The list of waits is
 * protected by the lock; a wait is removed from it before it is answered, so it is answered once.
 * Frequent requests cannot keep the writer busy: while there are no writes, as far as is known
 * without a query to the database, a report is valid for READINESS_AGAIN_MS. */
#include "api/services/readiness.h"

#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/wait.h"

struct readiness {
    struct pipeline *pipeline;
    struct replica *replica;
    struct replica_reader *reader;
    pthread_t thread;
    pthread_mutex_t lock; /* protects everything below, except the probe while it is in progress */
    pthread_cond_t wake;
    struct readiness_wait *first; /* in the order of their deadlines */
    struct readiness_wait **last;
    bool is_probing; /* the probe is with the writer */
    uint64_t probes; /* begun since the start */
    bool is_stopping;
    bool is_draining;
    struct readiness_report report; /* the last one */
    uint64_t reported_at_us;        /* 0: never */
    struct arena *arena;            /* for the probe */
    struct pipeline_probe probe;
    struct pipeline_request request;
};

const char *readiness_check_name(enum readiness_check check)
{
    static const char *const NAMES[READINESS_CHECK_COUNT] = {"database", "schema", "replica",
                                                             "serving"};
    return NAMES[check];
}

bool readiness_is_ready(const struct readiness_report *report)
{
    for (int i = 0; i < READINESS_CHECK_COUNT; i++)
        if (!report->findings[i].is_ok)
            return false;
    return true;
}

BERTH_PRINTF(4, 5)
static void readiness_find(struct readiness_report *report, enum readiness_check check, bool is_ok,
                           const char *format, ...)
{
    struct readiness_finding *finding = &report->findings[check];
    va_list args;
    va_start(args, format);
    finding->is_ok = is_ok;
    vsnprintf(finding->text, sizeof(finding->text), format, args);
    va_end(args);
}

static void find_serving(struct readiness *readiness, struct readiness_report *report)
{
    if (readiness->is_draining)
        readiness_find(report, READINESS_SERVING, false, "stopping");
    else
        readiness_find(report, READINESS_SERVING, true, "serving");
}

static void readiness_answer(struct readiness *readiness, struct readiness_wait *wait,
                             const struct readiness_report *report)
{
    wait->report = *report;
    find_serving(readiness, &wait->report);
    wait->done(wait);
}

/* Called under the lock. */
static void report_probe(struct readiness *readiness)
{
    const struct pipeline_probe *probe = &readiness->probe;
    struct slice reason = readiness->request.err.message;
    struct readiness_report *report = &readiness->report;
    struct pipeline_figures figures = pipeline_figures(readiness->pipeline);
    if (!probe->is_reached)
        readiness_find(report, READINESS_DATABASE, false, "%.*s", SLICE_ARG(reason));
    else if (figures.outage == OUTAGE_WRITES)
        readiness_find(report, READINESS_DATABASE, true, "reached, but writes fail");
    else
        readiness_find(report, READINESS_DATABASE, true, "reached");
    if (!probe->is_reached)
        readiness_find(report, READINESS_SCHEMA, false, "not known");
    else if (!probe->is_served)
        readiness_find(report, READINESS_SCHEMA, false, "not served: revision '%s'",
                       probe->revision);
    else
        readiness_find(report, READINESS_SCHEMA, true, "revision %s", probe->revision);
    if (!probe->is_followed)
        readiness_find(report, READINESS_REPLICA, false, "behind the database: %.*s",
                       SLICE_ARG(reason));
    else
        readiness_find(report, READINESS_REPLICA, true, "as new as the database, version %llu",
                       (unsigned long long)replica_figures(readiness->replica).number);
    readiness->reported_at_us = clock_monotonic_us();
}

/* Answers the waits that the last probe serves. Under the lock. */
static void answer_served(struct readiness *readiness)
{
    struct readiness_wait *rest = readiness->first;
    readiness->last = &readiness->first;
    while (rest != NULL) {
        struct readiness_wait *wait = rest;
        rest = wait->next;
        if (wait->probe <= readiness->probes) {
            readiness_answer(readiness, wait, &readiness->report);
            continue;
        }
        *readiness->last = wait;
        readiness->last = &wait->next;
    }
    *readiness->last = NULL;
}

static void begin_probe(struct readiness *readiness);

/* Called when the writer has the result, or no longer accepts the probe. */
static void probed(struct pipeline_request *request)
{
    struct readiness *readiness =
        (struct readiness *)((char *)request - offsetof(struct readiness, request));
    pthread_mutex_lock(&readiness->lock);
    report_probe(readiness);
    answer_served(readiness);
    bool goes_on = readiness->first != NULL;
    readiness->is_probing = goes_on;
    readiness->probes += goes_on;
    pthread_cond_signal(&readiness->wake);
    pthread_mutex_unlock(&readiness->lock);
    if (goes_on)
        begin_probe(readiness);
}

/* The caller has set is_probing and counted the probe, and holds no lock. */
static void begin_probe(struct readiness *readiness)
{
    arena_reset(readiness->arena);
    readiness->probe = (struct pipeline_probe){0};
    readiness->request = (struct pipeline_request){
        .probe = &readiness->probe, .done = probed, .err = {.arena = readiness->arena}};
    pipeline_submit(readiness->pipeline, &readiness->request);
}

/* Whether memory is as new as the database, and the number of its version. Under the lock; does not
 * wait. */
static enum store_currency currency(const struct readiness *readiness, unsigned long long *number)
{
    const struct version *version = replica_pin(readiness->reader);
    enum store_currency currency = pipeline_currency(readiness->pipeline, version);
    *number = version->node.birth;
    replica_unpin(readiness->reader);
    return currency;
}

static void find_replica(struct readiness *readiness, struct readiness_report *report)
{
    static const char *const TEXTS[] = {
        [STORE_IS_CURRENT] = "as new as the database, version",
        [STORE_IS_OUTDATED] = "behind the database, at version",
        [STORE_MUST_ASK] = "not known to be as new as the database, at version",
    };
    unsigned long long number;
    enum store_currency now = currency(readiness, &number);
    readiness_find(report, READINESS_REPLICA, now == STORE_IS_CURRENT, "%s %llu", TEXTS[now],
                   number);
}

/* The database blocks the writer: reports what is known without it. */
static struct readiness_report report_silence(struct readiness *readiness)
{
    struct readiness_report report = {0};
    readiness_find(&report, READINESS_DATABASE, false, "has not answered within %d ms",
                   READINESS_MOST_MS);
    readiness_find(&report, READINESS_SCHEMA, false, "not known");
    find_replica(readiness, &report);
    return report;
}

static void answer_late(struct readiness *readiness, uint64_t now_us)
{
    if (readiness->first == NULL || readiness->first->until_us > now_us)
        return;
    struct readiness_report report = report_silence(readiness);
    while (readiness->first != NULL && readiness->first->until_us <= now_us) {
        struct readiness_wait *wait = readiness->first;
        readiness->first = wait->next;
        if (readiness->first == NULL)
            readiness->last = &readiness->first;
        readiness_answer(readiness, wait, &report);
    }
}

static void *watch(void *cls)
{
    struct readiness *readiness = cls;
    pthread_mutex_lock(&readiness->lock);
    while (!readiness->is_stopping || readiness->is_probing) {
        if (readiness->first == NULL) {
            pthread_cond_wait(&readiness->wake, &readiness->lock);
            continue;
        }
        wait_until(&readiness->wake, &readiness->lock, readiness->first->until_us);
        answer_late(readiness, clock_monotonic_us());
    }
    pthread_mutex_unlock(&readiness->lock);
    return NULL;
}

void readiness_ask(struct readiness *readiness, struct readiness_wait *wait)
{
    uint64_t now_us = clock_monotonic_us();
    unsigned long long number;
    pthread_mutex_lock(&readiness->lock);
    if (!wait->is_fresh && !readiness->is_probing && readiness->reported_at_us > 0 &&
        now_us - readiness->reported_at_us < READINESS_AGAIN_MS * 1000 &&
        currency(readiness, &number) != STORE_IS_OUTDATED) {
        readiness_answer(readiness, wait, &readiness->report);
        pthread_mutex_unlock(&readiness->lock);
        return;
    }
    wait->until_us = now_us + READINESS_MOST_MS * 1000;
    wait->next = NULL;
    *readiness->last = wait;
    readiness->last = &wait->next;
    bool asks = !readiness->is_probing;
    readiness->is_probing = true;
    readiness->probes += asks;
    wait->probe = readiness->probes + (wait->is_fresh && !asks);
    pthread_cond_signal(&readiness->wake);
    pthread_mutex_unlock(&readiness->lock);
    if (asks)
        begin_probe(readiness);
}

void readiness_begin_stop(struct readiness *readiness)
{
    pthread_mutex_lock(&readiness->lock);
    readiness->is_draining = true;
    pthread_mutex_unlock(&readiness->lock);
}

static void readiness_destroy(struct readiness *readiness)
{
    replica_reader_close(readiness->reader);
    pthread_cond_destroy(&readiness->wake);
    pthread_mutex_destroy(&readiness->lock);
    arena_destroy(readiness->arena);
    free(readiness);
}

struct readiness *readiness_start(struct pipeline *pipeline, struct replica *replica)
{
    struct readiness *readiness = calloc(1, sizeof(*readiness));
    check(readiness != NULL);
    readiness->pipeline = pipeline;
    readiness->replica = replica;
    readiness->reader = replica_reader_open(replica);
    readiness->arena = arena_create();
    readiness->last = &readiness->first;
    pthread_mutex_init(&readiness->lock, NULL);
    wait_init(&readiness->wake);
    if (pthread_create(&readiness->thread, NULL, watch, readiness) == 0)
        return readiness;
    readiness_destroy(readiness);
    return NULL;
}

void readiness_stop(struct readiness *readiness)
{
    if (readiness == NULL)
        return;
    pthread_mutex_lock(&readiness->lock);
    readiness->is_stopping = true;
    pthread_cond_signal(&readiness->wake);
    pthread_mutex_unlock(&readiness->lock);
    pthread_join(readiness->thread, NULL);
    readiness_destroy(readiness);
}
