/* Requests of world_valet.c as input of the real planners. One thread. */
#include <stdio.h>

#include "base/arena.h"
#include "cloud.h"
#include "placement/write/plan_aggregates.h"
#include "placement/write/plan_allocations.h"
#include "placement/write/plan_provider_traits.h"
#include "placement/write/plan_providers.h"
#include "placement/write/plan_reshaper.h"
#include "replica/valet.h"
#include "universe.h"
#include "valet/write/plan_stacks.h"
#include "valet_round.h"

enum { TEXTS = 16, TEXT_BYTES = 40, CLASS_VCPU = 1, CAPACITY = 8 };

static struct slice made(char (*texts)[TEXT_BYTES], const char *prefix, int number)
{
    check(number >= 0 && number < TEXTS);
    if (texts[number][0] == '\0')
        snprintf(texts[number], TEXT_BYTES, "%s-0000-4000-8000-%012d", prefix, number);
    return slice_of(texts[number]);
}

struct slice v_provider(int number)
{
    static char texts[TEXTS][TEXT_BYTES];
    return made(texts, "aaaaaaaa", number);
}

struct slice v_server(int number)
{
    static char texts[TEXTS][TEXT_BYTES];
    return made(texts, "cccccccc", number);
}

struct slice v_placement(int number)
{
    static char texts[TEXTS][TEXT_BYTES];
    return made(texts, "12121212", number);
}

struct slice v_group(int number)
{
    static char texts[TEXTS][TEXT_BYTES];
    return made(texts, "99999999", number);
}

struct slice v_rack_aggregate(int number)
{
    static char texts[TEXTS][TEXT_BYTES];
    return made(texts, "bbbbbbbb", number);
}

/* ---- the initial state ---- */

static void fill_provider(struct tables *tables, int number)
{
    bool is_child = number >= V_HOSTS && number < V_HOSTS + V_CHILDREN;
    bool is_rack = number >= V_HOSTS + V_CHILDREN;
    int64_t id = number + 1;
    int64_t parent = is_child ? number - V_HOSTS + 1 : 0;
    sim_execute(tables, &(struct change){.kind = CHANGE_PROVIDER_INSERT,
                                         .created_at_us = 1,
                                         .provider = {id, parent, parent == 0 ? id : parent, 0,
                                                      v_provider(number), universe_name(number)}});
    if (!is_rack)
        sim_execute(tables, &(struct change){
                                .kind = CHANGE_INVENTORY_INSERT,
                                .created_at_us = 1,
                                .inventory = {id, CLASS_VCPU, CAPACITY, 0, 1, CAPACITY, 1, 1}});
}

static void fill_link(struct tables *tables, int64_t provider, int64_t aggregate)
{
    sim_execute(tables, &(struct change){.kind = CHANGE_PROVIDER_AGGREGATE_INSERT,
                                         .created_at_us = 1,
                                         .link = {provider, aggregate}});
}

static void fill_row(struct tables *tables, enum change_kind kind, enum valet_table table,
                     const struct record_value *values, int64_t id, struct arena *arena)
{
    sim_execute(tables, &(struct change){
                            .kind = kind,
                            .row = {id, record_pack(&VALET_SHAPES[table], id, values, arena)}});
}

static void fill_groups(struct tables *tables)
{
    struct arena *arena = arena_create();
    for (int g = 0; g < V_GROUPS; g++) {
        struct record_value values[VALET_GROUP_FIELD_COUNT];
        record_init(&VALET_SHAPES[VALET_GROUPS], values);
        values[VALET_GROUP_UUID].text = v_group(g);
        values[VALET_GROUP_NAME].text = universe_name(g);
        fill_row(tables, CHANGE_VALET_GROUP_PUT, VALET_GROUPS, values, g + 1, arena);
        struct record_value member[VALET_MEMBER_FIELD_COUNT];
        record_init(&VALET_SHAPES[VALET_MEMBERS], member);
        member[VALET_MEMBER_GROUP_ID].number = g + 1;
        member[VALET_MEMBER_PROJECT].text = universe_project(g);
        fill_row(tables, CHANGE_VALET_MEMBER_PUT, VALET_MEMBERS, member, g + 1, arena);
    }
    arena_destroy(arena);
}

static void fill_plans(struct tables *tables)
{
    struct arena *arena = arena_create();
    for (int p = 0; p < V_PROJECTS; p++) {
        struct record_value values[VALET_PLAN_FIELD_COUNT];
        record_init(&VALET_SHAPES[VALET_PLANS], values);
        values[VALET_PLAN_UUID].text = arena_printf(arena, "plan %d", p);
        values[VALET_PLAN_NAME].text = SLICE_LIT("plan");
        values[VALET_PLAN_STACK_ID].text = SLICE_LIT("stack");
        values[VALET_PLAN_PROJECT].text = universe_project(p);
        values[VALET_PLAN_USER].text = universe_user(0);
        values[VALET_PLAN_FINGERPRINT].text = SLICE_LIT("");
        values[VALET_PLAN_CONTENT].text = SLICE_LIT("{}");
        values[VALET_PLAN_ANY_PROJECT].number = p + 1 == V_PROJECTS ? RECORD_TRUE : RECORD_FALSE;
        fill_row(tables, CHANGE_VALET_PLAN_PUT, VALET_PLANS, values, p + 1, arena);
    }
    arena_destroy(arena);
}

void valet_fill(struct memory_database *database)
{
    static struct tables tables;
    tables_copy(&tables, &database->tables);
    sim_execute(&tables, &(struct change){.kind = CHANGE_CLASS_INSERT,
                                          .catalog = {CLASS_VCPU, SLICE_LIT("VCPU")}});
    sim_execute(&tables, &(struct change){.kind = CHANGE_TRAIT_INSERT,
                                          .catalog = {1, SLICE_LIT("CUSTOM_VALET_RACK")}});
    sim_execute(&tables, &(struct change){.kind = CHANGE_TRAIT_INSERT,
                                          .catalog = {2, SLICE_LIT("MISC_SHARES_VIA_AGGREGATE")}});
    for (int a = 0; a < V_RACKS + V_GROUPS; a++)
        sim_execute(&tables,
                    &(struct change){.kind = CHANGE_AGGREGATE_INSERT,
                                     .catalog = {a + 1, a < V_RACKS ? v_rack_aggregate(a)
                                                                    : v_group(a - V_RACKS)}});
    for (int p = 0; p < V_HOSTS + V_CHILDREN + V_RACKS; p++)
        fill_provider(&tables, p);
    for (int r = 0; r < V_RACKS; r++) {
        int64_t rack = V_HOSTS + V_CHILDREN + r + 1;
        fill_link(&tables, rack, r + 1);
        sim_execute(&tables, &(struct change){.kind = CHANGE_PROVIDER_TRAIT_INSERT,
                                              .created_at_us = 1,
                                              .link = {rack, 1}});
    }
    for (int h = 0; h < V_HOSTS - 1; h++)
        fill_link(&tables, h + 1, h < 3 ? 1 : 2);
    fill_groups(&tables);
    fill_plans(&tables);
    memory_database_commit_foreign(database, &tables);
}

/* ---- claims ---- */

static struct claim claim_of(const struct valet_action_claim *action, struct arena *arena)
{
    struct claim_provider *providers = arena_array(arena, V_CLAIM_ROWS, sizeof(*providers));
    struct claim_amount *amounts = arena_array(arena, V_CLAIM_ROWS, sizeof(*amounts));
    for (int i = 0; i < action->count; i++) {
        amounts[i] = (struct claim_amount){SLICE_LIT("VCPU"), action->amount[i]};
        providers[i] = (struct claim_provider){v_provider(action->provider[i]), &amounts[i], 1};
    }
    return (struct claim){
        .consumer =
            action->consumer >= 0 ? v_server(action->consumer) : v_placement(-1 - action->consumer),
        .project = universe_project(action->project),
        .user = universe_user(0),
        .generation_rule = CLAIM_GENERATION_ANY,
        .providers = providers,
        .provider_count = (size_t)action->count,
    };
}

static bool plan_claims(const struct valet_action *action, const struct plan *plan, struct err *err)
{
    struct claim claims[V_CLAIMS];
    for (int i = 0; i < action->claim_count; i++)
        claims[i] = claim_of(&action->claim[i], plan->arena);
    if (action->what != V_RESHAPE)
        return plan_allocations(claims, (size_t)action->claim_count,
                                action->what == V_PUT ? CLAIM_BY_PUT : CLAIM_BY_POST, plan, err);
    struct reshape reshape = {.claims = claims, .claim_count = (size_t)action->claim_count};
    return plan_reshaper(&reshape, plan, err);
}

/* ---- what Valet's API writes ---- */

static int64_t next_id(const struct plan *plan, enum valet_table table)
{
    return store_next_id(plan->store, (enum store_table)(STORE_VALET + (int)table));
}

static void put(const struct plan *plan, enum valet_table table, int64_t id,
                const struct record_value *values)
{
    change_put_valet(plan->changes, table,
                     record_pack(&VALET_SHAPES[table], id, values, plan->arena));
}

static bool plan_made(const struct valet_action *action, const struct plan *plan, struct err *err)
{
    if (action->commit == NULL)
        return err_set(err, 409, NULL, "there is nothing to be planned");
    return plan_stack_commit(action->commit, plan, err);
}

static bool plan_unplace(const struct valet_action *action, const struct plan *plan,
                         struct err *err)
{
    const struct valet_placement *known =
        version_valet_placement_by_uuid(plan->version, v_placement(action->placement));
    if (known == NULL)
        return err_set(err, 404, NULL, "no such placement");
    plan_placement_delete(known, plan);
    return true;
}

static bool plan_member(const struct valet_action *action, const struct plan *plan)
{
    const struct valet_group *group =
        version_valet_group_by_uuid(plan->version, v_group(action->group));
    struct slice project = universe_project(action->project);
    const struct valet_member *member =
        version_valet_member(plan->version, group->record.id, project);
    if (member != NULL) {
        change_delete_valet(plan->changes, VALET_MEMBERS, member->record.id);
        return true;
    }
    struct record_value values[VALET_MEMBER_FIELD_COUNT];
    record_init(&VALET_SHAPES[VALET_MEMBERS], values);
    values[VALET_MEMBER_GROUP_ID].number = group->record.id;
    values[VALET_MEMBER_PROJECT].text = project;
    put(plan, VALET_MEMBERS, next_id(plan, VALET_MEMBERS), values);
    return true;
}

/* ---- operators ---- */

static bool plan_set_aggregates(const struct valet_action *action, const struct plan *plan,
                                struct err *err)
{
    struct slice *uuids = arena_array(plan->arena, V_RACKS + V_GROUPS, sizeof(*uuids));
    struct plan_aggregates input = {.provider_uuid = v_provider(action->host), .uuids = uuids};
    int64_t generation;
    for (int a = 0; a < V_RACKS + V_GROUPS; a++)
        if (action->wanted[a])
            uuids[input.uuid_count++] = a < V_RACKS ? v_rack_aggregate(a) : v_group(a - V_RACKS);
    return plan_aggregates_set(&input, plan, &generation, err);
}

static bool plan_mark(const struct valet_action *action, const struct plan *plan, struct err *err)
{
    struct slice name = SLICE_LIT("CUSTOM_VALET_RACK");
    struct planned_traits result;
    struct plan_provider_traits input = {.provider_uuid =
                                             v_provider(V_HOSTS + V_CHILDREN + action->rack),
                                         .names = &name,
                                         .name_count = action->amount > 1};
    return plan_provider_traits_set(&input, plan, &result, err);
}

static bool plan_share(const struct valet_action *action, const struct plan *plan, struct err *err)
{
    struct slice name = SLICE_LIT("MISC_SHARES_VIA_AGGREGATE");
    struct planned_traits result;
    struct plan_provider_traits input = {.provider_uuid = v_provider(action->host),
                                         .names = &name,
                                         .name_count = action->amount > 3};
    return plan_provider_traits_set(&input, plan, &result, err);
}

static bool plan_parent(const struct valet_action *action, const struct plan *plan, struct err *err)
{
    struct planned_provider result;
    struct plan_provider_update update = {
        .uuid = v_provider(action->host),
        .name = universe_name(action->host),
        .has_parent = true,
        .may_move = true,
    };
    if (action->parent >= 0)
        update.parent_uuid = v_provider(action->parent);
    return plan_provider_update(&update, plan, &result, err);
}

bool valet_plan_action(const struct valet_action *action, const struct plan *plan, struct err *err)
{
    struct slice uuid;
    switch (action->what) {
    case V_PUT:
    case V_POST:
    case V_RESHAPE:
        return plan_claims(action, plan, err);
    case V_RELEASE:
    case V_RELEASE_HOLD:
        uuid =
            action->what == V_RELEASE ? v_server(action->server) : v_placement(action->placement);
        return plan_allocations_delete(uuid, uuid, plan, err);
    case V_PLACE:
    case V_PLACE_HOST:
    case V_PLACE_RACK:
    case V_BIND:
        return plan_made(action, plan, err);
    case V_UNPLACE:
        return plan_unplace(action, plan, err);
    case V_AGGREGATES:
        return plan_set_aggregates(action, plan, err);
    case V_MARK:
        return plan_mark(action, plan, err);
    case V_MEMBER:
        return plan_member(action, plan);
    case V_PARENT:
        return plan_parent(action, plan, err);
    case V_SHARE:
        return plan_share(action, plan, err);
    case V_NEWS:
    case V_COUNT:
        break;
    }
    check(false);
}

/* ---- non-members ---- */

/* A server that has nothing so far. */
static void foreign_claim(struct tables *tables, struct rng *rng)
{
    struct slice uuid = v_server(rng_below(rng, V_SERVERS));
    const struct rows *rows = &tables->rows[TABLE_CONSUMERS];
    for (uint32_t i = 0; i < rows->count; i++)
        if (slice_equal(rows->row[i].image.consumer.uuid, uuid))
            return;
    if (tables->rows[TABLE_PROJECTS].count == 0 || tables->rows[TABLE_USERS].count == 0)
        return;
    const struct rows *projects = &tables->rows[TABLE_PROJECTS];
    int64_t id = memory_free_id(tables, TABLE_CONSUMERS, 1);
    sim_execute(
        tables,
        &(struct change){
            .kind = CHANGE_CONSUMER_INSERT,
            .created_at_us = 1,
            .consumer = {
                .id = id,
                .project_id = projects->row[rng_below(rng, (int)projects->count)].image.catalog.id,
                .user_id = tables->rows[TABLE_USERS].row[0].image.catalog.id,
                .generation = 1,
                .uuid = uuid,
            }});
    sim_execute(tables, &(struct change){.kind = CHANGE_ALLOCATION_INSERT,
                                         .created_at_us = 1,
                                         .allocation = {
                                             .id = memory_free_id(tables, TABLE_ALLOCATIONS, 1),
                                             .consumer_id = id,
                                             .provider_id = 1 + rng_below(rng, V_HOSTS),
                                             .class_id = CLASS_VCPU,
                                             .used = 1 + rng_below(rng, 3),
                                             .consumer_uuid = uuid,
                                         }});
}

static void foreign_aggregate(struct tables *tables, struct rng *rng)
{
    const struct rows *rows = &tables->rows[TABLE_PROVIDER_AGGREGATES];
    if (rows->count == 0)
        return;
    struct change change = rows->row[rng_below(rng, (int)rows->count)].image;
    if (change.link.provider_id > V_HOSTS)
        return; /* racks keep theirs */
    change.kind = CHANGE_PROVIDER_AGGREGATE_DELETE;
    sim_execute(tables, &change);
}

void valet_non_member(struct memory_database *database)
{
    static struct tables tables;
    tables_copy(&tables, &database->tables);
    int draw = rng_below(database->rng, 5);
    if (draw < 2)
        cloud_release(&tables, database->rng);
    else if (draw < 4)
        foreign_claim(&tables, database->rng);
    else
        foreign_aggregate(&tables, database->rng);
    memory_database_commit_foreign(database, &tables);
}
