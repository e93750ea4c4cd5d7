/* Everything that memory has is compared with its rows, block by block: with the same rows nothing
 * differs, and if one row is missing, or one value of it is another, its entity does, and no
 * other. */
#include "replica/block.h"

#include <stdlib.h>

#include "base/arena.h"
#include "model/node.h"
#include "replica/apply.h"
#include "replica/replica.h"
#include "unit.h"

enum { PROVIDERS = BLOCK_MOST + 50, CONSUMERS = 2 * BLOCK_MOST, NODE = 7, CREATED_US = 1000000 };

struct world {
    struct arena *arena;
    struct replica *replica;
    struct change_list rows; /* as a load streams them */
    struct change_list node;
};

struct found {
    size_t count;
    enum entity entity;
    int64_t id;
    struct slice uuid;
};

static struct change *append_row(struct world *world, enum change_kind kind)
{
    struct change *row = change_append(&world->rows, kind);
    row->created_at_us = CREATED_US;
    return row;
}

static void append_catalogs(struct world *world)
{
    for (int kind = CHANGE_CLASS_INSERT; kind <= CHANGE_CONSUMER_TYPE_INSERT; kind++)
        if (kind == CHANGE_CLASS_INSERT || kind == CHANGE_TRAIT_INSERT ||
            kind == CHANGE_AGGREGATE_INSERT || kind == CHANGE_PROJECT_INSERT ||
            kind == CHANGE_USER_INSERT || kind == CHANGE_CONSUMER_TYPE_INSERT)
            for (int64_t id = 1; id <= 2; id++)
                append_row(world, (enum change_kind)kind)->catalog =
                    (struct change_catalog){id, arena_printf(world->arena, "N%d", (int)id)};
}

static void append_providers(struct world *world)
{
    for (int64_t id = 1; id <= PROVIDERS; id++) {
        struct slice name = arena_printf(world->arena, "p%d", (int)id);
        append_row(world, CHANGE_PROVIDER_INSERT)->provider =
            (struct change_provider){id, 0, id, 3, name, name};
    }
    change_append(&world->rows, CHANGE_LOAD_PROVIDERS_END);
    for (int64_t id = 1; id <= PROVIDERS; id++)
        append_row(world, CHANGE_INVENTORY_INSERT)->inventory =
            (struct change_inventory){id, 1, 100, 0, 1, 100, 1, 1.5};
    for (int64_t id = 1; id <= PROVIDERS; id += 2)
        append_row(world, CHANGE_PROVIDER_TRAIT_INSERT)->link = (struct change_link){id, 1};
    for (int64_t id = 1; id <= PROVIDERS; id += 3)
        append_row(world, CHANGE_PROVIDER_AGGREGATE_INSERT)->link = (struct change_link){id, 1};
}

static struct slice consumer_name(struct world *world, int64_t id)
{
    return arena_printf(world->arena, "consumer-%d", (int)id);
}

static void append_consumers(struct world *world)
{
    for (int64_t id = 1; id <= CONSUMERS; id++)
        append_row(world, CHANGE_CONSUMER_INSERT)->consumer =
            (struct change_consumer){.id = id,
                                     .project_id = 1,
                                     .user_id = 1,
                                     .type_id = 1,
                                     .generation = 1,
                                     .uuid = consumer_name(world, id)};
    for (int64_t id = 1; id <= CONSUMERS; id++)
        append_row(world, CHANGE_ALLOCATION_INSERT)->allocation =
            (struct change_allocation){id, id, id % PROVIDERS + 1, 1, 4, consumer_name(world, id)};
}

/* Two rows of the table of nodes that differ; only the first is in memory. */
static void append_node(struct world *world)
{
    struct node_draft draft = node_draft_new(NODE);
    node_set_text(&draft, NODE_UUID, SLICE_LIT("bbbbbbbb-0000-4000-8000-000000000001"));
    node_set_text(&draft, NODE_RESOURCE_CLASS, SLICE_LIT("CUSTOM_METAL"));
    change_put_node(&world->rows, node_pack(&draft, world->arena));
    node_set_text(&draft, NODE_RESOURCE_CLASS, SLICE_LIT("CUSTOM_OTHER"));
    change_put_node(&world->node, node_pack(&draft, world->arena));
}

static int setup(void **state)
{
    struct world *world = calloc(1, sizeof(*world));
    assert_non_null(world);
    world->arena = world->rows.arena = world->node.arena = arena_create();
    world->replica = replica_create();
    append_catalogs(world);
    append_providers(world);
    append_consumers(world);
    append_node(world);
    struct edit *edit = replica_edit_empty(world->replica);
    struct version_stamp stamp = {{1}};
    apply_changes(edit, &world->rows);
    replica_publish(world->replica, edit, &stamp);
    *state = world;
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;
    replica_destroy(world->replica);
    arena_destroy(world->arena);
    free(world);
    return 0;
}

static void note(void *cls, enum entity entity, int64_t id, struct slice uuid)
{
    struct found *found = cls;
    found->count++;
    found->entity = entity;
    found->id = id;
    found->uuid = uuid;
}

static enum entity entity_of(const struct change *row)
{
    static const enum change_kind catalogs[] = {
        CHANGE_CLASS_INSERT,   CHANGE_TRAIT_INSERT, CHANGE_AGGREGATE_INSERT,
        CHANGE_PROJECT_INSERT, CHANGE_USER_INSERT,  CHANGE_CONSUMER_TYPE_INSERT};
    for (int entity = 0; entity < ENTITY_PROVIDER; entity++)
        if (row->kind == catalogs[entity])
            return (enum entity)entity;
    if (row->kind == CHANGE_CONSUMER_INSERT || row->kind == CHANGE_ALLOCATION_INSERT)
        return ENTITY_CONSUMER;
    return row->kind == CHANGE_NODE_PUT ? ENTITY_NODE : ENTITY_PROVIDER;
}

static int64_t id_of(const struct change *row)
{
    return row->kind == CHANGE_ALLOCATION_INSERT ? row->allocation.consumer_id : row->row.id;
}

/* Compares all with the rows, as a scrub does; returns the number of blocks. */
static unsigned compare_all(struct world *world, struct found *found)
{
    static struct block block;
    struct block_place place = {0};
    unsigned blocks = 0;
    size_t entities = 0;
    *found = (struct found){0};
    while (block_take(&block, replica_newest(world->replica), &place)) {
        blocks++;
        entities += block.count;
        for (size_t i = 0; i < world->rows.count; i++)
            if (entity_of(&world->rows.items[i]) == block.entity &&
                world->rows.items[i].kind != CHANGE_LOAD_PROVIDERS_END)
                block_compare(&block, &world->rows.items[i]);
        block_end(&block, note, found);
    }
    assert_int_equal(entities, 6 * 2 + PROVIDERS + CONSUMERS + 1);
    return blocks;
}

static void equal_rows(void **state)
{
    struct world *world = *state;
    struct found found;
    assert_int_equal(compare_all(world, &found), 6 + 2 + 2 + 1);
    assert_int_equal(found.count, 0);
}

static void assert_found(struct world *world, const struct change *row)
{
    struct found found;
    compare_all(world, &found);
    assert_int_equal(found.count, 1);
    assert_int_equal(found.entity, entity_of(row));
    assert_int_equal(found.id, id_of(row));
    if (found.entity == ENTITY_CONSUMER)
        assert_true(slice_equal(found.uuid, consumer_name(world, found.id)));
}

/* Some rows of each kind. */
static bool is_sample(const struct world *world, size_t at)
{
    const struct change *row = &world->rows.items[at];
    return row->kind != CHANGE_LOAD_PROVIDERS_END &&
           (at % 97 == 0 || row->kind != world->rows.items[at - 1].kind ||
            at + 1 == world->rows.count);
}

static void a_row_is_missing(void **state)
{
    struct world *world = *state;
    for (size_t i = 0; i < world->rows.count; i++) {
        struct change *row = &world->rows.items[i];
        const struct change before = *row;
        if (!is_sample(world, i))
            continue;
        row->kind = CHANGE_LOAD_PROVIDERS_END;
        assert_found(world, &before);
        *row = before;
    }
}

/* Changes the value of that number; false: the row has no more. */
static bool change_value(struct world *world, struct change *row, unsigned value)
{
    static const struct slice other = {"other", 5};
    struct change_inventory *inventory = &row->inventory;
    int32_t *const figures[] = {&inventory->total, &inventory->reserved, &inventory->min_unit,
                                &inventory->max_unit, &inventory->step_size};
    switch (row->kind) {
    case CHANGE_PROVIDER_INSERT:
        if (value == 0)
            row->provider.generation++;
        else if (value == 1)
            row->provider.name = other;
        else
            row->provider.uuid = other;
        return value < 3;
    case CHANGE_INVENTORY_INSERT:
        if (value == 0)
            inventory->class_id = 2;
        else if (value == 1)
            inventory->allocation_ratio = 2;
        else if (value < 7)
            ++*figures[value - 2];
        return value < 7;
    case CHANGE_PROVIDER_TRAIT_INSERT:
    case CHANGE_PROVIDER_AGGREGATE_INSERT:
        row->link.other_id = value == 0 ? 2 : 99;
        return value < 2;
    case CHANGE_CONSUMER_INSERT:
        if (value == 0)
            row->consumer.generation++;
        else
            *(value == 1   ? &row->consumer.project_id
              : value == 2 ? &row->consumer.user_id
                           : &row->consumer.type_id) = 2;
        if (value == 4)
            row->consumer.uuid = other;
        return value < 5;
    case CHANGE_ALLOCATION_INSERT:
        if (value == 0)
            row->allocation.used++;
        else if (value == 1)
            row->allocation.class_id = 2;
        else if (value == 2)
            row->allocation.provider_id = row->allocation.provider_id % PROVIDERS + 1;
        else
            row->created_at_us += value == 3 ? 1 : -1;
        return value < 5;
    case CHANGE_NODE_PUT:
        *row = world->node.items[0];
        return value < 1;
    default:
        row->catalog.name = other;
        return value < 1;
    }
}

static void a_value_is_another(void **state)
{
    struct world *world = *state;
    for (size_t i = 0; i < world->rows.count; i++) {
        struct change *row = &world->rows.items[i];
        const struct change before = *row;
        for (unsigned value = 0; is_sample(world, i) && change_value(world, row, value); value++) {
            assert_found(world, &before);
            *row = before;
        }
        *row = before;
    }
}

static void a_row_is_new(void **state)
{
    struct world *world = *state;
    append_row(world, CHANGE_PROVIDER_TRAIT_INSERT)->link = (struct change_link){PROVIDERS, 2};
    assert_found(world, &world->rows.items[world->rows.count - 1]);
    world->rows.count--;
    append_row(world, CHANGE_ALLOCATION_INSERT)->allocation =
        (struct change_allocation){9999, CONSUMERS, 1, 2, 4, consumer_name(world, CONSUMERS)};
    assert_found(world, &world->rows.items[world->rows.count - 1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(equal_rows, setup, teardown),
        cmocka_unit_test_setup_teardown(a_row_is_missing, setup, teardown),
        cmocka_unit_test_setup_teardown(a_value_is_another, setup, teardown),
        cmocka_unit_test_setup_teardown(a_row_is_new, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
