/* Walks over the consumers of random allocations on a small forest, compared with a plain table:
 * every provider and every subtree, at once and with pauses in which other walks run. */
#include <stdlib.h>

#include "base/arena.h"
#include "replica/apply.h"
#include "replica/provider_consumers.h"
#include "replica/replica.h"
#include "unit.h"

enum { PROVIDERS = 12, CONSUMERS = 60, ROOT = 1, IDLE = PROVIDERS };

struct world {
    struct arena *arena;
    struct replica *replica;
    struct edit *edit;
    int64_t parent[PROVIDERS + 1];
    bool holds[CONSUMERS + 1][PROVIDERS + 1];
};

static void make_providers(struct world *world, struct change_list *list)
{
    for (int64_t id = 1; id <= PROVIDERS; id++) {
        world->parent[id] = id == ROOT ? 0 : id == IDLE ? ROOT : 1 + random() % (id - 1);
        change_append(list, CHANGE_PROVIDER_INSERT)->provider = (struct change_provider){
            .id = id,
            .parent_id = world->parent[id],
            .uuid = arena_printf(world->arena, "uuid-%d", (int)id),
            .name = arena_printf(world->arena, "name-%d", (int)id),
        };
    }
}

/* One of two classes of each provider, so that some consumers have both classes of one provider. */
static void make_consumers(struct world *world, struct change_list *list)
{
    int64_t allocation = 0;
    for (int64_t id = 1; id <= CONSUMERS; id++) {
        struct slice uuid = arena_printf(world->arena, "consumer-%d", (int)id);
        change_append(list, CHANGE_CONSUMER_INSERT)->consumer =
            (struct change_consumer){.id = id, .project_id = 1, .user_id = 1, .uuid = uuid};
        for (int64_t provider = 1; provider < IDLE; provider++) {
            unsigned classes = random() % 4 == 0 ? 1 + (unsigned)random() % 2 : 0;
            world->holds[id][provider] = classes > 0;
            for (unsigned class = 1; class <= classes; class ++)
                change_append(list, CHANGE_ALLOCATION_INSERT)->allocation =
                    (struct change_allocation){++allocation, id, provider, class, 1, uuid};
        }
    }
}

static void make_names(struct change_list *list)
{
    change_append(list, CHANGE_CLASS_INSERT)->catalog =
        (struct change_catalog){1, SLICE_LIT("class-1")};
    change_append(list, CHANGE_CLASS_INSERT)->catalog =
        (struct change_catalog){2, SLICE_LIT("class-2")};
    change_append(list, CHANGE_PROJECT_INSERT)->catalog =
        (struct change_catalog){1, SLICE_LIT("project")};
    change_append(list, CHANGE_USER_INSERT)->catalog =
        (struct change_catalog){1, SLICE_LIT("user")};
}

static int make_world(void **state)
{
    struct world *world = calloc(1, sizeof(*world));
    world->arena = arena_create();
    world->replica = replica_create();
    world->edit = replica_edit(world->replica);
    struct change_list list = {.arena = world->arena};
    srandom(7);
    make_names(&list);
    make_providers(world, &list);
    make_consumers(world, &list);
    apply_changes(world->edit, &list);
    *state = world;
    return 0;
}

static int drop_world(void **state)
{
    struct world *world = *state;
    replica_abandon(world->replica, world->edit);
    replica_destroy(world->replica);
    arena_destroy(world->arena);
    free(world);
    return 0;
}

static struct provider_no number_of(const struct world *world, int64_t id)
{
    return version_provider_by_id(world->edit->version, id)->no;
}

static bool is_below(const struct world *world, int64_t id, int64_t top)
{
    while (id != 0 && id != top)
        id = world->parent[id];
    return id == top;
}

/* A walk pauses for another one wherever `pauses` says so. */
static const struct consumer *next(struct world *world, struct provider_consumers *walk,
                                   bool pauses)
{
    struct provider_consumers other;
    if (pauses) {
        provider_consumers_below(&other, world->edit->version, number_of(world, ROOT));
        assert_non_null(provider_consumers_next(&other));
    }
    return provider_consumers_next(walk);
}

static void check_one(struct world *world, int64_t provider, bool pauses)
{
    struct provider_consumers walk;
    provider_consumers_of(&walk, world->edit->version, number_of(world, provider));
    for (int64_t id = 1; id <= CONSUMERS; id++)
        if (world->holds[id][provider])
            assert_int_equal(next(world, &walk, pauses)->id, id);
    assert_null(next(world, &walk, pauses));
    assert_null(next(world, &walk, pauses));
}

static void check_subtree(struct world *world, int64_t top, bool pauses)
{
    unsigned left[CONSUMERS + 1] = {0};
    for (int64_t id = 1; id <= CONSUMERS; id++)
        for (int64_t provider = 1; provider <= PROVIDERS; provider++)
            left[id] += world->holds[id][provider] && is_below(world, provider, top);
    struct provider_consumers walk;
    const struct consumer *consumer;
    provider_consumers_below(&walk, world->edit->version, number_of(world, top));
    while ((consumer = next(world, &walk, pauses)) != NULL) {
        assert_in_range(left[consumer->id], 1, PROVIDERS);
        left[consumer->id]--;
    }
    assert_null(next(world, &walk, pauses));
    for (int64_t id = 1; id <= CONSUMERS; id++)
        assert_int_equal(left[id], 0);
}

static void test_one_provider(void **state)
{
    for (int64_t id = 1; id <= PROVIDERS; id++) {
        check_one(*state, id, false);
        check_one(*state, id, true);
    }
}

static void test_subtrees(void **state)
{
    for (int64_t id = 1; id <= PROVIDERS; id++) {
        check_subtree(*state, id, false);
        check_subtree(*state, id, true);
    }
}

/* Slots of removed providers do not interrupt any subtree. */
static void test_dead_slots(void **state)
{
    struct world *world = *state;
    struct change_list list = {.arena = world->arena};
    change_append(&list, CHANGE_PROVIDER_DELETE)->provider = (struct change_provider){.id = IDLE};
    apply_changes(world->edit, &list);
    for (int64_t id = 1; id < IDLE; id++)
        check_subtree(world, id, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_provider),
        cmocka_unit_test(test_subtrees),
        cmocka_unit_test(test_dead_slots),
    };
    return cmocka_run_group_tests(tests, make_world, drop_world);
}
