/* What is logged of inventories that other processes have made exceed their capacity: the new ones,
 * at most one line a minute, and then how many were not logged. */
#include "placement/write/over_capacity_log.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"
#include "fake_clock.h"
#include "log/log.h"
#include "log/settings.h"
#include "products/products.h"
#include "replica/apply.h"
#include "replica/replica.h"
#include "unit.h"

enum { PROVIDERS = 7, TOTAL = 16, LOGGED_BYTES = 2048, MINUTE_MS = 60000 };

struct world {
    struct arena *arena;
    struct replica *replica;
    struct products products;
    const struct rules *rules;
    int log;
    off_t log_read;
    int64_t consumers;
};

static void make_rows(struct world *world, struct change_list *list)
{
    change_append(list, CHANGE_PROJECT_INSERT)->catalog =
        (struct change_catalog){1, SLICE_LIT("project")};
    change_append(list, CHANGE_USER_INSERT)->catalog =
        (struct change_catalog){1, SLICE_LIT("user")};
    change_append(list, CHANGE_CLASS_INSERT)->catalog =
        (struct change_catalog){1, SLICE_LIT("VCPU")};
    for (int64_t id = 1; id <= PROVIDERS; id++)
        change_append(list, CHANGE_PROVIDER_INSERT)->provider =
            (struct change_provider){.id = id,
                                     .root_id = id,
                                     .uuid = arena_printf(world->arena, "uuid-%d", (int)id),
                                     .name = arena_printf(world->arena, "host%d", (int)id)};
    change_append(list, CHANGE_LOAD_PROVIDERS_END);
    for (int64_t id = 1; id <= PROVIDERS; id++)
        change_append(list, CHANGE_INVENTORY_INSERT)->inventory =
            (struct change_inventory){.provider_id = id,
                                      .class_id = 1,
                                      .total = TOTAL,
                                      .min_unit = 1,
                                      .max_unit = TOTAL,
                                      .step_size = 1,
                                      .allocation_ratio = 1};
}

static void allocate(struct world *world, struct change_list *list, int64_t provider, int64_t used)
{
    int64_t id = ++world->consumers;
    struct slice uuid = arena_printf(world->arena, "consumer-%d", (int)id);
    change_append(list, CHANGE_CONSUMER_INSERT)->consumer =
        (struct change_consumer){.id = id, .project_id = 1, .user_id = 1, .uuid = uuid};
    change_append(list, CHANGE_ALLOCATION_INSERT)->allocation =
        (struct change_allocation){.consumer_id = id,
                                   .provider_id = provider,
                                   .class_id = 1,
                                   .used = used,
                                   .consumer_uuid = uuid};
}

static void publish(struct world *world, struct edit *edit, enum foreign_write kind)
{
    const struct version *before = replica_newest(world->replica);
    const struct version_stamp stamp = {{1}};
    rules_foreign(world->rules, kind, version_is_empty(before) ? NULL : before, edit->version,
                  world->arena);
    replica_publish(world->replica, edit, &stamp);
}

/* Other processes allocate so much of these providers. */
static void write_foreign(struct world *world, enum foreign_write kind, int64_t first, int64_t last,
                          int64_t used)
{
    struct change_list list = {.arena = world->arena};
    struct edit *edit = replica_edit(world->replica);
    for (int64_t id = first; id <= last; id++)
        allocate(world, &list, id, used);
    apply_changes(edit, &list);
    publish(world, edit, kind);
}

/* Everything is read, with so much of these providers allocated. */
static void load(struct world *world, int64_t first, int64_t last, int64_t used)
{
    struct change_list list = {.arena = world->arena};
    struct edit *edit = replica_edit_empty(world->replica);
    make_rows(world, &list);
    for (int64_t id = first; id <= last; id++)
        allocate(world, &list, id, used);
    apply_changes(edit, &list);
    publish(world, edit, FOREIGN_LOADED);
}

/* The log has got a line that ends so; NULL: nothing at all. */
static void expect_line(struct world *world, const char *end)
{
    char text[LOGGED_BYTES];
    ssize_t len = pread(world->log, text, sizeof(text) - 1, world->log_read);
    assert_true(len >= 0);
    text[len] = '\0';
    world->log_read += len;
    if (end == NULL)
        assert_string_equal(text, "");
    else if (strstr(text, end) == NULL)
        fail_msg("'%s' is not in '%s'", end, text);
}

static int setup(void **state)
{
    struct world *world = calloc(1, sizeof(*world));
    char path[] = "/tmp/berth-test-over-capacity-XXXXXX";
    assert_non_null(world);
    fake_clock_stop();
    world->log = mkstemp(path);
    assert_true(world->log >= 0);
    assert_int_equal(unlink(path), 0);
    log_start(world->log, false);
    world->arena = arena_create();
    world->replica = replica_create();
    world->rules = products_open(&world->products, NULL);
    *state = world;
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;
    log_stop();
    close(world->log);
    replica_destroy(world->replica);
    products_close(&world->products);
    arena_destroy(world->arena);
    free(world);
    fake_clock_run();
    return 0;
}

static void the_first_version_has_some(void **state)
{
    struct world *world = *state;
    load(world, 1, PROVIDERS, TOTAL + 1);
    expect_line(world, "what is allocated exceeds the capacity of inventories: 7, such as VCPU of "
                       "resource provider uuid-1 (host1): 17 of 16, VCPU of resource provider "
                       "uuid-2 (host2): 17 of 16, VCPU of resource provider uuid-3 (host3): 17 of "
                       "16, VCPU of resource provider uuid-4 (host4): 17 of 16, VCPU of resource "
                       "provider uuid-5 (host5): 17 of 16\n");
}

static void another_program_writes(void **state)
{
    struct world *world = *state;
    load(world, 1, 1, TOTAL);
    expect_line(world, NULL);
    write_foreign(world, FOREIGN_LOADED, 1, 1, 3);
    expect_line(world, "what another process has written, or the database has lost, exceeds the "
                       "capacity of inventories: 1, such as VCPU of resource provider uuid-1 "
                       "(host1): 19 of 16\n");
    fake_clock_add_us((uint64_t)MINUTE_MS * 1000);
    write_foreign(world, FOREIGN_LOADED, 1, 1, 1); /* it has been named */
    expect_line(world, NULL);
}

/* It has kept to the rules. */
static void another_berthd_writes(void **state)
{
    struct world *world = *state;
    load(world, 1, 1, TOTAL);
    write_foreign(world, FOREIGN_FOLLOWED, 1, 1, 1);
    expect_line(world, NULL);
}

/* A load gives out new numbers. */
static void everything_is_read_again(void **state)
{
    struct world *world = *state;
    load(world, 1, 2, TOTAL + 1);
    expect_line(world, "inventories: 2, such as");
    fake_clock_add_us((uint64_t)MINUTE_MS * 1000);
    load(world, 1, 3, TOTAL + 1);
    expect_line(world, "inventories: 1, such as VCPU of resource provider uuid-3");
}

static void there_are_many_lines(void **state)
{
    struct world *world = *state;
    load(world, 1, 0, 0);
    write_foreign(world, FOREIGN_LOADED, 1, 1, TOTAL + 1);
    expect_line(world, "inventories: 1, such as VCPU of resource provider uuid-1");
    fake_clock_add_us((uint64_t)MINUTE_MS * 1000 - 1);
    write_foreign(world, FOREIGN_LOADED, 2, 3, TOTAL + 1);
    expect_line(world, NULL);
    fake_clock_add_us(1);
    write_foreign(world, FOREIGN_LOADED, 4, 4, TOTAL + 1);
    expect_line(world, "2 more inventories whose capacity was exceeded were not logged\n");
    write_foreign(world, FOREIGN_LOADED, 5, 5, TOTAL + 1);
    expect_line(world, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_first_version_has_some, setup, teardown),
        cmocka_unit_test_setup_teardown(another_program_writes, setup, teardown),
        cmocka_unit_test_setup_teardown(another_berthd_writes, setup, teardown),
        cmocka_unit_test_setup_teardown(everything_is_read_again, setup, teardown),
        cmocka_unit_test_setup_teardown(there_are_many_lines, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
