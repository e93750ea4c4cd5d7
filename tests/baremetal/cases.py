"""Requests of every kind from a seed: mostly nearly valid, because entirely invalid ones are refused at the first
check."""

import random

UUID = "5c0f4a1e-7d51-4a8e-9a51-6d1f0a4be101"
LIKE_UUIDS = [UUID, UUID.upper(), UUID.replace("-", ""), "{%s}" % UUID, "urn:uuid:" + UUID, UUID[:-1], UUID + "0", UUID[:8] + UUID[9:] + "-"]
NAMES = ["web-01", "a.b~c_d", "", " ", "näme", "a b", "x" * 255, "x" * 256, "12", "maintenance", "states", "detail",
         "vendor_passthru", "validate", "management", "a\n", "a/b", "web-01.json", "'", '"', "null"]
TRUTHS = ["1", "t", "True", "on", "y", "YES", "0", "f", "false", "off", "n", "no", " true ", "", "2", "maybe", "1.0", "none", "ÿes"]
ALLOCATION_MEMBERS = ["candidate_nodes", "extra", "name", "node", "owner", "resource_class", "traits", "uuid"]
STRANGE_MEMBERS = ["state", "node_uuid", "x", "", "Name", "last_error", "links", "é", "o'k"]
NODE_TEXTS = ["bios_interface", "conductor_group", "description", "lessee", "owner", "name", "resource_class",
              "retired_reason", "shard", "power_interface", "vendor_interface"]
NODE_OBJECTS = ["driver_info", "extra", "instance_info", "properties"]
NODE_TRUTHS = ["automated_clean", "maintenance", "retired", "protected"]
NODE_UUIDS = ["chassis_uuid", "instance_uuid", "uuid"]
VERBS = ["active", "deploy", "rebuild", "deleted", "undeploy", "manage", "provide", "inspect", "clean", "adopt", "rescue",
         "unrescue"]
POWERS = ["power on", "power off", "rebooting", "soft power off", "soft rebooting"]
SECRETS = ["password", "ipmi_password", "IPMI_Password", "auth_token", "secret", "user", "host", "configdrive", "image_url",
           "Token2", "deploy_key", "private_key", "sslKEY", "pass", "image_source", "rabbitcookie"]


class Cases:
    def __init__(self, seed, traits):
        self.chance = random.Random(seed)
        self.traits = traits

    def pick(self, *choices):
        return self.chance.choice(choices)

    def some(self, percent):
        return self.chance.random() * 100 < percent

    def scalar(self):
        return self.pick(None, True, False, 0, 1, -7, 4.5, 1.0, 1e20, "", "a", "it's", 'say "x"', "é\t\x01", 2 ** 40)

    def value(self, depth=3):
        kind = self.chance.random()
        if depth == 0 or kind < 0.5:
            return self.scalar()
        if kind < 0.75:
            return [self.value(depth - 1) for _ in range(self.chance.randint(0, 3))]
        return {self.pick("a", "b", "c", "0", "-", "name"): self.value(depth - 1) for _ in range(self.chance.randint(0, 3))}

    def trait(self):
        odd = ["", "A" * 256, "CUSTOM_", "custom_a", "CUSTOM_a", "CUSTOM_É", "hw_cpu", "HW", 5, None, ["x"], "CUSTOM_A-B"]
        if self.some(12):
            return self.chance.choice(odd)
        return self.pick("CUSTOM_GPU", "CUSTOM_" + "A" * 248, self.chance.choice(self.traits))

    def trait_list(self):
        return [self.trait() for _ in range(self.chance.randint(0, 4))]

    def ident(self):
        return self.chance.choice(LIKE_UUIDS + NAMES)

    def body_of(self, makers, percent):
        """An object of some members in any order; `percent` is the probability that a member has the wrong type."""
        body = {}
        for name in self.chance.sample(sorted(makers), self.chance.randint(0, min(5, len(makers)))):
            body[name] = self.value() if self.some(percent) else makers[name]()
        while self.some(8):
            body[self.chance.choice(STRANGE_MEMBERS)] = self.value(1)
        return body

    def allocation(self):
        text = lambda: self.pick(None, "", "x", "y" * 80, "é" * 80)
        makers = {name: text for name in ALLOCATION_MEMBERS}
        makers.update(candidate_nodes=lambda: self.pick(None, [], ["a", "b"], ["a", 5]), traits=self.trait_list,
                      extra=lambda: self.pick(None, {}, {"a": 1}), uuid=lambda: self.chance.choice(LIKE_UUIDS + [None, "x", ""]),
                      name=lambda: self.chance.choice(NAMES + LIKE_UUIDS + [None]),
                      resource_class=lambda: self.pick(None, "x", "é" * 80, "y" * 81))
        return {"ask": "allocation", "body": self.value() if self.some(3) else self.body_of(makers, 12)}

    def network(self):
        return self.pick(None, {}, {"links": [], "networks": [], "services": []}, {"links": []}, {"links": [], "networks": []},
                         {"x": 1}, [], 5, "x", {"links": [], "networks": [], "services": [], "more": 1})

    def node(self):
        makers = {name: lambda: self.pick(None, "x", "é" * 80) for name in NODE_TEXTS}
        makers.update({name: lambda: self.pick(None, {}, {"a": {"b": []}}) for name in NODE_OBJECTS})
        makers.update({name: lambda: self.pick(None, True, False, *TRUTHS) for name in NODE_TRUTHS})
        makers.update({name: lambda: self.chance.choice(LIKE_UUIDS[:2] * 3 + LIKE_UUIDS + [None, "x"]) for name in NODE_UUIDS})
        makers.update(name=lambda: self.chance.choice(NAMES + LIKE_UUIDS + ["n1"] * 20), network_data=self.network,
                      description=lambda: self.pick("x", "é" * 4096, "y" * 4097), resource_class=lambda: self.pick("x", "y" * 81))
        body = self.body_of(makers, 4)
        if self.some(3):
            body[self.pick("boot_mode", "console_enabled", "secure_boot")] = None
        if not self.some(5):
            body["driver"] = self.scalar() if self.some(5) else "fake-hardware"
        patched = self.some(50)
        return {"ask": "node", "body": self.value() if self.some(3) else body, "patched": patched,
                "node": self.pick("n0", UUID) if patched else None}

    def put_traits(self):
        odd = [{"traits": self.value()}, {"trait": []}, [], {}, {"traits": [], "x": 1}]
        return {"ask": "traits", "body": self.chance.choice(odd) if self.some(30) else {"traits": self.trait_list()}}

    def put_trait(self):
        trait = self.trait()
        return {"ask": "trait", "trait": trait if isinstance(trait, str) else "x"}

    def path(self):
        if self.some(6):
            return self.pick("", "/", "extra", "/extra/", "//extra", "/extra/~1", "/extra/a.b", "/extra/a b", "/extra//a", "/é/ü",
                             5, None, "/uuid", "/state/x", "/extra/%s" % ("a" * 300))
        parts = [self.pick("a", "b", "c", "0", "1", "2", "7", "-", "name", "99999999999999999999999", "x-y_z")
                 for _ in range(self.chance.randint(0, 4))]
        return "/".join(["", self.pick("extra", "extra", "extra", "extra", "name"), *parts])

    def operation(self):
        operation = {"op": self.pick("add", "add", "replace", "remove"), "path": self.path()}
        if operation["path"] == "/name" and operation["op"] != "remove":
            operation["value"] = self.chance.choice(NAMES + [None, "new", "new", 5, 0, ["x"]])
        elif operation["op"] != "remove" and not self.some(4) or self.some(3):
            operation["value"] = self.value()
        if self.some(3):
            operation[self.pick("from", "op2", "Value")] = self.value(1)
        if self.some(3):
            operation["op"] = self.pick("test", "move", "copy", "Add", "", 5, None)
        if self.some(2):
            del operation[self.pick("op", "path")]
        items = list(operation.items())
        self.chance.shuffle(items)
        return dict(items)

    def patch(self):
        document = {"name": self.pick(None, "old"), "extra": self.pick({}, self.value(), {"a": self.value(), "b": [1, [2], {"c": 3}]},
                                                                       {"a": {"b": {"c": [1, 2, 3]}}, "c": "text", "b": "ü"})}
        if not isinstance(document["extra"], dict):
            document["extra"] = {"a": document["extra"]}
        patch = [self.operation() for _ in range(self.chance.choice([0, 1, 1, 1, 1, 2, 3, 5]))]
        if self.some(2):
            patch = self.pick({}, None, "x", 5, [5], [[]], ["x"])
        return {"ask": "patch", "document": document, "patch": patch, "fields": ["name", "extra"]}

    def secrets(self, depth=3):
        return {self.chance.choice(SECRETS): self.pick(self.scalar(), self.secrets(depth - 1) if depth else 1, [1], {}, "x")
                for _ in range(self.chance.randint(0, 5))}

    def mask(self):
        return {"ask": "mask", "body": self.secrets(), "instance": self.some(50)}

    def negotiate(self):
        minor = self.pick("0", "1", "52", "82", "83", "999", "", " 7", "+5", "1_0", "-5", "x", "060", "１", "1.2", "9" * 15)
        version = self.pick("1." + minor, "1." + minor, "2." + minor, "0.5", minor, "latest", "LATEST", "Latest ", ".", "1.", "a.b", "1 .5 ")
        return {"ask": "negotiate", "own": self.pick(None, *[version] * 6), "general": None}

    def argument(self):
        kind, name, values = self.pick(
            ("string", "state", NAMES), ("uuid", "marker", LIKE_UUIDS + NAMES), ("uuid_or_name", "node", LIKE_UUIDS + NAMES),
            ("boolean", "maintenance", TRUTHS), ("limit", "limit", ["1", "0", "-1", "7", "1000", "1001", "", "x", " 5 ", "1_0", "1.0", "9" * 30]),
            ("sort_dir", "sort_dir", ["asc", "desc", "", "ASC", "x", "it's"]),
            ("fields", "fields", ["uuid,name", " UUID , Name ", "", ",", "uuid,uuid", "x", "uuid,x", "a'b", "é", "uuid\t,\nname"]))
        given = [self.chance.choice(values) for _ in range(self.chance.choice([0, 1, 1, 1, 1, 1, 2, 3]))]
        quoted = ["%s=%s" % (name, "".join("%%%02X" % byte for byte in text.encode())) for text in given]
        return {"ask": "argument", "kind": kind, "name": name, "query": "&".join(["other=1"] * self.some(20) + quoted),
                "known": ["uuid", "name"]}

    def steps(self, deploy):
        step = {"interface": self.pick("deploy", "raid", "power"), "step": "erase", "args": {}}
        if deploy:
            step["priority"] = self.pick(0, 10, "7")
        if self.some(30):
            step[self.pick("interface", "step", "args", "x", "priority")] = self.value(1)
        if self.some(10):
            step.pop(self.pick("interface", "step", "args"))
        return [step] * self.chance.randint(1, 2)

    def provision(self):
        body = {"target": self.chance.choice(VERBS)}
        if self.some(25):
            body["configdrive"] = self.pick(None, "", "http://x/y", "QUJD", "QUJD\n", "it's", "{}", {}, {"meta_data": {}},
                                            {"vendor_data": {}}, {"meta_data": 5}, {"x": 1}, 5, ["x"], {"user_data": self.value(1)})
        if body["target"] == "clean" and not self.some(10) or self.some(5):
            body["clean_steps"] = self.pick(self.steps(False), self.value(1))
        if self.some(15):
            body["deploy_steps"] = self.pick(self.steps(True), self.steps(True), [], None, {}, "x")
        if body["target"] == "rescue" and not self.some(10) or self.some(5):
            body["rescue_password"] = self.pick("abc", "", "  ", None, 5, ["x"])
        if self.some(10):
            body["disable_ramdisk"] = self.pick(True, False, None, 1, 5, "yes", "maybe", 1.0, {})
        if self.some(4):
            body[self.chance.choice(STRANGE_MEMBERS)] = 1
        if self.some(4):
            body["target"] = self.pick(5, ["active"], True)
        if self.some(2):
            del body["target"]
        return {"ask": "provision", "body": body, "minor": self.pick(4, 34, 35, 55, 56, 58, 59, 69, 70, 73, 82, 82, 82)}

    def clean_error(self):
        steps = [{"interface": self.pick("deploy", "raid"), "step": self.pick("erase", "it's", "é"), **self.pick({}, {"args": {"a": self.value()}})}
                 for _ in range(self.chance.randint(1, 3))]
        return {"ask": "clean_error", "steps": steps}

    def power(self):
        body = {"target": self.pick(*POWERS, *POWERS, 5, [])}
        if self.some(50):
            body["timeout"] = self.pick(1, 60, 0, -1, None, "5", "x", "", 5.7, True, False, [], " 7 ")
        if self.some(5):
            body["x"] = 1
        if self.some(4):
            del body["target"]
        return {"ask": "power", "body": body, "minor": self.pick(1, 26, 27, 82)}

    def maintenance(self):
        return {"ask": "maintenance", "body": self.pick({}, {"reason": "x"}, {"reason": None}, {"reason": 5}, {"reason": ["a"]},
                                                        {"reason": "", "x": 1}, {"target": 1})}

    def all(self, count):
        """(kind, request), `count` of each kind."""
        for make in (self.allocation, self.node, self.put_traits, self.put_trait, self.patch, self.mask, self.negotiate,
                     self.argument, self.provision, self.power, self.maintenance, self.clean_error):
            many = count // 4 if make in (self.put_trait, self.maintenance, self.power, self.clean_error) else count
            for _ in range(many):
                yield make()


def states():
    """Every verb, except those that only the other service has."""
    for verb in [*VERBS, "abort"]:
        yield {"ask": "states", "verb": verb}
