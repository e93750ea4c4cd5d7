/* One commit of a plan, in the order required by pipeline_plan: first everything is compared and
 * every claim decided (stack_facts.c and the steps of engine/claim.c), then changes are appended.
 *
 * Invariants: capacity is decided by engine/claim.c alone, on the newest version, without the
 * plan's old holds; a host that is claimed for a group has nothing but these holds and what the
 * plan's servers of that group have; a row that is put is the one that was shown. Writer thread
 * only. */
#include "valet/write/plan_stacks.h"

#include "base/arena.h"
#include "engine/allocations.h"
#include "valet/state/placement_location.h"
#include "valet/write/exclusivity.h"
#include "valet/write/plan_stacks_internal.h"

static bool refuse_changed(const struct stack_commit *commit, struct err *err)
{
    struct slice name = record_text(&commit->after->record, VALET_PLAN_NAME);
    err_set_join(err, 409, NULL,
                 SLICE_LIT("Valet error: the cloud changed while planning "
                           "for '"),
                 name, SLICE_LIT("'"));
    return err_of_kind(err, REFUSED_CHANGED);
}

static struct claim hold_claim(const struct stack_commit *commit, const struct stack_row *row,
                               bool keeps)
{
    const struct valet_placement *placement = row->after != NULL ? row->after : row->before;
    return (struct claim){
        .consumer = record_text(&placement->record, VALET_PLACEMENT_UUID),
        .project = record_text(&commit->after->record, VALET_PLAN_PROJECT),
        .user = record_text(&commit->after->record, VALET_PLAN_USER),
        .type = SLICE_LIT(VALET_HOLD_TYPE),
        .providers = keeps ? row->providers : NULL,
        .provider_count = keeps ? row->provider_count : 0,
    };
}

/* A server that already holds something where its hold is, or is to be, needs no hold (7.3). */
static bool server_is_there(const struct stack_commit *commit, const struct stack_row *row,
                            const struct plan *plan)
{
    const struct consumer *server = placement_server(plan->version, row->after, commit->after);
    if (server == NULL)
        return false;
    if (row->moves_hold)
        return placement_is_on(plan->version, server,
                               version_provider_by_uuid(plan->version, row->host));
    const struct consumer *hold = placement_hold(plan->version, row->after);
    return hold != NULL &&
           placement_is_on(plan->version, server, placement_host_of(plan->version, hold));
}

/* The holds that change: a claim with the new content for each. */
static struct claim *hold_claims(const struct stack_commit *commit, const struct plan *plan,
                                 size_t *count)
{
    struct claim *claims = arena_array(plan->arena, commit->row_count, sizeof(*claims));
    *count = 0;
    for (size_t i = 0; i < commit->row_count; i++) {
        const struct stack_row *row = &commit->rows[i];
        bool is_there = row->after != NULL && server_is_there(commit, row, plan);
        if (row->after == NULL || is_there)
            claims[(*count)++] = hold_claim(commit, row, false);
        else if (row->moves_hold)
            claims[(*count)++] = hold_claim(commit, row, true);
    }
    return claims;
}

static void append_claim_row(const struct stack_claim_found *found, struct slice provider,
                             bool is_rack, struct slice rack, const struct plan *plan)
{
    const struct record_shape *shape = &VALET_SHAPES[VALET_CLAIMS];
    struct record_value values[VALET_CLAIM_FIELD_COUNT];
    record_init(shape, values);
    values[VALET_CLAIM_GROUP_ID].number = found->group->record.id;
    values[VALET_CLAIM_PROVIDER].text = provider;
    values[VALET_CLAIM_IS_RACK].number = is_rack ? RECORD_TRUE : RECORD_FALSE;
    values[VALET_CLAIM_RACK].text = rack;
    int64_t id = store_next_id(plan->store, STORE_VALET + VALET_CLAIMS);
    change_put_valet(plan->changes, VALET_CLAIMS, record_pack(shape, id, values, plan->arena));
}

static void append_claim(const struct stack_claim_found *found, struct name_rows *aggregates,
                         const struct plan *plan)
{
    struct slice rack = {0};
    if (found->is_rack) {
        rack = found->provider;
        append_claim_row(found, rack, true, (struct slice){0}, plan);
    }
    for (size_t i = 0; i < found->host_count; i++) {
        int64_t aggregate =
            name_row_id(aggregates, record_text(&found->group->record, VALET_GROUP_UUID));
        struct change *change = change_append(plan->changes, CHANGE_PROVIDER_AGGREGATE_INSERT);
        change->created_at_us = plan->now_us;
        change->link = (struct change_link){found->hosts[i]->id, aggregate};
        append_claim_row(found, provider_uuid(found->hosts[i]), false, rack, plan);
    }
}

static int64_t append_plan(const struct stack_commit *commit, const struct plan *plan)
{
    const struct record_shape *shape = &VALET_SHAPES[VALET_PLANS];
    struct record_value values[VALET_PLAN_FIELD_COUNT];
    if (commit->before != NULL && record_equal(&commit->before->record, &commit->after->record))
        return commit->before->record.id;
    record_open(shape, &commit->after->record, values);
    int64_t id;
    if (commit->before != NULL) {
        id = commit->before->record.id;
    } else {
        id = store_next_id(plan->store, STORE_VALET + VALET_PLANS);
        values[VALET_PLAN_CREATED_AT].number = plan->now_us;
    }
    change_put_valet(plan->changes, VALET_PLANS, record_pack(shape, id, values, plan->arena));
    return id;
}

static void append_placement(const struct stack_row *row, int64_t plan_id, const struct plan *plan)
{
    const struct record_shape *shape = &VALET_SHAPES[VALET_PLACEMENTS];
    struct record_value values[VALET_PLACEMENT_FIELD_COUNT];
    if (row->before != NULL && record_equal(&row->before->record, &row->after->record))
        return;
    record_open(shape, &row->after->record, values);
    int64_t id;
    if (row->before != NULL) {
        id = row->before->record.id;
    } else {
        id = store_next_id(plan->store, STORE_VALET + VALET_PLACEMENTS);
        values[VALET_PLACEMENT_PLAN_ID].number = plan_id;
        values[VALET_PLACEMENT_CREATED_AT].number = plan->now_us;
    }
    change_put_valet(plan->changes, VALET_PLACEMENTS, record_pack(shape, id, values, plan->arena));
}

static void append_rows(const struct stack_commit *commit, const struct plan *plan)
{
    int64_t plan_id = append_plan(commit, plan);
    for (size_t i = 0; i < commit->row_count; i++)
        if (commit->rows[i].after == NULL)
            change_delete_valet(plan->changes, VALET_PLACEMENTS, commit->rows[i].before->record.id);
    for (size_t i = 0; i < commit->row_count; i++)
        if (commit->rows[i].after != NULL)
            append_placement(&commit->rows[i], plan_id, plan);
}

/* Exclusivity can still refuse what passed stack_facts.c, but only on providers outside the hosts.
 * The engine checks the rule anyway; checking it here, too, gives the same refusal as any other
 * fact that has changed. */
static bool keeps_exclusivity(const struct plan *plan)
{
    struct effects *effects = arena_alloc(plan->arena, sizeof(*effects));
    struct err ignored = {.arena = plan->arena};
    effects_derive(effects, plan);
    plan->said->effects = effects;
    plan->said->effects_end = plan->changes->count;
    return exclusivity_check(effects, &ignored);
}

/* A refused claim gives the same refusal as any other fact that has changed. */
static bool decide_holds(struct claim_set *set)
{
    return claim_find_providers(set) && claim_check_amounts(set);
}

bool plan_stack_commit(const struct stack_commit *commit, const struct plan *plan, struct err *err)
{
    struct stack_facts facts;
    struct claim_set set;
    struct err ignored = {.arena = plan->arena};
    struct name_rows aggregates = name_rows_of(plan, CHANGE_AGGREGATE_INSERT);
    size_t count;
    if (!stack_facts_hold(commit, plan, &facts))
        return refuse_changed(commit, err);
    const struct claim *claims = hold_claims(commit, plan, &count);
    claim_begin(&set, claims, count, CLAIM_BY_POST, 0, plan, &ignored);
    set.raises_left = true;
    if (!decide_holds(&set))
        return refuse_changed(commit, err);
    claim_write(&set);
    for (size_t i = 0; i < facts.claim_count; i++)
        append_claim(&facts.claims[i], &aggregates, plan);
    append_rows(commit, plan);
    return keeps_exclusivity(plan) || refuse_changed(commit, err);
}

/* The releases for all placements together, so that a provider's generation is incremented once. */
static void append_releases(const struct valet_placement *const *rows, size_t count,
                            const struct plan *plan)
{
    struct claim *claims = arena_array(plan->arena, count, sizeof(*claims));
    struct err ignored = {.arena = plan->arena};
    struct claim_set set;
    size_t held = 0;
    for (size_t i = 0; i < count; i++) {
        struct slice uuid = record_text(&rows[i]->record, VALET_PLACEMENT_UUID);
        const struct consumer *hold = version_consumer(plan->version, uuid);
        if (hold != NULL && hold->allocation_count > 0)
            claims[held++] = (struct claim){.consumer = arena_copy(plan->arena, uuid)};
    }
    claim_begin(&set, claims, held, CLAIM_BY_POST, 0, plan, &ignored);
    bool is_decided = decide_holds(&set);
    check(is_decided);
    claim_write(&set);
}

void plan_placement_delete(const struct valet_placement *row, const struct plan *plan)
{
    append_releases(&row, 1, plan);
    change_delete_valet(plan->changes, VALET_PLACEMENTS, row->record.id);
}

void plan_stack_delete(const struct valet_plan *row, const struct plan *plan)
{
    const struct valet_placement **rows = NULL;
    size_t count = 0;
    size_t capacity = 0;
    const struct valet_placement *at = NULL;
    for (int64_t id = 0;
         (at = version_next_valet_placement_of(plan->version, row->record.id, id)) != NULL;
         id = at->record.id) {
        rows = arena_grow(plan->arena, rows, count, &capacity, sizeof(*rows));
        rows[count++] = at;
    }
    append_releases(rows, count, plan);
    for (size_t i = 0; i < count; i++)
        change_delete_valet(plan->changes, VALET_PLACEMENTS, rows[i]->record.id);
    change_delete_valet(plan->changes, VALET_PLANS, row->record.id);
}
