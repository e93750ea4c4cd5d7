"""Invariants of the file of a cloud with exclusivity groups and plans, whoever has written to it: checked in its
tables, not through the APIs (Valet spec, 8)."""

import collections
import math

import servers

HOLD = "VALET_HOLD"


def over_capacity(file):
    for provider, resource, used, capacity in servers.rows(file, """
            SELECT p.name, c.name, sum(a.used), (i.total - i.reserved) * i.allocation_ratio
            FROM allocations a JOIN resource_providers p ON p.id = a.resource_provider_id
            JOIN resource_classes c ON c.id = a.resource_class_id
            LEFT JOIN inventories i ON i.resource_provider_id = p.id AND i.resource_class_id = c.id
            GROUP BY p.id, p.name, c.id, c.name, i.total, i.reserved, i.allocation_ratio"""):
        if capacity is None or used > math.floor(capacity):
            yield f"{provider} has {used} of {resource} in use, of {capacity}"


def holders(file):
    """{consumer's uuid: (its type, {root's name})} of consumers that hold something."""
    found = collections.defaultdict(lambda: [None, set()])
    for uuid, kind, root in servers.rows(file, """
            SELECT c.uuid, t.name, r.name FROM allocations a JOIN consumers c ON c.uuid = a.consumer_id
            LEFT JOIN consumer_types t ON t.id = c.consumer_type_id
            JOIN resource_providers p ON p.id = a.resource_provider_id
            JOIN resource_providers r ON r.id = p.root_provider_id"""):
        found[uuid][0] = kind
        found[uuid][1].add(root)
    return found


def hosts_of_holds(file):
    """{consumer's uuid: {root's name}}, by the provider of the CPUs: the host, if a tree was split."""
    found = collections.defaultdict(set)
    for uuid, root in servers.rows(file, """
            SELECT a.consumer_id, r.name FROM allocations a JOIN resource_classes c ON c.id = a.resource_class_id
            JOIN resource_providers p ON p.id = a.resource_provider_id
            JOIN resource_providers r ON r.id = p.root_provider_id WHERE c.name = 'VCPU'"""):
        found[uuid].add(root)
    return found


def owners(file):
    """{consumer's uuid: its project}."""
    return dict(servers.rows(file, "SELECT c.uuid, p.external_id FROM consumers c JOIN projects p ON p.id = c.project_id"))


def servers_that_count(file):
    """{placement's uuid: [ids of its servers, first the one that determines its location]}, whether they hold
    anything or not: in a plan of one project those of other projects do not count."""
    owner = owners(file)
    return {uuid: [one for one in (resource, orchestration) if one in owner and (any_project or plain(owner[one]) == plain(project))]
            for uuid, resource, orchestration, project, any_project in servers.rows(file, """
                SELECT m.uuid, m.resource_id, m.orchestration_id, p.project_id, p.any_project FROM berth_valet_placements m
                JOIN berth_valet_plans p ON p.id = m.plan_id""")}


def placements(file):
    """[(uuid, plan's uuid, orchestration id, resource id)]; without placements whose plan was deleted."""
    return servers.rows(file, """SELECT m.uuid, p.uuid, m.orchestration_id, m.resource_id
                                 FROM berth_valet_placements m LEFT JOIN berth_valet_plans p ON p.id = m.plan_id""")


def twice_or_not_at_all(file, may_be_gone):
    """Holds without placement, placements with neither hold nor server, and placements with both on one host."""
    held, known, counted, hosts = holders(file), set(), servers_that_count(file), hosts_of_holds(file)
    for uuid, plan, orchestration, resource in placements(file):
        known.add(uuid)
        if plan is None:
            yield f"placement {uuid} is of no plan"
        server = [one for one in counted.get(uuid, ()) if one in held]
        # a server that is to move has its hold on the new host
        if uuid in held and any(hosts[uuid] & held[one][1] for one in server):
            yield f"placement {uuid} has a hold where its server {server[0]} is"
        if uuid not in held and not server and orchestration not in may_be_gone:
            yield f"placement {uuid} has neither hold nor server {orchestration}"
    for uuid, (kind, _) in held.items():
        if kind == HOLD and uuid not in known:
            yield f"the hold {uuid} is of no placement"


def plain(project):
    return project.replace("-", "").lower()


def broken_exclusivity(file):
    """Non-members on claimed hosts, and claims of berth's own that are not in force or not needed."""
    members = collections.defaultdict(set)
    for group, project in servers.rows(file, """SELECT g.uuid, m.project_id FROM berth_valet_groups g
                                                JOIN berth_valet_members m ON m.group_id = g.id"""):
        members[group].add(plain(project))
    claimed = set(servers.rows(file, """
        SELECT g.uuid, r.uuid FROM berth_valet_groups g JOIN placement_aggregates a ON a.uuid = g.uuid
        JOIN resource_provider_aggregates l ON l.aggregate_id = a.id
        JOIN resource_providers r ON r.id = l.resource_provider_id"""))
    hosts = {host for host, in servers.rows(file, """
        SELECT p.uuid FROM resource_providers p WHERE p.parent_provider_id IS NULL AND NOT EXISTS (
            SELECT 1 FROM resource_provider_traits l JOIN traits t ON t.id = l.trait_id WHERE
            l.resource_provider_id = p.id AND t.name = 'MISC_SHARES_VIA_AGGREGATE')""")}
    there = collections.defaultdict(set)  # for each provider, including its descendants
    for above, project in servers.rows(file, """
            WITH RECURSIVE up(id, above) AS (SELECT id, id FROM resource_providers UNION ALL
                SELECT up.id, p.parent_provider_id FROM up JOIN resource_providers p ON p.id = up.above
                WHERE p.parent_provider_id IS NOT NULL)
            SELECT r.uuid, j.external_id FROM allocations a JOIN consumers c ON c.uuid = a.consumer_id
            JOIN projects j ON j.id = c.project_id JOIN up ON up.id = a.resource_provider_id
            JOIN resource_providers r ON r.id = up.above"""):
        there[above].add(plain(project))
    for group, host in claimed:
        for nonmember in there[host] - members[group] if host in hosts else ():
            yield f"{nonmember} holds something on {host}, which is group {group}'s"
    rows = servers.rows(file, """SELECT g.uuid, c.provider_uuid, c.is_rack, c.rack_uuid FROM berth_valet_claims c
                                 LEFT JOIN berth_valet_groups g ON g.id = c.group_id""")
    hosts_of = collections.defaultdict(set)
    for rack, host in servers.rows(file, """
            SELECT k.uuid, p.uuid FROM resource_provider_aggregates l
            JOIN resource_provider_aggregates m ON m.aggregate_id = l.aggregate_id
            JOIN resource_providers k ON k.id = l.resource_provider_id
            JOIN resource_providers p ON p.id = m.resource_provider_id
            JOIN placement_aggregates a ON a.id = l.aggregate_id
            WHERE k.uuid IN (SELECT rack_uuid FROM berth_valet_claims) AND p.id = p.root_provider_id
            AND a.uuid NOT IN (SELECT uuid FROM berth_valet_groups)"""):
        hosts_of[rack].add(host)
    of_rack = collections.defaultdict(set)
    for group, host, is_rack, rack in rows:
        if not is_rack:
            of_rack[group, rack].add(host)
            if (group, host) not in claimed:
                yield f"{host} is recorded as claimed by {group}, and is not in its aggregate"
    for (group, rack), hosts in of_rack.items():
        used = [host for host in hosts if there[host]]
        if rack is None and len(used) < len(hosts):
            yield f"of {hosts} that group {group} claimed only {used} are in use"
        # hosts that an operator had claimed before are also in the rack, without claims of berth's own
        if rack is not None and not used and not any(there[host] for host in hosts_of[rack]):
            yield f"nothing is in use of rack {rack} that group {group} claimed"


def problems(file, may_be_gone=()):
    """All violations, as sentences. may_be_gone: orchestration ids of servers that clients may have deleted."""
    return [*over_capacity(file), *twice_or_not_at_all(file, may_be_gone), *broken_exclusivity(file)]
