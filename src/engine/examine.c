/* See examine.h.
 *
 * Where sums of ids and generations are known, every change of a service is found, whatever the
 * clocks say, also one that the database has lost: its generation differs, or its id. What the
 * recent rows explain is taken out of the difference first. If the rest is not explained by rows
 * that are gone, all rows are compared. A row that memory cannot have, because it refers to a
 * missing one, leaves a difference for good: once all rows were compared twice with the same
 * result, the same difference makes that happen only once in so many looks.
 *
 * One thread, on a pinned version. */
#include "engine/examine.h"

#include <stdlib.h>

#include "base/check.h"
#include "replica/compare.h"

enum { ALL_AGAIN_LOOKS = 60, PRINT_OF_NONE = 1 };

struct examining {
    struct suspects *suspects;
    const struct version *version;
    struct examined_before *before;
    struct examined_sums recent[ENTITY_CONSUMER + 1]; /* what the recent rows have more */
    bool has_rest;                                    /* of the entity whose ids are passed next: */
    struct examined_sums rest;                        /* what the recent rows do not explain */
    uint64_t print;                    /* of the rows that differ, among all of that entity */
    size_t older[ENTITY_CONSUMER + 1]; /* rows with a lower generation than memory's */
};

void suspects_add(void *cls, enum entity entity, int64_t id, struct slice uuid)
{
    struct suspects *suspects = cls;
    suspects->list.items = arena_grow(suspects->arena, suspects->list.items, suspects->list.count,
                                      &suspects->capacity, sizeof(struct difference));
    suspects->list.items[suspects->list.count++] =
        (struct difference){.entity = entity, .id = id, .uuid = arena_copy(suspects->arena, uuid)};
}

static void suspect(struct examining *examining, enum entity entity, int64_t id, struct slice uuid)
{
    struct suspects *suspects = examining->suspects;
    suspects->is_full |= suspects->list.count >= EXAMINE_SUSPECTS_MOST;
    if (!suspects->is_full)
        suspects_add(suspects, entity, id, uuid);
}

static enum entity entity_of(enum change_kind kind)
{
    switch (kind) {
    case CHANGE_CLASS_INSERT:
        return ENTITY_CLASS;
    case CHANGE_TRAIT_INSERT:
        return ENTITY_TRAIT;
    case CHANGE_AGGREGATE_INSERT:
        return ENTITY_AGGREGATE;
    case CHANGE_PROJECT_INSERT:
        return ENTITY_PROJECT;
    case CHANGE_USER_INSERT:
        return ENTITY_USER;
    case CHANGE_CONSUMER_TYPE_INSERT:
        return ENTITY_CONSUMER_TYPE;
    case CHANGE_CONSUMER_INSERT:
        return ENTITY_CONSUMER;
    default: /* a provider or its aggregate: both begin with its id */
        return ENTITY_PROVIDER;
    }
}

static const struct catalog *catalog_of(const struct version *version, enum entity entity)
{
    return entity == ENTITY_CLASS       ? &version->classes
           : entity == ENTITY_TRAIT     ? &version->traits
           : entity == ENTITY_AGGREGATE ? &version->aggregates
           : entity == ENTITY_PROJECT   ? &version->projects
           : entity == ENTITY_USER      ? &version->users
                                        : &version->types;
}

/* The rows of the entity by id; those of consumers by uuid. */
static const struct ptree *examine_rows_of(const struct version *version, enum entity entity)
{
    return entity == ENTITY_CONSUMER   ? &version->consumers
           : entity == ENTITY_PROVIDER ? &version->provider_by_id
                                       : &catalog_of(version, entity)->by_id;
}

/* ---- rows ---- */

static void note_row(struct examined_sums *sums, int64_t rows, int64_t id, int64_t generation)
{
    sums->rows += rows;
    sums->ids += rows * id;
    sums->generations += rows * generation;
}

/* The aggregate of a provider has neither an id nor a generation of its own. */
static bool is_link(const struct change *change)
{
    return change->kind == CHANGE_PROVIDER_AGGREGATE_INSERT;
}

static int64_t generation_in(const struct change *change, enum entity entity)
{
    return entity == ENTITY_CONSUMER                       ? change->consumer.generation
           : entity == ENTITY_PROVIDER && !is_link(change) ? change->provider.generation
                                                           : 0;
}

struct memory_row {
    bool is_there;
    int64_t id, generation;
};

/* A consumer is known by its uuid. */
static struct memory_row row_of_memory(const struct version *version, const struct change *change,
                                       enum entity entity)
{
    int64_t id = change->row.id;
    if (entity == ENTITY_CONSUMER) {
        const struct consumer *consumer = version_consumer(version, change->consumer.uuid);
        return consumer == NULL ? (struct memory_row){0}
                                : (struct memory_row){true, consumer->id, consumer->generation};
    }
    if (entity == ENTITY_PROVIDER) {
        const struct provider *provider = version_provider_by_id(version, id);
        return provider == NULL ? (struct memory_row){0}
                                : (struct memory_row){true, id, provider->generation};
    }
    return (struct memory_row){catalog_find_id(catalog_of(version, entity), id) != NULL, id, 0};
}

/* Adds what the row has more than memory's. */
static void add_difference(const struct version *version, const struct change *change,
                           enum entity entity, struct examined_sums *sums)
{
    const struct memory_row had = row_of_memory(version, change, entity);
    note_row(sums, had.is_there ? -1 : 0, had.id, had.generation);
    note_row(sums, 1, change->row.id, generation_in(change, entity));
}

static bool is_older(const struct version *version, const struct change *change, enum entity entity)
{
    const struct memory_row had = row_of_memory(version, change, entity);
    return !is_link(change) && had.is_there && had.id == change->row.id &&
           generation_in(change, entity) < had.generation;
}

static void add_to_print(struct examining *examining, const struct change *change,
                         enum entity entity)
{
    const uint64_t numbers[] = {(uint64_t)change->row.id, (uint64_t)generation_in(change, entity)};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        examining->print = (examining->print ^ numbers[i]) * UINT64_C(0x9e3779b97f4a7c15);
}

static void examine_row(void *cls, const struct change *change)
{
    struct examining *examining = cls;
    enum entity entity = entity_of(change->kind);
    if (compare_has(examining->version, change))
        return;
    examining->older[entity] += is_older(examining->version, change, entity);
    add_to_print(examining, change, entity);
    suspect(examining, entity, change->row.id,
            entity == ENTITY_CONSUMER ? change->consumer.uuid : (struct slice){0});
}

static void examine_recent(void *cls, const struct change *change)
{
    struct examining *examining = cls;
    enum entity entity = entity_of(change->kind);
    if (!is_link(change))
        add_difference(examining->version, change, entity, &examining->recent[entity]);
    examine_row(cls, change);
}

/* ---- sums ---- */

static int64_t generation_of(const struct version *version, enum entity entity,
                             const struct ptree_entry *entry)
{
    if (entity == ENTITY_CONSUMER)
        return ((const struct consumer *)(uintptr_t)entry->value)->generation;
    return entity == ENTITY_PROVIDER
               ? version_provider_by_id(version, (int64_t)entry->k1)->generation
               : 0;
}

static int64_t examine_id_of(enum entity entity, const struct ptree_entry *entry)
{
    const struct consumer *consumer = (const struct consumer *)(uintptr_t)entry->value;
    return entity == ENTITY_CONSUMER ? consumer->id : (int64_t)entry->k1;
}

/* Memory's; no row is read. */
static struct examined_sums sums_of(const struct version *version, enum entity entity)
{
    const struct row_sums *sums = entity == ENTITY_CONSUMER   ? &version->consumer_sums
                                  : entity == ENTITY_PROVIDER ? &version->provider_sums
                                                              : &catalog_of(version, entity)->sums;
    return (struct examined_sums){(int64_t)examine_rows_of(version, entity)->count,
                                  (int64_t)sums->ids, (int64_t)sums->generations};
}

/* What nothing explains. */
static struct examined_sums difference_of(const struct examining *examining, enum entity entity,
                                          const struct store_sums *sums)
{
    const struct examined_sums *recent = &examining->recent[entity];
    const struct examined_sums had = sums_of(examining->version, entity);
    return (struct examined_sums){(int64_t)sums->rows - had.rows - recent->rows,
                                  sums->ids - had.ids - recent->ids,
                                  sums->generations - had.generations - recent->generations};
}

static bool is_nothing(const struct examined_sums *sums)
{
    return sums->rows == 0 && sums->ids == 0 && sums->generations == 0;
}

static bool examine_sums(void *cls, enum entity entity, const struct store_sums *sums)
{
    struct examining *examining = cls;
    examining->has_rest = sums->has_sums;
    if (!sums->has_sums)
        return examine_rows_of(examining->version, entity)->count == sums->rows;
    examining->rest = difference_of(examining, entity, sums);
    if (!is_nothing(&examining->rest))
        return false;
    examining->before->rests[entity] = (struct examined_rest){0};
    return true;
}

/* Whether all rows are to be compared, because of what rows that are gone do not explain. If there
 * are too many suspects already, the next look does that. */
static bool wants_all(struct examining *examining, enum entity entity)
{
    struct examined_rest *before = &examining->before->rests[entity];
    const struct examined_sums *rest = &examining->rest;
    if (!examining->has_rest || is_nothing(rest) || examining->suspects->is_full)
        return false;
    bool is_same = memcmp(rest, &before->sums, sizeof(*rest)) == 0;
    if (is_same && before->stays && ++before->looks < ALL_AGAIN_LOOKS)
        return false;
    if (!is_same)
        *before = (struct examined_rest){.sums = *rest};
    examining->print = PRINT_OF_NONE;
    examining->older[entity] = 0; /* the recent ones are passed again */
    return true;
}

static void end_all(struct examining *examining, enum entity entity)
{
    struct examined_rest *before = &examining->before->rests[entity];
    before->stays = before->print == examining->print;
    before->print = examining->print;
    before->looks = 0;
}

static int compare_ids(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a;
    int64_t right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

/* The ids of the database, and how often memory has each. */
struct found_ids {
    const int64_t *ids; /* sorted */
    uint8_t *times;     /* up to 2 */
    size_t count;
};

/* SIZE_MAX: the database does not have it. */
static size_t find_id(const struct found_ids *found, int64_t id)
{
    const int64_t *at =
        found->count == 0 ? NULL : bsearch(&id, found->ids, found->count, sizeof(id), compare_ids);
    return at == NULL ? SIZE_MAX : (size_t)(at - found->ids);
}

/* Other rows than consumers are in memory by their ids, and each has its own. */
static void count_ids(const struct version *version, enum entity entity,
                      const struct found_ids *found)
{
    struct ptree_iter iter;
    const struct ptree_entry *entry;
    memset(found->times, entity != ENTITY_CONSUMER, found->count);
    if (entity != ENTITY_CONSUMER)
        return;
    ptree_seek(&version->consumers, 0, 0, &iter);
    for (; (entry = ptree_iter_get(&iter)) != NULL; ptree_iter_next(&iter)) {
        size_t at = find_id(found, examine_id_of(entity, entry));
        if (at != SIZE_MAX && found->times[at] < 2)
            found->times[at]++;
    }
}

/* Those that are gone are looked for. The database may have given the id of a consumer that is gone
 * to another one, as after a loss: then memory has both, and only one of them is there. */
static bool examine_ids(void *cls, enum entity entity, const int64_t *ids, size_t count)
{
    struct examining *examining = cls;
    const struct found_ids found = {ids, calloc(count + 1, 1), count};
    struct ptree_iter iter;
    const struct ptree_entry *entry;
    check(found.times != NULL);
    count_ids(examining->version, entity, &found);
    ptree_seek(examine_rows_of(examining->version, entity), 0, 0, &iter);
    for (; (entry = ptree_iter_get(&iter)) != NULL; ptree_iter_next(&iter)) {
        const struct consumer *consumer = (const struct consumer *)(uintptr_t)entry->value;
        int64_t id = examine_id_of(entity, entry);
        size_t at = find_id(&found, id);
        if (at != SIZE_MAX && found.times[at] == 1)
            continue;
        if (at == SIZE_MAX)
            note_row(&examining->rest, 1, id, generation_of(examining->version, entity, entry));
        suspect(examining, entity, id,
                entity == ENTITY_CONSUMER ? consumer_uuid(consumer) : (struct slice){0});
    }
    free(found.times);
    return wants_all(examining, entity);
}

static void examine_rows_end(void *cls, enum entity entity)
{
    end_all(cls, entity);
}

static void examine_nothing(void *cls)
{
    struct examining *examining = cls;
    examining->suspects->is_incomplete = true;
}

static bool examine_is_full(void *cls)
{
    const struct examining *examining = cls;
    return examining->suspects->is_full;
}

static int compare_differences(const void *a, const void *b)
{
    const struct difference *left = a, *right = b;
    if (left->entity != right->entity)
        return left->entity < right->entity ? -1 : 1;
    if (left->id != right->id)
        return left->id < right->id ? -1 : 1;
    return slice_compare(&left->uuid, &right->uuid);
}

/* A row that is recent may have been passed with all rows, too; if there were too many suspects,
 * fewer than EXAMINE_SUSPECTS_MOST are left, but some. */
static void fold(struct differences *list)
{
    size_t kept = 0;
    if (list->count > 0)
        qsort(list->items, list->count, sizeof(list->items[0]), compare_differences);
    for (size_t i = 0; i < list->count; i++)
        if (kept == 0 || compare_differences(&list->items[kept - 1], &list->items[i]) != 0)
            list->items[kept++] = list->items[i];
    list->count = kept;
}

bool examine_rows(struct store_observer *rows, const struct version *version,
                  struct examined_before *before, struct suspects *suspects, struct err *err)
{
    struct examined_before now = *before;
    struct examining examining = {.suspects = suspects, .version = version, .before = &now};
    const struct store_examiner examiner = {.recent = examine_recent,
                                            .has_sums = examine_sums,
                                            .ids = examine_ids,
                                            .row = examine_row,
                                            .rows_end = examine_rows_end,
                                            .unknown = examine_nothing,
                                            .is_full = examine_is_full,
                                            .cls = &examining};
    bool ok = store_observer_examine(rows, &examiner, err);
    if (ok)
        *before = now; /* otherwise what differed is not read again, and will differ again */
    fold(&suspects->list);
    for (int entity = 0; entity <= ENTITY_CONSUMER; entity++)
        suspects->older += examining.older[entity];
    return ok;
}
