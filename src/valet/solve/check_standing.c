/* Checks the new constraints of an update for servers that stay, on their current hosts (Valet
 * spec, 6.8, 7.2, 8.3). Old constraints are not checked: compute may have put a server where it
 * breaks one (8.5), and the plan must remain usable. The old constraints are those of the content
 * as it was accepted, with all its servers; servers bound to one host were bound to one rack as
 * well, and servers kept on different racks were kept on different hosts.
 *
 * A host or rack of servers that are newly assigned to a group is claimed; the claims are noted
 * before any domain is made. Any thread. */
#include "valet/solve/check_standing.h"

#include <stdlib.h>

#include "valet/solve/check_standing_internal.h"
#include "valet/solve/report.h"

enum { NAME_COST = 32 };

/* --- one server */

static bool check_standing_refuse(struct standing_check *check_of, uint32_t server,
                                  enum filter filter, struct slice group)
{
    *check_of->reason = report_keep_in_place(check_of->solver, server, filter, group);
    return false;
}

static int compare_names(const void *left, const void *right)
{
    return slice_compare(left, right);
}

/* Ascending, each once. */
static struct stack_names sorted_names(struct arena *arena, const struct stack_names *names)
{
    uint32_t count = 0;
    struct slice *sorted = arena_array(arena, names->count, sizeof(*sorted));
    if (names->count > 0)
        memcpy(sorted, names->names, names->count * sizeof(*sorted));
    if (names->count > 1)
        qsort(sorted, names->count, sizeof(*sorted), compare_names);
    for (uint32_t i = 0; i < names->count; i++)
        if (i == 0 || !slice_equal(sorted[i], sorted[count - 1]))
            sorted[count++] = sorted[i];
    return (struct stack_names){sorted, count};
}

/* In any order. */
static bool same_names(struct arena *arena, const struct stack_names *a,
                       const struct stack_names *b)
{
    if (stack_names_equal(a, b))
        return true;
    struct stack_names one = sorted_names(arena, a);
    struct stack_names other = sorted_names(arena, b);
    return stack_names_equal(&one, &other);
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

static bool check_server(struct standing_check *check_of, const struct unit *unit, uint32_t s,
                         uint32_t host)
{
    struct solver *solver = check_of->solver;
    const struct stack_server *server = &solver->stack->servers[s];
    const struct unit *before = accepted_unit(&check_of->accepted, s);
    const struct stack_server *old = accepted_server(&check_of->accepted, s);
    int64_t names = server->locations.count + (old == NULL ? 0 : (int64_t)old->locations.count);
    if (!budget_take(solver->budget, 16 + (int64_t)solver->hosts.words + NAME_COST * names))
        return false;
    if (server->locations.count > 0 &&
        !stack_names_has(&server->locations, check_standing_place_of(check_of, s)) &&
        (old == NULL || !same_names(solver->arena, &server->locations, &old->locations)))
        return check_standing_refuse(check_of, s, FILTER_LOCATIONS, (struct slice){0});
    if (server->zone.data != NULL && (old == NULL || !slice_equal(server->zone, old->zone)) &&
        !is_in_zone(solver, s, host))
        return check_standing_refuse(check_of, s, FILTER_ZONE, (struct slice){0});
    if (unit->needs_rack && (before == NULL || !before->needs_rack) &&
        (host == BITS_NONE || !bits_has(solver->racked, host)))
        return check_standing_refuse(check_of, s, FILTER_RACK, (struct slice){0});
    return true;
}

/* --- exclusivity */

static struct slice exclusive_uuid(const struct units *units, const struct unit *unit)
{
    return unit->exclusive == UNITS_NONE ? (struct slice){0}
                                         : units->exclusives[unit->exclusive].uuid;
}

/* A server that was not in the old content, and is in no group now, has nothing new to check. */
static bool is_newly_exclusive(const struct standing_check *check_of, const struct unit *unit,
                               uint32_t s)
{
    const struct unit *before = accepted_unit(&check_of->accepted, s);
    if (before == NULL)
        return unit->exclusive != UNITS_NONE;
    return !slice_equal(exclusive_uuid(&check_of->solver->units, unit),
                        exclusive_uuid(&check_of->accepted.units, before)) ||
           (unit->claims_rack && !before->claims_rack);
}

static void hold(struct solver *solver, uint32_t host, uint32_t exclusive)
{
    struct hosts *hosts = &solver->hosts;
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

static bool check_assigned(struct standing_check *check_of, const struct unit *unit, uint32_t s,
                           uint32_t host)
{
    struct solver *solver = check_of->solver;
    uint32_t exclusive = unit->exclusive;
    struct slice name = solver->units.exclusives[exclusive].name;
    if (host == BITS_NONE)
        return check_standing_refuse(check_of, s, FILTER_NOT_FREE, name);
    const struct hosts_claim *held = &solver->hosts.claims[host];
    if (held->group != NULL && held->group != solver->groups[exclusive])
        return check_standing_refuse(check_of, s, FILTER_HELD,
                                     record_text(&held->group->record, VALET_GROUP_NAME));
    bool is_own = solver->holders[host] == exclusive;
    if (!is_own && !bits_has(solver->free[exclusive], host))
        return check_standing_refuse(check_of, s, FILTER_NOT_FREE, name);
    if (!unit->claims_rack) {
        if (!is_own)
            claim(solver, host, false, exclusive);
        return true;
    }
    if (!bits_has(solver->racked, host))
        return check_standing_refuse(check_of, s, FILTER_RACK, (struct slice){0});
    uint32_t rack = solver->hosts.racks[host];
    if (!solver_rack_is_free(solver, rack, exclusive))
        return check_standing_refuse(check_of, s, FILTER_NOT_FREE, name);
    if (!is_claimed_here(solver, rack, exclusive))
        claim(solver, rack, true, exclusive);
    return true;
}

static bool check_exclusive(struct standing_check *check_of, const struct unit *unit, uint32_t s,
                            uint32_t host)
{
    const struct solver *solver = check_of->solver;
    if (!is_newly_exclusive(check_of, unit, s))
        return true;
    if (unit->exclusive != UNITS_NONE)
        return check_assigned(check_of, unit, s, host);
    const struct valet_group *group =
        host == BITS_NONE || solver->hosts.claims == NULL ? NULL : solver->hosts.claims[host].group;
    return group == NULL || check_standing_refuse(check_of, s, FILTER_HELD,
                                                  record_text(&group->record, VALET_GROUP_NAME));
}

static bool check_all(struct standing_check *check_of)
{
    struct solver *solver = check_of->solver;
    const struct units *units = &solver->units;
    if (!check_standing_pairs(check_of))
        return false;
    for (uint32_t u = 0; u < units->unit_count; u++) {
        const struct unit *unit = &units->unit[u];
        for (uint32_t i = 0; i < unit->fixed_count; i++)
            if (!check_server(check_of, unit, unit->fixed[i], solver->facts[u].fixed[i]) ||
                !check_exclusive(check_of, unit, unit->fixed[i], solver->facts[u].fixed[i]))
                return false;
    }
    return true;
}

enum solve_result check_standing(struct solver *solver, struct slice *reason)
{
    struct standing_check check_of = {.solver = solver, .reason = reason};
    if (solver->request->accepted == NULL)
        return SOLVE_FOUND;
    *reason = (struct slice){0};
    check_of.accepted = accepted_read(solver->stack, solver->request->accepted, solver->arena);
    solver->made = arena_array(solver->arena, solver->stack->server_count, sizeof(*solver->made));
    if (check_all(&check_of))
        return SOLVE_FOUND;
    return reason->data == NULL ? SOLVE_EXPENSIVE : SOLVE_NONE;
}
