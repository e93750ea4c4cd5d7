/* The list of changes: it grows, keeps its order, and returns zeroed changes; copies own what they
 * refer to. */
#include "base/arena.h"
#include "model/change.h"
#include "model/node.h"
#include "model/node_allocation.h"
#include "unit.h"

static void grows_in_order(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    memset(arena_alloc(arena, 4096), 0xff, 4096);
    arena_reset(arena);
    struct change_list list = {.arena = arena};
    for (int64_t i = 0; i < 1000; i++) {
        struct change *change = change_append(&list, CHANGE_ALLOCATION_INSERT);
        struct change zero;
        memset(&zero, 0, sizeof(zero));
        zero.kind = CHANGE_ALLOCATION_INSERT;
        assert_memory_equal(change, &zero, sizeof(zero));
        change->allocation.id = i;
        memset(arena_alloc(arena, 100), 0xff, 100);
    }
    assert_int_equal(list.count, 1000);
    assert_true(list.capacity >= 1000);
    for (int64_t i = 0; i < 1000; i++) {
        assert_int_equal(list.items[i].kind, CHANGE_ALLOCATION_INSERT);
        assert_int_equal(list.items[i].allocation.id, i);
    }
    list.count = 0; /* reused, as the pipeline does after each request */
    struct change *first = change_append(&list, CHANGE_CLASS_DELETE);
    assert_ptr_equal(first, list.items);
    assert_int_equal(first->kind, CHANGE_CLASS_DELETE);
    assert_int_equal(first->catalog.id, 0);
    arena_destroy(arena);
}

/* What a kind of change contains. */
enum contents {
    CATALOG,
    RENAMED,
    PROVIDER,
    GENERATION,
    INVENTORY,
    LINK,
    CONSUMER,
    ALLOCATION,
    ROW
};

/* Of all kinds that a plan can contain. */
static const enum contents CONTENTS[CHANGE_LOAD_PROVIDERS_END] = {
    [CHANGE_CLASS_INSERT] = CATALOG,
    [CHANGE_CLASS_RENAME] = RENAMED,
    [CHANGE_CLASS_DELETE] = CATALOG,
    [CHANGE_TRAIT_INSERT] = CATALOG,
    [CHANGE_TRAIT_DELETE] = CATALOG,
    [CHANGE_AGGREGATE_INSERT] = CATALOG,
    [CHANGE_PROJECT_INSERT] = CATALOG,
    [CHANGE_USER_INSERT] = CATALOG,
    [CHANGE_CONSUMER_TYPE_INSERT] = CATALOG,
    [CHANGE_PROVIDER_INSERT] = PROVIDER,
    [CHANGE_PROVIDER_UPDATE] = PROVIDER,
    [CHANGE_PROVIDER_GENERATION] = GENERATION,
    [CHANGE_PROVIDER_DELETE] = PROVIDER,
    [CHANGE_INVENTORY_INSERT] = INVENTORY,
    [CHANGE_INVENTORY_UPDATE] = INVENTORY,
    [CHANGE_INVENTORY_DELETE] = INVENTORY,
    [CHANGE_PROVIDER_TRAIT_INSERT] = LINK,
    [CHANGE_PROVIDER_TRAIT_DELETE] = LINK,
    [CHANGE_PROVIDER_AGGREGATE_INSERT] = LINK,
    [CHANGE_PROVIDER_AGGREGATE_DELETE] = LINK,
    [CHANGE_CONSUMER_INSERT] = CONSUMER,
    [CHANGE_CONSUMER_UPDATE] = CONSUMER,
    [CHANGE_CONSUMER_DELETE] = CONSUMER,
    [CHANGE_ALLOCATION_INSERT] = ALLOCATION,
    [CHANGE_ALLOCATIONS_OF_DELETE] = ALLOCATION,
    [CHANGE_NODE_PUT] = ROW,
    [CHANGE_NODE_DELETE] = ROW,
    [CHANGE_NODE_ALLOCATION_PUT] = ROW,
    [CHANGE_NODE_ALLOCATION_DELETE] = ROW,
    [CHANGE_VALET_GROUP_PUT] = ROW,
    [CHANGE_VALET_GROUP_DELETE] = ROW,
    [CHANGE_VALET_MEMBER_PUT] = ROW,
    [CHANGE_VALET_MEMBER_DELETE] = ROW,
    [CHANGE_VALET_CLAIM_PUT] = ROW,
    [CHANGE_VALET_CLAIM_DELETE] = ROW,
    [CHANGE_VALET_PLAN_PUT] = ROW,
    [CHANGE_VALET_PLAN_DELETE] = ROW,
    [CHANGE_VALET_PLACEMENT_PUT] = ROW,
    [CHANGE_VALET_PLACEMENT_DELETE] = ROW,
};

/* The shape of the record that a put contains; NULL: it is a delete. */
static const struct record_shape *shape_of(enum change_kind kind)
{
    if (kind == CHANGE_NODE_PUT)
        return &NODE_SHAPE;
    if (kind == CHANGE_NODE_ALLOCATION_PUT)
        return &NODE_ALLOCATION_SHAPE;
    bool is_put = kind >= CHANGE_VALET_GROUP_PUT && change_is_valet_put(kind);
    return is_put ? &VALET_SHAPES[change_valet_table(kind)] : NULL;
}

static const struct record *record_for(const struct record_shape *shape, struct arena *arena)
{
    struct record_value values[RECORD_FIELDS_MAX];
    record_init(shape, values);
    for (unsigned i = 0; i < shape->stored; i++)
        if (shape->fields[i].kind == RECORD_TEXT)
            values[i].text = arena_printf(arena, "text %u", i);
        else
            values[i].number = 1;
    return record_pack(shape, 7, values, arena);
}

/* With a different number in each field. Texts and records are in the arena. */
static struct change sample(enum change_kind kind, struct arena *arena)
{
    struct change change;
    memset(&change, 0, sizeof(change));
    change.kind = kind;
    change.is_root_only = change.is_generation_only = true;
    change.created_at_us = 11;
    change.updated_at_us = 12;
    struct slice first = arena_copy(arena, SLICE_LIT("the first"));
    struct slice second = arena_copy(arena, SLICE_LIT("the second text"));
    const struct record_shape *shape = shape_of(kind);
    switch (CONTENTS[kind]) {
    case CATALOG:
        change.catalog = (struct change_catalog){1, first};
        break;
    case RENAMED:
        change.renamed = (struct change_renamed){{1, first}, second};
        break;
    case PROVIDER:
        change.provider = (struct change_provider){1, 2, 3, 4, first, second};
        break;
    case GENERATION:
        change.generation = (struct change_generation){1, 2, 3};
        break;
    case INVENTORY:
        change.inventory = (struct change_inventory){1, 2, 3, 4, 5, 6, 7, 8.5};
        break;
    case LINK:
        change.link = (struct change_link){1, 2};
        break;
    case CONSUMER:
        change.consumer = (struct change_consumer){1, 2, 3, 4, 5, 6, first};
        break;
    case ALLOCATION:
        change.allocation = (struct change_allocation){1, 2, 3, 4, 5, first};
        break;
    case ROW:
        change.row = (struct change_row){7, shape == NULL ? NULL : record_for(shape, arena)};
        break;
    }
    return change;
}

enum { TEXTS_MOST = 2 };

static size_t texts_of(struct change *change, struct slice *texts[static TEXTS_MOST])
{
    texts[1] = &change->provider.name;
    switch (CONTENTS[change->kind]) {
    case CATALOG:
        texts[0] = &change->catalog.name;
        return 1;
    case RENAMED:
        texts[0] = &change->renamed.row.name;
        texts[1] = &change->renamed.before;
        return 2;
    case PROVIDER:
        texts[0] = &change->provider.uuid;
        return 2;
    case CONSUMER:
        texts[0] = &change->consumer.uuid;
        return 1;
    case ALLOCATION:
        texts[0] = &change->allocation.consumer_uuid;
        return 1;
    default:
        return 0;
    }
}

/* The same contents, at different addresses. */
static void expect_copy(struct change copy, struct change original)
{
    struct slice *of_copy[TEXTS_MOST];
    struct slice *of_original[TEXTS_MOST];
    size_t count = texts_of(&original, of_original);
    assert_int_equal(copy.kind, original.kind);
    assert_int_equal(texts_of(&copy, of_copy), count);
    for (size_t i = 0; i < count; i++) {
        assert_true(slice_equal(*of_copy[i], *of_original[i]));
        assert_int_equal(of_copy[i]->data == NULL, of_original[i]->data == NULL);
        assert_true(of_copy[i]->data == NULL || of_copy[i]->data != of_original[i]->data);
        *of_copy[i] = *of_original[i];
    }
    if (CONTENTS[copy.kind] == ROW && original.row.record != NULL) {
        assert_non_null(copy.row.record);
        assert_true(record_equal(copy.row.record, original.row.record));
        assert_ptr_not_equal(copy.row.record, original.row.record);
        copy.row.record = original.row.record;
    }
    assert_memory_equal(&copy, &original, sizeof(copy));
}

/* In every kind of change: what it refers to may change or go afterwards. */
static void copies_own_their_contents(void **state)
{
    (void)state;
    struct arena *kept = arena_create();
    struct change_list list = {.arena = kept};
    for (int kind = 0; kind < CHANGE_LOAD_PROVIDERS_END; kind++) {
        struct arena *planned = arena_create();
        struct change change = sample((enum change_kind)kind, planned);
        change_append_copy(&list, &change);
        expect_copy(list.items[kind], change);
        arena_destroy(planned);
    }
    assert_int_equal(list.count, CHANGE_LOAD_PROVIDERS_END);
    struct arena *again = arena_create();
    for (int kind = 0; kind < CHANGE_LOAD_PROVIDERS_END; kind++)
        expect_copy(list.items[kind], sample((enum change_kind)kind, again));
    arena_destroy(again);
    arena_destroy(kept);
}

/* A delete needs only ids: a text that is not there is not there in the copy. */
static void missing_texts_stay_missing(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct change_list list = {.arena = arena};
    for (int kind = 0; kind < CHANGE_LOAD_PROVIDERS_END; kind++) {
        struct change change = sample((enum change_kind)kind, arena);
        struct slice *texts[TEXTS_MOST];
        for (size_t i = texts_of(&change, texts); i > 0; i--)
            *texts[i - 1] = (struct slice){NULL, 0};
        if (CONTENTS[kind] == ROW)
            change.row.record = NULL;
        change_append_copy(&list, &change);
        expect_copy(list.items[kind], change);
    }
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows_in_order),
        cmocka_unit_test(copies_own_their_contents),
        cmocka_unit_test(missing_texts_stay_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
