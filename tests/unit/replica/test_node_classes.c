/* The iteration over the resource classes of nodes that have a provider: it ends, and each class
 * comes once. Classes whose hashes are equal count as one (test_node_classes_equal_hashes). */
#include "base/arena.h"
#include "base/hash.h"
#include "replica/apply.h"
#include "replica/nodes.h"
#include "replica/replica.h"
#include "unit.h"

enum { CLASSES = 20, NODES = 60 };

static void put_nodes(struct edit *edit, struct arena *arena)
{
    struct change_list list = {.arena = arena};
    for (unsigned id = 1; id <= NODES; id++) {
        struct node_draft draft = node_draft_new(id);
        node_set_text(&draft, NODE_UUID, arena_printf(arena, "uuid-%u", id));
        node_set_text(&draft, NODE_RESOURCE_CLASS, arena_printf(arena, "class-%u", id % CLASSES));
        if (id % 3 != 0) /* of each class some have a provider, and some have not */
            node_set_bool(&draft, NODE_PROVIDER_ADOPTED, true);
        change_put_node(&list, node_pack(&draft, arena));
    }
    apply_changes(edit, &list);
}

/* The number of different hashes. */
static unsigned count_hashes(struct arena *arena)
{
    uint64_t hashes[CLASSES];
    unsigned count = 0;
    for (unsigned n = 0; n < CLASSES; n++) {
        uint64_t hash = hash_text(arena_printf(arena, "class-%u", n));
        unsigned i = 0;
        while (i < count && hashes[i] != hash)
            i++;
        if (i == count)
            hashes[count++] = hash;
    }
    return count;
}

static void each_class_once(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct replica *replica = replica_create();
    struct edit *edit = replica_edit(replica);
    struct node_classes none = node_classes_of(edit->version);
    assert_null(node_classes_next(&none));
    put_nodes(edit, arena);
    struct node_classes classes = node_classes_of(edit->version);
    unsigned count = 0;
    uint64_t last = 0;
    for (const struct node *node; (node = node_classes_next(&classes)) != NULL; count++) {
        uint64_t hash = hash_text(node_text(node, NODE_RESOURCE_CLASS));
        assert_true(node->record.id % 3 != 0);
        assert_true(count == 0 || hash > last);
        last = hash;
    }
    assert_int_equal(count, count_hashes(arena));
    assert_null(node_classes_next(&classes));
    replica_abandon(replica, edit);
    replica_destroy(replica);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_class_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
