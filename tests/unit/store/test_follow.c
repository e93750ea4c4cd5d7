/* A long random walk by two stores on one file, each with a small memory of its contents: after
 * each follow, the memory of one equals that of the other, and the result of a load. */
#include "fixture.h"
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>

static uint32_t seed = 11;

static int64_t dice(int64_t sides)
{
    seed = seed * 1664525 + 1013904223;
    return (int64_t)(seed >> 8) % sides;
}

/* Appends to the list and applies it to the writer's own memory. */
static struct change *act(struct memory *memory, struct change_list *list, struct change change)
{
    struct change *added = add(list, change.kind);
    int64_t created_at_us = added->created_at_us;
    *added = change;
    added->created_at_us = created_at_us;
    memory_sink(memory, added);
    return added;
}

static void bump(struct memory *memory, struct change_list *list, int64_t id)
{
    int64_t generation = memory->providers[id].generation;
    struct change change = {.kind = CHANGE_PROVIDER_GENERATION};
    change.generation = (struct change_generation){id, generation, generation + 1};
    act(memory, list, change);
}

static void create_provider(struct memory *memory, struct change_list *list, int64_t id)
{
    static int made;
    int64_t parent = dice(PROVIDERS);
    if (parent == id || !memory->providers[parent].there)
        parent = 0;
    struct change change = {.kind = CHANGE_PROVIDER_INSERT};
    made++;
    change.provider = (struct change_provider){
        .id = id,
        .parent_id = parent,
        .root_id = parent == 0 ? id : memory->providers[parent].root,
        .generation = dice(3),
        .uuid = arena_printf(list->arena, "00000000-0000-4000-8000-%012d", made),
        .name = arena_printf(list->arena, "made-%d", made)};
    act(memory, list, change);
}

static bool has_children_or_use(const struct memory *memory, int64_t id)
{
    for (int i = 0; i < PROVIDERS; i++)
        if (memory->providers[i].there && memory->providers[i].parent == id)
            return true;
    for (int i = 0; i < ALLOCATIONS; i++)
        if (memory->allocations[i].consumer != 0 && memory->allocations[i].provider == id)
            return true;
    return false;
}

static void toggle_contents(struct memory *memory, struct change_list *list, int64_t id, bool clear)
{
    const struct provider *provider = &memory->providers[id];
    for (int64_t class = 0; class < CLASSES; class ++) {
        if (!clear && dice(2) == 0)
            continue;
        struct change change = {.kind = provider->total[class] != 0 ? CHANGE_INVENTORY_DELETE
                                                                    : CHANGE_INVENTORY_INSERT};
        change.inventory = (struct change_inventory){id, class, 1 + (int)dice(99), 0, 1, 9, 1, 1.0};
        if (!clear || provider->total[class] != 0)
            act(memory, list, change);
    }
    for (int64_t trait = 0; trait < TRAITS; trait++) {
        struct change change = {.kind = provider->traits[trait] ? CHANGE_PROVIDER_TRAIT_DELETE
                                                                : CHANGE_PROVIDER_TRAIT_INSERT};
        change.link = (struct change_link){id, trait + 1};
        if (clear ? provider->traits[trait] : dice(2) == 0)
            act(memory, list, change);
    }
}

static void remove_provider(struct memory *memory, struct change_list *list, int64_t id)
{
    if (has_children_or_use(memory, id))
        return;
    toggle_contents(memory, list, id, true);
    struct change change = {.kind = CHANGE_PROVIDER_DELETE};
    change.provider.id = id;
    change.provider.generation = memory->providers[id].generation;
    change.provider.uuid = arena_copy(list->arena, slice_of(memory->providers[id].uuid));
    act(memory, list, change);
}

static bool is_below(const struct memory *memory, int64_t id, int64_t above)
{
    for (; id != 0; id = memory->providers[id].parent)
        if (id == above)
            return true;
    return false;
}

static void update_tree(struct memory *memory, struct change_list *list, int64_t id, int64_t parent,
                        int64_t root)
{
    const struct provider *provider = &memory->providers[id];
    struct change change = {.kind = CHANGE_PROVIDER_UPDATE, .updated_at_us = 5};
    change.provider =
        (struct change_provider){.id = id,
                                 .parent_id = parent,
                                 .root_id = root,
                                 .uuid = arena_copy(list->arena, slice_of(provider->uuid)),
                                 .name = arena_copy(list->arena, slice_of(provider->name))};
    act(memory, list, change);
    for (int64_t child = 1; child < PROVIDERS; child++)
        if (memory->providers[child].there && memory->providers[child].parent == id)
            update_tree(memory, list, child, id, root);
}

static void move_provider(struct memory *memory, struct change_list *list, int64_t id)
{
    int64_t parent = dice(PROVIDERS);
    if (!memory->providers[parent].there || is_below(memory, parent, id))
        parent = 0;
    update_tree(memory, list, id, parent, parent == 0 ? id : memory->providers[parent].root);
}

static void write_consumer(struct memory *memory, struct change_list *list, struct store *store,
                           int64_t id)
{
    struct consumer *consumer = &memory->consumers[id];
    struct change change = {.kind = CHANGE_ALLOCATIONS_OF_DELETE};
    struct slice uuid = consumer->there
                            ? arena_copy(list->arena, slice_of(consumer->uuid))
                            : arena_printf(list->arena, "%08ld-1111-4000-8000-%012ld", id, dice(9));
    change.allocation = (struct change_allocation){.consumer_id = id, .consumer_uuid = uuid};
    bool was_there = consumer->there;
    if (was_there)
        act(memory, list, change);
    if (was_there && dice(3) == 0) {
        change = (struct change){.kind = CHANGE_CONSUMER_DELETE};
        change.consumer = (struct change_consumer){
            .id = id, .expected_generation = consumer->generation, .uuid = uuid};
        act(memory, list, change);
        return;
    }
    change = (struct change){.kind = was_there ? CHANGE_CONSUMER_UPDATE : CHANGE_CONSUMER_INSERT};
    change.consumer = (struct change_consumer){.id = id,
                                               .project_id = 1,
                                               .user_id = 1,
                                               .type_id = 1,
                                               .generation = consumer->generation + 1,
                                               .expected_generation = consumer->generation,
                                               .uuid = uuid};
    act(memory, list, change);
    for (int64_t provider = 1; provider < PROVIDERS; provider++) {
        if (!memory->providers[provider].there || dice(8) != 0)
            continue;
        change = (struct change){.kind = CHANGE_ALLOCATION_INSERT};
        change.allocation = (struct change_allocation){
            store_next_id(store, STORE_ALLOCATIONS), id, provider, 0, 1 + dice(5), uuid};
        if (change.allocation.id >= ALLOCATIONS)
            return;
        act(memory, list, change);
        bump(memory, list, provider);
    }
}

static void random_act(struct memory *memory, struct change_list *list, struct store *store)
{
    int64_t id = 1 + dice(PROVIDERS - 1);
    int64_t what = dice(9);
    if (what == 0)
        write_consumer(memory, list, store, 1 + dice(CONSUMERS - 1));
    else if (!memory->providers[id].there)
        create_provider(memory, list, id);
    else if (what == 1)
        remove_provider(memory, list, id);
    else if (what == 2)
        move_provider(memory, list, id);
    else if (what < 6)
        toggle_contents(memory, list, id, false);
    else
        bump(memory, list, id);
}

static int begun_count[4];

/* Locks the store and brings the memory up to date; the read stays open. */
static void begin_and_update(struct fixture *fixture, struct store *store, struct memory *memory)
{
    enum store_news begun = lock_and_read(store, &fixture->err);
    begun_count[begun]++;
    if (begun == STORE_NEWS_RELOAD) {
        memset(memory, 0, sizeof(*memory));
        memory->loading = true;
        assert_int_equal(store_load(store, memory_sink, memory, &fixture->err), STORE_OK);
        memory->loading = false;
    }
    const struct memory_view view = memory_view_of(memory);
    if (begun == STORE_NEWS_FOLLOW)
        assert_int_equal(store_follow(store, &view, memory_sink, memory, &fixture->err), STORE_OK);
    assert_int_not_equal(begun, STORE_NEWS_FAILED);
}

static void write_batch(struct fixture *fixture, struct store *store, struct memory *memory)
{
    struct store_stamp stamp;
    bool foreign;
    struct change_list list = changes_of(fixture);
    begin_and_update(fixture, store, memory);
    assert_true(store_end_read(store, &stamp));
    for (int64_t acts = 1 + dice(6); acts > 0; acts--)
        random_act(memory, &list, store);
    if (dice(2) == 0)
        store_unlock(store);
    enum store_result result = commit_list(store, &list, &stamp, &foreign, &fixture->err);
    if (result != STORE_OK)
        print_error("%.*s\n", SLICE_ARG(fixture->err.message));
    assert_int_equal(result, STORE_OK);
}

static void test_walk(void **state)
{
    struct fixture *fixture = *state;
    struct memory *memories = calloc(3, sizeof(*memories));
    struct store *stores[2] = {fixture_open(fixture), fixture_open(fixture)};
    struct change_list list = changes_of(fixture);
    add_catalog(&list, CHANGE_PROJECT_INSERT, 1, "project");
    add_catalog(&list, CHANGE_USER_INSERT, 1, "user");
    add_catalog(&list, CHANGE_CONSUMER_TYPE_INSERT, 1, "INSTANCE");
    commit_changes(fixture, stores[0], &list);
    for (int round = 0; round < 700; round++) {
        arena_reset(fixture->arena);
        for (int64_t batches = dice(4); batches >= 0; batches--) {
            int64_t writer = dice(2);
            write_batch(fixture, stores[writer], &memories[writer]);
        }
        struct store_stamp stamp;
        for (int i = 0; i < 2; i++) {
            begin_and_update(fixture, stores[i], &memories[i]);
            assert_true(end_news(stores[i], &stamp));
        }
        memset(&memories[2], 0, sizeof(*memories));
        memories[2].loading = true;
        begin_and_update(fixture, stores[0], &memories[0]);
        assert_int_equal(store_load(stores[0], memory_sink, &memories[2], &fixture->err), STORE_OK);
        memories[2].loading = false;
        assert_true(end_news(stores[0], &stamp));
        assert_memory_equal(&memories[0], &memories[2], sizeof(*memories));
        assert_memory_equal(&memories[1], &memories[2], sizeof(*memories));
    }
    print_message("unchanged %d, followed %d, reloaded %d\n", begun_count[STORE_NEWS_NONE],
                  begun_count[STORE_NEWS_FOLLOW], begun_count[STORE_NEWS_RELOAD]);
    assert_true(begun_count[STORE_NEWS_FOLLOW] > 200);
    /* A server needs no reload, whatever was deleted and moved. */
    assert_true(fixture_is_server() || begun_count[STORE_NEWS_RELOAD] > 2);
    free(memories);
    store_close(stores[0]);
    store_close(stores[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_walk, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
