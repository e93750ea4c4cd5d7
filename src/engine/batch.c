/* Decides one batch: brings memory up to date, plans every request, hands the result over to the
 * store and answers all requests.
 *
 * Invariants (ARCHITECTURE.md, Invariants): 1. a version equals the store at one committed state;
 * 2. nothing is answered or published before it is committed. If the store fails, the whole batch
 * is undone, in memory too. If another process has written since memory was read, the batch is
 * planned again on the newer state. The writer only. */
#include "base/arena.h"
#include "base/clock.h"
#include "base/wait.h"
#include "engine/commit.h"
#include "engine/direct.h"
#include "engine/pipeline_internal.h"
#include "log/log.h"

#define OUTCOME_UNKNOWN                                                                            \
    "The connection to the database was lost, and it is not known whether the change was made."

/* How often a batch is planned again because others have written first, and for how long, which is
 * what usually ends it; and the pauses between. */
enum { TAKEN_MOST = 4096, TAKEN_FOR_US = 20000000, PAUSE_US = 50, PAUSE_DOUBLINGS = 8 };

/* The requests of one batch before `end` (NULL: to the last), and what came of them. */
struct decision {
    struct pipeline_request *first;
    struct pipeline_request *end;
    struct pipeline_request *culprit; /* refused by the store, or too large; NULL: what other
                                         processes' writes require */
    bool is_unnamed;                  /* the store does not know which of them is the culprit */
    struct err err;                   /* why the batch failed */
};

/* Another process may hold the lock for seconds; reads are answered meanwhile. */
static bool lock(struct pipeline *pipeline, struct err *err)
{
    enum store_lock locked;
    while ((locked = store_lock(pipeline->store, err)) == STORE_LOCK_HELD) {
        waiting_meanwhile(pipeline);
        if (pipeline_is_over(pipeline)) {
            store_unlock(pipeline->store);
            return err_set(err, 503, NULL, STORE_STOPPING);
        }
    }
    return locked == STORE_LOCKED;
}

/* *is_long: the news are to be read without the lock, which is free again: they are more than a
 * follow, or others have written in spite of the lock, as they can on another node of a cluster, or
 * once the connection that had locked is gone, or the database has ended the read. */
static bool news_under_lock(struct pipeline *pipeline, bool *is_long, struct err *err)
{
    enum store_news news = news_begin(pipeline, err);
    struct store_stamp ignored;
    *is_long = news == STORE_NEWS_RELOAD || news == STORE_NEWS_WENT_BACK;
    bool ok = news != STORE_NEWS_FAILED;
    if (*is_long) {
        store_end_read(pipeline->store, &ignored);
    } else if (ok) {
        enum news taken = news_end(pipeline, news, err);
        *is_long = taken == NEWS_OVERTAKEN;
        if (*is_long)
            *err = (struct err){.arena = err->arena};
        ok = taken == NEWS_TAKEN || *is_long;
    }
    if (*is_long || !ok)
        store_unlock(pipeline->store);
    return ok;
}

/* A load or a merge takes long, so it never runs under the lock. If others write meanwhile what
 * only another one can read, again and again, the batch is planned without the lock. */
static bool lock_and_take_news(struct pipeline *pipeline, struct err *err)
{
    enum { ATTEMPTS = 3 };
    bool is_long = true;
    for (int i = 0; is_long && i < ATTEMPTS; i++)
        if (!lock(pipeline, err) || !news_under_lock(pipeline, &is_long, err) ||
            (is_long && news_take(pipeline, err) != NEWS_TAKEN))
            return false;
    return true;
}

enum { TURNS_FOR_US = 3000000 };

/* The batch is left to others for as long as it is their turn; reads are answered meanwhile. Each
 * row that they write is followed at once, so that memory is as new as the database in the end. It
 * ends because each of them has one turn before this process's, and after TURNS_FOR_US in any case.
 */
static bool await_turn(struct pipeline *pipeline, struct err *err)
{
    const uint64_t latest_us = clock_monotonic_us() + TURNS_FOR_US;
    bool is_fresh = false;
    while (!pipeline_is_over(pipeline)) {
        const struct store_turn turn = store_turn(pipeline->store);
        if (is_fresh && (turn.wait_us == 0 || clock_monotonic_us() >= latest_us))
            return true;
        pipeline_beat(pipeline);
        waiting_meanwhile(pipeline);
        if (turn.wait_us > 0)
            wait_sleep_us(turn.wait_us < turn.look_us ? turn.wait_us : turn.look_us);
        if (news_take(pipeline, err) != NEWS_TAKEN)
            return false;
        is_fresh = true;
    }
    return err_set(err, 503, NULL, STORE_STOPPING);
}

/* Memory becomes as new as the database, as far as that can be known before the commit. A database
 * that must be asked is asked by the commit. */
static bool batch_prepare(struct pipeline *pipeline, bool was_taken, struct err *err)
{
    if (store_turn(pipeline->store).is_shared)
        return await_turn(pipeline, err);
    if (store_locks_first(pipeline->store))
        return lock_and_take_news(pipeline, err);
    return (!was_taken && !store_reads_first(pipeline->store) &&
            pipeline_currency(pipeline, replica_newest(pipeline->replica)) != STORE_IS_OUTDATED) ||
           news_take(pipeline, err) == NEWS_TAKEN;
}

/* Whether requests that arrive while this decision is on its way can be planned on top of it: they
 * come after all of its batch, and a batch that is planned under the lock is planned after it. */
static bool plans_ahead(const struct pipeline *pipeline, const struct decision *decision)
{
    return decision->end == NULL && !store_locks_first(pipeline->store) &&
           !store_reads_first(pipeline->store) && !store_turn(pipeline->store).is_shared;
}

/* Before the batch is answered, and once. */
static void note_size(struct pipeline *pipeline)
{
    if (pipeline->uncounted > 0)
        histogram_add(&pipeline->batch_requests, &PIPELINE_BATCH_SHAPE,
                      pipeline->uncounted + pipeline->joined);
    pipeline->uncounted = 0;
}

static struct pipeline_request *last_planned(const struct planned *planned)
{
    return planned->requests[planned->request_count - 1];
}

/* In a batch of one, the culprit is known. */
static void find_culprit(const struct pipeline *pipeline, const struct planned *planned,
                         struct decision *decision)
{
    size_t request = store_why_refused(pipeline->store)->request;
    if (request == STORE_UNNAMED && planned->request_count == 1)
        request = 0;
    decision->is_unnamed = request == STORE_UNNAMED;
    decision->culprit = decision->is_unnamed ? NULL : planned->requests[request];
}

/* Whether what other processes' writes require could not be planned for want of ids: it stays due.
 */
static bool is_owed(const struct decision *decision)
{
    return decision->culprit == NULL && decision->err.kind == REFUSED_BY_DATABASE &&
           decision->err.status == 503;
}

/* Requests that have arrived while the lock was awaited join the batch, if it goes to the last
 * request anyway: they would have to wait for the lock once more. Not if memory was read for those
 * that were there before. */
static void gather(struct pipeline *pipeline, const struct decision *decision)
{
    struct queue more;
    if (decision->end != NULL || store_reads_first(pipeline->store))
        return;
    pipeline_take_planners(pipeline, &more);
    struct pipeline_request *last = decision->first;
    while (last->next != NULL)
        last = last->next;
    last->next = more.first;
    pipeline->joined += more.count;
    pipeline->requests += more.count;
}

/* Plans the decision on the newest state: all of it, or what fits into one batch. */
static enum store_result plan(struct pipeline *pipeline, struct decision *decision, bool was_taken,
                              struct edit **edit, struct planned *planned)
{
    struct err *err = &decision->err;
    *planned = (struct planned){.changes.arena = pipeline->arena};
    if (!batch_prepare(pipeline, was_taken, err))
        return STORE_FAILED;
    gather(pipeline, decision);
    *edit = replica_edit(pipeline->replica);
    if (planning_run(pipeline, *edit, decision->first, &decision->end, planned, err))
        return STORE_OK;
    decision->culprit = last_planned(planned);
    decision->is_unnamed = false;
    replica_abandon(pipeline->replica, *edit);
    store_unlock(pipeline->store);
    return is_owed(decision) ? STORE_FAILED : STORE_REFUSED;
}

/* The commit of the decision: one that a worker has begun (direct.h), or a new one of what is
 * planned now or was planned ahead. */
static enum store_result begin_commit(struct pipeline *pipeline, struct decision *decision,
                                      bool was_taken, struct commit *commit)
{
    if (direct_resume(pipeline, commit, &decision->err))
        return STORE_OK;
    *commit = (struct commit){.edit = pipeline->ready, .planned = pipeline->ready_planned};
    pipeline->ready = NULL;
    enum store_result result =
        commit->edit == NULL ? plan(pipeline, decision, was_taken, &commit->edit, &commit->planned)
                             : STORE_OK;
    if (result != STORE_OK)
        return result;
    note_size(pipeline);
    commit_begin(pipeline, commit, &decision->err);
    return STORE_OK;
}

/* Plans and commits once. `was_taken`: the last time, others had written first. STORE_REFUSED:
 * because of the culprit. */
static enum store_result try(struct pipeline *pipeline, struct decision *decision, bool was_taken)
{
    struct commit commit;
    decision->err = (struct err){.arena = pipeline->arena};
    enum store_result result = begin_commit(pipeline, decision, was_taken, &commit);
    if (result != STORE_OK)
        return result;
    commit_await(pipeline, &commit, plans_ahead(pipeline, decision), &decision->err);
    result = commit_end(pipeline, &commit);
    if (result == STORE_REFUSED)
        find_culprit(pipeline, &commit.planned, decision);
    return result;
}

enum { TELL_EVERY_US = 60000000 };

/* Clients may repeat such a request as often as they like, so at most one line a minute is
 * logged. */
static void log_store_refusal(struct pipeline *pipeline, int status, const struct err *why)
{
    uint64_t now_us = clock_monotonic_us();
    if (pipeline->refusal_logged_us != 0 && now_us - pipeline->refusal_logged_us < TELL_EVERY_US) {
        pipeline->refusals_not_logged++;
        return;
    }
    if (pipeline->refusals_not_logged > 0)
        log_write(LOG_LEVEL_WARNING, "berth.writer", LOG_NO_CONTEXT,
                  "%llu more requests that the database refused were not logged",
                  (unsigned long long)pipeline->refusals_not_logged);
    log_write(LOG_LEVEL_WARNING, "berth.writer", LOG_NO_CONTEXT,
              "The database refused one request, which is answered with %d: %.*s", status,
              SLICE_ARG(why->message));
    pipeline->refusal_logged_us = now_us;
    pipeline->refusals_not_logged = 0;
}

/* Whether the request was refused while it was planned, and not by the commit. */
static bool is_of_plan(const struct err *why)
{
    return why->kind == REFUSED_TOO_MANY_ROWS || why->kind == REFUSED_BY_DATABASE;
}

/* The database contains more than memory, for example rows that could not be loaded. This is a
 * conflict of one request and not an outage for all. */
static void refuse_culprit(struct pipeline *pipeline, struct pipeline_request *culprit,
                           const struct err *why)
{
    culprit->err = (struct err){.arena = culprit->err.arena};
    if (is_of_plan(why)) {
        err_set(&culprit->err, why->status, why->code, "%.*s", SLICE_ARG(why->message));
        err_of_kind(&culprit->err, why->kind);
        return;
    }
    const struct store_refusal *refusal = store_why_refused(pipeline->store);
    if (refusal->cannot_hold)
        err_set(&culprit->err, 400, NULL, "The database cannot store a value of this request.");
    else if (refusal->is_locked)
        err_set(&culprit->err, 503, NULL,
                "Another program has locked a row that this request changes. Try again later.");
    else
        err_set(&culprit->err, 409, NULL,
                "The request conflicts with data in the database that this service does not know.");
    if (!refusal->cannot_hold)
        log_store_refusal(pipeline, culprit->err.status, why);
    err_of_kind(&culprit->err, REFUSED_BY_DATABASE);
}

static void refuse_all(struct pipeline *pipeline, const struct decision *decision,
                       struct slice text)
{
    const struct err shown = answers_public(&decision->err, text);
    outage_write_failed(&pipeline->outage, &decision->err);
    answers_give(pipeline, decision->first, decision->end, &shown);
}

/* Others write again and again: they get some time, which differs from that of other instances. If
 * there are turns, it is this process's turn. */
static void pause_after(const struct pipeline *pipeline, unsigned taken)
{
    if (store_turn(pipeline->store).is_shared && taken < PAUSE_DOUBLINGS)
        return;
    uint64_t most_us = (uint64_t)PAUSE_US << (taken < PAUSE_DOUBLINGS ? taken : PAUSE_DOUBLINGS);
    wait_sleep_us(clock_monotonic_us() % most_us);
}

/* Decides the requests before `end` in one transaction, and answers them. STORE_REFUSED: nothing
 * was written or answered, because of the culprit. */
static enum store_result decide(struct pipeline *pipeline, struct decision *decision)
{
    const uint64_t latest_us = clock_monotonic_us() + TAKEN_FOR_US;
    enum store_result result = try(pipeline, decision, false);
    for (unsigned taken = 0; result == STORE_TAKEN && taken < TAKEN_MOST &&
                             clock_monotonic_us() < latest_us && !pipeline_is_over(pipeline);
         taken++) {
        pipeline->taken++;
        pipeline_beat(pipeline);
        waiting_answer_late(pipeline);
        pause_after(pipeline, taken);
        result = try(pipeline, decision, true);
    }
    if (result == STORE_OK)
        answers_give(pipeline, decision->first, decision->end, NULL);
    else if (result != STORE_REFUSED)
        refuse_all(pipeline, decision,
                   result == STORE_UNKNOWN ? SLICE_LIT(OUTCOME_UNKNOWN)
                                           : SLICE_LIT(ANSWER_UNAVAILABLE));
    waiting_answer_late(pipeline);
    return result;
}

/* At the second refusal, everything is compared; another program may write again before the third
 * attempt. */
enum { REREADS_EACH = 3, REREADS_MOST = 64 };

/* How often the news were taken because of a refusal. */
struct rereads {
    const struct pipeline_request *culprit;
    unsigned of_culprit;
    unsigned all;
    uint64_t locked_us; /* when a refusal first showed that another program holds a lock; 0: none
                           has */
};

/* Whether the refusal shows that memory is wrong, so that its request may succeed after the news.
 */
static bool must_read_again(const struct pipeline *pipeline, const struct decision *decision,
                            struct rereads *rereads)
{
    if (is_of_plan(&decision->err) || !store_why_refused(pipeline->store)->memory_is_wrong)
        return false;
    if (rereads->all == 0 || rereads->culprit != decision->culprit)
        rereads->of_culprit = 0;
    rereads->culprit = decision->culprit;
    return rereads->of_culprit++ < REREADS_EACH && rereads->all++ < REREADS_MOST;
}

enum { LOCKED_FOR_US = 20000000 };

static bool is_by_lock(const struct pipeline *pipeline, const struct decision *decision)
{
    return !is_of_plan(&decision->err) && store_why_refused(pipeline->store)->is_locked;
}

/* Whether another program holds a lock, for the first time: it may be a deadlock, which the attempt
 * has ended. */
static bool is_first_lock(const struct pipeline *pipeline, const struct decision *decision,
                          struct rereads *rereads)
{
    if (!is_by_lock(pipeline, decision) || rereads->locked_us != 0)
        return false;
    rereads->locked_us = clock_monotonic_us();
    return true;
}

/* Whether the requests are not tried any more, because other programs hold locks: each attempt
 * waits for these, and if it is a table that is locked, every request does. What other processes'
 * writes require stays due. */
static bool is_locked_for_long(const struct pipeline *pipeline, const struct decision *decision,
                               const struct rereads *rereads)
{
    bool is_due = decision->culprit == NULL && !decision->is_unnamed;
    return is_by_lock(pipeline, decision) &&
           (is_due || clock_monotonic_us() - rereads->locked_us >= LOCKED_FOR_US ||
            pipeline_is_over(pipeline));
}

/* The request after the first `count`; NULL: there are no more. */
static struct pipeline_request *skip(struct pipeline_request *first, size_t count)
{
    while (first != NULL && count-- > 0)
        first = first->next;
    return first;
}

static size_t distance(const struct pipeline_request *first, const struct pipeline_request *end)
{
    size_t count = 0;
    for (; first != end; first = first->next)
        count++;
    return count;
}

/* The culprit is the first request of the decision. */
static void answer_culprit(struct pipeline *pipeline, struct decision *decision)
{
    struct pipeline_request *rest = decision->first->next;
    refuse_culprit(pipeline, decision->first, &decision->err);
    answers_give(pipeline, decision->first, rest, NULL);
    decision->first = rest;
}

/* After a success. */
static size_t together_after(size_t together)
{
    if (together == 0)
        return 1;
    return together < SIZE_MAX / 2 ? together * 2 : together;
}

/* If the store refuses one request, the requests before it are decided first, again and without it,
 * then that request, then those after it. Fewer requests are planned together after a refusal, and
 * twice as many after each success: however many the store refuses, the requests are planned a few
 * times on average. If the store does not know which request it refused, half as many are planned
 * together, until the culprit is alone; it may also be what other processes' writes require, which
 * is then planned without any request. If a refusal shows that memory is wrong, all requests are
 * planned once more after the next news. If other programs hold locks for long, all that are left
 * are refused. */
static void run_planned(struct pipeline *pipeline, struct pipeline_request *first)
{
    struct decision decision = {.first = first};
    size_t together = SIZE_MAX / 2;
    struct rereads rereads = {0};
    while (decision.first != NULL) {
        decision.end = skip(decision.first, together);
        if (decide(pipeline, &decision) != STORE_REFUSED) {
            /* those before `end` have been answered and must not be used any more */
            decision.first = decision.end;
            together = together_after(together);
            rereads.culprit = NULL; /* what was refused beside them may succeed after them */
        } else if (must_read_again(pipeline, &decision, &rereads) ||
                   is_first_lock(pipeline, &decision, &rereads)) {
            pipeline_beat(pipeline);
        } else if (is_locked_for_long(pipeline, &decision, &rereads)) {
            decision.end = NULL;
            refuse_all(pipeline, &decision, SLICE_LIT(ANSWER_UNAVAILABLE));
            decision.first = NULL;
        } else if (decision.is_unnamed) {
            together = distance(decision.first, decision.end) / 2;
        } else if (decision.culprit == NULL) {
            rules_made_up(
                pipeline->rules); /* the store would refuse it in the next batch as well */
        } else if (decision.culprit != decision.first) {
            together = distance(decision.first, decision.culprit);
        } else {
            together = (distance(decision.first, decision.end) + 1) / 2;
            answer_culprit(pipeline, &decision);
        }
    }
}

/* Requests that only wait for news are answered first: they need neither the lock that another
 * process may hold nor a writable disk. */
void batch_run(struct pipeline *pipeline, struct pipeline_request *first)
{
    struct queue waiting;
    struct queue planned;
    queue_clear(&waiting);
    queue_clear(&planned);
    while (first != NULL) {
        struct pipeline_request *request = first;
        first = request->next;
        queue_append(request->plan == NULL ? &waiting : &planned, request);
    }
    if (waiting.first != NULL)
        waiting_answer(pipeline, waiting.first);
    if (planned.first == NULL)
        return;
    pipeline->uncounted = direct_is_parked(pipeline) ? 0 : planned.count;
    run_planned(pipeline, planned.first);
    note_size(pipeline);
}
