/* Requests that must be answered from a version at least as new as the database was at some moment
 * after they were submitted, on stores that must be asked (STORE_MUST_ASK).
 *
 * All requests that have arrived before a query is sent share it, and at most two queries are in
 * flight. If the newest version contains the state that the database answers, the requests of the
 * query are completed together, and the writer is not involved. Otherwise they wait until a
 * publication contains it, and the writer takes the news unless it is about to publish a commit of
 * its own. */
#ifndef BERTH_ENGINE_CURRENCY_H
#define BERTH_ENGINE_CURRENCY_H

#include "base/histogram.h"
#include "engine/pipeline_request.h"

struct currency;

/* The writer, as it is used here: queues a request for the writer thread. */
struct currency_writer {
    void (*submit)(void *cls, struct pipeline_request *request);
    void *cls;
};

/* The caller provides the store, which outlives it. */
struct currency *currency_create(struct store *store, struct currency_writer writer);

/* Refuses requests that wait for an answer, and all later ones, with 503, and returns when no query
 * is in flight. The writer still runs. */
void currency_stop(struct currency *currency);

/* Frees it. No answer may arrive any more; requests that wait are never completed. */
void currency_destroy(struct currency *currency);

/* Completes a request without a plan when the newest version contains everything that was committed
 * before this call, or refuses it with 503. If the store need not be asked, or if memory has no
 * known state, the writer does that. `done` is called on any thread, perhaps during this call. Any
 * thread. */
void currency_submit(struct currency *currency, struct pipeline_request *request);

/* What happens to requests for whose query there is no answer. */
enum currency_reads {
    CURRENCY_READS_WORK,     /* there was one to the last query */
    CURRENCY_READS_CONTINUE, /* they are completed: the newest version is recent enough */
    CURRENCY_READS_FAIL,     /* they are refused with 503 */
};

/* While the database is unavailable, requests are completed as long as the newest version contains
 * everything that was committed until that long ago; then they are refused. 0, as after
 * currency_create(): they are refused at once. Any thread. */
void currency_set_reads_most(struct currency *currency, uint64_t reads_most_us);

/* Completes or refuses, as above, requests that a database that neither answers nor fails keeps
 * waiting: if a query is a second old, or half of that time. Call it a few times a second. Any
 * thread. */
void currency_tick(struct currency *currency);

/* The functions below are for the writer. */

/* The version with that stamp has just been published (all zero: no known state). */
void currency_published(struct currency *currency, const struct store_stamp *stamp);

/* The newest version contains everything that was committed before that time: a read of the newest
 * state began then, or a commit on top of what memory had. */
void currency_note_known(struct currency *currency, uint64_t at_us);

/* A commit begins, or has ended with its publication or without it. */
void currency_commit_begins(struct currency *currency);
void currency_commit_ended(struct currency *currency);

/* The newest version contains everything that was committed before that time, as a query, a read or
 * a commit has found; 0: nothing is known. Any thread. */
uint64_t currency_known_at_us(const struct currency *currency);

static const struct histogram_shape CURRENCY_QUERY_SHAPE_US = {
    .count = 14,
    .bounds = {25, 50, 100, 250, 500, 1000, 2500, 5000, 10000, 25000, 50000, 100000, 1000000,
               5000000}};

struct currency_figures {
    uint64_t queries;                /* answered, or failed */
    uint64_t failed;                 /* of these */
    uint64_t requests;               /* that have shared the queries */
    uint64_t waited;                 /* of these: the version did not contain the answer */
    uint64_t continued;              /* of these: completed though the database was unavailable */
    struct histogram_total query_us; /* from the query to its answer */
};

/* Any thread. */
struct currency_figures currency_figures(struct currency *currency);

#endif
