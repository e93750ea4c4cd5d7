/* Turns the result of a search into a commit. The version is released before the writer runs, so
 * rows and uuids are copied, and the facts that the result depends on are part of the commit, for
 * the writer to compare. Handlers on a worker or the slow lane. */
#include "valet/api/plans/plan_making.h"

#include <stdlib.h>

#include "api/request_id.h"
#include "valet/api/stack/stack_text.h"
#include "valet/state/placement_location.h"

/* The commit under construction. */
struct making {
    const struct solving *solving;
    struct arena *arena;
    const struct solve_outcome *outcome;
    struct host_marks marks;
    struct solved *solved;
    struct stack_row *rows;
    struct stack_look *looks;
    size_t look_capacity;
};

const void *plan_making_copy(const struct record *record, struct arena *arena)
{
    void *copy = arena_alloc(arena, record->bytes);
    memcpy(copy, record, record->bytes);
    return copy;
}

static struct slice copy_uuid(const struct provider *provider, struct arena *arena)
{
    return arena_copy(arena, provider_uuid(provider));
}

static struct slice new_uuid(struct arena *arena)
{
    char *text = arena_alloc(arena, UUID_LEN);
    uuid_generate_text(text);
    return (struct slice){text, UUID_LEN};
}

static void put_look(struct making *making, const struct provider *provider, uint64_t look,
                     bool is_place)
{
    struct stack_commit *commit = &making->solved->commit;
    making->looks = arena_grow(making->arena, making->looks, commit->look_count,
                               &making->look_capacity, sizeof(*making->looks));
    making->looks[commit->look_count++] =
        (struct stack_look){copy_uuid(provider, making->arena), look, is_place};
}

static void add_look(struct making *making, const struct provider *provider)
{
    put_look(making, provider,
             stack_look(making->solving->request->version, &making->marks, provider), false);
}

/* Servers that stay on a host restrict the others, and are themselves checked against new
 * constraints of the stack. */
static void add_place(struct making *making, const struct provider *host)
{
    if (making->solving->accepted != NULL) {
        add_look(making, host);
        return;
    }
    put_look(making, host, stack_place(making->solving->request->version, &making->marks, host),
             true);
}

/* Whether the hold already is what the search found. */
static bool hold_is_so(const struct solving_server *server, const struct solve_server *found)
{
    const struct consumer *hold = server->pin.released;
    if (hold == NULL || hold->allocation_count != found->row_count)
        return false;
    for (uint32_t i = 0; i < found->row_count; i++) {
        bool is_there = false;
        for (uint32_t k = 0; k < hold->allocation_count && !is_there; k++)
            is_there = hold->allocation[k].provider.v == found->rows[i].provider->no.v &&
                       hold->allocation[k].class_no.v == found->rows[i].class_no.v &&
                       hold->allocation[k].used == found->rows[i].amount;
        if (!is_there)
            return false;
    }
    return true;
}

static int plan_making_compare_rows(const void *left, const void *right)
{
    const struct solve_row *a = left;
    const struct solve_row *b = right;
    int64_t order = a->provider->id - b->provider->id;
    if (order == 0)
        order = (int64_t)a->class_no.v - (int64_t)b->class_no.v;
    return (order > 0) - (order < 0);
}

/* The result's amounts by provider: each provider once, and each class of a provider once. */
static void fill_providers(struct making *making, const struct solve_server *found,
                           struct stack_row *row)
{
    struct claim_provider *providers =
        arena_array(making->arena, found->row_count, sizeof(*providers));
    struct claim_amount *amounts = arena_array(making->arena, found->row_count, sizeof(*amounts));
    struct solve_row *sorted = arena_array(making->arena, found->row_count, sizeof(*sorted));
    const struct version *version = making->solving->request->version;
    memcpy(sorted, found->rows, found->row_count * sizeof(*sorted));
    qsort(sorted, found->row_count, sizeof(*sorted), plan_making_compare_rows);
    for (uint32_t i = 0; i < found->row_count; i++) {
        const struct catalog_row *class_row =
            catalog_row_at(&version->classes, sorted[i].class_no.v);
        amounts[i] = (struct claim_amount){arena_copy(making->arena, catalog_name(class_row)),
                                           sorted[i].amount};
        if (i == 0 || sorted[i].provider != sorted[i - 1].provider) {
            providers[row->provider_count++] = (struct claim_provider){
                copy_uuid(sorted[i].provider, making->arena), &amounts[i], 0};
            add_look(making, sorted[i].provider);
        }
        providers[row->provider_count - 1].amount_count++;
    }
    row->providers = providers;
}

/* The facts that the search depends on, whether or not the hold moves. */
static void fill_place(struct making *making, uint32_t at, struct stack_row *row)
{
    const struct provider *host = making->outcome->servers[at].host;
    const struct solve_exclusive *exclusive = &making->outcome->exclusives[at];
    if (exclusive->group != NULL)
        row->exclusive.group_id = exclusive->group->record.id;
    if (host == NULL)
        return;
    row->host = copy_uuid(host, making->arena);
    add_look(making, host);
    if (exclusive->group == NULL || !exclusive->is_rack)
        return;
    bool several;
    const struct provider *rack =
        host_rack(making->solving->request->version, &making->marks, host, &several);
    row->exclusive.rack = rack == NULL ? SLICE_LIT("") : copy_uuid(rack, making->arena);
}

static void fill_hold(struct making *making, uint32_t at, struct stack_row *row)
{
    row->moves_hold = true;
    fill_providers(making, &making->outcome->servers[at], row);
}

/* The final location of the placement: the host that was found or, if none was searched for, its
 * previous one. */
static struct slice location_of(const struct making *making, const struct solving_server *server,
                                const struct provider *found)
{
    if (found != NULL)
        return arena_copy(making->arena, provider_name(found));
    return arena_copy(making->arena,
                      placement_location(making->solving->request->version, server->placement));
}

/* Whether the placement's capacity is missing on the host that was found, or differs. A server that
 * is there without a hold keeps what it has; with another id it may be another server. */
static bool needs_hold(const struct making *making, uint32_t at)
{
    const struct solving_server *server = &making->solving->servers[at];
    const struct solve_server *found = &making->outcome->servers[at];
    const struct version *version = making->solving->request->version;
    if (found->host == NULL || hold_is_so(server, found))
        return false;
    if (found->host != server->present || server->pin.released != NULL)
        return true;
    const struct consumer *there = plan_servers_server(making->solving, at);
    return there == NULL || placement_host_of(version, there) != found->host;
}

static void add_row(struct making *making, uint32_t at)
{
    const struct solving_server *server = &making->solving->servers[at];
    const struct stack_server *said = &making->solving->stack.servers[at];
    const struct provider *found = making->outcome->servers[at].host;
    const struct record_shape *shape = &VALET_SHAPES[VALET_PLACEMENTS];
    struct record_value values[VALET_PLACEMENT_FIELD_COUNT];
    size_t index = making->solved->commit.row_count++;
    struct stack_row *row = &making->rows[index];
    bool has_moved = found != NULL && found != server->present;
    int64_t id = 0;
    *row = (struct stack_row){0};
    if (server->placement != NULL) {
        id = server->placement->record.id;
        record_open(shape, &server->placement->record, values);
        row->before = plan_making_copy(&server->placement->record, making->arena);
        if (server->present != NULL)
            row->present = copy_uuid(server->present, making->arena);
        if (server->present != NULL && found == NULL)
            add_place(making, server->present);
    } else {
        record_init(shape, values);
        values[VALET_PLACEMENT_UUID].text = new_uuid(making->arena);
        values[VALET_PLACEMENT_ORCHESTRATION_ID].text = said->orchestration_id;
    }
    fill_place(making, at, row);
    if (needs_hold(making, at))
        fill_hold(making, at, row);
    struct slice location = location_of(making, server, found);
    values[VALET_PLACEMENT_NAME].text = said->name;
    values[VALET_PLACEMENT_RESOURCE_ID].text = server->resource_id;
    if (found != NULL)
        values[VALET_PLACEMENT_LOCATION].text = location;
    bool is_reserved = server->is_reserved && !(has_moved && server->leaves_reserve);
    values[VALET_PLACEMENT_RESERVED].number = is_reserved ? RECORD_TRUE : RECORD_FALSE;
    row->after = (const struct valet_placement *)record_pack(shape, id, values, making->arena);
    making->solved->views[index] = (struct placement_view){row->after, location, {0}};
}

static int plan_making_compare_ids(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left;
    int64_t b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* Placements of the plan that are not in the stack are deleted or stay as they are. */
static void add_others(struct making *making, const int64_t *known, size_t known_count)
{
    const struct solving *solving = making->solving;
    const struct version *version = solving->request->version;
    const struct valet_placement *at = NULL;
    for (int64_t id = 0;
         (at = version_next_valet_placement_of(version, solving->plan->record.id, id)) != NULL;
         id = at->record.id) {
        if (known_count > 0 && bsearch(&at->record.id, known, known_count, sizeof(*known),
                                       plan_making_compare_ids) != NULL)
            continue;
        size_t index = making->solved->commit.row_count++;
        struct stack_row *row = &making->rows[index];
        const struct provider *host = placement_host(version, at);
        *row = (struct stack_row){.before = plan_making_copy(&at->record, making->arena)};
        if (host != NULL)
            row->present = copy_uuid(host, making->arena);
        making->solved->views[index] = (struct placement_view){0};
        if (solving->drops_others)
            continue;
        row->after = row->before;
        making->solved->views[index] = (struct placement_view){
            row->after, arena_copy(making->arena, placement_location(version, at)), {0}};
    }
}

static size_t count_placements(const struct solving *solving)
{
    size_t count = 0;
    const struct valet_placement *at = NULL;
    for (int64_t id = 0; solving->plan != NULL &&
                         (at = version_next_valet_placement_of(
                              solving->request->version, solving->plan->record.id, id)) != NULL;
         id = at->record.id)
        count++;
    return count;
}

static void add_rows(struct making *making)
{
    const struct solving *solving = making->solving;
    uint32_t count = solving->stack.server_count;
    size_t most = count + count_placements(solving);
    int64_t *known = arena_array(making->arena, count, sizeof(*known));
    size_t known_count = 0;
    making->rows = arena_array(making->arena, most, sizeof(*making->rows));
    making->solved->views = arena_array(making->arena, most, sizeof(*making->solved->views));
    for (uint32_t i = 0; i < count; i++) {
        const struct valet_placement *row = solving->servers[i].placement;
        if (row != NULL)
            known[known_count++] = row->record.id;
        if (row != NULL || solving->servers[i].pin.kind == SOLVE_PLACE)
            add_row(making, i);
    }
    if (known_count > 1)
        qsort(known, known_count, sizeof(*known), plan_making_compare_ids);
    if (solving->plan != NULL)
        add_others(making, known, known_count);
    making->solved->commit.rows = making->rows;
    making->solved->commit.looks = making->looks;
}

static void add_claims(struct making *making)
{
    const struct solve_outcome *outcome = making->outcome;
    struct stack_claim *claims = arena_array(making->arena, outcome->claim_count, sizeof(*claims));
    for (uint32_t i = 0; i < outcome->claim_count; i++) {
        const struct solve_claim *found = &outcome->claims[i];
        struct slice *hosts = arena_array(making->arena, found->host_count, sizeof(*hosts));
        for (uint32_t h = 0; h < found->host_count; h++)
            hosts[h] = copy_uuid(found->hosts[h], making->arena);
        claims[i] = (struct stack_claim){
            .group_id = found->group->record.id,
            .provider = copy_uuid(found->provider, making->arena),
            .is_rack = found->is_rack,
            .hosts = hosts,
            .host_count = found->host_count,
        };
    }
    making->solved->commit.claims = claims;
    making->solved->commit.claim_count = outcome->claim_count;
}

static void add_groups(struct making *making)
{
    const struct stack *stack = &making->solving->stack;
    struct slice *groups = arena_array(making->arena, stack->group_count, sizeof(*groups));
    size_t count = 0;
    for (uint32_t i = 0; i < stack->group_count; i++)
        if (stack->groups[i].type == STACK_EXCLUSIVITY)
            groups[count++] = stack->groups[i].group_uuid;
    making->solved->commit.groups = groups;
    making->solved->commit.group_count = count;
}

/* False: the stack's text is too large for a row. */
static bool add_plan(struct making *making)
{
    const struct solving *solving = making->solving;
    const struct record_shape *shape = &VALET_SHAPES[VALET_PLANS];
    struct record_value values[VALET_PLAN_FIELD_COUNT];
    struct buf content = {0};
    int64_t id = 0;
    record_init(shape, values);
    if (solving->plan != NULL) {
        id = solving->plan->record.id;
        record_open(shape, &solving->plan->record, values);
        making->solved->commit.before = plan_making_copy(&solving->plan->record, making->arena);
    }
    stack_text_write(&solving->stack, &content);
    if (content.len > RECORD_TEXT_MAX) {
        buf_free(&content);
        return err_set(&solving->request->err, 400, NULL,
                       "Valet error: the servers and groups are more than a plan can hold");
    }
    values[VALET_PLAN_UUID].text = solving->plan_uuid;
    values[VALET_PLAN_NAME].text = solving->name;
    values[VALET_PLAN_STACK_ID].text = solving->stack_id;
    values[VALET_PLAN_PROJECT].text = solving->project;
    values[VALET_PLAN_USER].text = solving->user;
    values[VALET_PLAN_FINGERPRINT].text = solving->fingerprint;
    values[VALET_PLAN_CONTENT].text = buf_slice(&content);
    values[VALET_PLAN_ANY_PROJECT].number = solving->any_project ? RECORD_TRUE : RECORD_FALSE;
    making->solved->commit.after =
        (const struct valet_plan *)record_pack(shape, id, values, making->arena);
    buf_free(&content);
    return true;
}

struct solved *plan_making_commit(const struct solving *solving,
                                  const struct solve_outcome *outcome)
{
    struct api_request *request = solving->request;
    struct making making = {
        .solving = solving,
        .arena = request->arena,
        .outcome = outcome,
        .marks = host_marks_of(request->version),
        .solved = arena_zalloc(request->arena, sizeof(struct solved)),
    };
    if (!add_plan(&making))
        return NULL;
    add_rows(&making);
    add_claims(&making);
    add_groups(&making);
    making.solved->commit.covers_plan = true;
    return making.solved;
}
