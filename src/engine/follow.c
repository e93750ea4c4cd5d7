/* Follows the log, also beside programs that write none: their rows may not fit into memory, which
 * does not know all that they have written. What is missing is then read as well, in the same state
 * of the database. The writer only. */
#include <stdlib.h>

#include "engine/pipeline_internal.h"
#include "replica/apply.h"
#include "replica/missing.h"
#include "replica/provider_consumers.h"

/* Rows that refer to each other are read one level at a time, as with a provider and its parents.
 */
enum { ROUNDS_MOST = 16 };

/* With a copy of its uuid, which may be valid only while it is noted. */
struct lacking {
    enum entity entity;
    int64_t id;
    size_t uuid_len;
    char uuid[UUID_TEXT_MAX];
};

struct following {
    struct edit *edit;
    const struct version *before;
    struct lacking *missing;
    size_t count, capacity;
    bool fits; /* so far, all changes could be applied */
    bool is_foreign;
};

/* ---- what memory has ---- */

static const struct catalog *catalog_of(const struct version *version, enum entity entity)
{
    const struct catalog *const catalogs[ENTITY_PROVIDER] = {
        [ENTITY_CLASS] = &version->classes,        [ENTITY_TRAIT] = &version->traits,
        [ENTITY_AGGREGATE] = &version->aggregates, [ENTITY_PROJECT] = &version->projects,
        [ENTITY_USER] = &version->users,           [ENTITY_CONSUMER_TYPE] = &version->types,
    };
    return catalogs[entity];
}

static struct known_entity find_entity(void *cls, enum entity entity, int64_t id)
{
    const struct version *version = ((const struct following *)cls)->before;
    if (entity < ENTITY_PROVIDER)
        return (struct known_entity){catalog_find_id(catalog_of(version, entity), id) != NULL,
                                     .generation = 0};
    const struct provider *provider =
        entity == ENTITY_PROVIDER ? version_provider_by_id(version, id) : NULL;
    if (provider == NULL)
        return (struct known_entity){.is_known = false};
    return (struct known_entity){true, provider->generation, version_slot(version, provider->no).v};
}

static void pass_holders(void *cls, int64_t provider_id, consumer_take *take, void *take_cls)
{
    struct following *following = cls;
    const struct version *version = following->before;
    const struct provider *provider = version_provider_by_id(version, provider_id);
    struct provider_consumers walk;
    const struct consumer *consumer;
    following->is_foreign = true; /* otherwise the log says everything */
    if (provider == NULL)
        return;
    provider_consumers_of(&walk, version, provider->no);
    while ((consumer = provider_consumers_next(&walk)) != NULL)
        take(take_cls, consumer->id, consumer_uuid(consumer));
}

/* ---- what it lacks ---- */

static void note_missing(void *cls, enum entity entity, int64_t id, struct slice uuid)
{
    struct following *following = cls;
    if (following->count == following->capacity) {
        following->capacity = following->capacity == 0 ? 16 : following->capacity * 2;
        following->missing =
            reallocarray(following->missing, following->capacity, sizeof(*following->missing));
        check(following->missing != NULL);
    }
    struct lacking *lacking = &following->missing[following->count++];
    check(uuid.len <= sizeof(lacking->uuid));
    *lacking = (struct lacking){.entity = entity, .id = id, .uuid_len = uuid.len};
    if (uuid.len > 0)
        memcpy(lacking->uuid, uuid.data, uuid.len);
}

static void sink_checked(void *cls, const struct change *change)
{
    struct following *following = cls;
    following->fits &= missing_check(following->edit, change, note_missing, following);
    if (following->fits)
        apply_change(following->edit, change);
}

/* Whether something new is to be read. */
static bool suspect_missing(struct pipeline *pipeline, struct following *following)
{
    bool is_new = false;
    for (size_t i = 0; i < following->count; i++) {
        const struct lacking *lacking = &following->missing[i];
        is_new |= store_suspect(pipeline->store, lacking->entity, lacking->id,
                                (struct slice){lacking->uuid, lacking->uuid_len});
    }
    following->count = 0;
    following->is_foreign |= is_new;
    return is_new;
}

enum store_result follow_log(struct pipeline *pipeline, struct edit **edit,
                             struct followed *followed, struct err *err)
{
    struct following following = {.before = replica_newest(pipeline->replica)};
    const struct memory_view memory = {find_entity, pass_holders, &following};
    enum store_result result = STORE_OK;
    bool again = true;
    pipeline->follows++;
    for (int round = 0; again && round < ROUNDS_MOST; round++) {
        if (round > 0)
            replica_abandon(pipeline->replica, *edit);
        following.edit = *edit = replica_edit(pipeline->replica);
        following.fits = true;
        result = store_follow(pipeline->store, &memory, sink_checked, &following, err);
        following.is_foreign |= store_follows_foreign(pipeline->store);
        apply_flush(following.edit);
        again = result == STORE_OK && suspect_missing(pipeline, &following);
    }
    *followed = (struct followed){following.fits && !again, following.is_foreign};
    free(following.missing);
    return result;
}

struct edit *follow_head(struct pipeline *pipeline, const struct store_stamp *head)
{
    struct following following = {.before = replica_newest(pipeline->replica), .fits = true};
    following.edit = replica_edit(pipeline->replica);
    bool is_known =
        store_follow_head(pipeline->store, head, sink_checked, &following) && following.fits;
    apply_flush(following.edit);
    free(following.missing);
    if (is_known && store_take_head(pipeline->store)) {
        pipeline->follows++;
        return following.edit;
    }
    replica_abandon(pipeline->replica, following.edit);
    return NULL;
}
