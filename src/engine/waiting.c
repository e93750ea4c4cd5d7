/* Requests that wait for news, and probes: they need neither the lock that another process may hold
 * nor a writable disk. The writer only. */
#include "base/clock.h"
#include "engine/pipeline_internal.h"

static bool is_current(struct pipeline *pipeline)
{
    if (!pipeline_is_current(pipeline, replica_newest(pipeline->replica)))
        return false;
    counter_set(&pipeline->fresh_at_us, clock_monotonic_us());
    return true;
}

/* Reads the database and takes its news; the schema is checked in the same read. */
static enum news probe_database(struct pipeline *pipeline, struct pipeline_probe *probe,
                                struct err *err)
{
    struct err schema = {.arena = err->arena};
    enum store_news found = news_begin(pipeline, err);
    *probe = (struct pipeline_probe){.is_reached = found != STORE_NEWS_FAILED};
    if (!probe->is_reached)
        return NEWS_FAILED;
    probe->is_served = store_check_schema(pipeline->store, probe->revision, &schema);
    enum news news = news_end(pipeline, found, err);
    probe->is_followed = news == NEWS_TAKEN;
    if (!probe->is_served)
        err_set_text(err, schema.status, schema.code, schema.message);
    return news;
}

/* One result serves all requests with a probe. */
static void answer_probes(struct pipeline *pipeline, struct queue *probes)
{
    struct err err = {.arena = pipeline->arena};
    struct pipeline_probe probe;
    struct news_attempts attempts = {0};
    enum news news;
    do {
        news = probe_database(pipeline, &probe, &err);
    } while (news_again(pipeline, news, &attempts, &err));
    if (news == NEWS_LATE) {
        queue_move(&pipeline->late, probes);
        return;
    }
    if (news == NEWS_TAKEN)
        outage_read_worked(&pipeline->outage);
    else
        outage_read_failed(&pipeline->outage, &err);
    for (struct pipeline_request *at = probes->first; at != NULL; at = at->next)
        *at->probe = probe;
    /* not sent to clients: berth's own health checks submit probes */
    answers_give(pipeline, probes->first, NULL, err_is_set(&err) ? &err : NULL);
}

/* Whether the newest version contains the state that this request waits for. */
static bool contains(const struct pipeline *pipeline, const struct pipeline_request *request)
{
    struct store_stamp newest;
    memcpy(&newest, &replica_newest(pipeline->replica)->stamp, sizeof(newest));
    return request->head != NULL && store_covers(pipeline->store, &newest, request->head);
}

static bool contains_all(const struct pipeline *pipeline, const struct pipeline_request *first)
{
    for (const struct pipeline_request *at = first; at != NULL; at = at->next)
        if (!contains(pipeline, at))
            return false;
    return true;
}

/* Requests that a query has found to be behind come together, with its answer. */
static bool take_head(struct pipeline *pipeline, const struct queue *readers)
{
    const struct pipeline_request *only = readers->first;
    return only->next == NULL && only->head != NULL && news_take_head(pipeline, only->head);
}

static void answer_readers(struct pipeline *pipeline, struct queue *readers)
{
    struct err err = {.arena = pipeline->arena};
    enum news news = NEWS_TAKEN;
    /* Most often the only news is berth's own last commit. */
    if (!contains_all(pipeline, readers->first) && !take_head(pipeline, readers) &&
        !is_current(pipeline))
        news = news_take(pipeline, &err);
    const struct err shown = answers_public(&err, SLICE_LIT(ANSWER_UNAVAILABLE));
    if (news == NEWS_LATE)
        queue_move(&pipeline->late, readers);
    else
        answers_give(pipeline, readers->first, NULL, news == NEWS_TAKEN ? NULL : &shown);
}

static void take_suspects(struct pipeline *pipeline, struct pipeline_request *request)
{
    const struct differences *suspects = request->suspects;
    for (size_t i = 0; suspects != NULL && i < suspects->count; i++)
        (void)store_suspect(pipeline->store, suspects->items[i].entity, suspects->items[i].id,
                            suspects->items[i].uuid);
    request->suspects = NULL; /* it may have to wait for a batch that is pending */
}

void waiting_answer(struct pipeline *pipeline, struct pipeline_request *first)
{
    struct queue readers;
    struct queue probes;
    queue_clear(&readers);
    queue_clear(&probes);
    while (first != NULL) {
        struct pipeline_request *request = first;
        first = request->next;
        take_suspects(pipeline, request);
        queue_append(request->probe == NULL ? &readers : &probes, request);
    }
    if (readers.first != NULL)
        answer_readers(pipeline, &readers);
    if (probes.first != NULL)
        answer_probes(pipeline, &probes);
}

void waiting_answer_late(struct pipeline *pipeline)
{
    struct pipeline_request *first = pipeline->late.first;
    queue_clear(&pipeline->late);
    waiting_answer(pipeline, first);
}

void waiting_meanwhile(struct pipeline *pipeline)
{
    pipeline_beat(pipeline);
    struct pipeline_request *readers = pipeline_take_readers(pipeline);
    if (readers != NULL)
        waiting_answer(pipeline, readers);
}

bool waiting_in_store(void *cls)
{
    struct pipeline *pipeline = cls;
    struct queue readers;
    struct queue covered;
    struct queue others;
    queue_clear(&covered);
    queue_clear(&others);
    pipeline_beat(pipeline);
    pipeline_borrow_readers(pipeline, &readers);
    while (readers.first != NULL) {
        struct pipeline_request *request = readers.first;
        readers.first = request->next;
        bool needs_store = request->probe != NULL || request->suspects != NULL;
        queue_append(!needs_store && contains(pipeline, request) ? &covered : &others, request);
    }
    if (others.first != NULL)
        pipeline_put_back(pipeline, &others);
    pipeline->requests += covered.count;
    answers_give(pipeline, covered.first, NULL, NULL);
    return !pipeline_is_over(pipeline);
}
