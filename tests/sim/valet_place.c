/* Commits of plans as Valet's API makes them, of a version that may be old at the time of the
 * commit: the other berth, non-members and requests of the same batch write in between. Nothing is
 * searched: the commit must refuse what is not allowed. One thread. */
#include "base/arena.h"
#include "universe.h"
#include "valet/state/placement_location.h"
#include "valet/write/plan_stacks.h"
#include "valet_round.h"

enum { HOSTS_MOST = V_HOSTS, ROWS_MOST = V_PLACEMENTS };

struct making {
    const struct valet_action *action;
    const struct version *version;
    struct arena *arena;
    struct host_marks marks;
    struct stack_commit *commit;
    struct stack_row *rows;
};

static const void *copy(const struct making *making, const struct record *record)
{
    return memcpy(arena_alloc(making->arena, record->bytes), record, record->bytes);
}

static struct slice copy_uuid(const struct making *making, const struct provider *provider)
{
    return arena_copy(making->arena, provider_uuid(provider));
}

static struct slice present_of(const struct making *making, const struct valet_placement *row)
{
    const struct provider *host = row == NULL ? NULL : placement_host(making->version, row);
    return host == NULL ? (struct slice){0} : copy_uuid(making, host);
}

static const struct valet_placement *known(const struct making *making)
{
    return version_valet_placement_by_uuid(making->version, v_placement(making->action->placement));
}

/* The placement as planned: with a server's id, or a location. */
static const struct valet_placement *after(const struct making *making,
                                           const struct valet_placement *before,
                                           struct slice resource_id, struct slice location)
{
    const struct record_shape *shape = &VALET_SHAPES[VALET_PLACEMENTS];
    struct record_value values[VALET_PLACEMENT_FIELD_COUNT];
    int64_t id = 0;
    record_init(shape, values);
    if (before != NULL) {
        id = before->record.id;
        record_open(shape, &before->record, values);
    }
    values[VALET_PLACEMENT_UUID].text = v_placement(making->action->placement);
    values[VALET_PLACEMENT_NAME].text = SLICE_LIT("name");
    values[VALET_PLACEMENT_ORCHESTRATION_ID].text = v_server(making->action->placement);
    if (resource_id.data != NULL)
        values[VALET_PLACEMENT_RESOURCE_ID].text = resource_id;
    if (location.data != NULL)
        values[VALET_PLACEMENT_LOCATION].text = location;
    return (const struct valet_placement *)record_pack(shape, id, values, making->arena);
}

static struct stack_row *add_row(struct making *making, const struct valet_placement *before)
{
    struct stack_row *row = &making->rows[making->commit->row_count++];
    *row = (struct stack_row){.present = present_of(making, before)};
    if (before != NULL)
        row->before = copy(making, &before->record);
    return row;
}

/* The plan's other placements: they stay, or are deleted with their holds. */
static void add_others(struct making *making)
{
    const struct valet_placement *own = known(making);
    const struct valet_placement *at;
    making->commit->covers_plan = true;
    for (int64_t id = 0; (at = version_next_valet_placement_of(
                              making->version, making->commit->before->record.id, id)) != NULL;
         id = at->record.id) {
        if (at == own)
            continue;
        struct stack_row *row = add_row(making, at);
        row->after = making->action->drops_others ? NULL : row->before;
    }
}

static struct slice *rack_hosts(const struct making *making, const struct provider *rack,
                                size_t *count)
{
    struct slice *hosts = arena_array(making->arena, HOSTS_MOST, sizeof(*hosts));
    struct marker_hosts all =
        marker_hosts_of(making->version, &making->marks, rack, making->marks.rack);
    const struct provider *host;
    *count = 0;
    while ((host = marker_hosts_next(&all)) != NULL)
        hosts[(*count)++] = copy_uuid(making, host);
    return hosts;
}

static void add_claim(struct making *making, const struct provider *host,
                      const struct valet_group *group, struct stack_row *row)
{
    const struct version *version = making->version;
    struct stack_claim *claim = arena_zalloc(making->arena, sizeof(*claim));
    struct slice *groups = arena_alloc(making->arena, sizeof(*groups));
    bool several;
    *groups = v_group(making->action->group);
    making->commit->groups = groups;
    making->commit->group_count = 1;
    making->commit->claims = claim;
    row->exclusive.group_id = claim->group_id = group->record.id;
    if (making->action->what == V_PLACE_HOST) {
        struct slice *only = arena_alloc(making->arena, sizeof(*only));
        *only = claim->provider = copy_uuid(making, host);
        claim->hosts = only;
        claim->host_count = 1;
        making->commit->claim_count = host_claim_of(version, host).group == NULL;
        return;
    }
    const struct provider *rack = host_rack(version, &making->marks, host, &several);
    row->exclusive.rack = rack == NULL ? SLICE_LIT("") : copy_uuid(making, rack);
    if (rack == NULL || host_rack_is_claimed(version, provider_uuid(rack), group->record.id))
        return;
    claim->provider = row->exclusive.rack;
    claim->is_rack = true;
    claim->hosts = rack_hosts(making, rack, &claim->host_count);
    making->commit->claim_count = 1;
}

static void place(struct making *making)
{
    const struct valet_action *action = making->action;
    const struct provider *host =
        version_provider_by_uuid(making->version, v_provider(action->host));
    const struct valet_group *group =
        version_valet_group_by_uuid(making->version, v_group(action->group));
    struct stack_row *row = add_row(making, known(making));
    struct claim_provider *provider = arena_alloc(making->arena, sizeof(*provider));
    struct claim_amount *amount = arena_alloc(making->arena, sizeof(*amount));
    struct stack_look *look = arena_zalloc(making->arena, sizeof(*look));
    *amount = (struct claim_amount){SLICE_LIT("VCPU"), action->amount};
    *provider = (struct claim_provider){v_provider(action->host), amount, 1};
    row->after = after(making, known(making), (struct slice){0}, provider_name(host));
    row->moves_hold = true;
    row->providers = provider;
    row->provider_count = 1;
    row->host = v_provider(action->host);
    look->provider = v_provider(action->host);
    look->look = stack_look(making->version, &making->marks, host);
    making->commit->looks = look;
    making->commit->look_count = 1;
    if (action->what != V_PLACE)
        add_claim(making, host, group, row);
}

const struct stack_commit *valet_commit_of(const struct valet_action *action,
                                           const struct version *version, struct arena *arena)
{
    const struct valet_plan *plan = version_valet_plan(version, 1 + action->placement % V_PROJECTS);
    struct making making = {action, version, arena, host_marks_of(version), NULL, NULL};
    if (action->what == V_BIND &&
        (known(&making) == NULL ||
         version_valet_placement_with(version, v_server(action->server), 0) != NULL))
        return NULL;
    making.commit = arena_zalloc(arena, sizeof(*making.commit));
    making.rows = arena_array(arena, ROWS_MOST + 1, sizeof(*making.rows));
    making.commit->before = copy(&making, &plan->record);
    making.commit->after = making.commit->before;
    making.commit->rows = making.rows;
    if (action->what != V_BIND) {
        place(&making);
        add_others(&making);
        return making.commit;
    }
    struct stack_row *row = add_row(&making, known(&making));
    row->after = after(&making, known(&making), v_server(action->server), (struct slice){0});
    return making.commit;
}
