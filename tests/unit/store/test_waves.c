/* Waves of statements: which changes share one, folding, the order of rows; and random batches,
 * which are executed on tables one by one and in waves. */
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "check_waves.h"
#include "model/node.h"
#include "unit.h"

/* ---- rules ---- */

#define CATALOG(what, row, text)                                                                   \
    {                                                                                              \
        .kind = CHANGE_##what, .catalog = {.id = (row), .name = SLICE_LIT(text) }                  \
    }
#define PROVIDER(what, row, parent, root, text)                                                    \
    {                                                                                              \
        .kind = CHANGE_PROVIDER_##what, .provider = {                                              \
            .id = (row),                                                                           \
            .parent_id = (parent),                                                                 \
            .root_id = (root),                                                                     \
            .name = SLICE_LIT(text),                                                               \
            .uuid = SLICE_LIT(text)                                                                \
        }                                                                                          \
    }
#define ROOT(row, root)                                                                            \
    {                                                                                              \
        .kind = CHANGE_PROVIDER_UPDATE, .is_root_only = true, .provider = {                        \
            .id = (row),                                                                           \
            .root_id = (root)                                                                      \
        }                                                                                          \
    }
#define GENERATION(row, from, to)                                                                  \
    {                                                                                              \
        .kind = CHANGE_PROVIDER_GENERATION, .generation = {(row), (from), (to) }                   \
    }
#define INVENTORY(what, row, of)                                                                   \
    {                                                                                              \
        .kind = CHANGE_INVENTORY_##what, .inventory = {.provider_id = (row), .class_id = (of) }    \
    }
#define LINK(what, row, other)                                                                     \
    {                                                                                              \
        .kind = CHANGE_PROVIDER_##what, .link = {(row), (other) }                                  \
    }
#define CONSUMER(what, row, text)                                                                  \
    {                                                                                              \
        .kind = CHANGE_CONSUMER_##what, .consumer = {                                              \
            .id = (row),                                                                           \
            .project_id = 1,                                                                       \
            .user_id = 1,                                                                          \
            .type_id = 1,                                                                          \
            .uuid = SLICE_LIT(text)                                                                \
        }                                                                                          \
    }
#define STEP(row, text)                                                                            \
    {                                                                                              \
        .kind = CHANGE_CONSUMER_UPDATE, .is_generation_only = true, .consumer = {                  \
            .id = (row),                                                                           \
            .uuid = SLICE_LIT(text)                                                                \
        }                                                                                          \
    }
#define HOLD(row, text, on, of)                                                                    \
    {                                                                                              \
        .kind = CHANGE_ALLOCATION_INSERT, .allocation = {                                          \
            .id = (row),                                                                           \
            .provider_id = (on),                                                                   \
            .class_id = (of),                                                                      \
            .used = 1,                                                                             \
            .consumer_uuid = SLICE_LIT(text)                                                       \
        }                                                                                          \
    }
#define RELEASE(text)                                                                              \
    {                                                                                              \
        .kind = CHANGE_ALLOCATIONS_OF_DELETE, .allocation = {.consumer_uuid = SLICE_LIT(text) }    \
    }
#define RECORD(what, row_id)                                                                       \
    {                                                                                              \
        .kind = CHANGE_##what, .row = {.id = (row_id) }                                            \
    }

#define NEW_RECORD(what, row_id)                                                                   \
    {                                                                                              \
        .kind = CHANGE_##what, .is_new = true, .row = {.id = (row_id) }                            \
    }
#define SAME_NAMES(what, row_id)                                                                   \
    {                                                                                              \
        .kind = CHANGE_##what, .keeps_names = true, .row = {.id = (row_id) }                       \
    }

static const struct rule {
    const char *what;
    unsigned waves;
    unsigned statements;
    struct change change[8];
} RULES[] = {
    {"a new claim", 1, 3, {CONSUMER(INSERT, 9, "u"), HOLD(1, "u", 1, 1), GENERATION(1, 4, 5)}},
    {"replacements of two consumers",
     1,
     4,
     {RELEASE("u"), CONSUMER(UPDATE, 1, "u"), HOLD(1, "u", 1, 1), GENERATION(1, 4, 5), RELEASE("v"),
      CONSUMER(UPDATE, 2, "v"), HOLD(2, "v", 1, 1), GENERATION(1, 5, 6)}},
    {"a consumer is deleted, another one inserted",
     1,
     4,
     {CONSUMER(INSERT, 9, "v"), HOLD(1, "v", 1, 1), RELEASE("u"), CONSUMER(DELETE, 1, "u")}},
    {"a consumer is made again",
     1,
     4,
     {RELEASE("u"), CONSUMER(DELETE, 1, "u"), CONSUMER(INSERT, 9, "u"), HOLD(1, "u", 1, 1)}},
    {"a claim is replaced twice",
     2,
     6,
     {RELEASE("u"), STEP(1, "u"), HOLD(1, "u", 1, 1), RELEASE("u"), STEP(1, "u"),
      HOLD(2, "u", 1, 1)}},
    {"two updates of a consumer", 2, 2, {STEP(1, "u"), STEP(1, "u")}},
    {"an owner's update, then a generation's", 1, 2, {CONSUMER(UPDATE, 1, "u"), STEP(1, "u")}},
    {"a generation's update, then an owner's", 2, 2, {STEP(1, "u"), CONSUMER(UPDATE, 1, "u")}},
    {"an insert, then an update", 1, 2, {CONSUMER(INSERT, 9, "u"), STEP(9, "u")}},
    {"an update, then a delete", 2, 2, {STEP(1, "u"), CONSUMER(DELETE, 1, "u")}},
    {"an insert, then a delete", 2, 2, {CONSUMER(INSERT, 9, "u"), CONSUMER(DELETE, 9, "u")}},
    {"the same uuid is inserted twice", 2, 2, {CONSUMER(INSERT, 8, "u"), CONSUMER(INSERT, 9, "u")}},
    {"two deletes of a consumer", 2, 2, {CONSUMER(DELETE, 1, "u"), CONSUMER(DELETE, 1, "u")}},
    {"an allocation before its consumer", 2, 2, {HOLD(1, "u", 1, 1), CONSUMER(INSERT, 9, "u")}},
    {"a consumer before its allocations are deleted",
     2,
     2,
     {CONSUMER(DELETE, 1, "u"), RELEASE("u")}},
    {"allocations, then a delete of the consumer",
     2,
     2,
     {HOLD(1, "u", 1, 1), CONSUMER(DELETE, 1, "u")}},
    {"allocations are deleted twice", 1, 1, {RELEASE("u"), RELEASE("u")}},
    {"a consumer's new names",
     1,
     4,
     {CATALOG(PROJECT_INSERT, 1, "p"), CATALOG(USER_INSERT, 1, "u"),
      CATALOG(CONSUMER_TYPE_INSERT, 1, "t"), CONSUMER(INSERT, 9, "u")}},
    {"a project too late", 2, 2, {CONSUMER(INSERT, 9, "u"), CATALOG(PROJECT_INSERT, 1, "p")}},
    {"a user too late", 2, 2, {CONSUMER(INSERT, 9, "u"), CATALOG(USER_INSERT, 1, "p")}},
    {"a type too late", 2, 2, {CONSUMER(INSERT, 9, "u"), CATALOG(CONSUMER_TYPE_INSERT, 1, "t")}},
    {"a project too late for an update",
     2,
     2,
     {CONSUMER(UPDATE, 1, "u"), CATALOG(PROJECT_INSERT, 1, "p")}},

    {"a provider with everything",
     1,
     8,
     {CATALOG(CLASS_INSERT, 5, "c"), CATALOG(TRAIT_INSERT, 5, "t"),
      CATALOG(AGGREGATE_INSERT, 5, "a"), PROVIDER(INSERT, 7, 0, 7, "p"), INVENTORY(INSERT, 7, 5),
      LINK(TRAIT_INSERT, 7, 5), LINK(AGGREGATE_INSERT, 7, 5), GENERATION(7, 0, 1)}},
    {"a provider's contents go, and it goes",
     1,
     4,
     {INVENTORY(DELETE, 7, 5), LINK(TRAIT_DELETE, 7, 5), LINK(AGGREGATE_DELETE, 7, 5),
      PROVIDER(DELETE, 7, 0, 7, "p")}},
    {"parent and child", 1, 1, {PROVIDER(INSERT, 7, 0, 7, "p"), PROVIDER(INSERT, 8, 7, 7, "q")}},
    {"child and parent", 2, 2, {PROVIDER(INSERT, 8, 7, 8, "q"), PROVIDER(INSERT, 7, 0, 7, "p")}},
    {"a member of a tree and its root",
     2,
     2,
     {PROVIDER(INSERT, 8, 0, 7, "q"), PROVIDER(INSERT, 7, 0, 7, "p")}},
    {"a provider is made again",
     1,
     2,
     {PROVIDER(DELETE, 7, 0, 7, "p"), PROVIDER(INSERT, 8, 0, 8, "p")}},
    {"a provider is deleted after another was inserted",
     2,
     2,
     {PROVIDER(INSERT, 8, 0, 8, "p"), PROVIDER(DELETE, 7, 0, 7, "q")}},
    {"two deletes of providers",
     1,
     1,
     {PROVIDER(DELETE, 8, 0, 8, "p"), PROVIDER(DELETE, 7, 0, 7, "")}},
    {"a provider is deleted twice",
     2,
     2,
     {PROVIDER(DELETE, 7, 0, 7, ""), PROVIDER(DELETE, 7, 0, 7, "")}},
    {"a delete after the update of another",
     2,
     2,
     {PROVIDER(UPDATE, 8, 0, 8, "p"), PROVIDER(DELETE, 7, 0, 7, "")}},
    {"a delete after another's move to a root", 2, 2, {ROOT(8, 3), PROVIDER(DELETE, 7, 0, 7, "")}},
    {"a delete, then an update",
     1,
     2,
     {PROVIDER(DELETE, 7, 0, 7, ""), PROVIDER(UPDATE, 8, 0, 8, "p")}},
    {"two updates of providers",
     2,
     2,
     {PROVIDER(UPDATE, 7, 0, 7, "p"), PROVIDER(UPDATE, 8, 0, 8, "q")}},
    {"an insert after an update",
     2,
     2,
     {PROVIDER(UPDATE, 7, 0, 7, "p"), PROVIDER(INSERT, 8, 0, 8, "q")}},
    {"a tree moves", 1, 2, {PROVIDER(UPDATE, 7, 1, 1, "p"), ROOT(8, 1), ROOT(9, 1)}},
    {"a root of a provider inserted later", 2, 2, {ROOT(8, 1), PROVIDER(INSERT, 8, 0, 8, "q")}},
    {"two roots of a provider", 2, 2, {ROOT(8, 1), ROOT(8, 2)}},
    {"a move to a parent inserted later",
     2,
     2,
     {PROVIDER(UPDATE, 8, 7, 1, "p"), PROVIDER(INSERT, 7, 0, 7, "q")}},
    {"a move to a new root", 1, 2, {PROVIDER(INSERT, 7, 0, 7, "q"), ROOT(8, 7)}},
    {"an inventory too early", 2, 2, {INVENTORY(INSERT, 7, 5), PROVIDER(INSERT, 7, 0, 7, "p")}},
    {"an inventory of a class too early",
     2,
     2,
     {INVENTORY(INSERT, 7, 5), CATALOG(CLASS_INSERT, 5, "c")}},
    {"a trait's link too early", 2, 2, {LINK(TRAIT_INSERT, 7, 5), CATALOG(TRAIT_INSERT, 5, "t")}},
    {"an aggregate's link too early",
     2,
     2,
     {LINK(AGGREGATE_INSERT, 7, 5), CATALOG(AGGREGATE_INSERT, 5, "t")}},
    {"an allocation on a provider too early",
     2,
     2,
     {HOLD(1, "u", 7, 5), PROVIDER(INSERT, 7, 0, 7, "p")}},
    {"an allocation of a class too early",
     2,
     2,
     {HOLD(1, "u", 7, 5), CATALOG(CLASS_INSERT, 5, "c")}},
    {"a provider is deleted before its inventory",
     2,
     2,
     {PROVIDER(DELETE, 7, 0, 7, ""), INVENTORY(DELETE, 7, 5)}},
    {"a provider is deleted before allocations",
     2,
     2,
     {PROVIDER(DELETE, 7, 0, 7, ""), RELEASE("u")}},
    {"allocations, then a provider", 1, 2, {RELEASE("u"), PROVIDER(DELETE, 7, 0, 7, "")}},
    {"a generation, then a delete", 2, 2, {GENERATION(7, 1, 2), PROVIDER(DELETE, 7, 0, 7, "")}},
    {"inventories of two providers",
     1,
     3,
     {INVENTORY(DELETE, 1, 5), INVENTORY(INSERT, 1, 6), GENERATION(1, 1, 2),
      INVENTORY(DELETE, 2, 6), INVENTORY(INSERT, 2, 5), GENERATION(2, 1, 2)}},
    {"an inventory twice", 2, 2, {INVENTORY(UPDATE, 1, 5), INVENTORY(UPDATE, 1, 5)}},
    {"an inventory, inserted and updated",
     1,
     2,
     {INVENTORY(INSERT, 1, 5), INVENTORY(UPDATE, 1, 5)}},
    {"an inventory, updated and deleted", 2, 2, {INVENTORY(UPDATE, 1, 5), INVENTORY(DELETE, 1, 5)}},
    {"an inventory, inserted and deleted",
     2,
     2,
     {INVENTORY(INSERT, 1, 5), INVENTORY(DELETE, 1, 5)}},
    {"a trait's link comes and goes", 2, 2, {LINK(TRAIT_INSERT, 1, 5), LINK(TRAIT_DELETE, 1, 5)}},
    {"a trait's link goes and comes", 1, 2, {LINK(TRAIT_DELETE, 1, 5), LINK(TRAIT_INSERT, 1, 5)}},
    {"an aggregate's link comes and goes",
     2,
     2,
     {LINK(AGGREGATE_INSERT, 1, 5), LINK(AGGREGATE_DELETE, 1, 5)}},
    {"links of equal numbers", 1, 2, {LINK(AGGREGATE_INSERT, 1, 5), LINK(TRAIT_DELETE, 1, 5)}},

    {"a class renamed, then inserted",
     2,
     2,
     {CATALOG(CLASS_RENAME, 5, "x"), CATALOG(CLASS_INSERT, 6, "y")}},
    {"a class inserted, then renamed",
     1,
     2,
     {CATALOG(CLASS_INSERT, 6, "y"), CATALOG(CLASS_RENAME, 6, "x")}},
    {"two classes renamed", 2, 2, {CATALOG(CLASS_RENAME, 5, "x"), CATALOG(CLASS_RENAME, 6, "y")}},
    {"a class inserted, another deleted",
     2,
     2,
     {CATALOG(CLASS_INSERT, 6, "y"), CATALOG(CLASS_DELETE, 5, "")}},
    {"a class deleted, another inserted",
     1,
     2,
     {CATALOG(CLASS_DELETE, 5, ""), CATALOG(CLASS_INSERT, 6, "y")}},
    {"a class deleted twice", 2, 2, {CATALOG(CLASS_DELETE, 5, ""), CATALOG(CLASS_DELETE, 5, "")}},
    {"a class renamed, then deleted",
     2,
     2,
     {CATALOG(CLASS_RENAME, 5, "x"), CATALOG(CLASS_DELETE, 5, "")}},
    {"a class deleted before its allocations", 2, 2, {CATALOG(CLASS_DELETE, 5, ""), RELEASE("u")}},
    {"a class deleted before its inventory",
     2,
     2,
     {CATALOG(CLASS_DELETE, 5, ""), INVENTORY(DELETE, 1, 5)}},
    {"a trait inserted, another deleted",
     2,
     2,
     {CATALOG(TRAIT_INSERT, 6, "y"), CATALOG(TRAIT_DELETE, 5, "")}},
    {"traits and classes", 1, 2, {CATALOG(TRAIT_INSERT, 6, "y"), CATALOG(CLASS_DELETE, 6, "")}},
    {"a trait deleted before its link",
     2,
     2,
     {CATALOG(TRAIT_DELETE, 5, ""), LINK(TRAIT_DELETE, 1, 5)}},

    {"records of two tables",
     1,
     4,
     {RECORD(NODE_PUT, 1), RECORD(NODE_ALLOCATION_DELETE, 1), RECORD(VALET_PLAN_PUT, 1),
      RECORD(VALET_GROUP_DELETE, 1)}},
    {"a record twice", 2, 2, {RECORD(NODE_PUT, 1), RECORD(NODE_PUT, 1)}},
    {"puts keep their order", 2, 2, {RECORD(NODE_PUT, 1), RECORD(NODE_PUT, 2)}},
    {"puts that keep their names",
     1,
     1,
     {SAME_NAMES(NODE_PUT, 1), SAME_NAMES(NODE_PUT, 2), SAME_NAMES(NODE_PUT, 3)}},
    {"puts of one record that keep its names",
     2,
     2,
     {SAME_NAMES(NODE_PUT, 1), SAME_NAMES(NODE_PUT, 1)}},
    {"a new name among kept ones",
     1,
     1,
     {SAME_NAMES(NODE_PUT, 1), RECORD(NODE_PUT, 2), SAME_NAMES(NODE_PUT, 3)}},
    {"new records", 1, 1, {NEW_RECORD(NODE_PUT, 1), NEW_RECORD(NODE_PUT, 2)}},
    {"a new record twice", 2, 2, {NEW_RECORD(NODE_PUT, 1), NEW_RECORD(NODE_PUT, 1)}},
    {"a new record, then a put of it", 1, 2, {NEW_RECORD(NODE_PUT, 1), RECORD(NODE_PUT, 1)}},
    {"a put, then a new record", 2, 2, {RECORD(NODE_PUT, 1), NEW_RECORD(NODE_PUT, 2)}},
    {"a put that keeps its names, then a new record",
     1,
     2,
     {SAME_NAMES(NODE_PUT, 1), NEW_RECORD(NODE_PUT, 2)}},
    {"a new record, then a delete", 2, 2, {NEW_RECORD(NODE_PUT, 1), RECORD(NODE_DELETE, 2)}},
    {"a record deleted, then again new", 1, 2, {RECORD(NODE_DELETE, 1), NEW_RECORD(NODE_PUT, 1)}},
    {"a record deleted twice", 2, 2, {RECORD(NODE_DELETE, 1), RECORD(NODE_DELETE, 1)}},
    {"a record deleted after a put", 2, 2, {RECORD(NODE_PUT, 1), RECORD(NODE_DELETE, 2)}},
    {"a record deleted before a put", 1, 2, {RECORD(NODE_DELETE, 1), RECORD(NODE_PUT, 1)}},

    {"generations that follow on each other",
     1,
     1,
     {GENERATION(1, 4, 5), GENERATION(2, 4, 5), GENERATION(1, 5, 6)}},
    {"generations that do not", 2, 2, {GENERATION(1, 4, 5), GENERATION(1, 4, 5)}},
    {"generations around an update", 2, 3, {GENERATION(1, 4, 5), ROOT(1, 2), GENERATION(1, 5, 6)}},
    {"generations after an update", 1, 2, {ROOT(1, 2), GENERATION(1, 4, 5), GENERATION(1, 5, 6)}},
    {"two classes", 1, 1, {CATALOG(CLASS_INSERT, 6, "y"), CATALOG(CLASS_INSERT, 7, "z")}},
    {"two classes go", 1, 1, {CATALOG(CLASS_DELETE, 6, ""), CATALOG(CLASS_DELETE, 7, "")}},
    {"two traits go", 1, 1, {CATALOG(TRAIT_DELETE, 6, ""), CATALOG(TRAIT_DELETE, 7, "")}},
    {"a provider twice", 2, 2, {PROVIDER(INSERT, 7, 0, 7, "p"), PROVIDER(INSERT, 7, 0, 7, "p")}},
    {"an update, then an inventory of the provider",
     1,
     3,
     {PROVIDER(INSERT, 9, 0, 9, "p"), ROOT(8, 1), INVENTORY(INSERT, 8, 5)}},
    {"a generation, then an inventory of the provider",
     1,
     3,
     {PROVIDER(INSERT, 7, 0, 7, "p"), GENERATION(7, 0, 1), INVENTORY(INSERT, 7, 5)}},
};

/* What depends on nothing late is early: the rows of the first wave. */
static const struct early {
    const char *what;
    unsigned rows;
    struct change change[4];
} EARLY[] = {
    {"a release", 2, {HOLD(1, "u", 1, 1), RELEASE("u"), RELEASE("v")}},
    {"a replacement", 2, {STEP(1, "u"), STEP(1, "u"), RELEASE("v")}},
    {"an allocation",
     2,
     {HOLD(1, "u", 7, 1), PROVIDER(INSERT, 7, 0, 7, "p"), HOLD(2, "u", 7, 1), HOLD(3, "u", 1, 1)}},
    {"a class",
     2,
     {INVENTORY(INSERT, 7, 5), CATALOG(CLASS_INSERT, 5, "c"), CATALOG(CLASS_INSERT, 6, "d")}},
    {"a provider",
     2,
     {PROVIDER(INSERT, 8, 7, 7, "p"), PROVIDER(INSERT, 7, 0, 7, "q"),
      PROVIDER(INSERT, 9, 0, 9, "r")}},
    {"a move", 2, {ROOT(8, 1), ROOT(8, 2), ROOT(9, 1)}},
    {"a put that keeps its names",
     2,
     {SAME_NAMES(NODE_PUT, 1), SAME_NAMES(NODE_PUT, 1), SAME_NAMES(NODE_PUT, 2)}},
    {"no other put", 1, {RECORD(NODE_PUT, 1), RECORD(NODE_PUT, 2)}},
};

/* Unused places of a table are zero, and no id and no text is there. */
static size_t count_changes(const struct change *changes, size_t most)
{
    size_t count = 0;
    while (count < most &&
           (changes[count].row.id != 0 || changes[count].allocation.consumer_uuid.len != 0))
        count++;
    return count;
}

static struct waves arrange(const struct change *changes, size_t count, struct arena *arena)
{
    struct store_batch batch = {.changes = changes, .ends = &count, .requests = 1};
    return waves_arrange(&batch, arena);
}

static void test_rules(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(RULES) / sizeof(RULES[0]); i++) {
        struct arena *arena = arena_create();
        struct waves waves = arrange(RULES[i].change, count_changes(RULES[i].change, 8), arena);
        if (waves.waves != RULES[i].waves || waves.count != RULES[i].statements)
            fail_msg("%s: %u waves, %zu statements", RULES[i].what, waves.waves, waves.count);
        arena_destroy(arena);
    }
}

static void test_early(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(EARLY) / sizeof(EARLY[0]); i++) {
        struct arena *arena = arena_create();
        struct waves waves = arrange(EARLY[i].change, count_changes(EARLY[i].change, 4), arena);
        size_t rows = 0;
        for (size_t b = 0; b < waves.count; b++)
            rows += waves.bundles[b].wave == 0 ? waves.bundles[b].count : 0;
        if (rows != EARLY[i].rows || waves.waves != 2)
            fail_msg("%s: %zu rows in the first of %u waves", EARLY[i].what, rows, waves.waves);
        arena_destroy(arena);
    }
}

/* ---- whole batches ---- */

enum { CLAIMS = 256, OF_CLAIM = 5, PROVIDERS = 8 };

static void append_claim(struct change_list *list, int64_t n)
{
    struct slice uuid = arena_printf(list->arena, "consumer %d", (int)n);
    change_append(list, CHANGE_CONSUMER_INSERT)->consumer =
        (struct change_consumer){.id = CLAIMS - n, .project_id = 1, .user_id = 1, .uuid = uuid};
    for (int64_t i = 0; i < 3; i++)
        change_append(list, CHANGE_ALLOCATION_INSERT)->allocation =
            (struct change_allocation){3 * n + i + 1, CLAIMS - n, n % PROVIDERS + 1, i, 1, uuid};
    change_append(list, CHANGE_PROVIDER_GENERATION)->generation =
        (struct change_generation){PROVIDERS - n % PROVIDERS, n / PROVIDERS, n / PROVIDERS + 1};
}

static struct store_batch claims(struct arena *arena)
{
    struct change_list list = {.arena = arena};
    size_t *ends = arena_array(arena, CLAIMS, sizeof(*ends));
    for (int64_t n = 0; n < CLAIMS; n++) {
        append_claim(&list, n);
        ends[n] = list.count;
    }
    return (struct store_batch){.changes = list.items, .ends = ends, .requests = CLAIMS};
}

static void test_claims_are_one_wave(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct store_batch batch = claims(arena);
    struct waves waves = waves_arrange(&batch, arena);
    assert_int_equal(waves.waves, 1);
    assert_int_equal(waves.count, 3);
    assert_int_equal(waves.bundles[0].kind, BUNDLE_CONSUMER_INSERT);
    assert_int_equal(waves.bundles[0].count, CLAIMS);
    assert_int_equal(waves.bundles[1].kind, BUNDLE_ALLOCATION_INSERT);
    assert_int_equal(waves.bundles[1].count, 3 * CLAIMS);
    for (size_t i = 0; i < 3 * CLAIMS; i++) /* the order of the batch */
        assert_int_equal(waves.bundles[1].rows[i].first, i / 3 * OF_CLAIM + 1 + i % 3);
    const struct bundle *generations = &waves.bundles[2];
    assert_int_equal(generations->kind, BUNDLE_PROVIDER_GENERATION);
    assert_int_equal(generations->count, PROVIDERS);
    for (size_t i = 0; i < PROVIDERS; i++) {
        const struct bundle_row *row = &generations->rows[i];
        assert_int_equal(batch.changes[row->first].generation.provider_id, i + 1); /* ascending */
        assert_int_equal(batch.changes[row->first].generation.expected, 0);
        assert_int_equal(batch.changes[row->last].generation.provider_id, i + 1);
        assert_int_equal(batch.changes[row->last].generation.next, CLAIMS / PROVIDERS);
    }
    arena_destroy(arena);
}

static void test_compare_and_sets_are_sorted(void **state)
{
    (void)state;
    static const struct change CHANGES[] = {
        CONSUMER(UPDATE, 3, "x"), CONSUMER(UPDATE, 2, "y"), STEP(9, "z"), STEP(8, "w"),
        CONSUMER(DELETE, 7, "s"), CONSUMER(DELETE, 6, "t")};
    struct arena *arena = arena_create();
    struct waves waves = arrange(CHANGES, 6, arena);
    assert_int_equal(waves.count, 3);
    assert_int_equal(waves.bundles[0].rows[0].first, 4); /* a delete: the order of the batch */
    assert_int_equal(waves.bundles[1].kind, BUNDLE_CONSUMER_UPDATE);
    assert_int_equal(waves.bundles[1].rows[0].first, 1);
    assert_int_equal(waves.bundles[2].kind, BUNDLE_CONSUMER_GENERATION);
    assert_int_equal(waves.bundles[2].rows[0].first, 3);
    arena_destroy(arena);
}

static void test_empty(void **state)
{
    (void)state;
    static const size_t NOTHING[] = {0, 0};
    struct arena *arena = arena_create();
    struct store_batch none = {.changes = NULL, .ends = NULL, .requests = 0};
    struct store_batch nothing = {.changes = NULL, .ends = NOTHING, .requests = 2};
    assert_int_equal(waves_arrange(&none, arena).count, 0);
    struct waves waves = waves_arrange(&nothing, arena);
    assert_int_equal(waves.count, 0);
    assert_int_equal(waves.waves, 0);
    arena_destroy(arena);
}

static void test_one_kind_for_each_change(void **state)
{
    (void)state;
    bool seen[BUNDLE_KIND_COUNT] = {false};
    for (unsigned kind = 0; kind < CHANGE_LOAD_PROVIDERS_END; kind++) {
        for (int is_new = 0; is_new <= (kind >= CHANGE_NODE_PUT); is_new++) {
            struct change change = {.kind = kind, .is_new = is_new};
            enum bundle_kind bundle = bundle_kind_of(&change);
            bool is_delete = kind >= CHANGE_NODE_PUT && record_table_of(kind)->delete == kind;
            assert_true(!seen[bundle] || (is_delete && is_new));
            seen[bundle] = true;
        }
    }
    for (unsigned kind = 0; kind < BUNDLE_KIND_COUNT; kind++)
        assert_true(seen[kind] || kind == BUNDLE_PROVIDER_ROOT ||
                    kind == BUNDLE_CONSUMER_GENERATION);
}

/* ---- random batches ---- */

enum { BATCHES = 4000, BYTES = 500 };

static void test_random(void **state)
{
    (void)state;
    struct check_waves_seen all = {0};
    unsigned refused = 0;
    unsigned one_wave = 0;
    for (uint64_t seed = 1; seed <= BATCHES; seed++) {
        struct rng rng = {seed};
        uint8_t data[BYTES];
        size_t size = 10 + (size_t)rng_below(&rng, BYTES - 10);
        for (size_t i = 0; i < size; i++)
            data[i] = (uint8_t)rng_next(&rng);
        struct check_waves_seen seen = check_waves_of_bytes(data, size);
        all.changes += seen.changes;
        all.folded += seen.folded;
        refused += seen.is_refused;
        one_wave += seen.waves == 1;
    }
    assert_in_range(refused, BATCHES / 20, BATCHES / 2); /* the generator makes both */
    assert_in_range(one_wave, BATCHES / 50, BATCHES / 2);
    assert_true(all.changes > 10 * (size_t)BATCHES && all.folded > BATCHES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_early),
        cmocka_unit_test(test_claims_are_one_wave),
        cmocka_unit_test(test_compare_and_sets_are_sorted),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_one_kind_for_each_change),
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
