/* Brings other processes' writes into memory: follows their log, merges by comparing all rows with
 * the newest version, or, if too much has changed, loads everything again. What was read is
 * published at once: invariant 1, a version equals the database at one committed state. Writer
 * thread only. */
#include "base/clock.h"
#include "base/wait.h"
#include "engine/pipeline_internal.h"
#include "replica/apply.h"
#include "replica/compare.h"

_Static_assert(sizeof(struct store_stamp) == sizeof(struct version_stamp), "stamps are copied");

static void sink_apply(void *cls, const struct change *change)
{
    apply_change(cls, change);
}

/* Informs the rules that the edit contains other processes' writes. */
static void report_foreign_write(struct pipeline *pipeline, enum foreign_write kind,
                                 const struct edit *edit)
{
    const struct version *before = replica_newest(pipeline->replica);
    rules_foreign(pipeline->rules, kind, version_is_empty(before) ? NULL : before, edit->version,
                  pipeline->arena);
}

/* A merge with that many differences costs as much as a load. With 100 000 hosts and 50 000
 * consumers, a comparison takes 0.49 s of processor time and a load 0.76 s; reading one provider
 * again takes 19 us, one consumer 13 us. */
static size_t differences_most(const struct version *version)
{
    enum { SHARE = 12, AT_LEAST = 1000 };
    return (version->provider_by_id.count + version->consumers.count) / SHARE + AT_LEAST;
}

static const struct differences *end_comparison(void *cls)
{
    return compare_end(cls);
}

/* Applies the differences from the newest version to the edit. */
static enum store_result merge(struct pipeline *pipeline, struct edit *edit, bool *merged,
                               struct err *err)
{
    const struct version *before = replica_newest(pipeline->replica);
    struct comparison *comparison = compare_begin(before, differences_most(before));
    struct store_comparer comparer = {compare_change, end_comparison, comparison};
    enum store_result result =
        store_merge(pipeline->store, &comparer, sink_apply, edit, merged, err);
    compare_free(comparison);
    return result;
}

/* Foreign writers have written, or may have written, anything. A version made from nothing shares
 * no memory with the previous one, which a reader may keep, so it is made only if necessary. */
static enum store_result take_in(struct pipeline *pipeline, struct edit **edit, struct err *err)
{
    bool merged = false;
    pipeline->reloads++;
    if (!version_is_empty(replica_newest(pipeline->replica))) {
        *edit = replica_edit(pipeline->replica);
        enum store_result result = merge(pipeline, *edit, &merged, err);
        pipeline->merges += merged;
        if (merged || result != STORE_OK)
            return result;
        replica_abandon(pipeline->replica, *edit);
    }
    *edit = replica_edit_empty(pipeline->replica);
    return store_load(pipeline->store, sink_apply, *edit, err);
}

/* An all-zero stamp is never current: readers will wait for news. */
static struct version_stamp stamp_of(const struct store_stamp *stamp, bool holds)
{
    struct version_stamp copy = {{0}};
    if (holds)
        memcpy(&copy, stamp, sizeof(copy));
    return copy;
}

void news_publish(struct pipeline *pipeline, struct edit *edit, const struct store_stamp *stamp,
                  bool holds)
{
    const struct version_stamp copy = stamp_of(stamp, holds);
    if (holds)
        counter_set(&pipeline->fresh_at_us, clock_monotonic_us());
    if (pipeline->is_at_once)
        replica_publish_at_once(pipeline->replica, edit, &copy);
    else
        replica_publish(pipeline->replica, edit, &copy);
    struct store_stamp published;
    memcpy(&published, &copy, sizeof(published));
    currency_published(pipeline->currency, &published);
}

/* Memory has the state that was read. The same state may have got a new stamp. */
static void restamp(struct pipeline *pipeline, const struct store_stamp *stamp, bool holds)
{
    const struct version_stamp copy = stamp_of(stamp, holds);
    if (memcmp(&replica_newest(pipeline->replica)->stamp, &copy, sizeof(copy)) != 0) {
        ahead_drop(pipeline);
        news_publish(pipeline, replica_edit(pipeline->replica), stamp, holds);
    } else if (holds)
        counter_set(&pipeline->fresh_at_us, clock_monotonic_us());
}

/* *kind: what the rules are to know of it. */
static enum store_result news_follow(struct pipeline *pipeline, struct edit **edit,
                                     enum foreign_write *kind, struct err *err)
{
    struct followed followed;
    enum store_result result = follow_log(pipeline, edit, &followed, err);
    *kind = followed.is_foreign ? FOREIGN_LOADED : FOREIGN_FOLLOWED;
    if (result != STORE_OK || followed.fits)
        return result;
    replica_abandon(pipeline->replica, *edit);
    *kind = FOREIGN_LOADED;
    return take_in(pipeline, edit, err);
}

/* The next version, with the news; NULL with err, or because the read was overtaken. */
static struct edit *read_news(struct pipeline *pipeline, enum store_news news, bool *is_overtaken,
                              struct err *err)
{
    struct edit *edit;
    enum foreign_write kind = FOREIGN_LOADED;
    enum store_result result = news == STORE_NEWS_FOLLOW ? news_follow(pipeline, &edit, &kind, err)
                                                         : take_in(pipeline, &edit, err);
    *is_overtaken = result == STORE_TAKEN;
    if (result != STORE_OK) {
        replica_abandon(pipeline->replica, edit);
        return NULL;
    }
    apply_flush(edit);
    report_foreign_write(pipeline, kind, edit);
    return edit;
}

static void beat(void *cls)
{
    pipeline_beat(cls);
}

/* Before the version is published: what is gone is named before anybody can see that it is. */
static void report_losses(struct pipeline *pipeline, const struct edit *edit)
{
    const struct version *before = replica_newest(pipeline->replica);
    const struct store_going_back event = store_why_went_back(pipeline->store);
    if (version_is_empty(before)) /* it was an earlier process that had what is gone */
        counter_add(&pipeline->losses.counters.events, 1);
    else
        loss_report_write(&pipeline->losses, &event, before, edit->version, beat, pipeline);
}

enum news news_end(struct pipeline *pipeline, enum store_news found, struct err *err)
{
    struct store_stamp stamp;
    bool is_late = pipeline->is_pending && found != STORE_NEWS_NONE;
    bool is_overtaken = false;
    if (!is_late && found != STORE_NEWS_NONE)
        ahead_drop(pipeline);
    struct edit *edit =
        is_late || found == STORE_NEWS_NONE ? NULL : read_news(pipeline, found, &is_overtaken, err);
    bool holds = store_end_read(pipeline->store, &stamp);
    if (is_late)
        return NEWS_LATE;
    if (found != STORE_NEWS_NONE && edit == NULL)
        return is_overtaken ? NEWS_OVERTAKEN : NEWS_FAILED;
    if (found == STORE_NEWS_WENT_BACK)
        report_losses(pipeline, edit);
    if (edit != NULL)
        news_publish(pipeline, edit, &stamp, holds);
    else if (!pipeline->is_pending)
        restamp(pipeline, &stamp, holds);
    if (holds)
        currency_note_known(pipeline->currency, pipeline->read_began_us);
    return NEWS_TAKEN;
}

enum store_news news_begin(struct pipeline *pipeline, struct err *err)
{
    pipeline->read_began_us = clock_monotonic_us();
    return store_begin_read(pipeline->store, err);
}

/* A change of the schema that creates many triggers ends reads for seconds. */
enum { AGAIN_FOR_US = 20000000, AGAIN_PAUSE_US = 1000, AGAIN_DOUBLINGS = 7 };

bool news_again(struct pipeline *pipeline, enum news news, struct news_attempts *attempts,
                struct err *err)
{
    if (news != NEWS_OVERTAKEN || pipeline_is_over(pipeline))
        return false;
    uint64_t now_us = clock_monotonic_us();
    if (attempts->count == 0)
        attempts->latest_us = now_us + AGAIN_FOR_US;
    if (now_us >= attempts->latest_us)
        return false;
    unsigned doublings = attempts->count < AGAIN_DOUBLINGS ? attempts->count : AGAIN_DOUBLINGS;
    attempts->count++;
    pipeline_beat(pipeline);
    wait_sleep_us((uint64_t)AGAIN_PAUSE_US << doublings);
    *err = (struct err){.arena = err->arena};
    return true;
}

enum news news_try(struct pipeline *pipeline, struct err *err)
{
    struct news_attempts attempts = {0};
    enum news news;
    do {
        enum store_news found = news_begin(pipeline, err);
        news = found == STORE_NEWS_FAILED ? NEWS_FAILED : news_end(pipeline, found, err);
    } while (news_again(pipeline, news, &attempts, err));
    return news == NEWS_OVERTAKEN ? NEWS_FAILED : news;
}

enum news news_take(struct pipeline *pipeline, struct err *err)
{
    enum news news = news_try(pipeline, err);
    if (news == NEWS_FAILED)
        outage_read_failed(&pipeline->outage, err);
    else
        outage_read_worked(&pipeline->outage);
    return news;
}

/* The news may be the pending batch itself; and what is planned ahead is not to be dropped in
 * vain. */
bool news_take_head(struct pipeline *pipeline, const struct store_stamp *head)
{
    if (pipeline->is_pending || pipeline->ahead.edit != NULL)
        return false;
    struct edit *edit = follow_head(pipeline, head);
    if (edit == NULL)
        return false;
    report_foreign_write(pipeline, FOREIGN_FOLLOWED, edit);
    outage_read_worked(&pipeline->outage);
    news_publish(pipeline, edit, head, true);
    return true;
}
