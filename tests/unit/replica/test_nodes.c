/* Nodes and their allocations in versions: random puts and deletes against a plain table, audited
 * after each version; names that are swapped, ids that come back, older versions that stay. */
#include <stdlib.h>

#include "base/arena.h"
#include "replica/apply.h"
#include "replica/audit.h"
#include "replica/nodes.h"
#include "replica/replica.h"
#include "unit.h"

enum { NODES = 40, ALLOCATIONS = 30, NAMES = 12, CLASSES = 3, STEPS = 4000 };

struct world {
    struct arena *arena; /* of one edit's changes */
    struct replica *replica;
    struct edit *edit;
    struct change_list list;
};

/* The expected rows; 0 is null, or no row. */
struct plain {
    unsigned nodes[NODES + 1]; /* the uuid's number */
    unsigned names[NODES + 1];
    unsigned instances[NODES + 1];
    unsigned classes[NODES + 1];
    bool free[NODES + 1];
    bool busy[NODES + 1];
    unsigned allocations[ALLOCATIONS + 1];
    unsigned allocation_names[ALLOCATIONS + 1];
    int64_t of_node[ALLOCATIONS + 1];
    bool allocating[ALLOCATIONS + 1];
};

static unsigned made; /* uuids are never used again */

static unsigned below(unsigned n)
{
    return (unsigned)random() % n;
}

static struct slice text(struct world *world, const char *prefix, unsigned n)
{
    return arena_printf(world->arena, "%s%u", prefix, n);
}

static void check_sound(const struct version *version)
{
    struct buf why = {0};
    if (!audit_version(version, &why))
        print_error("%.*s\n", SLICE_ARG(buf_slice(&why)));
    assert_int_equal(why.len, 0);
    buf_free(&why);
}

static void world_open(struct world *world)
{
    *world = (struct world){.arena = arena_create(), .replica = replica_create()};
    world->list.arena = world->arena;
    world->edit = replica_edit(world->replica);
}

static void world_apply(struct world *world)
{
    apply_changes(world->edit, &world->list);
    world->list = (struct change_list){.arena = world->arena};
    arena_reset(world->arena); /* the replica keeps copies */
}

static void world_publish(struct world *world)
{
    struct version_stamp stamp = {{0}};
    check_sound(world->edit->version);
    replica_publish(world->replica, world->edit, &stamp);
    world->edit = replica_edit(world->replica);
}

static void world_close(struct world *world)
{
    replica_abandon(world->replica, world->edit);
    replica_destroy(world->replica);
    arena_destroy(world->arena);
}

static void set_optional(struct node_draft *draft, enum node_field field, struct slice text,
                         unsigned number)
{
    if (number == 0)
        node_set_null(draft, field);
    else
        node_set_text(draft, field, text);
}

/* Appends the put of the plain table's node. */
static void put_node(struct world *world, const struct plain *plain, unsigned id)
{
    struct node_draft draft = node_draft_new(id);
    node_set_text(&draft, NODE_UUID, text(world, "uuid-", plain->nodes[id]));
    set_optional(&draft, NODE_NAME, text(world, "name-", plain->names[id]), plain->names[id]);
    set_optional(&draft, NODE_INSTANCE_UUID, text(world, "instance-", plain->instances[id]),
                 plain->instances[id]);
    set_optional(&draft, NODE_RESOURCE_CLASS, text(world, "class-", plain->classes[id]),
                 plain->classes[id]);
    set_optional(&draft, NODE_RESERVATION, SLICE_LIT("host"), plain->busy[id]);
    if (plain->free[id]) {
        node_set_text(&draft, NODE_PROVISION_STATE, SLICE_LIT("available"));
        node_set_text(&draft, NODE_POWER_STATE, SLICE_LIT("power on"));
    }
    node_set_time(&draft, NODE_UPDATED_AT, random());
    change_put_node(&world->list, node_pack(&draft, world->arena));
}

static void put_allocation(struct world *world, const struct plain *plain, unsigned id)
{
    struct node_allocation_draft draft = node_allocation_draft_new(id);
    node_allocation_set_text(&draft, NODE_ALLOCATION_UUID,
                             text(world, "uuid-", plain->allocations[id]));
    if (plain->allocation_names[id] != 0)
        node_allocation_set_text(&draft, NODE_ALLOCATION_NAME,
                                 text(world, "name-", plain->allocation_names[id]));
    if (!plain->allocating[id])
        node_allocation_set_text(&draft, NODE_ALLOCATION_STATE, SLICE_LIT("active"));
    node_allocation_set_node_id(&draft, plain->of_node[id]);
    change_put_node_allocation(&world->list, node_allocation_pack(&draft, world->arena));
}

/* A number that no other row has, or 0. */
static unsigned unused(const unsigned *taken, unsigned count, unsigned among)
{
    unsigned number = below(among + 1);
    for (unsigned i = 1; i <= count; i++)
        if (taken[i] == number)
            return 0;
    return number;
}

static void step_node(struct world *world, struct plain *plain)
{
    unsigned id = 1 + below(NODES);
    unsigned other = 1 + below(NODES);
    if (plain->nodes[id] != 0 && below(4) == 0) {
        plain->nodes[id] = plain->names[id] = plain->instances[id] = plain->classes[id] = 0;
        plain->free[id] = plain->busy[id] = false;
        change_delete_node(&world->list, id);
        return;
    }
    if (plain->nodes[id] != 0 && plain->nodes[other] != 0 && id != other && below(3) == 0) {
        /* as in a follow: in between, both have the name */
        unsigned name = plain->names[id];
        plain->names[id] = plain->names[other];
        plain->names[other] = name;
        put_node(world, plain, id);
        put_node(world, plain, other);
        return;
    }
    if (plain->nodes[id] == 0)
        plain->nodes[id] = ++made;
    plain->names[id] = unused(plain->names, NODES, NAMES);
    plain->instances[id] = below(2) == 0 ? 0 : unused(plain->instances, NODES, NAMES);
    plain->classes[id] = below(CLASSES + 1);
    plain->free[id] = below(2) == 0;
    plain->busy[id] = below(3) == 0;
    put_node(world, plain, id);
}

static void step_allocation(struct world *world, struct plain *plain)
{
    unsigned id = 1 + below(ALLOCATIONS);
    if (plain->allocations[id] != 0 && below(4) == 0) {
        plain->allocations[id] = plain->allocation_names[id] = 0;
        plain->of_node[id] = 0;
        plain->allocating[id] = false;
        change_delete_node_allocation(&world->list, id);
        return;
    }
    if (plain->allocations[id] == 0)
        plain->allocations[id] = ++made;
    plain->allocation_names[id] = unused(plain->allocation_names, ALLOCATIONS, NAMES);
    plain->of_node[id] = below(NODES + 1);
    plain->allocating[id] = below(2) == 0;
    put_allocation(world, plain, id);
}

/* no row has id 0 */
static void expect_node(const struct node *node, unsigned id)
{
    assert_int_equal(node == NULL ? 0 : node->record.id, id);
}

static void expect_allocation(const struct node_allocation *allocation, unsigned id)
{
    assert_int_equal(allocation == NULL ? 0 : allocation->record.id, id);
}

static unsigned holder(const unsigned *taken, unsigned count, unsigned number)
{
    for (unsigned i = 1; i <= count; i++)
        if (taken[i] == number)
            return i;
    return 0;
}

static void expect_lookups(struct world *world, const struct version *version,
                           const struct plain *plain)
{
    for (unsigned id = 1; id <= NODES; id++) {
        const struct node *node = version_node(version, id);
        expect_node(node, plain->nodes[id] == 0 ? 0 : id);
        if (node == NULL)
            continue;
        assert_ptr_equal(node,
                         version_node_by_uuid(version, text(world, "uuid-", plain->nodes[id])));
        assert_int_equal(node_is_null(node, NODE_NAME), plain->names[id] == 0);
        assert_int_equal(node_is_null(node, NODE_RESERVATION), !plain->busy[id]);
    }
    for (unsigned name = 1; name <= NAMES; name++) {
        expect_node(version_node_by_name(version, text(world, "name-", name)),
                    holder(plain->names, NODES, name));
        expect_node(version_node_by_instance(version, text(world, "instance-", name)),
                    holder(plain->instances, NODES, name));
        expect_allocation(version_node_allocation_by_name(version, text(world, "name-", name)),
                          holder(plain->allocation_names, ALLOCATIONS, name));
    }
    for (unsigned id = 1; id <= ALLOCATIONS; id++) {
        expect_allocation(version_node_allocation(version, id),
                          plain->allocations[id] == 0 ? 0 : id);
        if (plain->allocations[id] != 0)
            expect_allocation(version_node_allocation_by_uuid(
                                  version, text(world, "uuid-", plain->allocations[id])),
                              id);
    }
}

static void expect_walks(struct world *world, const struct version *version,
                         const struct plain *plain)
{
    const struct node *node = version_next_node(version, 0);
    const struct node *busy = version_next_busy_node(version, 0);
    for (unsigned id = 1; id <= NODES; id++) {
        if (plain->nodes[id] != 0) {
            expect_node(node, id);
            node = version_next_node(version, id);
        }
        if (plain->busy[id]) {
            expect_node(busy, id);
            busy = version_next_busy_node(version, id);
        }
        const struct node_allocation *of = version_node_allocation_of(version, id);
        unsigned first = 1;
        while (first <= ALLOCATIONS && plain->of_node[first] != id)
            first++;
        expect_allocation(of, first > ALLOCATIONS ? 0 : first);
    }
    assert_null(node);
    assert_null(busy);
    for (unsigned class = 1; class <= CLASSES; class ++) {
        struct slice name = text(world, "class-", class);
        node = version_next_node_of_class(version, name, 0);
        for (unsigned id = 1; id <= NODES; id++)
            if (plain->free[id] && plain->instances[id] == 0 && plain->classes[id] == class) {
                expect_node(node, id);
                node = version_next_node_of_class(version, name, id);
            }
        assert_null(node);
    }
    const struct node_allocation *each = version_next_node_allocation(version, 0);
    const struct node_allocation *allocating = version_next_allocating(version, 0);
    for (unsigned id = 1; id <= ALLOCATIONS; id++) {
        if (plain->allocations[id] != 0) {
            expect_allocation(each, id);
            each = version_next_node_allocation(version, id);
        }
        if (plain->allocating[id]) {
            expect_allocation(allocating, id);
            allocating = version_next_allocating(version, id);
        }
    }
    assert_null(each);
    assert_null(allocating);
}

static void random_rows(void **state)
{
    (void)state;
    srandom(5);
    struct world world;
    struct plain plain = {0};
    struct plain published = plain;
    struct plain pinned = plain;
    world_open(&world);
    struct replica_reader *reader = replica_reader_open(world.replica);
    const struct version *old = replica_pin(reader);
    for (int step = 0; step < STEPS; step++) {
        if (below(3) == 0)
            step_allocation(&world, &plain);
        else
            step_node(&world, &plain);
        if (below(2) == 0)
            continue;
        world_apply(&world);
        if (below(10) == 0) {
            replica_abandon(world.replica, world.edit);
            world.edit = replica_edit(world.replica);
            plain = published;
        } else if (below(3) == 0) {
            world_publish(&world);
            published = plain;
        }
        expect_lookups(&world, world.edit->version, &plain);
        expect_walks(&world, world.edit->version, &plain);
        if (below(20) == 0) {
            expect_lookups(&world, old, &pinned);
            expect_walks(&world, old, &pinned);
            check_sound(old);
            replica_unpin(reader);
            old = replica_pin(reader);
            pinned = published;
        }
    }
    replica_unpin(reader);
    replica_reader_close(reader);
    world_apply(&world);
    world_close(&world);
}

/* The rows reported as being in one version only. */
static void a_row_of_the_version_is_put_again(void **state)
{
    (void)state;
    struct world world;
    struct plain plain = {.nodes[7] = 1, .names[7] = 2};
    world_open(&world);
    put_node(&world, &plain, 7);
    world_apply(&world);
    for (int again = 0; again < 2; again++) {
        change_put_node(&world.list, version_node(world.edit->version, 7));
        world_apply(&world);
        assert_true(node_text_is(version_node(world.edit->version, 7), NODE_NAME, "name-2"));
        world_publish(&world);
    }
    change_delete_node(&world.list, 8); /* a follow: it has come and gone */
    change_delete_node_allocation(&world.list, 8);
    change_delete_node(&world.list, 7);
    world_apply(&world);
    assert_null(version_next_node(world.edit->version, 0));
    world_publish(&world);
    world_close(&world);
}

static void the_audit_finds_what_is_wrong(void **state)
{
    (void)state;
    struct world world;
    struct plain plain = {.nodes[7] = 1, .names[7] = 2, .busy[7] = true, .allocations[3] = 1};
    world_open(&world);
    put_node(&world, &plain, 7);
    put_allocation(&world, &plain, 3);
    world_apply(&world);
    struct version *version = world.edit->version;
    check_sound(version);
    struct ptree *const trees[] = {&version->node_by_uuid, &version->node_by_name,
                                   &version->busy_nodes, &version->node_allocation_by_uuid};
    for (size_t i = 0; i < sizeof(trees) / sizeof(trees[0]); i++) {
        struct buf why = {0};
        struct ptree_iter iter;
        ptree_seek(trees[i], 0, 0, &iter);
        struct ptree_entry entry = *ptree_iter_get(&iter);
        ptree_remove(&world.edit->cow, trees[i], entry.k1, entry.k2);
        assert_false(audit_version(version, &why));
        ptree_set(&world.edit->cow, trees[i], entry.k1 + 1, entry.k2, 0);
        assert_false(audit_version(version, &why));
        ptree_set(&world.edit->cow, trees[i], entry.k1, entry.k2, 0);
        why.len = 0;
        assert_false(audit_version(version, &why));
        assert_non_null(memmem(why.data, why.len, "counts differ", 13));
        ptree_remove(&world.edit->cow, trees[i], entry.k1 + 1, entry.k2);
        check_sound(version);
        buf_free(&why);
    }
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_rows),
        cmocka_unit_test(a_row_of_the_version_is_put_again),
        cmocka_unit_test(the_audit_finds_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
