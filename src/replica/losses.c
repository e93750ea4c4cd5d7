/* See losses.h. What a merge leaves alone, both versions share: equal pointers are equal rows, so
 * that only the rows that differ are compared. */
#include "replica/losses.h"

#include "model/node.h"
#include "model/node_allocation.h"
#include "replica/rows.h"
#include "replica/valet_keys.h"

/* One direction: what `before` has is looked up in `after`. */
struct search {
    const struct version *before;
    const struct version *after;
    loss_sink *sink;
    void *cls;
    bool is_reverse; /* only what is missing counts: it has appeared */
};

static void report(const struct search *search, enum entity entity, enum loss_state state,
                   struct loss_side had, struct loss_side has, uint32_t allocations)
{
    struct loss loss = {entity, state, had, has, allocations};
    if (search->is_reverse)
        loss = (struct loss){.entity = entity, .state = LOSS_APPEARED, .has = had};
    search->sink(search->cls, &loss);
}

static bool same_row_name(const struct catalog *a, uint32_t one, const struct catalog *b,
                          uint32_t other)
{
    if (one == NUMBER_NONE || other == NUMBER_NONE)
        return one == other;
    return slice_equal(catalog_name(catalog_row_at(a, one)),
                       catalog_name(catalog_row_at(b, other)));
}

const char *losses_kind_name(enum entity entity)
{
    static const char *const names[ENTITY_COUNT] = {
        [ENTITY_CLASS] = "resource_class",
        [ENTITY_TRAIT] = "trait",
        [ENTITY_PROVIDER] = "resource_provider",
        [ENTITY_CONSUMER] = "consumer",
        [ENTITY_NODE] = "node",
        [ENTITY_NODE_ALLOCATION] = "node_allocation",
        [ENTITY_VALET + VALET_GROUPS] = "group",
        [ENTITY_VALET + VALET_MEMBERS] = "group_member",
        [ENTITY_VALET + VALET_CLAIMS] = "group_claim",
        [ENTITY_VALET + VALET_PLANS] = "plan",
        [ENTITY_VALET + VALET_PLACEMENTS] = "placement",
    };
    return names[entity];
}

const char *losses_state_name(enum loss_state state)
{
    static const char *const names[LOSS_STATE_COUNT] = {
        [LOSS_GONE] = "gone",
        [LOSS_OLDER] = "older",
        [LOSS_CHANGED] = "changed",
        [LOSS_APPEARED] = "appeared",
    };
    return names[state];
}

/* ---- classes and traits ---- */

static void find_names(const struct search *search, enum entity entity, const struct catalog *had,
                       const struct catalog *has)
{
    for (uint32_t number = 0; number < had->limit; number++) {
        const struct catalog_row *row = catalog_at(had, number)->row;
        if (row != NULL && catalog_find(has, catalog_name(row)) == NULL)
            report(search, entity, LOSS_GONE, (struct loss_side){.row = row}, (struct loss_side){0},
                   0);
    }
}

/* ---- providers ---- */

static bool same_parent(const struct search *search, const struct provider *had,
                        const struct provider *has)
{
    if (had->parent.v == NUMBER_NONE || has->parent.v == NUMBER_NONE)
        return had->parent.v == has->parent.v;
    return slice_equal(provider_uuid(version_provider(search->before, had->parent)),
                       provider_uuid(version_provider(search->after, has->parent)));
}

static bool same_inventory(const struct search *search, const struct provider_inventory *had,
                           const struct provider *provider)
{
    struct slice name = catalog_name(catalog_row_at(&search->before->classes, had->class_no.v));
    const struct catalog_row *class = catalog_find(&search->after->classes, name);
    if (class == NULL)
        return false;
    const struct provider_inventory *has =
        provider_inventory_of(provider, (struct class_no){class->number});
    const struct inventory_figures *a = &had->figures;
    if (has == NULL)
        return false;
    const struct inventory_figures *b = &has->figures;
    return a->total == b->total && a->reserved == b->reserved && a->min_unit == b->min_unit &&
           a->max_unit == b->max_unit && a->step_size == b->step_size &&
           !(a->allocation_ratio < b->allocation_ratio) &&
           !(a->allocation_ratio > b->allocation_ratio);
}

static bool same_inventories(const struct search *search, const struct provider *had,
                             const struct provider *has)
{
    bool same = had->inventory_count == has->inventory_count;
    for (uint32_t i = 0; same && i < had->inventory_count; i++)
        same = same_inventory(search, &had->inventory[i], has);
    return same;
}

/* Equal sets may have different orders, if their members were created again. */
static bool same_set(const struct catalog *a, const struct name_set *had, const struct catalog *b,
                     const struct name_set *has)
{
    bool same = had->count == has->count;
    if (same && slice_equal(name_set_json(had), name_set_json(has)))
        return true;
    for (uint32_t i = 0; same && i < had->count; i++) {
        const struct catalog_row *row =
            catalog_find(b, catalog_name(catalog_row_at(a, had->numbers[i])));
        same = row != NULL && name_set_has(has, row->number);
    }
    return same;
}

static bool same_contents(const struct search *search, const struct provider *had,
                          const struct provider *has)
{
    const struct version *before = search->before;
    const struct version *after = search->after;
    return slice_equal(provider_name(had), provider_name(has)) && same_parent(search, had, has) &&
           same_inventories(search, had, has) &&
           same_set(&before->traits, had->traits, &after->traits, has->traits) &&
           same_set(&before->aggregates, had->aggregates, &after->aggregates, has->aggregates);
}

static void find_provider(const struct search *search, const struct provider *had)
{
    const struct provider *has = version_provider_by_uuid(search->after, provider_uuid(had));
    enum loss_state state = LOSS_CHANGED;
    if (has == had || (has != NULL && search->is_reverse))
        return;
    if (has == NULL)
        state = LOSS_GONE;
    else if (has->generation < had->generation)
        state = LOSS_OLDER;
    else if (same_contents(search, had, has))
        return;
    report(search, ENTITY_PROVIDER, state, (struct loss_side){.provider = had},
           (struct loss_side){.provider = has}, 0);
}

static void find_providers(const struct search *search)
{
    struct ptree_iter iter;
    const struct ptree_entry *entry;
    ptree_seek(&search->before->provider_by_id, 0, 0, &iter);
    for (; (entry = ptree_iter_get(&iter)) != NULL; ptree_iter_next(&iter))
        find_provider(
            search, version_provider(search->before, (struct provider_no){(uint32_t)entry->value}));
}

/* ---- consumers ---- */

static bool has_allocation(const struct search *search, const struct consumer_allocation *had,
                           const struct consumer *consumer)
{
    struct slice uuid = provider_uuid(version_provider(search->before, had->provider));
    for (uint32_t i = 0; i < consumer->allocation_count; i++) {
        const struct consumer_allocation *has = &consumer->allocation[i];
        if (has->used == had->used &&
            same_row_name(&search->before->classes, had->class_no.v, &search->after->classes,
                          has->class_no.v) &&
            slice_equal(provider_uuid(version_provider(search->after, has->provider)), uuid))
            return true;
    }
    return false;
}

static uint32_t count_gone(const struct search *search, const struct consumer *had,
                           const struct consumer *has)
{
    uint32_t gone = 0;
    for (uint32_t i = 0; i < had->allocation_count; i++)
        gone += has == NULL || !has_allocation(search, &had->allocation[i], has);
    return gone;
}

static bool same_owner(const struct search *search, const struct consumer *had,
                       const struct consumer *has)
{
    const struct version *before = search->before;
    const struct version *after = search->after;
    return same_row_name(&before->projects, had->project, &after->projects, has->project) &&
           same_row_name(&before->users, had->user, &after->users, has->user) &&
           same_row_name(&before->types, had->type, &after->types, has->type);
}

static void find_consumer(const struct search *search, const struct consumer *had)
{
    const struct consumer *has = version_consumer(search->after, consumer_uuid(had));
    enum loss_state state = LOSS_CHANGED;
    if (has == had || (has != NULL && search->is_reverse))
        return;
    uint32_t gone = count_gone(search, had, has);
    if (has == NULL)
        state = LOSS_GONE;
    else if (has->generation < had->generation)
        state = LOSS_OLDER;
    else if (gone == 0 && had->allocation_count == has->allocation_count &&
             same_owner(search, had, has))
        return;
    report(search, ENTITY_CONSUMER, state, (struct loss_side){.consumer = had},
           (struct loss_side){.consumer = has}, gone);
}

static void find_consumers(const struct search *search)
{
    struct ptree_iter iter;
    const struct ptree_entry *entry;
    ptree_seek(&search->before->consumers, 0, 0, &iter);
    for (; (entry = ptree_iter_get(&iter)) != NULL; ptree_iter_next(&iter))
        find_consumer(search, (const struct consumer *)(uintptr_t)entry->value);
}

/* ---- records ---- */

const struct record_shape *losses_shape(enum entity entity)
{
    return entity == ENTITY_NODE              ? &NODE_SHAPE
           : entity == ENTITY_NODE_ALLOCATION ? &NODE_ALLOCATION_SHAPE
                                              : &VALET_SHAPES[entity - ENTITY_VALET];
}

bool losses_field_differs(const struct record_shape *shape, const struct record *a,
                          const struct record *b, unsigned field)
{
    enum record_kind kind = (enum record_kind)shape->fields[field].kind;
    bool is_text = kind == RECORD_TEXT || kind == RECORD_JSON || kind == RECORD_WORDS;
    if (!is_text || record_is_null(a, field) || record_is_null(b, field))
        return a->value[field] != b->value[field];
    return !slice_equal(record_text(a, field), record_text(b, field));
}

static const struct ptree *rows_of(const struct version *version, enum entity entity)
{
    return entity == ENTITY_NODE              ? &version->nodes
           : entity == ENTITY_NODE_ALLOCATION ? &version->node_allocations
                                              : &version->valet[entity - ENTITY_VALET].rows;
}

/* The tree in which rows are found by their first field, a uuid; NULL: they have none. */
static const struct ptree *uuids_of(const struct version *version, enum entity entity)
{
    if (entity == ENTITY_NODE)
        return &version->node_by_uuid;
    if (entity == ENTITY_NODE_ALLOCATION)
        return &version->node_allocation_by_uuid;
    _Static_assert(VALET_GROUP_BY_UUID == 0 && VALET_PLAN_BY_UUID == 0 &&
                       VALET_PLACEMENT_BY_UUID == 0,
                   "rows are found by uuid in the first tree");
    enum valet_table table = (enum valet_table)(entity - ENTITY_VALET);
    return table == VALET_MEMBERS || table == VALET_CLAIMS ? NULL : &version->valet[table].by[0];
}

/* The row of the same entity. One without a uuid is known by its id and contents. */
static const struct record *counterpart(const struct version *version, enum entity entity,
                                        const struct record *record)
{
    const struct ptree *uuids = uuids_of(version, entity);
    if (uuids != NULL)
        return rows_find_text(rows_of(version, entity), uuids, 0, record_text(record, 0));
    const struct record *same = rows_at(rows_of(version, entity), record->id);
    return same != NULL && record_equal(same, record) ? same : NULL;
}

/* Whether they are equal but for their ids. */
static bool same_fields(enum entity entity, const struct record *a, const struct record *b)
{
    const struct record_shape *shape = losses_shape(entity);
    for (unsigned i = 0; i < shape->stored; i++)
        if (losses_field_differs(shape, a, b, i))
            return false;
    return true;
}

static void find_records(const struct search *search, enum entity entity)
{
    const struct ptree *rows = rows_of(search->before, entity);
    for (int64_t id = 0; (id = rows_next_id(rows, id)) != 0;) {
        const struct record *had = rows_at(rows, id);
        const struct record *has = counterpart(search->after, entity, had);
        if (has != NULL && (search->is_reverse || same_fields(entity, had, has)))
            continue;
        report(search, entity, has == NULL ? LOSS_GONE : LOSS_CHANGED,
               (struct loss_side){.record = had}, (struct loss_side){.record = has}, 0);
    }
}

/* ---- all ---- */

static void find_all(const struct search *search)
{
    find_names(search, ENTITY_CLASS, &search->before->classes, &search->after->classes);
    find_names(search, ENTITY_TRAIT, &search->before->traits, &search->after->traits);
    find_providers(search);
    find_consumers(search);
    for (int entity = ENTITY_NODE; entity < ENTITY_COUNT; entity++)
        find_records(search, (enum entity)entity);
}

void losses_find(const struct version *before, const struct version *after, loss_sink *sink,
                 void *cls)
{
    find_all(&(struct search){before, after, sink, cls, false});
    find_all(&(struct search){after, before, sink, cls, true});
}
