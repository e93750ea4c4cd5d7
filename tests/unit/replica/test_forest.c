/* Trees that are built, moved and removed at random, compared with a table of parents; children
 * keep the order in which they were added. */
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "replica/apply.h"
#include "replica/audit.h"
#include "replica/forest.h"
#include "replica/replica.h"
#include "unit.h"

enum { PROVIDERS = 40 };

struct world {
    struct arena *arena;
    struct replica *replica;
    struct edit *edit;
    int parent[PROVIDERS + 1];     /* -1: does not exist; 0: a root */
    unsigned since[PROVIDERS + 1]; /* when it was added below its parent */
    unsigned now;
};

static const struct provider *provider(const struct world *world, int id)
{
    return version_provider_by_id(world->edit->version, id);
}

static struct slot_no slot_of(const struct world *world, int id)
{
    return version_slot(world->edit->version, provider(world, id)->no);
}

static bool is_below(const struct world *world, int id, int top)
{
    while (id != 0 && id != top)
        id = world->parent[id];
    return id == top;
}

/* Checks that the tree below `id` begins at `slot`; returns its end. */
static uint32_t check_tree(const struct world *world, int id, uint32_t slot)
{
    assert_int_equal(slot_of(world, id).v, slot);
    uint32_t next = slot + 1;
    unsigned last = 0;
    for (;;) { /* the children, in the order in which they were added */
        int child = 0;
        for (int i = 1; i <= PROVIDERS; i++)
            if (world->parent[i] == id && world->since[i] > last &&
                (child == 0 || world->since[i] < world->since[child]))
                child = i;
        if (child == 0)
            break;
        last = world->since[child];
        next = check_tree(world, child, next);
    }
    assert_int_equal(version_place(world->edit->version, (struct slot_no){slot})->end, next);
    return next;
}

static void check_same(const struct world *world)
{
    unsigned nested = 0;
    for (int id = 1; id <= PROVIDERS; id++) {
        assert_int_equal(provider(world, id) != NULL, world->parent[id] >= 0);
        nested += world->parent[id] > 0;
        if (world->parent[id] == 0)
            check_tree(world, id, slot_of(world, id).v);
    }
    assert_int_equal(world->edit->version->nested_count, nested);
    struct buf why = {0};
    if (!audit_version(world->edit->version, &why))
        fail_msg("%.*s", SLICE_ARG(buf_slice(&why)));
    buf_free(&why);
}

static void put(struct world *world, enum change_kind kind, int id, int parent)
{
    struct change_list list = {.arena = world->arena};
    struct slice name = arena_printf(world->arena, "p%d", id);
    struct change *change = change_append(&list, kind);
    change->provider = (struct change_provider){id, parent, 0, 0, name, name};
    apply_changes(world->edit, &list);
}

/* The position of each; UINT32_MAX: none. */
static void note_slots(const struct world *world, uint32_t slots[PROVIDERS + 1])
{
    for (int id = 1; id <= PROVIDERS; id++)
        slots[id] = provider(world, id) == NULL ? UINT32_MAX : slot_of(world, id).v;
}

static uint64_t work_of(const struct world *world, enum change_kind kind, int id, int parent)
{
    const struct version *version = world->edit->version;
    struct provider_no parent_no = {parent == 0 ? NUMBER_NONE : provider(world, parent)->no.v};
    if (kind == CHANGE_PROVIDER_DELETE)
        return forest_remove_work(version, provider(world, id)->no);
    if (kind == CHANGE_PROVIDER_UPDATE)
        return forest_move_work(version, provider(world, id)->no, parent_no);
    return parent == 0 ? 0 : forest_insert_work(version, parent_no);
}

/* The slots reported as rewritten are those whose provider has moved; where a tree moves, its range
 * may be the same. */
static void put_counted(struct world *world, enum change_kind kind, int id, int parent)
{
    uint32_t before[PROVIDERS + 1];
    uint32_t after[PROVIDERS + 1];
    uint64_t work = work_of(world, kind, id, parent);
    uint64_t moved = 0;
    note_slots(world, before);
    put(world, kind, id, parent);
    note_slots(world, after);
    for (int i = 1; i <= PROVIDERS; i++)
        moved += before[i] != UINT32_MAX && before[i] != after[i];
    if (kind == CHANGE_PROVIDER_UPDATE)
        assert_true(moved * FOREST_WORK_OF_PLACE <= work);
    else
        assert_int_equal(moved * FOREST_WORK_OF_PLACE, work);
}

static void step(struct world *world)
{
    int id = 1 + (int)random() % PROVIDERS;
    int parent = (int)random() % (PROVIDERS + 1);
    if (random() % 4 == 0 || world->parent[parent] < 0)
        parent = 0;
    bool has_children = false;
    for (int i = 1; i <= PROVIDERS; i++)
        has_children = has_children || world->parent[i] == id;
    if (world->parent[id] < 0) {
        put_counted(world, CHANGE_PROVIDER_INSERT, id, parent);
    } else if (!has_children && random() % 3 == 0) {
        put_counted(world, CHANGE_PROVIDER_DELETE, id, 0);
        world->parent[id] = -1;
        return;
    } else if (is_below(world, parent, id) || parent == world->parent[id]) {
        return;
    } else {
        put_counted(world, CHANGE_PROVIDER_UPDATE, id, parent);
    }
    world->parent[id] = parent;
    world->since[id] = ++world->now;
}

static void random_trees(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 6; seed++) {
        srandom(seed);
        struct world world = {.arena = arena_create(), .replica = replica_create()};
        for (int id = 1; id <= PROVIDERS; id++)
            world.parent[id] = -1;
        world.edit = replica_edit(world.replica);
        for (unsigned i = 0; i < 400; i++) {
            step(&world);
            check_same(&world);
        }
        assert_true(world.edit->version->slot_limit <= 4 * PROVIDERS * 4);
        replica_abandon(world.replica, world.edit);
        replica_destroy(world.replica);
        arena_destroy(world.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_trees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
