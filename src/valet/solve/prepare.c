/* What is known before the search: the stack in dense numbers, which groups hold which hosts, which
 * hosts are free (8.3). Holds that the plan gives back are not counted. Any thread. */
#include "valet/solve/solve_internal.h"

#include <stdlib.h>

#include "base/search.h"

/* A consumer of one of the plan's servers, in a unit of that exclusive. */
struct owned {
    const struct consumer *consumer;
    uint32_t exclusive;
};

/* The consumers whose allocations are given back, ascending. */
struct back {
    const struct version *version;
    const struct consumer **consumers; /* ascending by id */
    uint32_t count;
    const struct valet_group *group;
    uint8_t *known;      /* by project: 0 not looked up yet, 1 member, 2 not a member */
    struct owned *owned; /* also ascending */
    uint32_t owned_count;
    uint32_t exclusive;
};

static int compare_consumers(const void *left, const void *right)
{
    const struct consumer *a = *(const struct consumer *const *)left;
    const struct consumer *b = *(const struct consumer *const *)right;
    return (a->id > b->id) - (a->id < b->id);
}

static int compare_owned(const void *left, const void *right)
{
    const struct owned *a = left;
    const struct owned *b = right;
    return compare_consumers(&a->consumer, &b->consumer);
}

/* A plan of a caller who sees all projects may have servers of projects that are not members: such
 * a server would make its host foreign at once. */
static bool is_of_member(const struct solver *solver, const struct consumer *consumer,
                         uint32_t exclusive)
{
    const struct version *version = solver->version;
    struct slice project = catalog_name(catalog_row_at(&version->projects, consumer->project));
    return version_valet_member(version, solver->groups[exclusive]->record.id, project) != NULL;
}

static void gather_owned(struct solver *solver, struct back *back)
{
    uint32_t count = solver->stack->server_count;
    back->owned = arena_array(solver->arena, (size_t)count * SOLVE_OWN, sizeof(*back->owned));
    for (uint32_t s = 0; s < count; s++) {
        uint32_t unit = solver->units.of_server[s];
        uint32_t exclusive = unit == UNITS_NONE ? UNITS_NONE : solver->units.unit[unit].exclusive;
        for (uint32_t i = 0; i < SOLVE_OWN && exclusive != UNITS_NONE; i++)
            if (solver->request->pins[s].own[i] != NULL &&
                is_of_member(solver, solver->request->pins[s].own[i], exclusive))
                back->owned[back->owned_count++] =
                    (struct owned){solver->request->pins[s].own[i], exclusive};
    }
    if (back->owned_count > 1)
        qsort(back->owned, back->owned_count, sizeof(*back->owned), compare_owned);
}

static void gather_back(struct solver *solver, struct back *back)
{
    *back = (struct back){.version = solver->version};
    const struct solve_request *request = solver->request;
    back->consumers =
        arena_array(solver->arena, (size_t)solver->stack->server_count + request->released_count,
                    sizeof(*back->consumers));
    for (uint32_t i = 0; i < request->released_count; i++)
        back->consumers[back->count++] = request->released[i];
    for (uint32_t s = 0; s < solver->stack->server_count; s++) {
        const struct solve_pin *pin = &request->pins[s];
        if (pin->kind == SOLVE_PLACE && pin->released != NULL)
            back->consumers[back->count++] = pin->released;
    }
    if (back->count > 1)
        qsort(back->consumers, back->count, sizeof(*back->consumers), compare_consumers);
}

static bool is_back(void *cls, const struct consumer *consumer)
{
    const struct back *back = cls;
    return back->count > 0 && bsearch(&consumer, back->consumers, back->count,
                                      sizeof(*back->consumers), compare_consumers) != NULL;
}

static bool is_back_or_owned(void *cls, const struct consumer *consumer)
{
    const struct back *back = cls;
    struct owned key = {consumer, 0};
    const struct owned *found =
        back->owned_count == 0
            ? NULL
            : bsearch(&key, back->owned, back->owned_count, sizeof(*back->owned), compare_owned);
    return is_back(cls, consumer) || (found != NULL && found->exclusive == back->exclusive);
}

/* A host with nothing but allocations that are given back counts as unused. */
static void free_used(struct solver *solver, struct back *back)
{
    uint64_t *requested = bits_create(solver->arena, solver->hosts.count);
    for (uint32_t i = 0; i < back->count; i++) {
        for (uint32_t j = 0; j < back->consumers[i]->allocation_count; j++) {
            struct slot_no slot =
                version_slot(solver->version, back->consumers[i]->allocation[j].provider);
            uint32_t host = solver->hosts.of_slot[version_place(solver->version, slot)->root];
            if (host == BITS_NONE || bits_has(requested, host))
                continue;
            bits_add(requested, host);
            if (host_visit_consumers(solver->version, solver->hosts.providers[host], is_back, back))
                bits_remove(solver->hosts.used, host);
        }
    }
}

static bool is_member(void *cls, const struct consumer *consumer)
{
    struct back *back = cls;
    uint8_t *known = &back->known[consumer->project];
    if (*known == 0) {
        struct slice project =
            catalog_name(catalog_row_at(&back->version->projects, consumer->project));
        bool is_member =
            version_valet_member(back->version, back->group->record.id, project) != NULL;
        *known = is_member ? 1 : 2;
    }
    return *known == 1 || is_back(back, consumer);
}

static void find_groups(struct solver *solver)
{
    const struct units *units = &solver->units;
    solver->groups = arena_array(solver->arena, units->exclusive_count, sizeof(*solver->groups));
    for (uint32_t i = 0; i < units->exclusive_count; i++) {
        solver->groups[i] = version_valet_group_by_uuid(solver->version, units->exclusives[i].uuid);
        check(solver->groups[i] != NULL);
    }
}

/* A host with allocations of non-members cannot be used for the group. */
static void find_non_members(struct solver *solver, struct back *back)
{
    const struct hosts *hosts = &solver->hosts;
    size_t projects = solver->version->projects.limit;
    back->known = arena_array(solver->arena, projects, sizeof(*back->known));
    for (uint32_t i = 0; i < solver->units.exclusive_count; i++) {
        back->group = NULL;
        for (uint32_t host = 0; host < hosts->count; host++) {
            if (solver->holders[host] != i || !bits_has(hosts->used, host))
                continue;
            if (back->group == NULL)
                memset(back->known, 0, projects);
            back->group = solver->groups[i];
            if (!host_visit_consumers(solver->version, hosts->providers[host], is_member, back))
                solver->holders[host] = HOLDER_ANOTHER;
        }
    }
}

static void find_holders(struct solver *solver, struct back *back)
{
    const struct hosts *hosts = &solver->hosts;
    solver->holders = arena_array(solver->arena, hosts->count, sizeof(*solver->holders));
    solver->claimed = bits_create(solver->arena, hosts->count);
    for (uint32_t host = 0; host < hosts->count; host++) {
        const struct hosts_claim *claim = hosts->claims == NULL ? NULL : &hosts->claims[host];
        solver->holders[host] = HOLDER_NOBODY;
        if (claim == NULL || claim->group == NULL)
            continue;
        bits_add(solver->claimed, host);
        solver->holders[host] = HOLDER_ANOTHER;
        for (uint32_t i = 0; i < solver->units.exclusive_count && !claim->several; i++)
            if (claim->group == solver->groups[i])
                solver->holders[host] = i;
    }
    find_non_members(solver, back);
}

/* A host is also free for the plan's servers of a group if it has, besides what is given back, only
 * allocations of the plan's other servers of the same group. */
static void free_own(struct solver *solver, struct back *back)
{
    const struct hosts *hosts = &solver->hosts;
    for (uint32_t i = 0; i < back->owned_count; i++) {
        const struct consumer *consumer = back->owned[i].consumer;
        uint64_t *free_hosts = solver->free[back->owned[i].exclusive];
        back->exclusive = back->owned[i].exclusive;
        for (uint32_t j = 0; j < consumer->allocation_count; j++) {
            struct slot_no slot = version_slot(solver->version, consumer->allocation[j].provider);
            uint32_t host = hosts->of_slot[version_place(solver->version, slot)->root];
            if (host != BITS_NONE && !bits_has(free_hosts, host) &&
                !bits_has(solver->claimed, host) && !bits_has(hosts->disabled, host) &&
                host_visit_consumers(solver->version, hosts->providers[host], is_back_or_owned,
                                     back)) {
                bits_add(free_hosts, host);
                bits_add(solver->claimable, host);
            }
        }
    }
}

static void find_sets(struct solver *solver, struct back *back)
{
    const struct hosts *hosts = &solver->hosts;
    solver->racked = bits_create(solver->arena, hosts->count);
    for (uint32_t host = 0; host < hosts->count; host++)
        if (hosts->racks[host] != HOSTS_NO_RACK && hosts->racks[host] != HOSTS_MANY_RACKS)
            bits_add(solver->racked, host);
    solver->claimable = bits_create(solver->arena, hosts->count);
    solver->free = arena_array(solver->arena, solver->units.exclusive_count, sizeof(*solver->free));
    for (uint32_t i = 0; i < solver->units.exclusive_count; i++) {
        solver->free[i] = bits_create(solver->arena, hosts->count);
        for (uint32_t w = 0; w < hosts->words; w++)
            solver->claimable[w] = solver->free[i][w] =
                ~(hosts->used[w] | solver->claimed[w] | hosts->disabled[w]);
    }
    free_own(solver, back);
}

static void add_demand(struct unit_facts *facts, const struct need_amount *amount)
{
    for (uint32_t i = 0; i < facts->demand_count; i++) {
        if (facts->demands[i].class_index == amount->class_index) {
            int64_t *sum = &facts->demands[i].amount;
            *sum = *sum > INT64_MAX / 2 - amount->amount ? INT64_MAX / 2 : *sum + amount->amount;
            return;
        }
    }
    facts->demands[facts->demand_count++] =
        (struct unit_demand){amount->class_index, amount->amount};
}

static bool same_kind(const struct solver *solver, const struct unit *a, const struct unit *b)
{
    bool is_same = a->placed_count == b->placed_count && a->exclusive == b->exclusive;
    for (uint32_t i = 0; is_same && i < a->placed_count; i++)
        is_same = solver->needs.of_server[a->placed[i]] == solver->needs.of_server[b->placed[i]];
    return is_same;
}

/* Over the values that same_kind compares. */
static uint64_t hash_kind(const struct solver *solver, const struct unit *unit)
{
    uint64_t hash = unit->exclusive;
    for (uint32_t i = 0; i < unit->placed_count; i++)
        hash = (hash ^ solver->needs.of_server[unit->placed[i]]) * 0x9e3779b97f4a7c15u;
    return hash;
}

/* The kinds so far, each represented by one of its units; with room for one more. */
struct kinds {
    uint32_t *like;
    uint64_t *hashes;
};

static void find_kind(struct solver *solver, struct kinds *kinds, uint32_t u)
{
    const struct unit *unit = &solver->units.unit[u];
    uint32_t kind = 0;
    kinds->hashes[solver->kind_count] = hash_kind(solver, unit);
    while (kinds->hashes[kind] != kinds->hashes[solver->kind_count] ||
           (kind < solver->kind_count &&
            !same_kind(solver, unit, &solver->units.unit[kinds->like[kind]])))
        kind++;
    if (kind == solver->kind_count)
        kinds->like[solver->kind_count++] = u;
    solver->facts[u].kind = kind;
}

static void find_facts(struct solver *solver)
{
    uint32_t count = solver->units.unit_count;
    struct kinds kinds = {
        arena_array(solver->arena, count, sizeof(uint32_t)),
        arena_array(solver->arena, (size_t)count + 1, sizeof(uint64_t)),
    };
    solver->facts = arena_zalloc(solver->arena, count * sizeof(*solver->facts));
    for (uint32_t u = 0; u < count; u++) {
        const struct unit *unit = &solver->units.unit[u];
        struct unit_facts *facts = &solver->facts[u];
        uint32_t amounts = 0;
        for (uint32_t i = 0; i < unit->placed_count; i++)
            amounts += solver->needs.need[solver->needs.of_server[unit->placed[i]]].amount_count;
        facts->demands = arena_array(solver->arena, amounts, sizeof(*facts->demands));
        for (uint32_t i = 0; i < unit->placed_count; i++) {
            const struct need *need = &solver->needs.need[solver->needs.of_server[unit->placed[i]]];
            for (uint32_t a = 0; a < need->amount_count; a++)
                add_demand(facts, &need->amounts[a]);
        }
        facts->fixed = arena_array(solver->arena, unit->fixed_count, sizeof(*facts->fixed));
        for (uint32_t i = 0; i < unit->fixed_count; i++)
            facts->fixed[i] = hosts_index(solver->version, &solver->hosts,
                                          solver->request->pins[unit->fixed[i]].present);
        if (unit->placed_count > 0)
            find_kind(solver, &kinds, u);
    }
}

bool solver_prepare(struct solver *solver)
{
    struct class_no *classes;
    uint32_t class_count;
    struct back back;
    if (!budget_take(solver->budget, 16 * (int64_t)solver->version->slot_limit))
        return false;
    solver->hosts = hosts_read(solver->version, solver->arena);
    gather_back(solver, &back);
    find_groups(solver);
    gather_owned(solver, &back);
    free_used(solver, &back);
    find_holders(solver, &back);
    find_sets(solver, &back);
    needs_gather(solver->version, solver->request, solver->arena, &solver->needs, &classes,
                 &class_count);
    headrooms_init(&solver->headrooms, solver->version, solver->arena, classes, class_count);
    headrooms_give_back(&solver->headrooms, back.consumers, back.count);
    find_facts(solver);
    return needs_search(solver->version, &solver->hosts, &solver->headrooms, &solver->needs,
                        solver->arena, solver->budget);
}

uint32_t solver_next_rack(const struct solver *solver, uint32_t host, uint32_t *at)
{
    const struct hosts *hosts = &solver->hosts;
    uint32_t rack = hosts->racks[host];
    if (rack == HOSTS_NO_RACK || *at == HOSTS_NO_RACK)
        return HOSTS_NO_RACK;
    if (rack != HOSTS_MANY_RACKS) {
        *at = HOSTS_NO_RACK;
        return rack;
    }
    for (rack = *at; rack < hosts->rack_count; rack++) {
        const struct hosts_mark *mark = &hosts->rack[rack];
        uint32_t place;
        SEARCH_LOWER(place, 0, mark->host_count, mark->hosts[place] < host);
        if (place < mark->host_count && mark->hosts[place] == host) {
            *at = rack + 1;
            return rack;
        }
    }
    return HOSTS_NO_RACK;
}
