/* Runs one batch: brings memory up to date, plans every request, commits one transaction and
 * answers all requests.
 *
 * Invariants (ARCHITECTURE.md, Invariants): 1. a version equals the store at one committed state;
 * 2. nothing is answered or published before it is committed. The requests of a batch are planned
 * one after the other on one edit. A refused request leaves no change. If the store fails, the
 * whole batch is undone, in memory too. Writer thread only. */
#include "base/arena.h"
#include "base/clock.h"
#include "engine/checked.h"
#include "engine/pipeline_internal.h"
#include "engine/write_limit.h"
#include "log/log.h"
#include "replica/apply.h"

_Static_assert(sizeof(struct store_stamp) == sizeof(struct version_stamp), "stamps are copied");

static void count_refusal(struct pipeline *pipeline, const struct pipeline_request *request,
                          bool database_failed)
{
    enum pipeline_refusal why =
        database_failed ? REFUSED_BY_DATABASE : (enum pipeline_refusal)request->err.kind;
    if (request->plan != NULL && err_is_set(&request->err))
        counter_add(&pipeline->refused[why], 1);
}

#define UNAVAILABLE "The database is unavailable, and nothing was changed. Try again later."
#define OUTCOME_UNKNOWN                                                                            \
    "The connection to the database was lost, and it is not known whether the change was made."

/* The error that clients receive if the database fails; the cause and the place are in the log. */
static struct err public_error(const struct err *failure, struct slice text)
{
    struct err shown = *failure;
    if (failure->status == 503)
        shown.message = text;
    return shown;
}

/* Answers the requests before `end` (NULL: all). */
static void answer_all(struct pipeline *pipeline, struct pipeline_request *first,
                       const struct pipeline_request *end, const struct err *failure)
{
    while (first != end) {
        struct pipeline_request *request = first;
        first = request->next;
        if (failure != NULL) {
            /* the reason may have been another request of the batch, which has been undone */
            request->err = (struct err){.arena = request->err.arena};
            err_set(&request->err, failure->status, failure->code, "%.*s",
                    SLICE_ARG(failure->message));
        }
        count_refusal(pipeline, request, failure != NULL);
        request->done(request);
    }
}

/* Writes the changes in the plan's list to the database and applies them to memory. */
static enum store_result apply_planned(const struct plan *plan, struct edit *edit, struct err *err)
{
    enum store_result result = store_apply(plan->store, plan->changes, err);
    if (result == STORE_OK)
        apply_changes(edit, plan->changes);
    plan->changes->count = 0;
    return result;
}

/* Counts what has been written. */
struct tally {
    size_t changes;    /* by the batch */
    uint64_t rows;     /* by this request */
    uint64_t max_rows; /* that it may write; 0: any number */
};

/* Applies the consequences of what was applied, step by step. */
static enum store_result apply_following(const struct plan *plan, struct checked *checked,
                                         struct edit *edit, struct tally *tally, struct err *err)
{
    enum store_result result = STORE_OK;
    while (result == STORE_OK && checked_follow(checked, plan)) {
        tally->changes += plan->changes->count;
        tally->rows += write_limit_changes(plan->changes);
        if (!plan_rows_fit(tally->rows, tally->max_rows, err))
            return STORE_REFUSED;
        result = apply_planned(plan, edit, err);
    }
    return result;
}

/* Applies a request's changes and their consequences. */
static enum store_result apply_request(const struct plan *plan, struct checked *checked,
                                       struct edit *edit, struct tally *tally, struct err *err)
{
    tally->changes += plan->changes->count;
    enum store_result result = apply_planned(plan, edit, err);
    return result == STORE_OK ? apply_following(plan, checked, edit, tally, err) : result;
}

/* Applies what other processes' writes still require. If the store refuses it, it would refuse the
 * next batch as well, so it is dropped. */
static enum store_result make_up(struct pipeline *pipeline, const struct plan *plan,
                                 struct edit *edit, struct tally *tally, struct err *err)
{
    struct checked checked;
    plan->changes->count = 0;
    if (!checked_foreign(&checked, plan))
        return STORE_OK;
    enum store_result result = apply_following(plan, &checked, edit, tally, err);
    if (result == STORE_REFUSED)
        rules_made_up(pipeline->rules);
    return result;
}

/* Runs the request's planner; the results of an earlier run are discarded. */
static bool plan_once(struct pipeline_request *request, const struct plan *plan)
{
    plan->changes->count = 0;
    *plan->said = (struct plan_said){0};
    request->err = (struct err){.arena = request->err.arena};
    bool is_planned = request->plan(request, plan);
    check(is_planned || err_is_set(&request->err));
    return is_planned;
}

/* *rows: the number of rows that it writes itself. A request that has too many changes is refused
 * without further checks. */
static bool plan_request(struct pipeline *pipeline, struct pipeline_request *request,
                         const struct plan *plan, struct checked *checked, uint64_t *rows)
{
    if (pipeline->plans_twice)
        plan_once(request, plan);
    if (!plan_once(request, plan) ||
        !plan_rows_fit(plan->changes->count, request->max_rows, &request->err) ||
        !checked_planned(checked, plan, &request->err))
        return false;
    *rows = write_limit_rows(&checked->effects);
    return plan_rows_fit(*rows, request->max_rows, &request->err);
}

/* Plans the requests up to `end` (NULL: to the last) on the edit. If the store fails or refuses,
 * err is set and the transaction must be undone. If it refused one request's changes, *culprit is
 * that request; if it was something else, which is not tried again, *culprit is NULL. */
static enum store_result plan_batch(struct pipeline *pipeline, struct edit *edit,
                                    struct pipeline_request *first,
                                    const struct pipeline_request *end, struct tally *tally,
                                    struct pipeline_request **culprit, struct err *err)
{
    struct change_list changes = {.arena = pipeline->arena};
    struct plan_said said = {0};
    struct plan plan = {
        .version = edit->version,
        .changes = &changes,
        .arena = pipeline->arena,
        .store = pipeline->store,
        .rules = pipeline->rules,
        .said = &said,
        .now_us = clock_wall_us(),
    };
    enum store_result result = make_up(pipeline, &plan, edit, tally, err);
    if (result != STORE_OK)
        return result;
    for (struct pipeline_request *request = first; request != end; request = request->next) {
        struct checked checked;
        plan.author = request->author;
        plan.max_rows = request->max_rows;
        plan.now_us = clock_wall_us();
        tally->max_rows = request->max_rows;
        if (!plan_request(pipeline, request, &plan, &checked, &tally->rows) || changes.count == 0)
            continue;
        result = apply_request(&plan, &checked, edit, tally, err);
        if (result == STORE_REFUSED)
            *culprit = request;
        if (result != STORE_OK)
            return result;
        if (request->applied != NULL)
            request->applied(request, &plan);
    }
    return STORE_OK;
}

static void publish(struct pipeline *pipeline, struct edit *edit, const struct store_stamp *stamp,
                    bool holds)
{
    struct version_stamp copy = {
        {0}}; /* an all-zero stamp is never current: readers will submit a request for news */
    if (holds) {
        memcpy(&copy, stamp, sizeof(copy));
        counter_set(&pipeline->fresh_at_us, clock_monotonic_us());
    }
    replica_publish(pipeline->replica, edit, &copy);
}

bool batch_renew(struct pipeline *pipeline, struct err *err)
{
    enum store_begun begun = store_begin(pipeline->store, STORE_TO_READ, err);
    struct edit *edit = news_take(pipeline, begun, err);
    if (edit == NULL)
        return false;
    struct store_stamp stamp;
    bool holds = store_rollback(pipeline->store, &stamp);
    publish(pipeline, edit, &stamp, holds);
    return true;
}

/* Like batch_renew, but logs a failure. */
static bool renew(struct pipeline *pipeline, struct err *err)
{
    if (!batch_renew(pipeline, err)) {
        outage_read_failed(&pipeline->outage, err);
        return false;
    }
    outage_read_worked(&pipeline->outage);
    return true;
}

static bool is_current(struct pipeline *pipeline)
{
    if (!pipeline_is_current(pipeline, replica_newest(pipeline->replica)))
        return false;
    counter_set(&pipeline->fresh_at_us, clock_monotonic_us());
    return true;
}

/* Reads the database and follows it; the schema is checked in the same transaction. */
static void probe_database(struct pipeline *pipeline, struct pipeline_probe *probe, struct err *err)
{
    struct err schema = {.arena = err->arena};
    struct store_stamp stamp;
    enum store_begun begun = store_begin(pipeline->store, STORE_TO_READ, err);
    *probe = (struct pipeline_probe){.is_reached = begun != STORE_BEGIN_FAILED};
    if (!probe->is_reached)
        return;
    probe->is_served = store_check_schema(pipeline->store, probe->revision, &schema);
    if (begun == STORE_BEGIN_UNCHANGED && is_current(pipeline)) {
        store_rollback(pipeline->store, &stamp);
        probe->is_followed = true;
    } else {
        struct edit *edit = news_take(pipeline, begun, err);
        probe->is_followed = edit != NULL;
        if (edit != NULL) {
            bool holds = store_rollback(pipeline->store, &stamp);
            publish(pipeline, edit, &stamp, holds);
        }
    }
    if (!probe->is_served)
        err_set_text(err, schema.status, schema.code, schema.message);
}

/* One result serves all requests with a probe. */
static void answer_probes(struct pipeline *pipeline, struct pipeline_request *first)
{
    struct err err = {.arena = pipeline->arena};
    struct pipeline_probe probe;
    probe_database(pipeline, &probe, &err);
    if (probe.is_reached && probe.is_followed)
        outage_read_worked(&pipeline->outage);
    else
        outage_read_failed(&pipeline->outage, &err);
    for (struct pipeline_request *request = first; request != NULL; request = request->next)
        *request->probe = probe;
    /* not sent to clients: berth's own health checks submit probes */
    answer_all(pipeline, first, NULL, err_is_set(&err) ? &err : NULL);
}

static void answer_readers(struct pipeline *pipeline, struct pipeline_request *first)
{
    struct err err = {.arena = pipeline->arena};
    /* Most often the only news is berth's own last commit. */
    if (is_current(pipeline) || renew(pipeline, &err)) {
        answer_all(pipeline, first, NULL, NULL);
        return;
    }
    const struct err shown = public_error(&err, SLICE_LIT(UNAVAILABLE));
    answer_all(pipeline, first, NULL, &shown);
}

static void answer_waiting(struct pipeline *pipeline, struct pipeline_request *first)
{
    struct queue readers;
    struct queue probes;
    queue_clear(&readers);
    queue_clear(&probes);
    while (first != NULL) {
        struct pipeline_request *request = first;
        first = request->next;
        queue_append(request->probe == NULL ? &readers : &probes, request);
    }
    if (readers.first != NULL)
        answer_readers(pipeline, readers.first);
    if (probes.first != NULL)
        answer_probes(pipeline, probes.first);
}

/* Another process may hold the write lock for seconds; reads are answered meanwhile. */
static enum store_begun lock_to_write(struct pipeline *pipeline, struct err *err)
{
    enum store_begun begun;
    while ((begun = store_begin(pipeline->store, STORE_TO_WRITE_SOON, err)) == STORE_BEGIN_BUSY) {
        pipeline_beat(pipeline);
        struct pipeline_request *readers = pipeline_take_readers(pipeline);
        if (readers != NULL)
            answer_waiting(pipeline, readers);
    }
    return begun;
}

/* A load takes long: it first runs in a snapshot, so that it holds the lock only if another process
 * writes meanwhile. */
static struct edit *begin_to_write(struct pipeline *pipeline, struct err *err)
{
    struct store_stamp ignored;
    enum store_begun begun = lock_to_write(pipeline, err);
    if (begun != STORE_BEGIN_RELOAD)
        return news_take(pipeline, begun, err);
    store_rollback(pipeline->store, &ignored);
    if (!renew(pipeline, err))
        return NULL;
    begun = lock_to_write(pipeline, err);
    return news_take(pipeline, begun, err);
}

static void refuse_all(struct pipeline *pipeline, struct pipeline_request *first,
                       const struct pipeline_request *end, const struct err *err, struct slice text)
{
    const struct err shown = public_error(err, text);
    outage_write_failed(&pipeline->outage, err);
    answer_all(pipeline, first, end, &shown);
}

/* Makes the batch, planned up to `end`, durable and visible. Otherwise err is set, and none of it
 * was written, or with STORE_UNKNOWN possibly all of it. */
static enum store_result commit(struct pipeline *pipeline, struct edit *edit, size_t changes,
                                struct err *err)
{
    struct store_stamp stamp;
    if (changes == 0) {
        bool holds = store_rollback(pipeline->store, &stamp);
        rules_made_up(pipeline->rules);
        publish(pipeline, edit, &stamp, holds);
        return STORE_OK;
    }
    bool foreign = false;
    uint64_t before = clock_monotonic_us();
    enum store_result result = store_commit(pipeline->store, &stamp, &foreign, err);
    if (result != STORE_OK) {
        replica_abandon(pipeline->replica, edit);
        return result;
    }
    outage_write_worked(&pipeline->outage);
    rules_made_up(pipeline->rules);
    pipeline->last_commit_us = clock_monotonic_us() - before;
    pipeline->commits++;
    histogram_add(&pipeline->commit_us, &PIPELINE_COMMIT_SHAPE_US, pipeline->last_commit_us);
    publish(pipeline, edit, &stamp, !foreign);
    return STORE_OK;
}

enum { TELL_EVERY_US = 60000000 };

/* Clients may repeat such a request as often as they like, so at most one line a minute is
 * logged. */
static void log_store_refusal(struct pipeline *pipeline, const struct err *why)
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
              "The database refused one request, which is answered with 409: %.*s",
              SLICE_ARG(why->message));
    pipeline->refusal_logged_us = now_us;
    pipeline->refusals_not_logged = 0;
}

/* Whether the request was refused for its size, which has nothing to do with the database. */
static bool is_too_large(const struct err *why)
{
    return why->kind == REFUSED_TOO_MANY_ROWS;
}

/* The database contains more than memory, for example rows that could not be loaded. This is a
 * conflict of one request and not an outage for all. */
static void refuse_culprit(struct pipeline *pipeline, struct pipeline_request *culprit,
                           const struct err *why)
{
    culprit->err = (struct err){.arena = culprit->err.arena};
    if (is_too_large(why)) {
        err_set(&culprit->err, why->status, why->code, "%.*s", SLICE_ARG(why->message));
        err_of_kind(&culprit->err, why->kind);
        return;
    }
    log_store_refusal(pipeline, why);
    err_set(&culprit->err, 409, NULL,
            "The request conflicts with data in the database that this service does not know.");
    err_of_kind(&culprit->err, REFUSED_BY_DATABASE);
}

/* Decides the requests before `end` in one transaction, and answers them. STORE_REFUSED: nothing
 * was written or answered, because the store refuses the changes of *culprit; `why` states the
 * reason. If *culprit is NULL, the transaction must be tried again unchanged. */
static enum store_result decide(struct pipeline *pipeline, struct pipeline_request *first,
                                const struct pipeline_request *end,
                                struct pipeline_request **culprit, struct err *why)
{
    struct err err = {.arena = pipeline->arena};
    struct edit *edit = begin_to_write(pipeline, &err);
    if (edit == NULL) {
        refuse_all(pipeline, first, end, &err, SLICE_LIT(UNAVAILABLE));
        return STORE_FAILED;
    }
    struct tally tally = {0};
    *culprit = NULL;
    enum store_result result = plan_batch(pipeline, edit, first, end, &tally, culprit, &err);
    if (result != STORE_OK) {
        struct store_stamp ignored;
        store_rollback(pipeline->store, &ignored);
        replica_abandon(pipeline->replica, edit);
        *why = err;
        if (result != STORE_REFUSED)
            refuse_all(pipeline, first, end, &err, SLICE_LIT(UNAVAILABLE));
        return result;
    }
    result = commit(pipeline, edit, tally.changes, &err);
    if (result != STORE_OK) {
        refuse_all(pipeline, first, end, &err,
                   result == STORE_UNKNOWN ? SLICE_LIT(OUTCOME_UNKNOWN) : SLICE_LIT(UNAVAILABLE));
        return STORE_FAILED;
    }
    answer_all(pipeline, first, end, NULL);
    return STORE_OK;
}

/* If the store refuses one request, the requests before it are decided first, again and without it,
 * then that request, then those after it. No request is planned more than three times, however many
 * the store refuses. If the refusal shows that memory is wrong, the next begin loads everything
 * again, and all requests are planned once more. */
static void run_planned(struct pipeline *pipeline, struct pipeline_request *first)
{
    struct pipeline_request *end = NULL;
    bool has_reloaded = false;
    while (first != NULL) {
        struct err why;
        struct pipeline_request *culprit = NULL;
        if (decide(pipeline, first, end, &culprit, &why) != STORE_REFUSED) {
            first = end; /* the requests before `end` have been answered and must not be used any
                          * more */
            end = NULL;
        } else if (culprit == NULL || (!is_too_large(&why) && !has_reloaded &&
                                       store_why_refused(pipeline->store)->memory_is_wrong)) {
            has_reloaded |= culprit != NULL;
        } else if (culprit == first) {
            struct pipeline_request *rest = first->next;
            refuse_culprit(pipeline, culprit, &why);
            answer_all(pipeline, culprit, rest, NULL);
            first = rest;
            end = NULL;
        } else {
            end = culprit;
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
        answer_waiting(pipeline, waiting.first);
    if (planned.first == NULL)
        return;
    histogram_add(&pipeline->batch_requests, &PIPELINE_BATCH_SHAPE, planned.count);
    run_planned(pipeline, planned.first);
}
