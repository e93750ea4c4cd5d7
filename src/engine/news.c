/* Brings other processes' writes into memory: follows their log, merges by comparing all rows with
 * the newest version, or, if too much has changed, loads everything again. Writer thread only,
 * inside its transaction. */
#include "engine/pipeline_internal.h"
#include "replica/apply.h"
#include "replica/compare.h"

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

struct edit *news_take(struct pipeline *pipeline, enum store_begun begun, struct err *err)
{
    if (begun == STORE_BEGIN_FAILED)
        return NULL;
    struct edit *edit;
    enum store_result result = STORE_OK;
    if (begun == STORE_BEGIN_RELOAD) {
        result = take_in(pipeline, &edit, err);
    } else {
        edit = replica_edit(pipeline->replica);
        if (begun == STORE_BEGIN_FOLLOW) {
            pipeline->follows++;
            result = store_follow(pipeline->store, sink_apply, edit, err);
        }
    }
    if (result == STORE_OK) {
        apply_flush(edit);
        if (begun != STORE_BEGIN_UNCHANGED)
            report_foreign_write(
                pipeline, begun == STORE_BEGIN_RELOAD ? FOREIGN_LOADED : FOREIGN_FOLLOWED, edit);
        return edit;
    }
    struct store_stamp ignored;
    store_rollback(pipeline->store, &ignored);
    replica_abandon(pipeline->replica, edit);
    return NULL;
}
