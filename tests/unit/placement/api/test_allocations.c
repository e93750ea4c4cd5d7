/* The output of the handlers of allocations and usages: order of rows, and the forms of the
 * microversions. */
#include "api/api.h"
#include "api/passage.h"
#include "api/request.h"
#include "placement/api/allocation_handlers.h"
#include "policy/keeper.h"
#include "replica/apply.h"
#include "replica/replica.h"
#include "unit.h"

struct world {
    struct arena *arena;
    struct replica *replica;
    struct edit *edit;
    struct change_list changes;
    struct http_exchange exchange;
    struct api_request request;
};

static struct change_catalog *name(struct world *world, enum change_kind kind, int64_t id,
                                   struct slice text)
{
    struct change *change = change_append(&world->changes, kind);
    change->catalog = (struct change_catalog){id, text};
    return &change->catalog;
}

static void hold(struct world *world, int64_t consumer, struct slice uuid, int64_t provider,
                 int64_t class_id, int64_t used)
{
    struct change *change = change_append(&world->changes, CHANGE_ALLOCATION_INSERT);
    change->created_at_us = 1000000;
    change->allocation = (struct change_allocation){0, consumer, provider, class_id, used, uuid};
}

/* Consumer "one" has rows of its providers in a mixed order, as another program may have written
 * them. Class "LATE" has a smaller id than "EARLY", but its inventory row comes later. */
static void open_world(struct world *world)
{
    *world = (struct world){.arena = arena_create(), .replica = replica_create()};
    world->changes.arena = world->arena;
    world->edit = replica_edit(world->replica);
    name(world, CHANGE_CLASS_INSERT, 7, SLICE_LIT("EARLY"));
    name(world, CHANGE_CLASS_INSERT, 3, SLICE_LIT("LATE"));
    name(world, CHANGE_PROJECT_INSERT, 1, SLICE_LIT("pro\"ject"));
    name(world, CHANGE_USER_INSERT, 1, SLICE_LIT("user"));
    name(world, CHANGE_USER_INSERT, 2, SLICE_LIT("other"));
    name(world, CHANGE_CONSUMER_TYPE_INSERT, 1, SLICE_LIT("INSTANCE"));
    static const struct slice UUIDS[] = {SLICE_LIT("p1"), SLICE_LIT("p2"), SLICE_LIT("p3")};
    for (int64_t id = 1; id <= 3; id++) {
        struct change *change = change_append(&world->changes, CHANGE_PROVIDER_INSERT);
        change->provider =
            (struct change_provider){id, 0, id, id * 10, UUIDS[id - 1], UUIDS[id - 1]};
        for (int64_t class_id = 7; class_id >= 3; class_id -= 4)
            change_append(&world->changes, CHANGE_INVENTORY_INSERT)->inventory =
                (struct change_inventory){id, class_id, 100, 0, 1, 100, 1, 1.0};
    }
    struct slice one = SLICE_LIT("one");
    struct slice two = SLICE_LIT("two");
    change_append(&world->changes, CHANGE_CONSUMER_INSERT)->consumer =
        (struct change_consumer){1, 1, 1, 1, 4, 0, one};
    change_append(&world->changes, CHANGE_CONSUMER_INSERT)->consumer =
        (struct change_consumer){2, 1, 2, 0, 1, 0, two};
    hold(world, 1, one, 2, 7, 1);
    hold(world, 1, one, 1, 7, 2);
    hold(world, 1, one, 2, 3, 3);
    hold(world, 1, one, 3, 3, 4);
    hold(world, 1, one, 1, 3, 5);
    hold(world, 2, two, 3, 7, 6);
    apply_changes(world->edit, &world->changes);
}

static void close_world(struct world *world)
{
    buf_free(&world->exchange.out);
    replica_abandon(world->replica, world->edit);
    replica_destroy(world->replica);
    arena_destroy(world->arena);
}

static void assert_answer(struct world *world, enum api_step (*handle)(struct api_request *),
                          unsigned minor, const char *arg, const char *expected)
{
    struct err err = {0};
    struct policy *policy =
        policy_build(&(struct policy_options){0}, &(struct policy_overrides){0}, &err);
    assert_non_null(policy);
    const struct api api = {.policies = policy_keeper_of(policy)};
    world->exchange.out.len = 0;
    world->exchange.arena = world->arena;
    struct api_request *request = &world->request;
    struct api_passage passage = {.request = request};
    *request = (struct api_request){.http = &world->exchange,
                                    .passage = &passage,
                                    .api = &api,
                                    .arena = world->arena,
                                    .minor = minor,
                                    .version = world->edit->version,
                                    .query = slice_of(arg),
                                    .err = {.arena = world->arena}};
    request->args[0] = slice_of(arg);
    static const struct slice ADMIN = SLICE_LIT("admin");
    request->identity.roles = (struct identity_roles){&ADMIN, 1};
    assert_int_equal(handle(request), API_DONE);
    struct slice answer =
        err_is_set(&request->err) ? request->err.message : buf_slice(&world->exchange.out);
    assert_string_equal(arena_copy(world->arena, answer).data, expected);
    policy_keeper_close(api.policies);
}

static void rows_of_a_provider_together(void **state)
{
    (void)state;
    struct world world;
    open_world(&world);
#define HELD                                                                                       \
    "{\"allocations\": {\"p2\": {\"resources\": {\"EARLY\": 1, \"LATE\": 3}, \"generation\": "     \
    "20}, "                                                                                        \
    "\"p1\": {\"resources\": {\"EARLY\": 2, \"LATE\": 5}, \"generation\": 10}, "                   \
    "\"p3\": {\"resources\": {\"LATE\": 4}, \"generation\": 30}}"
#define OWNER ", \"project_id\": \"pro\\\"ject\", \"user_id\": \"user\""
    assert_answer(&world, handle_placement_allocations_show, 11, "one", HELD "}");
    assert_answer(&world, handle_placement_allocations_show, 12, "one", HELD OWNER "}");
    assert_answer(&world, handle_placement_allocations_show, 28, "one",
                  HELD OWNER ", \"consumer_generation\": 4}");
    assert_int_equal(world.request.modified_at_us, 1000000);
    assert_answer(&world, handle_placement_allocations_show, 38, "one",
                  HELD OWNER ", \"consumer_generation\": 4, \"consumer_type\": \"INSTANCE\"}");
    assert_answer(&world, handle_placement_allocations_show, 39, "nobody", "{\"allocations\": {}}");
    close_world(&world);
}

/* Many providers, none of which occurs again later: the rows stay in their order. */
static void rows_of_different_providers(void **state)
{
    (void)state;
    struct world world;
    open_world(&world);
    world.changes.count = 0;
    change_append(&world.changes, CHANGE_CONSUMER_INSERT)->consumer =
        (struct change_consumer){3, 1, 1, 1, 1, 0, SLICE_LIT("three")};
    for (int64_t provider = 3; provider >= 1; provider--)
        hold(&world, 3, SLICE_LIT("three"), provider, 7, provider);
    apply_changes(world.edit, &world.changes);
    assert_answer(&world, handle_placement_allocations_show, 11, "three",
                  "{\"allocations\": {"
                  "\"p3\": {\"resources\": {\"EARLY\": 3}, \"generation\": 30}, "
                  "\"p2\": {\"resources\": {\"EARLY\": 2}, \"generation\": 20}, "
                  "\"p1\": {\"resources\": {\"EARLY\": 1}, \"generation\": 10}}}");
    close_world(&world);
}

static void of_a_provider(void **state)
{
    (void)state;
    struct world world;
    open_world(&world);
    assert_answer(&world, handle_placement_provider_allocations_list, 27, "p3",
                  "{\"allocations\": {\"one\": {\"resources\": {\"LATE\": 4}}, \"two\": "
                  "{\"resources\": {\"EARLY\": 6}}}, \"resource_provider_generation\": 30}");
    assert_answer(&world, handle_placement_provider_allocations_list, 28, "p2",
                  "{\"allocations\": {\"one\": {\"resources\": {\"EARLY\": 1, \"LATE\": 3}, "
                  "\"consumer_generation\": 4}}, \"resource_provider_generation\": 20}");
    assert_answer(
        &world, handle_placement_provider_usages_show, 0, "p2",
        "{\"resource_provider_generation\": 20, \"usages\": {\"LATE\": 3, \"EARLY\": 1}}");
    assert_answer(&world, handle_placement_provider_usages_show, 0, "\xe4",
                  "No resource provider with uuid \xc3\xa4 found: No resource provider with uuid "
                  "\xc3\xa4 found");
    assert_int_equal(world.request.err.status, 404);
    close_world(&world);
}

static void of_a_project(void **state)
{
    (void)state;
    struct world world;
    open_world(&world);
#define PROJECT "project_id=pro%22ject"
    assert_answer(&world, handle_placement_usages_show, 9, PROJECT,
                  "{\"usages\": {\"LATE\": 12, \"EARLY\": 9}}");
    assert_answer(&world, handle_placement_usages_show, 9, PROJECT "&user_id=other",
                  "{\"usages\": {\"EARLY\": 6}}");
    assert_answer(
        &world, handle_placement_usages_show, 38, PROJECT,
        "{\"usages\": {\"INSTANCE\": {\"LATE\": 12, \"consumer_count\": 1, \"EARLY\": 3}, "
        "\"unknown\": {\"EARLY\": 6, \"consumer_count\": 1}}}");
    assert_answer(&world, handle_placement_usages_show, 38, PROJECT "&consumer_type=all",
                  "{\"usages\": {\"all\": {\"LATE\": 12, \"consumer_count\": 2, \"EARLY\": 9}}}");
    assert_answer(&world, handle_placement_usages_show, 38, PROJECT "&consumer_type=unknown",
                  "{\"usages\": {\"unknown\": {\"EARLY\": 6, \"consumer_count\": 1}}}");
    assert_answer(&world, handle_placement_usages_show, 38,
                  PROJECT "&consumer_type=INSTANCE&user_id=other", "{\"usages\": {}}");
    assert_answer(&world, handle_placement_usages_show, 38, PROJECT "&consumer_type=NONE",
                  "{\"usages\": {}}");
    assert_answer(&world, handle_placement_usages_show, 38, "project_id=nobody",
                  "{\"usages\": {}}");
    assert_answer(&world, handle_placement_usages_show, 38, PROJECT "&user_id=unknown",
                  "{\"usages\": {}}");
    close_world(&world);
}

/* The sums of many users are added up. */
static void of_many_users(void **state)
{
    (void)state;
    struct world world;
    open_world(&world);
    world.changes.count = 0;
    for (int64_t id = 10; id < 50; id++) {
        struct slice uuid = arena_printf(world.arena, "c%lld", (long long)id);
        name(&world, CHANGE_USER_INSERT, id, arena_printf(world.arena, "u%lld", (long long)id));
        change_append(&world.changes, CHANGE_CONSUMER_INSERT)->consumer =
            (struct change_consumer){id, 1, id, 1, 1, 0, uuid};
        hold(&world, id, uuid, 1, 3, 1);
    }
    apply_changes(world.edit, &world.changes);
    assert_answer(&world, handle_placement_usages_show, 9, PROJECT,
                  "{\"usages\": {\"LATE\": 52, \"EARLY\": 9}}");
    assert_answer(&world, handle_placement_usages_show, 38, PROJECT "&consumer_type=INSTANCE",
                  "{\"usages\": {\"INSTANCE\": {\"LATE\": 52, \"consumer_count\": 41, "
                  "\"EARLY\": 3}}}");
    close_world(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_a_provider_together),
        cmocka_unit_test(rows_of_different_providers),
        cmocka_unit_test(of_a_provider),
        cmocka_unit_test(of_a_project),
        cmocka_unit_test(of_many_users),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
