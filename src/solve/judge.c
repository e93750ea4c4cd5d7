/* What an update asks anew of servers that stay (Valet spec, 6.8, 7.2, 8.3), judged where they are.
 * What was asked of them before is left alone: compute may have put a server somewhere that breaks
 * a constraint (8.5), and the plan has to stay of use. "Before" is the content as it was accepted,
 * with all its servers; whoever was bound to one host was bound to one rack as well, whoever was
 * kept on different racks was kept on different hosts.
 *
 * A host, or rack, of servers that are newly assigned to a group is claimed, which is noted before
 * any domain is made. Any thread. */
#include "solve/judge.h"

#include <stdlib.h>

#include "solve/accepted.h"
#include "solve/report.h"

struct judge {
    struct solver *solver;
    struct accepted accepted;
    struct slice *reason;
};

/* --- refusals */

static struct slice name_of(const struct judge *judge, uint32_t server)
{
    return judge->solver->stack->servers[server].name;
}

static struct slice place_of(const struct judge *judge, uint32_t server)
{
    return provider_name(judge->solver->request->pins[server].present);
}

static bool refuse_pair(struct judge *judge, uint32_t a, uint32_t b, const struct slice *words)
{
    struct slice here = place_of(judge, a);
    struct slice there = place_of(judge, b);
    const struct slice parts[] = {
        SLICE_LIT("Valet error: '"),
        name_of(judge, a),
        SLICE_LIT("' and '"),
        name_of(judge, b),
        SLICE_LIT("' are "),
        words[0],
        words[1],
        words[2],
        SLICE_LIT(", but stay on '"),
        here,
        SLICE_LIT("' and '"),
        there,
        SLICE_LIT("'"),
    };
    *judge->reason = arena_join(judge->solver->arena, parts, sizeof(parts) / sizeof(parts[0]));
    return false;
}

static bool refuse_apart(struct judge *judge, const struct apart *apart, uint32_t a, uint32_t b)
{
    const struct slice words[] = {
        apart->is_rack ? SLICE_LIT("kept on different racks by '")
                       : SLICE_LIT("kept on different hosts by '"),
        judge->solver->stack->groups[apart->group].name,
        SLICE_LIT("'"),
    };
    return refuse_pair(judge, a, b, words);
}

static bool refuse_together(struct judge *judge, bool is_rack, uint32_t a, uint32_t b)
{
    const struct slice words[] = {
        SLICE_LIT("bound to one "),
        is_rack ? SLICE_LIT("rack") : SLICE_LIT("host"),
        SLICE_LIT(" by affinity"),
    };
    return refuse_pair(judge, a, b, words);
}

static bool refuse(struct judge *judge, uint32_t server, enum filter filter, struct slice group)
{
    *judge->reason = report_stays(judge->solver, server, filter, group);
    return false;
}

/* --- pairs */

/* A server that stays, and where: a host, or behind those a rack. */
struct standing {
    uint32_t key;
    uint32_t member;
    uint32_t server;
};

struct standings {
    struct standing *list;
    uint32_t count;
    size_t capacity;
};

static int compare_standings(const void *left, const void *right)
{
    const struct standing *a = left;
    const struct standing *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->server > b->server) - (a->server < b->server);
}

static void stand(struct judge *judge, struct standings *standings, uint32_t key, uint32_t member,
                  uint32_t server)
{
    standings->list = arena_grow(judge->solver->arena, standings->list, standings->count,
                                 &standings->capacity, sizeof(*standings->list));
    standings->list[standings->count++] = (struct standing){key, member, server};
}

static void stand_unit(struct judge *judge, struct standings *standings, uint32_t member,
                       uint32_t u, bool is_rack)
{
    const struct solver *solver = judge->solver;
    const struct unit *unit = &solver->units.unit[u];
    for (uint32_t i = 0; i < unit->fixed_count; i++) {
        uint32_t host = solver->facts[u].fixed[i];
        if (host == BITS_NONE)
            continue;
        stand(judge, standings, host, member, unit->fixed[i]);
        uint32_t rack;
        for (uint32_t at = 0;
             is_rack && (rack = solver_next_rack(solver, host, &at)) != HOSTS_NO_RACK;)
            stand(judge, standings, solver->hosts.count + rack, member, unit->fixed[i]);
    }
}

/* Those that stay on one host, or rack, and are of different members. */
static bool judge_standings(struct judge *judge, const struct standings *standings,
                            const struct apart *apart)
{
    for (uint32_t i = 0; i < standings->count; i++) {
        const struct standing *a = &standings->list[i];
        for (uint32_t j = i + 1; j < standings->count && standings->list[j].key == a->key; j++) {
            const struct standing *b = &standings->list[j];
            if (!budget_take(judge->solver->budget, accepted_cost(&judge->accepted, a->server)))
                return false;
            if (a->member != b->member &&
                !accepted_apart(&judge->accepted, a->server, b->server, apart->is_rack))
                return refuse_apart(judge, apart, a->server, b->server);
        }
    }
    return true;
}

static bool judge_apart(struct judge *judge, const struct apart *apart)
{
    const struct units *units = &judge->solver->units;
    struct standings standings = {0};
    if (!budget_take(judge->solver->budget, 16 * (int64_t)apart->member_count))
        return false;
    for (uint32_t m = 0; m < apart->member_count; m++) {
        if (!apart->is_rack) {
            stand_unit(judge, &standings, m, apart->members[m], false);
            continue;
        }
        const struct block *block = &units->block[apart->members[m]];
        for (uint32_t i = 0; i < block->unit_count; i++)
            stand_unit(judge, &standings, m, block->units[i], true);
    }
    if (standings.count > 1)
        qsort(standings.list, standings.count, sizeof(*standings.list), compare_standings);
    return judge_standings(judge, &standings, apart);
}

static bool are_together(const struct solver *solver, uint32_t a, uint32_t b, bool is_rack)
{
    const struct solve_pin *pins = solver->request->pins;
    if (pins[a].present == pins[b].present)
        return true;
    uint32_t here = hosts_index(solver->version, &solver->hosts, pins[a].present);
    uint32_t there = hosts_index(solver->version, &solver->hosts, pins[b].present);
    return is_rack && here != BITS_NONE && there != BITS_NONE && bits_has(solver->racked, here) &&
           solver->hosts.racks[here] == solver->hosts.racks[there];
}

static bool judge_together(struct judge *judge, const uint32_t *servers, uint32_t count,
                           bool is_rack)
{
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < i; j++) {
            if (!budget_take(judge->solver->budget, 4))
                return false;
            if (!are_together(judge->solver, servers[j], servers[i], is_rack) &&
                !accepted_together(&judge->accepted, servers[j], servers[i], is_rack))
                return refuse_together(judge, is_rack, servers[j], servers[i]);
        }
    }
    return true;
}

static bool judge_block(struct judge *judge, const struct block *block)
{
    const struct units *units = &judge->solver->units;
    uint32_t count = 0;
    for (uint32_t i = 0; i < block->unit_count; i++) {
        const struct unit *unit = &units->unit[block->units[i]];
        if (!judge_together(judge, unit->fixed, unit->fixed_count, false))
            return false;
        count += unit->fixed_count;
    }
    if (block->unit_count == 1)
        return true;
    uint32_t *servers = arena_array(judge->solver->arena, count, sizeof(*servers));
    count = 0;
    for (uint32_t i = 0; i < block->unit_count; i++) {
        const struct unit *unit = &units->unit[block->units[i]];
        for (uint32_t k = 0; k < unit->fixed_count; k++)
            servers[count++] = unit->fixed[k];
    }
    return judge_together(judge, servers, count, true);
}

/* --- one server */

static bool has_name(const struct stack_names *names, struct slice name)
{
    for (uint32_t i = 0; i < names->count; i++)
        if (slice_equal(names->names[i], name))
            return true;
    return false;
}

static bool same_names(const struct stack_names *a, const struct stack_names *b)
{
    bool same = a->count == b->count;
    for (uint32_t i = 0; same && i < a->count; i++)
        same = slice_equal(a->names[i], b->names[i]) ||
               (has_name(b, a->names[i]) && has_name(a, b->names[i]));
    return same;
}

static bool is_in_zone(struct solver *solver, uint32_t server, uint32_t host)
{
    if (host == BITS_NONE)
        return false;
    uint64_t *hosts = bits_create(solver->arena, solver->hosts.count);
    bits_add(hosts, host);
    domain_keep_zone(solver, server, hosts);
    return bits_has(hosts, host);
}

static bool judge_server(struct judge *judge, const struct unit *unit, uint32_t s, uint32_t host)
{
    struct solver *solver = judge->solver;
    const struct stack_server *server = &solver->stack->servers[s];
    const struct unit *before = accepted_unit(&judge->accepted, s);
    const struct stack_server *old = accepted_server(&judge->accepted, s);
    if (!budget_take(solver->budget, 16 + (int64_t)solver->hosts.words + server->locations.count))
        return false;
    if (server->locations.count > 0 && !has_name(&server->locations, place_of(judge, s)) &&
        (old == NULL || !same_names(&server->locations, &old->locations)))
        return refuse(judge, s, FILTER_LOCATIONS, (struct slice){0});
    if (server->zone.data != NULL && (old == NULL || !slice_equal(server->zone, old->zone)) &&
        !is_in_zone(solver, s, host))
        return refuse(judge, s, FILTER_ZONE, (struct slice){0});
    if (unit->needs_rack && (before == NULL || !before->needs_rack) &&
        (host == BITS_NONE || !bits_has(solver->racked, host)))
        return refuse(judge, s, FILTER_RACK, (struct slice){0});
    return true;
}

/* --- exclusivity */

static struct slice exclusive_uuid(const struct units *units, const struct unit *unit)
{
    return unit->exclusive == UNITS_NONE ? (struct slice){0}
                                         : units->exclusives[unit->exclusive].uuid;
}

/* Of a server that was not there before, that it is in no group is nothing new. */
static bool is_exclusive_anew(const struct judge *judge, const struct unit *unit, uint32_t s)
{
    const struct unit *before = accepted_unit(&judge->accepted, s);
    if (before == NULL)
        return unit->exclusive != UNITS_NONE;
    return !slice_equal(exclusive_uuid(&judge->solver->units, unit),
                        exclusive_uuid(&judge->accepted.units, before)) ||
           (unit->claims_rack && !before->claims_rack);
}

static void hold(struct solver *solver, uint32_t host, uint32_t exclusive)
{
    struct hosts *hosts = &solver->hosts;
    if (hosts->claims == NULL)
        hosts->claims = arena_zalloc(solver->arena, hosts->count * sizeof(*hosts->claims));
    hosts->claims[host].group = solver->groups[exclusive];
    solver->holders[host] = exclusive;
    bits_add(solver->claimed, host);
    for (uint32_t i = 0; i < solver->units.exclusive_count; i++)
        bits_remove(solver->free[i], host);
}

static void claim(struct solver *solver, uint32_t at, bool is_rack, uint32_t exclusive)
{
    solver->made[solver->made_count++] = (struct made_claim){exclusive, at, is_rack};
    if (!is_rack) {
        hold(solver, at, exclusive);
        return;
    }
    const struct hosts_mark *mark = &solver->hosts.rack[at];
    for (uint32_t i = 0; i < mark->host_count; i++)
        if (solver->holders[mark->hosts[i]] != exclusive)
            hold(solver, mark->hosts[i], exclusive);
}

static bool is_claimed_here(const struct solver *solver, uint32_t rack, uint32_t exclusive)
{
    for (uint32_t i = 0; i < solver->made_count; i++)
        if (solver->made[i].is_rack && solver->made[i].at == rack)
            return true;
    return claims_has_rack(solver, rack, exclusive);
}

static bool judge_assigned(struct judge *judge, const struct unit *unit, uint32_t s, uint32_t host)
{
    struct solver *solver = judge->solver;
    uint32_t exclusive = unit->exclusive;
    struct slice name = solver->units.exclusives[exclusive].name;
    if (host == BITS_NONE)
        return refuse(judge, s, FILTER_NOT_FREE, name);
    const struct hosts_claim *held =
        solver->hosts.claims == NULL ? NULL : &solver->hosts.claims[host];
    if (held != NULL && held->group != NULL && held->group != solver->groups[exclusive])
        return refuse(judge, s, FILTER_HELD, record_text(&held->group->record, VALET_GROUP_NAME));
    bool is_own = solver->holders[host] == exclusive;
    if (!is_own && !bits_has(solver->free[exclusive], host))
        return refuse(judge, s, FILTER_NOT_FREE, name);
    if (!unit->claims_rack) {
        if (!is_own)
            claim(solver, host, false, exclusive);
        return true;
    }
    if (!bits_has(solver->racked, host))
        return refuse(judge, s, FILTER_RACK, (struct slice){0});
    uint32_t rack = solver->hosts.racks[host];
    if (!solver_rack_is_free(solver, rack, exclusive))
        return refuse(judge, s, FILTER_NOT_FREE, name);
    if (!is_claimed_here(solver, rack, exclusive))
        claim(solver, rack, true, exclusive);
    return true;
}

static bool judge_exclusive(struct judge *judge, const struct unit *unit, uint32_t s, uint32_t host)
{
    const struct solver *solver = judge->solver;
    if (!is_exclusive_anew(judge, unit, s))
        return true;
    if (unit->exclusive != UNITS_NONE)
        return judge_assigned(judge, unit, s, host);
    const struct valet_group *group =
        host == BITS_NONE || solver->hosts.claims == NULL ? NULL : solver->hosts.claims[host].group;
    return group == NULL ||
           refuse(judge, s, FILTER_HELD, record_text(&group->record, VALET_GROUP_NAME));
}

static bool judge_all(struct judge *judge)
{
    struct solver *solver = judge->solver;
    const struct units *units = &solver->units;
    for (uint32_t b = 0; b < units->block_count; b++)
        if (!judge_block(judge, &units->block[b]))
            return false;
    for (uint32_t a = 0; a < units->apart_count; a++)
        if (!judge_apart(judge, &units->apart[a]))
            return false;
    for (uint32_t u = 0; u < units->unit_count; u++) {
        const struct unit *unit = &units->unit[u];
        for (uint32_t i = 0; i < unit->fixed_count; i++)
            if (!judge_server(judge, unit, unit->fixed[i], solver->facts[u].fixed[i]) ||
                !judge_exclusive(judge, unit, unit->fixed[i], solver->facts[u].fixed[i]))
                return false;
    }
    return true;
}

enum solve_result judge_standing(struct solver *solver, struct slice *reason)
{
    struct judge judge = {.solver = solver, .reason = reason};
    if (solver->request->accepted == NULL)
        return SOLVE_FOUND;
    *reason = (struct slice){0};
    judge.accepted = accepted_read(solver->stack, solver->request->accepted, solver->arena);
    solver->made = arena_array(solver->arena, solver->stack->server_count, sizeof(*solver->made));
    if (judge_all(&judge))
        return SOLVE_FOUND;
    return reason->data == NULL ? SOLVE_EXPENSIVE : SOLVE_NONE;
}
