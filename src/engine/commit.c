/* See commit.h. */
#include "engine/commit.h"

#include "base/clock.h"
#include "engine/pipeline_internal.h"

/* One look at a pending batch, and when a commit takes unusually long. */
enum { AWAIT_US = 5000, AWAIT_AHEAD_US = 300, AWAIT_LONG_US = 50000 };

void commit_begin(struct pipeline *pipeline, struct commit *commit, struct err *err)
{
    const struct store_batch batch = planned_batch(&commit->planned);
    currency_commit_begins(pipeline->currency);
    commit->is_foreign = false;
    commit->began_us = clock_monotonic_us();
    commit->result =
        store_commit(pipeline->store, &batch, &commit->stamp, &commit->is_foreign, err);
}

void commit_await(struct pipeline *pipeline, struct commit *commit, bool ahead, struct err *err)
{
    const uint64_t long_us = commit->began_us + AWAIT_LONG_US;
    if (commit->result != STORE_PENDING)
        return;
    pipeline->is_pending = true;
    pipeline->ahead.is_off = false;
    while (commit->result == STORE_PENDING) {
        waiting_meanwhile(pipeline);
        if (ahead)
            ahead_plan(pipeline, commit->edit);
        if (pipeline->has_given_up)
            store_give_up(pipeline->store);
        uint64_t now_us = clock_monotonic_us();
        if (now_us >= long_us)
            currency_commit_ended(pipeline->currency);
        commit->result = store_await(pipeline->store, now_us + (ahead ? AWAIT_AHEAD_US : AWAIT_US),
                                     &commit->stamp, &commit->is_foreign, err);
    }
    pipeline->is_pending = false;
}

static void note(struct pipeline *pipeline, uint64_t began_us)
{
    outage_write_worked(&pipeline->outage);
    pipeline->last_commit_us = clock_monotonic_us() - began_us;
    pipeline->commits++;
    histogram_add(&pipeline->commit_us, &PIPELINE_COMMIT_SHAPE_US, pipeline->last_commit_us);
}

enum store_result commit_end(struct pipeline *pipeline, struct commit *commit)
{
    const bool is_published = commit->result == STORE_OK &&
                              (commit->planned.changes.count > 0 || commit->planned.must_commit);
    if (!is_published || commit->is_foreign)
        ahead_drop(pipeline);
    if (!is_published)
        replica_abandon(pipeline->replica, commit->edit);
    if (commit->result == STORE_OK)
        rules_made_up(pipeline->rules);
    if (is_published) {
        note(pipeline, commit->began_us);
        news_publish(pipeline, commit->edit, &commit->stamp, !commit->is_foreign);
        if (!commit->is_foreign)
            currency_note_known(pipeline->currency, commit->began_us);
    }
    currency_commit_ended(pipeline->currency);
    return commit->result;
}
