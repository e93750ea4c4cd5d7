"""The generator's model of the cloud: the reference's database, read between requests.

The tables are read instead of tracking changes, so that the model is always right, whatever the last request did. The
same connection brings the reference back in step after an intended difference of state (`adopt`, `forget_consumer`):
only for the named consumers and providers, so that the periodic comparison of the whole state still detects other
differences.
"""

SHARES = "MISC_SHARES_VIA_AGGREGATE"


class Provider:
    def __init__(self, row):
        self.id, self.uuid, self.name, self.generation, self.parent_id, self.root_id = row
        self.parent = self.root = None
        self.children = []
        self.inventory = {}  # class -> Inventory
        self.traits = []  # in the order of trait ids
        self.aggregates = []

    @property
    def sharing(self):
        return SHARES in self.traits


class Inventory:
    def __init__(self, total, reserved, min_unit, max_unit, step, ratio):
        self.total, self.reserved, self.min_unit = total, reserved, min_unit
        self.max_unit, self.step, self.ratio = max_unit, step, ratio
        self.used = 0

    @property
    def capacity(self):
        return (self.total - self.reserved) * self.ratio

    def fits(self, amount, freed=0):
        return (
            self.used - freed + amount <= self.capacity
            and self.min_unit <= amount <= self.max_unit
            and amount % self.step == 0
        )


class Consumer:
    def __init__(self, uuid, generation, project, user, kind):
        self.uuid, self.generation, self.project, self.user, self.kind = uuid, generation, project, user, kind
        self.allocations = []  # (provider uuid, class, used)


class Cloud:
    def __init__(self, db):
        """db: a connection of databases.py."""
        self.db = db
        self.refresh()

    def refresh(self):
        ask = self.db.execute
        self.classes = dict(ask("SELECT id, name FROM resource_classes ORDER BY id"))
        self.traits = dict(ask("SELECT id, name FROM traits ORDER BY id"))
        self.kinds = dict(ask("SELECT id, name FROM consumer_types"))
        rows = ask(
            "SELECT id, uuid, name, generation, parent_provider_id, root_provider_id"
            " FROM resource_providers ORDER BY id"
        )
        by_id = {row[0]: Provider(row) for row in rows}
        self.providers = list(by_id.values())
        self.by_uuid = {p.uuid: p for p in self.providers}
        for p in self.providers:
            p.root = by_id.get(p.root_id, p)
            p.parent = by_id.get(p.parent_id)
            if p.parent:
                p.parent.children.append(p)
        for row in ask(
            "SELECT resource_provider_id, resource_class_id, total, reserved, min_unit, max_unit, step_size,"
            " allocation_ratio FROM inventories ORDER BY id"
        ):
            if row[0] in by_id:
                by_id[row[0]].inventory[self.classes[row[1]]] = Inventory(*row[2:])
        for rp, trait in ask(
            "SELECT resource_provider_id, trait_id FROM resource_provider_traits ORDER BY trait_id"
        ):
            by_id[rp].traits.append(self.traits[trait])
        self.aggregates = []
        for rp, uuid in ask(
            "SELECT resource_provider_id, uuid FROM resource_provider_aggregates"
            " JOIN placement_aggregates ON id = aggregate_id ORDER BY aggregate_id"
        ):
            by_id[rp].aggregates.append(uuid)
            if uuid not in self.aggregates:
                self.aggregates.append(uuid)
        self.consumers = {}
        for uuid, generation, project, user, kind in ask(
            "SELECT c.uuid, c.generation, p.external_id, u.external_id, c.consumer_type_id FROM consumers c"
            " JOIN projects p ON p.id = c.project_id JOIN users u ON u.id = c.user_id ORDER BY c.id"
        ):
            self.consumers[uuid] = Consumer(uuid, generation, project, user, self.kinds.get(kind))
        for consumer, rp, rc, used in ask(
            "SELECT consumer_id, resource_provider_id, resource_class_id, used FROM allocations ORDER BY id"
        ):
            p, name = by_id[rp], self.classes[rc]
            if name in p.inventory:
                p.inventory[name].used += used
            if consumer in self.consumers:
                self.consumers[consumer].allocations.append((p.uuid, name, used))
        self.custom_classes = [n for n in self.classes.values() if n.startswith("CUSTOM_")]
        self.custom_traits = [n for n in self.traits.values() if n.startswith("CUSTOM_")]
        self.roots = [p for p in self.providers if p.parent is None]

    def tree(self, root):
        return [p for p in self.providers if p.root is root]

    def leftovers(self):
        """Consumers that a refused or empty write left behind in the reference (a bug of 8.0.0)."""
        return [c.uuid for c in self.consumers.values() if not c.allocations and c.generation == 0]

    # -- bringing the reference back in step ------------------------------------------------------------

    def forget_consumer(self, uuid):
        self.db.execute("DELETE FROM allocations WHERE consumer_id = ?", (uuid,))
        self.db.execute("DELETE FROM consumers WHERE uuid = ?", (uuid,))

    def adopt(self, other, consumers, providers, inventories=False):
        """Copies the named consumers' rows and the named providers' generations (and, after a reshape, inventories)
        from another database. Row ids are the reference's own."""
        db = self.db
        with db.beside(other):
            for uuid in consumers:
                self.forget_consumer(uuid)
                for table, key in (("projects", "project_id"), ("users", "user_id")):
                    db.execute(
                        "INSERT INTO %s (created_at, updated_at, external_id)"
                        " SELECT created_at, updated_at, external_id FROM berth.%s"
                        " WHERE id = (SELECT %s FROM berth.consumers WHERE uuid = ?) ON CONFLICT DO NOTHING" % (table, table, key),
                        (uuid,),
                    )
                db.execute(
                    "INSERT INTO consumer_types (created_at, updated_at, name)"
                    " SELECT created_at, updated_at, name FROM berth.consumer_types"
                    " WHERE id = (SELECT consumer_type_id FROM berth.consumers WHERE uuid = ?) ON CONFLICT DO NOTHING",
                    (uuid,),
                )
                db.execute(
                    "INSERT INTO consumers (created_at, updated_at, uuid, project_id, user_id, generation,"
                    " consumer_type_id) SELECT c.created_at, c.updated_at, c.uuid,"
                    " (SELECT id FROM projects WHERE external_id = p.external_id),"
                    " (SELECT id FROM users WHERE external_id = u.external_id), c.generation,"
                    " (SELECT id FROM consumer_types WHERE name = t.name)"
                    " FROM berth.consumers c JOIN berth.projects p ON p.id = c.project_id"
                    " JOIN berth.users u ON u.id = c.user_id"
                    " LEFT JOIN berth.consumer_types t ON t.id = c.consumer_type_id WHERE c.uuid = ?",
                    (uuid,),
                )
                db.execute(
                    "INSERT INTO allocations (created_at, updated_at, resource_provider_id, consumer_id,"
                    " resource_class_id, used) SELECT a.created_at, a.updated_at,"
                    " (SELECT id FROM resource_providers WHERE uuid = r.uuid), a.consumer_id,"
                    " (SELECT id FROM resource_classes WHERE name = k.name), a.used"
                    " FROM berth.allocations a JOIN berth.resource_providers r ON r.id = a.resource_provider_id"
                    " JOIN berth.resource_classes k ON k.id = a.resource_class_id"
                    " WHERE a.consumer_id = ? ORDER BY a.id",
                    (uuid,),
                )
            for uuid in providers:
                db.execute(
                    "UPDATE resource_providers SET generation ="
                    " coalesce((SELECT generation FROM berth.resource_providers WHERE uuid = ?), generation)"
                    " WHERE uuid = ?",
                    (uuid, uuid),
                )
                if inventories:
                    db.execute(
                        "DELETE FROM inventories WHERE resource_provider_id ="
                        " (SELECT id FROM resource_providers WHERE uuid = ?)",
                        (uuid,),
                    )
                    db.execute(
                        "INSERT INTO inventories (created_at, updated_at, resource_provider_id,"
                        " resource_class_id, total, reserved, min_unit, max_unit, step_size, allocation_ratio)"
                        " SELECT i.created_at, i.updated_at,"
                        " (SELECT id FROM resource_providers WHERE uuid = r.uuid),"
                        " (SELECT id FROM resource_classes WHERE name = k.name), total, reserved, min_unit,"
                        " max_unit, step_size, allocation_ratio FROM berth.inventories i"
                        " JOIN berth.resource_providers r ON r.id = i.resource_provider_id"
                        " JOIN berth.resource_classes k ON k.id = i.resource_class_id WHERE r.uuid = ?"
                        " ORDER BY i.id",
                        (uuid,),
                    )
        self.refresh()
