/* State and functions that the writer thread (pipeline.c), its batches, and threads that have the
 * writer's seat (seat.h) share. */
#ifndef BERTH_ENGINE_PIPELINE_INTERNAL_H
#define BERTH_ENGINE_PIPELINE_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "engine/ahead.h"
#include "engine/direct.h"
#include "engine/loss_report.h"
#include "engine/pipeline.h"
#include "engine/planned.h"
#include "engine/rules.h"
#include "engine/seat.h"

struct pipeline {
    struct store *store;
    struct replica *replica;
    const struct rules *rules;
    struct currency *currency;
    struct pulse *pulse;       /* NULL: there is none */
    struct observer *observer; /* the same */
    bool plans_twice;
    size_t changes_most;    /* of a batch; a single request may have more */
    struct arena *arena;    /* the batch's */
    uint64_t read_began_us; /* the last read: whatever was committed before, it has found */
    pthread_t thread;
    pthread_mutex_t lock; /* guards queue, stopping, the seat and waiting_for */
    pthread_cond_t wake;
    struct queue queue;
    bool stopping;
    enum seat seat;
    bool awaits_seat; /* the writer thread does */
    bool writer_has_seat;
    struct direct direct;
    bool is_at_once;           /* whoever has the seat must not do now what may take long */
    _Atomic bool has_given_up; /* see pipeline_give_up() */
    _Atomic uint64_t over_us;  /* from then on the writer waits for nothing; 0: it is not known */
    bool is_pending;           /* a batch is on its way to the database; used by the writer only */
    struct ahead ahead;
    struct edit *ready; /* what the current batch was planned as, ahead of it; NULL: it was not */
    struct planned ready_planned;
    struct queue late;    /* requests without a plan, until it is decided; the same */
    unsigned waiting_for; /* wake the writer when that many are queued */
    unsigned usual_batch; /* number of requests in recent batches */
    unsigned joined;      /* requests that the current batch got after it had begun */
    unsigned uncounted;   /* those with which it began, until its size was noted */
    uint64_t last_commit_us;
    uint64_t last_upkeep_us;
    struct outage outage;       /* used by the writer only */
    uint64_t refusal_logged_us; /* for requests that the store refused; used by the writer only */
    uint64_t refusals_not_logged;
    _Atomic uint64_t batches, requests, commits, taken, reloads, merges, follows;
    _Atomic uint64_t iterations;
    struct loss_report losses;
    struct counter refused[PIPELINE_REFUSAL_COUNT];
    struct histogram batch_requests;
    struct histogram commit_us;
    struct counter arena_bytes;
    struct counter alive_at_us;
    struct counter fresh_at_us;
};

/* queue.c: a batch of so many requests begins, and is decided. */
void queue_begin_batch(struct pipeline *pipeline, unsigned count);
void queue_end_batch(struct pipeline *pipeline, unsigned count);

/* pipeline.c: without a thread: does what is due about ten times a second, unless a batch is on its
 * way. For simulations. */
void pipeline_tend_once(struct pipeline *pipeline);

/* queue.c, under the lock: takes all requests and counts them; NULL: there are none. */
struct pipeline_request *queue_take_all(struct pipeline *pipeline, unsigned *count);

/* queue.c: takes the requests that only wait for news out of the queue; NULL: there are none. */
struct pipeline_request *pipeline_take_readers(struct pipeline *pipeline);

/* queue.c: the same, to be put back; they are not counted. */
void pipeline_borrow_readers(struct pipeline *pipeline, struct queue *readers);

/* queue.c: takes those that are to be planned out of the queue. */
void pipeline_take_planners(struct pipeline *pipeline, struct queue *planners);
/* queue.c: puts requests back before all others. */
void pipeline_put_back(struct pipeline *pipeline, struct queue *requests);

/* queue.c: whether the process has been stopping for so long that nothing is waited for any more.
 */
bool pipeline_is_over(const struct pipeline *pipeline);

/* queue.c: records that the writer is not stuck. */
void pipeline_beat(struct pipeline *pipeline);

/* The functions below are for whoever has the seat. */

enum news {
    NEWS_TAKEN,  /* memory has the state that was read */
    NEWS_FAILED, /* err is set, and memory is unchanged */
    NEWS_LATE,   /* there are some, but a batch is pending, and they may be the batch itself: they
                    can be taken when it is decided */
    NEWS_OVERTAKEN, /* the tables no longer have the state, or the database has ended the read
                       (store_begin_read()); err is set, and memory is unchanged */
};

/* news.c: as store_begin_read(). */
enum store_news news_begin(struct pipeline *pipeline, struct err *err) BERTH_MUST_CHECK;
/* The news that news_begin() has found are read and published, and the read ends. */
enum news news_end(struct pipeline *pipeline, enum store_news found,
                   struct err *err) BERTH_MUST_CHECK;

/* follow.c: makes the next version from what other instances have logged, and what other programs
 * may have written. The caller owns the edit, also after a failure. */
struct followed {
    bool fits;       /* false: the rows do not fit into memory, and all must be compared */
    bool is_foreign; /* other programs have written some of it */
};
enum store_result follow_log(struct pipeline *pipeline, struct edit **edit,
                             struct followed *followed, struct err *err) BERTH_MUST_CHECK;

/* follow.c: makes the next version from the answer to the query that has found that state; then
 * memory counts as having it. NULL: the answer does not have everything. */
struct edit *follow_head(struct pipeline *pipeline, const struct store_stamp *head);

/* news.c: whether a read that was overtaken is to be begun again; then err is no longer set. It
 * waits for a moment, and gives up after many seconds. */
struct news_attempts {
    unsigned count; /* 0: before the first one */
    uint64_t latest_us;
};
bool news_again(struct pipeline *pipeline, enum news news, struct news_attempts *attempts,
                struct err *err) BERTH_MUST_CHECK;

/* news.c: brings memory up to date: NEWS_TAKEN, NEWS_FAILED or NEWS_LATE. */
enum news news_try(struct pipeline *pipeline, struct err *err) BERTH_MUST_CHECK;
/* The same, and records whether it failed. */
enum news news_take(struct pipeline *pipeline, struct err *err) BERTH_MUST_CHECK;
/* Brings memory to the state that a query has found, without asking the database once more. False:
 * that is not possible. */
bool news_take_head(struct pipeline *pipeline, const struct store_stamp *head) BERTH_MUST_CHECK;

/* news.c: publishes the edit. `holds`: its state has that stamp. */
void news_publish(struct pipeline *pipeline, struct edit *edit, const struct store_stamp *stamp,
                  bool holds);

/* planning.c: plans the requests before *end (NULL: to the last) on the edit, and applies to it
 * what they change. If the batch then has so many changes that it is full, *end becomes the first
 * request that was not planned; the first of all always is. False: the last request in `planned`
 * has too many consequences; err is set. */
bool planning_run(struct pipeline *pipeline, struct edit *edit, struct pipeline_request *first,
                  struct pipeline_request **end, struct planned *planned,
                  struct err *err) BERTH_MUST_CHECK;

/* planning.c: plans further requests on an edit on which others have been planned. As above. */
bool planning_continue(struct pipeline *pipeline, struct edit *edit, struct pipeline_request *first,
                       struct pipeline_request **end, struct planned *planned,
                       struct err *err) BERTH_MUST_CHECK;

/* planning.c: whether no further request fits into the batch. */
bool planning_is_full(const struct pipeline *pipeline, const struct planned *planned);

/* answers.c: the error that clients receive if the database fails; the cause and the place are in
 * the log. */
struct err answers_public(const struct err *failure, struct slice text);
/* answers.c: answers the requests before `end` (NULL: all), with that failure or (NULL) with what
 * each has as its error. */
void answers_give(struct pipeline *pipeline, struct pipeline_request *first,
                  const struct pipeline_request *end, const struct err *failure);

/* waiting.c: answers requests without a plan. While a batch is pending, those that need news wait
 * until it is decided. */
void waiting_answer(struct pipeline *pipeline, struct pipeline_request *first);
/* waiting.c: the batch is decided: answers those that waited for that. */
void waiting_answer_late(struct pipeline *pipeline);
/* waiting.c: for a writer that waits for something: it is not stuck, and answers those that wait
 * for news meanwhile. */
void waiting_meanwhile(struct pipeline *pipeline);
/* waiting.c: the same from within the store (store_set_meanwhile()), whose state is not to be
 * touched: answers only those that need nothing but the newest version. False: the process stops.
 */
bool waiting_in_store(void *cls);

/* batch.c: decides and answers the requests. */
void batch_run(struct pipeline *pipeline, struct pipeline_request *first);

#endif
