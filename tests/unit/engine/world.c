/* See world.h. One thread. */
#include "engine/world.h"

#include <stdlib.h>

#include "engine/checked.h"
#include "memory_store/memory_store.h"
#include "placement/write/plan_allocations.h"
#include "replica/audit.h"
#include "unit.h"

static struct change *put(struct world *world, enum change_kind kind)
{
    struct change *change = change_append(&world->changes, kind);
    change->created_at_us = change->updated_at_us = ++world->now_us;
    return change;
}

/* A planner relies on no constraint of the database. */
static void execute(struct world *world, const struct change_list *changes)
{
    for (size_t i = 0; i < changes->count && !world->skips_store; i++) {
        const char *broken = tables_execute(&world->database->tables, &changes->items[i]);
        if (broken != NULL)
            fail_msg("%s", broken);
    }
}

void world_apply(struct world *world)
{
    execute(world, &world->changes);
    apply_changes(world->edit, &world->changes);
}

static void apply(struct world *world)
{
    world_apply(world);
    struct buf why = {0};
    if (!audit_version(world->edit->version, &why)) {
        buf_append_char(&why, '\0');
        fail_msg("%s", why.data);
    }
    buf_free(&why);
}

/* The database is still empty. */
static void sink_nothing(void *cls, const struct change *change)
{
    (void)cls;
    assert_int_equal(change->kind, CHANGE_LOAD_PROVIDERS_END);
}

static void open_store(struct world *world, unsigned providers)
{
    struct err err = {.arena = world->arena};
    struct store_stamp ignored;
    world->database = calloc(1, sizeof(*world->database));
    assert_non_null(world->database);
    world->database->least_id = 1000;
    world->skips_store = providers >= ROWS_MAX;
    memory_database_init(world->database);
    world->store = memory_store_open(world->database);
    assert_int_equal(store_begin_read(world->store, &err), STORE_NEWS_RELOAD);
    assert_int_equal(store_load(world->store, sink_nothing, NULL, &err), STORE_OK);
    assert_true(store_end_read(world->store, &ignored));
}

void world_open(struct world *world, unsigned providers)
{
    *world = (struct world){.arena = arena_create(), .replica = replica_create()};
    world->edit = replica_edit(world->replica);
    open_store(world, providers);
    products_open(&world->products, NULL);
    world->changes.arena = world->arena;
    for (unsigned i = 0; i < 4; i++)
        put(world, CHANGE_CLASS_INSERT)->catalog =
            (struct change_catalog){i, arena_printf(world->arena, "%c", 'A' + (int)i)};
    for (unsigned i = 1; i <= providers; i++) {
        struct slice uuid = world_uuid(world, 'p', i);
        put(world, CHANGE_PROVIDER_INSERT)->provider =
            (struct change_provider){i, 0, i, 0, uuid, uuid};
    }
    apply(world);
    world->changes.count = 0;
}

void world_close(struct world *world)
{
    products_close(&world->products);
    replica_abandon(world->replica, world->edit);
    replica_destroy(world->replica);
    store_close(world->store);
    memory_database_free(world->database);
    free(world->database);
    arena_destroy(world->arena);
}

struct slice world_uuid(struct world *world, char prefix, unsigned number)
{
    return arena_printf(world->arena, "%c%u", prefix, number);
}

const struct provider *world_provider(struct world *world, unsigned number)
{
    return version_provider_by_id(world->edit->version, number);
}

const struct consumer *world_consumer(struct world *world, unsigned number)
{
    return version_consumer(world->edit->version, world_uuid(world, 'c', number));
}

const struct provider_inventory *world_inventory(struct world *world, unsigned provider,
                                                 char class_name)
{
    const struct catalog_row *row =
        catalog_find_id(&world->edit->version->classes, class_name - 'A');
    return provider_inventory_of(world_provider(world, provider), (struct class_no){row->number});
}

void world_put_inventory(struct world *world, unsigned provider, char class_name,
                         struct inventory_figures figures)
{
    bool is_there = world_inventory(world, provider, class_name) != NULL;
    world->changes.count = 0;
    put(world, is_there ? CHANGE_INVENTORY_UPDATE : CHANGE_INVENTORY_INSERT)->inventory =
        (struct change_inventory){
            .provider_id = provider,
            .class_id = class_name - 'A',
            .total = figures.total,
            .reserved = figures.reserved,
            .min_unit = figures.min_unit,
            .max_unit = figures.max_unit,
            .step_size = figures.step_size,
            .allocation_ratio = figures.allocation_ratio,
        };
    apply(world);
    world->changes.count = 0;
}

struct claim world_claim(struct world *world, unsigned consumer)
{
    return (struct claim){
        .consumer = world_uuid(world, 'c', consumer),
        .project = SLICE_LIT("project"),
        .user = SLICE_LIT("user"),
    };
}

void world_add(struct world *world, struct claim *claim, unsigned provider, char class_name,
               int64_t amount)
{
    struct slice uuid = world_uuid(world, 'p', provider);
    size_t count = claim->provider_count;
    struct claim_provider *providers =
        arena_array(world->arena, count + 1, sizeof(struct claim_provider));
    for (size_t i = 0; i < count; i++)
        providers[i] = claim->providers[i];
    if (count == 0 || !slice_equal(providers[count - 1].uuid, uuid))
        providers[count++] = (struct claim_provider){.uuid = uuid};
    struct claim_provider *last = &providers[count - 1];
    struct claim_amount *amounts =
        arena_array(world->arena, last->amount_count + 1, sizeof(struct claim_amount));
    for (size_t i = 0; i < last->amount_count; i++)
        amounts[i] = last->amounts[i];
    amounts[last->amount_count++] =
        (struct claim_amount){arena_printf(world->arena, "%c", class_name), amount};
    last->amounts = amounts;
    claim->providers = providers;
    claim->provider_count = count;
}

static struct plan world_plan_again(struct world *world)
{
    return (struct plan){
        .version = world->edit->version,
        .changes = &world->changes,
        .arena = world->arena,
        .store = world->store,
        .rules = &world->products.rules,
        .author = world->author,
        .said = &world->said,
        .now_us = world->now_us,
    };
}

struct plan world_plan(struct world *world)
{
    world->changes.count = 0;
    world->said = (struct plan_said){0};
    world->err = (struct err){.arena = world->arena};
    world->now_us++;
    return world_plan_again(world);
}

/* As the pipeline does it, from the check on. */
static bool check_and_apply(struct world *world)
{
    struct plan plan = world_plan_again(world);
    struct change_list follows = {.arena = world->arena};
    struct checked checked;
    if (!checked_planned(&checked, &plan, &world->err))
        return false;
    apply(world);
    for (plan.changes = &follows; checked_follow(&checked, &plan); follows.count = 0) {
        execute(world, &follows);
        apply_changes(world->edit, &follows);
    }
    return true;
}

bool world_conclude(struct world *world, bool accepted)
{
    assert_int_equal(accepted, !err_is_set(&world->err));
    return accepted && check_and_apply(world);
}

void world_set_next_id(struct world *world, enum store_table table, int64_t id)
{
    world->store->next_id[table] = id;
}

bool world_write(struct world *world, const struct claim *claims, size_t count,
                 enum claim_source source)
{
    struct plan plan = world_plan(world);
    return world_conclude(world, plan_allocations(claims, count, source, &plan, &world->err));
}

bool world_reshape(struct world *world, const struct reshape *reshape)
{
    struct plan plan = world_plan(world);
    return world_conclude(world, plan_reshaper(reshape, &plan, &world->err));
}

bool world_delete(struct world *world, unsigned consumer)
{
    struct plan plan = world_plan(world);
    struct slice uuid = world_uuid(world, 'c', consumer);
    return world_conclude(world, plan_allocations_delete(uuid, uuid, &plan, &world->err));
}

void world_assert_refused(struct world *world, int status, const char *code, const char *text)
{
    assert_int_equal(world->err.status, status);
    assert_string_equal(arena_copy(world->arena, world->err.message).data, text);
    if (code == NULL)
        assert_null(world->err.code);
    else
        assert_string_equal(world->err.code, code);
}
