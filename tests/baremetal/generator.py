"""Random but seeded requests to a Bare Metal API: valid and invalid ones.

A request depends only on the seed and on the state of the reference (nodes and allocations as its API shows them), so a
walk can be repeated. Where upstream chooses at random among several suitable nodes, the request permits only one.
"""

import json
import random
import uuid

GATES = (1, 4, 5, 8, 10, 11, 15, 16, 20, 21, 36, 37, 42, 43, 46, 48, 49, 50, 51, 52, 56, 57, 58, 59, 60, 61, 64, 65, 72, 73, 81, 82)
CLASSES = ("big", "small", "Big", "gpu.large", "x" * 80)
TRAITS = ("CUSTOM_A", "CUSTOM_B", "CUSTOM_C", "HW_CPU_X86_VMX", "HW_CPU_X86_AVX2")
PROJECTS = ("p1", "p2", "p3")
NAMES = ("web-01", "web-02", "db.1", "node_3", "rack~7", "4711")
BAD_IDENTS = ("a%20b", "%C3%A4", "x" * 256, "a%2Fb", "a,b")
WORDS = ("", "x", "true", "0", "-1", "10", "none", "%20")
VERBS = ("manage", "provide", "active", "deleted", "rebuild", "adopt", "inspect", "clean", "rescue", "unrescue", "abort",
         "deploy", "undeploy", "fly", "available")
# Verbs that lead out of a state: chosen most often, so that nodes pass through many states.
NEXT = {"enroll": ("manage",), "manageable": ("provide", "provide", "provide", "inspect", "adopt"),
        "available": ("active", "manage", "active"), "active": ("deleted", "rebuild", "rescue", "deleted"),
        "rescue": ("unrescue", "deleted"), "clean failed": ("manage",), "inspect failed": ("manage",)}
POWER = ("power on", "power off", "rebooting", "soft power off", "soft rebooting")
NODE_FIELDS = ("uuid", "name", "driver", "extra", "properties", "instance_uuid", "resource_class", "maintenance", "owner", "lessee",
               "description", "traits", "provision_state", "power_state", "last_error", "retired", "shard", "updated_at", "fault")
ALLOCATION_FIELDS = ("uuid", "name", "resource_class", "traits", "candidate_nodes", "extra", "owner", "state", "last_error",
                     "node_uuid", "created_at", "updated_at")
OLD_NAMES = ("1.5", "1.6", "1.7", "1.8", "1.9")  # there other names are idents (1.2)
MOST_NODES, MOST_ALLOCATIONS = 9, 14


class Request:
    def __init__(self, method, path, body=None, raw=None, version="1.82", headers=None, kind=""):
        self.method, self.path, self.body, self.raw = method, path, body, raw
        self.version, self.headers, self.kind = version, headers or {}, kind

    @property
    def data(self):
        return self.raw if self.raw is not None else None if self.body is None else json.dumps(self.body)

    def __repr__(self):
        text = f"{self.method} {self.path} at {self.version}"
        for name, value in self.headers.items():
            text += f" {name}: {value}"
        return text + ("" if self.data is None else " " + self.data[:1500])


def fitting_nodes(nodes, body):
    """The nodes that an allocation of this body could get (section 4 of the specification)."""
    asked = body.get("traits")
    asked = set(asked) if isinstance(asked, list) and all(isinstance(trait, str) for trait in asked) else set()
    candidates, owner = body.get("candidate_nodes"), body.get("owner")
    candidates = candidates if isinstance(candidates, list) else None
    return [node for node in nodes
            if node["resource_class"] == body.get("resource_class") and node["provision_state"] == "available"
            and node["instance_uuid"] is None and node["power_state"] is not None and not node["maintenance"]
            and (not candidates or node["uuid"] in candidates or node["name"] in candidates)
            and (not owner or owner in (node["owner"], node["lessee"])) and asked <= set(node["traits"])]


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.nodes, self.allocations = [], []  # as the reference shows them
        self.gone = [self.new_uuid() for _ in range(3)]
        self.has_own_uuids = True  # every uuid there was chosen by the generator

    def new_uuid(self):
        return str(uuid.UUID(int=self.random.getrandbits(128), version=4))

    def learn(self, nodes, allocations):
        self.nodes, self.allocations = nodes, allocations

    def chance(self, percent):
        return self.random.random() * 100 < percent

    def pick(self, *choices):
        return self.random.choice(choices)

    def some(self, choices, most=3):
        return [self.random.choice(choices) for _ in range(self.random.randint(0, most))]

    # Existing objects, and their idents.

    def node(self):
        return self.random.choice(self.nodes) if self.nodes else None

    def ident(self, things, extra=()):
        """Usually of an existing object."""
        if things and not self.chance(8):
            thing = self.random.choice(things)
            return thing["name"] if thing["name"] and self.chance(45) else thing["uuid"]
        return self.pick(self.random.choice(self.gone), "nobody", "1", self.random.choice(BAD_IDENTS), *extra)

    def node_ident(self):
        return self.ident(self.nodes)

    def allocation_ident(self):
        return self.ident(self.allocations)

    # One request.

    def next(self):
        made = self._choose()()
        if made.version == "1.82" and self.chance(22):
            made.version = self._version()
        if made.method != "GET" and made.version in OLD_NAMES:
            made.version = "1.82"
        if made.raw is None and made.body is not None and self.chance(1.2):
            made.raw = self.pick('{"a": ', "{} {}", "nothing", '{"a": NaN}', "[1,]")
        return made

    def _version(self):
        chosen = self.random.choice(GATES)
        return self.pick(*[f"1.{chosen}"] * 12, "latest", "1.83", "1.0", "2.0", "x", "1", None)

    def _choose(self):
        few_nodes, many = len(self.nodes) < 5, len(self.allocations) > MOST_ALLOCATIONS
        return self.random.choices(
            [self.create_allocation, self.list_allocations, self.show_allocation, self.patch_allocation, self.delete_allocation,
             self.node_allocation, self.create_node, self.list_nodes, self.show_node, self.patch_node, self.delete_node,
             self.traits, self.provision, self.power, self.maintenance, self.elsewhere],
            [18, 9, 5, 12, 26 if many else 7, 5, 30 if few_nodes else 6, 10, 5, 14,
             10 if len(self.nodes) > MOST_NODES else 1.5, 9, 18, 9, 7, 4])[0]

    # Allocations.

    def create_allocation(self):
        body = {"resource_class": self._class()}
        if self.chance(90):
            body["uuid"] = self.new_uuid()
        if self.chance(40):
            body["name"] = self.pick(*NAMES, *[node["name"] or "x" for node in self.nodes])
        if self.chance(30):
            body["traits"] = self.some(TRAITS)
        if self.chance(25):
            body["candidate_nodes"] = [self.node_ident() for _ in range(self.random.randint(0, 2))]
        if self.chance(20):
            body["extra"] = self._object()
        if self.chance(20):
            body["owner"] = self.pick(*PROJECTS, None)
        if self.chance(18):
            body["node"] = self.node_ident()
            active = [node for node in self.nodes if node["provision_state"] == "active"]
            if active and self.chance(60):
                body["node"] = self.random.choice(active)["uuid"]
            if self.chance(60):
                del body["resource_class"]
        if self.chance(4):
            body["uuid"] = self.pick(*self.gone, *[one["uuid"] for one in self.allocations],
                                     *[one["instance_uuid"] or "x" for one in self.nodes])
        if self.chance(14):
            self._spoil(body, ("what", "state", "node_uuid", "last_error", "links"))
        self._leave_one(body)
        return Request("POST", "/v1/allocations", body, kind="create allocation")

    def _class(self):
        classes = [node["resource_class"] for node in self.nodes if node["resource_class"]]
        return self.random.choice(classes) if classes and self.chance(70) else self.random.choice(CLASSES)

    def _leave_one(self, body):
        """Among several suitable nodes the real service takes any: naming candidates leaves one."""
        if body.get("node") is not None:
            return
        fitting = fitting_nodes(self.nodes, body)
        if len(fitting) < 2 or any(node["name"] and node["name"] == body.get("name") for node in fitting):
            return
        body["candidate_nodes"] = [self.random.choice(fitting)["uuid"]]

    def _object(self):
        return self.pick({}, {"a": 1}, {"a": {"b": [1, None, "x"]}, "list": ["p", "q"]}, {"text": "ÿ €"}, {"a": True, "n": 1.5})

    def _spoil(self, body, unknown):
        """Adds something that a schema or a check refuses."""
        kind = self.random.randrange(4)
        if kind == 0:
            body[self.random.choice(unknown)] = self.pick(None, "x", 1)
        elif kind == 1 and body:
            body[self.random.choice(sorted(body))] = self.pick(None, "", 1, [], {}, True, [1], ["x y"], "x" * 81, "a b", "CUSTOM_x")
        elif kind == 2 and body:
            del body[self.random.choice(sorted(body))]
        else:
            body[self.random.choice(("name", "uuid", "traits", "extra", "owner", "resource_class"))] = self.pick(
                "a b", 7, ["NO_TRAIT"], "ä", {"x": 1}, None)

    def list_allocations(self):
        arguments = []
        if self.chance(25):
            arguments.append("state=" + self.pick("active", "error", "allocating", "asleep"))
        if self.chance(25):
            arguments.append("resource_class=" + self._class())
        if self.chance(15):
            arguments.append("owner=" + self.pick(*PROJECTS))
        if self.chance(20):
            arguments.append("node=" + self.node_ident())
        self._page(arguments, self.allocations, ALLOCATION_FIELDS, ("name", "state", "resource_class", "owner", "created_at", "updated_at",
                                                                    "id", "last_error"))
        return Request("GET", self._with("/v1/allocations" + self.pick("", "", "/"), arguments), kind="list allocations")

    def _page(self, arguments, things, fields, keys):
        if self.chance(25):
            arguments.append("limit=" + str(self.pick(1, 2, 3, 1000, 5000, 0, -1, "x")))
        if self.chance(15):
            marker = self.random.choice(things)["uuid"] if things and self.chance(85) else self.pick("x", self.gone[0])
            arguments.append("marker=" + marker)
        if self.chance(30):
            keys = keys + ("uuid",) if self.has_own_uuids else [key for key in keys if key != "last_error"]  # objects that have uuids
            keys = tuple(keys)
            arguments.append("sort_key=" + self.pick(*keys, *keys, "extra", "traits", "what", "links"))
        if self.chance(25):
            arguments.append("sort_dir=" + self.pick("asc", "desc", "desc", "up"))
        if self.chance(25):
            chosen = self.some(fields, 4) + (["what"] if self.chance(6) else [])
            arguments.append("fields=" + ",".join(chosen))
        if self.chance(3):
            arguments.append(self.pick("what=1", "name=x", "id=1", "uuid=x"))
        self.random.shuffle(arguments)

    @staticmethod
    def _with(path, arguments):
        return path + ("?" + "&".join(arguments) if arguments else "")

    def show_allocation(self):
        path = "/v1/allocations/" + self.allocation_ident()
        if self.chance(25):
            path += "?fields=" + ",".join(self.some(ALLOCATION_FIELDS, 3))
        return Request("GET", path, kind="show allocation")

    def patch_allocation(self):
        patch = [self.pick(
            {"op": "replace", "path": "/name", "value": self.pick(*NAMES)},
            {"op": "add", "path": "/extra/" + self.pick("a", "b", "list/0", "list/-", "a/b", "list/9", "new"), "value": self.pick(1, "x", None, [1], {})},
            {"op": "remove", "path": "/extra/" + self.pick("a", "b", "list/0", "text")},
            {"op": "replace", "path": "/extra/" + self.pick("a", "b", "list/1"), "value": self.pick(2, {}, "y")},
            {"op": "remove", "path": self.pick("/name", "/extra")},
            {"op": "add", "path": "/extra", "value": self._object()},
            {"op": self.pick("add", "replace"), "path": "/name", "value": self.pick(None, "a b", "ä", 1, self.new_uuid())},
            {"op": "replace", "path": "/" + self.pick("state", "traits", "uuid", "owner", "what"), "value": self.pick(None, "x", [])},
        ) for _ in range(self.pick(0, 1, 1, 1, 2, 3))]
        return Request("PATCH", "/v1/allocations/" + self.allocation_ident(), self._spoiled_patch(patch), kind="patch allocation")

    def _spoiled_patch(self, patch):
        if not self.chance(15):
            return patch
        return self.pick({}, "x", [{}], [1], patch + [{"op": "test", "path": "/name", "value": "x"}],
                         patch + [{"op": "move", "from": "/name", "path": "/extra/x"}], [{"op": "add", "path": "", "value": {}}],
                         [{"op": "add", "path": "/extra/a.b", "value": 1}], [{"op": "add", "path": "/extra/", "value": 1}],
                         [{"op": "replace", "path": "/extra"}], [{"op": "replace", "path": "/name"}], [{"path": "/name", "value": "x"}],
                         [{"op": "add", "path": "extra/a", "value": 1}], patch + [{"op": "remove", "path": "/extra/missing"}])

    def delete_allocation(self):
        return Request("DELETE", "/v1/allocations/" + self.allocation_ident() + ("?what=1" if self.chance(2) else ""), kind="delete allocation")

    def node_allocation(self):
        path = f"/v1/nodes/{self.node_ident()}/allocation"
        if self.chance(30):
            return Request("DELETE", path, kind="delete node's allocation")
        return Request(self.pick("GET", "GET", "GET", "GET", "PUT", "POST"), path + self.pick("", "", "?fields=uuid,state", "?limit=1"), kind="show node's allocation")

    # Nodes.

    def create_node(self):
        body = {"driver": "fake-hardware", "uuid": self.new_uuid()}
        if self.chance(70):
            body["name"] = self.pick(*NAMES, *(f"n{i}" for i in range(20)))
        if self.chance(80):
            body["resource_class"] = self.random.choice(CLASSES)
        for name, percent, values in (("owner", 25, PROJECTS), ("lessee", 15, PROJECTS), ("description", 10, ("Red", "red rack", "")),
                                      ("extra", 15, (self._object(),)), ("properties", 15, ({"cpus": 4}, {})), ("shard", 8, ("s1", "s2")),
                                      ("driver_info", 10, ({"a": "b", "ipmi_password": "x"},)), ("maintenance", 5, (True, False)),
                                      ("instance_info", 5, ({"a": "x", "token": "y"},)), ("automated_clean", 3, (True, None)),
                                      ("retired", 3, (True, False)), ("instance_uuid", 5, (self.gone[1], self.new_uuid()))):
            if self.chance(percent):
                body[name] = self.random.choice(values)
        if self.chance(12):
            self._spoil(body, ("what", "traits", "provision_state", "power_state", "allocation_uuid", "protected", "reservation"))
        if self.chance(4):
            body["name"] = self.pick("detail", "maintenance", "states", self.new_uuid(), "", "a b")
        if self.chance(2):
            body["uuid"] = self.node_ident()
        return Request("POST", "/v1/nodes", body, kind="create node")

    def list_nodes(self):
        arguments = []
        for name, percent, values in (
                ("associated", 12, ("true", "false", "1", "perhaps")), ("maintenance", 12, ("true", "off", "Y", "")), ("retired", 5, ("true", "f")),
                ("provision_state", 12, ("available", "active", "manageable", "enroll", "asleep", "clean%20failed")),
                ("resource_class", 15, CLASSES), ("driver", 5, ("fake-hardware", "ipmi")), ("owner", 8, PROJECTS), ("lessee", 8, PROJECTS),
                ("project", 5, PROJECTS), ("conductor_group", 3, ("", "x")), ("description_contains", 5, ("red", "R", "z")),
                ("shard", 5, ("s1", "s1,s2", "zz")), ("sharded", 4, ("true", "no")), ("fault", 2, ("power failure", "x")), ("detail", 10, ("true", "no", "x"))):
            if self.chance(percent):
                arguments.append(f"{name}={self.random.choice(values)}".replace(" ", "%20"))
        if self.chance(6):
            arguments.append("instance_uuid=" + self.pick("x", *[node["instance_uuid"] for node in self.nodes if node["instance_uuid"]], self.gone[0]))
        self._page(arguments, self.nodes, NODE_FIELDS + (("allocation_uuid", "conductor") if self.chance(5) else ()),
                   ("name", "provision_state", "resource_class", "power_state", "owner", "created_at", "id", "driver", "maintenance"))
        return Request("GET", self._with(self.pick("/v1/nodes", "/v1/nodes", "/v1/nodes/detail", "/nodes", "/v1/nodes/"), arguments), kind="list nodes")

    def show_node(self):
        path = "/v1/nodes/" + self.node_ident()
        path += self.pick("", "", "/states", "/traits", "/validate", "/bios", "/vifs", "/history", "?fields=" + ",".join(self.some(NODE_FIELDS, 3)),
                          "?fields=allocation_uuid,instance_uuid,conductor", "?fields=what", "?what=1", "/traits?fields=x")
        return Request("GET", path, kind="show node")

    def patch_node(self):
        node = self.node()
        patch = [self.pick(
            {"op": self.pick("add", "replace"), "path": "/resource_class", "value": self.random.choice(CLASSES)},
            {"op": "replace", "path": "/name", "value": self.pick(*NAMES, "n1", "n2", None, "a b", "detail", "")},
            {"op": "add", "path": "/extra/" + self.pick("a", "b", "list/-"), "value": self.pick(1, "x", [], None)},
            {"op": "remove", "path": "/extra/" + self.pick("a", "b")},
            {"op": "add", "path": "/" + self.pick("owner", "lessee"), "value": self.pick(*PROJECTS, None)},
            {"op": "remove", "path": "/" + self.pick("owner", "lessee", "name", "resource_class", "description", "extra", "instance_uuid", "properties", "driver")},
            {"op": self.pick("add", "replace"), "path": "/instance_uuid", "value": self.pick(self.new_uuid(), self.gone[2], None, "x", (node or {}).get("instance_uuid"))},
            {"op": "replace", "path": "/maintenance", "value": self.pick(True, False, "true", "off", "perhaps")},
            {"op": "replace", "path": "/description", "value": self.pick("Red", "x", 1)},
            {"op": "replace", "path": "/retired", "value": self.pick(True, False, False)},
            {"op": "replace", "path": "/protected", "value": self.pick(True, False, False)},
            {"op": "add", "path": "/" + self.pick("driver_info", "properties", "instance_info") + "/" + self.pick("a", "password"), "value": self.pick("x", 1)},
            {"op": "replace", "path": "/" + self.pick("provision_state", "power_state", "traits", "uuid", "allocation_uuid", "what", "last_error"), "value": self.pick("x", None, [])},
            {"op": "replace", "path": "/driver", "value": self.pick("fake-hardware", "ipmi", None)},
            {"op": "replace", "path": "/shard", "value": self.pick("s1", None)},
        ) for _ in range(self.pick(0, 1, 1, 1, 1, 2, 3))]
        return Request("PATCH", "/v1/nodes/" + self.node_ident(), self._spoiled_patch(patch), kind="patch node")

    def delete_node(self):
        return Request("DELETE", "/v1/nodes/" + self.node_ident(), kind="delete node")

    def traits(self):
        path = f"/v1/nodes/{self.node_ident()}/traits"
        kind = self.random.randrange(8)
        if kind < 3:
            return Request("PUT", path, {"traits": self.some(TRAITS, 4)}, kind="traits")
        if kind < 5:
            return Request("PUT", f"{path}/{self.pick(*TRAITS, 'NO_TRAIT', 'CUSTOM_x')}", self.pick(None, {}, {"traits": ["CUSTOM_A"]}), kind="traits")
        if kind < 6:
            return Request("DELETE", self.pick(path, f"{path}/{self.random.choice(TRAITS)}", f"{path}/{self.random.choice(TRAITS)}"), kind="traits")
        if kind < 7:
            return Request("PUT", path, self.pick({}, {"traits": "x"}, {"traits": [1]}, {"traits": ["NO_TRAIT"]}, {"traits": [], "what": 1},
                                                  {"traits": [f"CUSTOM_{i}" for i in range(51)]}), kind="traits")
        return Request("GET", path, kind="traits")

    def provision(self):
        node = self.node()
        ident, state = self.node_ident(), ""
        if node and not self.chance(15):
            ident, state = node["uuid"], node["provision_state"]
        verb = self.random.choice(NEXT.get(state, VERBS)) if not self.chance(20) else self.random.choice(VERBS)
        # In maintenance upstream refuses these, and berth does not (8.4): afterwards the nodes would differ.
        if verb in ("rescue", "unrescue", "clean") and not (node and ident == node["uuid"] and not node["maintenance"]):
            verb = "manage"
        body = {"target": verb}
        if verb == "clean":
            body["clean_steps"] = self.pick([{"interface": "deploy", "step": "nothing"}], [], None, "x", [{"step": 1}])
        if verb == "rescue" and self.chance(85):
            body["rescue_password"] = "secret"
        if self.chance(6):
            body.update(self.pick({"what": 1}, {"configdrive": "x"}, {"configdrive": {"meta_data": {}}}, {"target": 1}, {"rescue_password": "y"},
                                  {"clean_steps": [{"interface": "deploy", "step": "nothing"}]}))
        if self.chance(2):
            del body["target"]
        return Request("PUT", f"/v1/nodes/{ident}/states/provision", body, kind="provision")

    def power(self):
        body = {"target": self.random.choice(POWER) if not self.chance(10) else self.pick("fly", "", None, 1)}
        if self.chance(60):
            body["target"] = "power on"
        if self.chance(8):
            body["timeout"] = self.pick(5, 0, -1, "x")
        if self.chance(3):
            body["what"] = 1
        return Request("PUT", f"/v1/nodes/{self.node_ident()}/states/power", body, kind="power")

    def maintenance(self):
        path = f"/v1/nodes/{self.node_ident()}/maintenance"
        if self.chance(60):
            return Request("DELETE", path, kind="maintenance")
        return Request("PUT", path, self.pick(None, {}, {"reason": "fan"}, {"reason": None}, {"reason": 1}, {"what": 1}), kind="maintenance")

    def elsewhere(self):
        return self.pick(
            Request("GET", "/", kind="root"), Request("GET", "/v1", kind="root"), Request("GET", "/v1/", kind="root"),
            Request("GET", "/v1/drivers", kind="drivers"), Request("GET", "/v1/drivers/" + self.pick("fake-hardware", "ipmi"), kind="drivers"),
            Request("GET", "/v1/conductors?fields=hostname,alive", kind="conductors"),
            Request("GET", "/v1/" + self.pick("chassis", "ports", "portgroups", "volume/connectors", "volume/targets"), kind="empty"),
            Request("GET", "/" + self.pick("v1/nothing", "nothing", "v1/Nodes"), kind="nowhere"),
            Request(self.pick("PUT", "PATCH", "DELETE"), "/v1", kind="methods"), Request("PUT", "/v1/allocations", {}, kind="methods"),
            Request("PUT", "/v1/nodes", {}, kind="methods"), Request("POST", "/v1/nodes/x/states", {}, kind="methods"),
            Request("GET", "/v1/nodes", version=None, headers={"openstack-api-version": "baremetal 1.60"}, kind="other header"),
            Request("GET", "/v1/nodes", version="", kind="empty version"))

