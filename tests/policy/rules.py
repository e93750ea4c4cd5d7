"""Random rules, files and callers, valid, odd and broken, from a seed."""

import json

import yaml

ROLES = ["admin", "Admin", "service", "reader", "member", "Member", "x"]
CREDENTIALS = ["user_id", "user_domain_id", "project_id", "project_domain_id", "domain_id", "system_scope", "system",
               "is_admin_project", "service_user_id", "service_user_domain_id", "service_project_id",
               "service_project_domain_id", "roles", "service_roles"]
# Not provided by the service, although rules refer to it.
OTHERS = ["is_admin", "tenant_id", "tenant", "user", "project", "target", "os-foo", "a/b", "a+b", "x_y", "token",
          "roles.name", "user_id.x", "service_roles.x", "system.x", "project.domain.id", "True.x", "_", "print", "a@b-c",
          "None", "True", "False", "1", "-1", "+7", "00", "007", "'Member'", '"u1"', "''", "'None'", "a=b", "$", "a$b",
          "class", "a.if", "in", "", "a.", ".a", "a..b", "1a", "?", "a!b", "a!=b", "a<b", "--1", "-a", "#", "%", "'a",
          "a`", "&", "a&b", "*", "**", "a**b", "a//b"]
# Explained by tests/policy/intended.py.
UNLIKE = ["1.5", "0x10", "1_0", "[]", "u'x'", "b''", "'a''b'", "~1", "(1)", "...", "a[0]", "a(b)", "é", "€", "'\\n'",
          "1,2", "{}", "1j", "a;b"]
VALUES = ["admin", "u1", "u2", "p1", "p2", "None", "True", "False", "all", "default", "d1", "", "1", "-1", "7", "0", "Member",
          "100%%", "%%", "a:b", "http://x", "(x", "x(y)z", "'Member'", "a)b", "service", "reader", "nobody",
          "%(project_id)s", "%(user_id)s", "%(role.name)s", "%(user.enabled)s", "%(missing)s", "%(a(b)c)s",
          "p%(number)s", "%(project_id)s%(user_id)s", "%(missing)s%", "%(missing)d", "%(project_id)d", "x%", "%(open"]
ODD_FORMATS = ["%s", "%(project_id)r", "%(user_id)5s", "%d", "%(user_id).1s"]
ODD_WORDS = ["admin", "!", "@", "!!", "@x", "()", "((", "))", "and", "or", "not", "NOT", "And", "oR", "'role:admin'",
             '"x"', "'", '"', "'a':'b'", "rule", "role:", "rule:", ":", "::", "role", "&&", "||", "role=admin", "(and)",
             "not:", "@)", "(!", "role:admin,role:reader", "https://example.test/%(user_id)s", "http:x",
             "http:%(missing)s"]
SPACES = [" ", " ", " ", "  ", "\t", "\n", "\r\n", "\x0b", "\u00a0", "\u2003", "\x1c", "\u0085", "\u3000"]


class Rules:
    def __init__(self, random, names, credentials=()):
        self.random = random
        self.names = names
        self.credentials = CREDENTIALS + list(credentials)

    def check(self):
        pick = self.random.random()
        choose = self.random.choice
        if pick < 0.35:
            return "role:" + choose(ROLES if self.random.random() < 0.9 else VALUES)
        if pick < 0.5:
            return "rule:" + choose(self.names)
        if pick < 0.75:
            return choose(self.credentials) + ":" + choose(VALUES)
        if pick < 0.93:
            return choose(OTHERS) + ":" + choose(VALUES)
        if pick < 0.95:
            return choose(UNLIKE) + ":" + choose(VALUES)
        if pick < 0.96:
            return choose(CREDENTIALS + ["role"]) + ":" + choose(ODD_FORMATS)
        return choose("!@")

    def word(self, word):
        return self.random.choice([word, word, word, word.upper(), word.title()])

    def expression(self, depth=0):
        pick = self.random.random()
        if depth > 4 or pick < 0.4:
            return self.check()
        if pick < 0.5:
            return self.word("not") + " " + self.expression(depth + 1)
        if pick < 0.65:
            return "(" + self.expression(depth + 1) + ")"
        if pick < 0.7:
            return "( " + self.expression(depth + 1) + " )"
        operator = self.word(self.random.choice(["and", "or"]))
        return self.expression(depth + 1) + self.random.choice(SPACES) + operator + self.random.choice(SPACES) \
            + self.expression(depth + 1)

    def soup(self):
        words = ["and", "or", "not", "(", ")"]
        count = self.random.randint(1, 7)
        return self.random.choice(SPACES).join(
            self.random.choice(words) if self.random.random() < 0.5 else
            self.random.choice(ODD_WORDS) if self.random.random() < 0.4 else self.check() for _ in range(count))

    def mutated(self):
        text = list(self.expression())
        for _ in range(self.random.randint(1, 3)):
            at = self.random.randrange(len(text) + 1)
            if self.random.random() < 0.5 and at < len(text):
                del text[at]
            else:
                text.insert(at, self.random.choice("()\"' :!@%andort\t."))
        return "".join(text)

    def text(self):
        pick = self.random.random()
        if pick < 0.05:
            return self.random.choice(["", " ", "@", "!", "\n"])
        if pick < 0.6:
            return self.expression()
        return self.soup() if pick < 0.8 else self.mutated()

    def lists(self):
        pieces = []
        for _ in range(self.random.randint(0, 4)):
            pick = self.random.random()
            if pick < 0.2:
                pieces.append(self.random.choice([self.check(), self.check(), "", None, [], self.expression()]))
            else:
                pieces.append([self.check() if self.random.random() < 0.95 else
                               self.random.choice(["", None, 5, ["role:admin"], {"a": 1}, self.soup()])
                               for _ in range(self.random.randint(1, 3))])
        return pieces

    def rule(self):
        pick = self.random.random()
        if pick < 0.85:
            return self.text()
        return self.lists() if pick < 0.98 else None


def dump(random, rules):
    """A policy file of these rules, in one of the styles that people use."""
    form = random.random()
    if form < 0.35:
        return "json", json.dumps(rules, indent=random.choice([None, 4]))
    if form < 0.7:
        # A style turns non-texts into tags.
        style = random.choice([None, "'", '"']) if all(isinstance(rule, str) for rule in rules.values()) else None
        return "yaml", yaml.safe_dump(rules, default_style=style, allow_unicode=True, width=random.choice([30, 1000]))
    lines = ["# rules"]
    for number, (name, rule) in enumerate(rules.items()):
        if random.random() < 0.1:
            lines.append(f"#{json.dumps(name)}: \"!\"")
        key = json.dumps(name)
        if isinstance(rule, str) and random.random() < 0.2:
            lines.append(f"{key}: &anchor{number} {json.dumps(rule)}")
            lines.append(f"\"alias of {number}\": *anchor{number}")
        else:
            lines.append(f"{key}: {json.dumps(rule)}" + random.choice(["", "  # why"]))
    return "yaml", random.choice(["", "---\n"]) + "\n".join(lines) + random.choice(["", "\n"])


# Whole files: both must read the same YAML. {} is a rule's name.
FILES = [
    "", "\n", "# nothing\n", "---\n", "--- {}\n", "null\n", "~", "[]", "''", "0", "{\n", "x", "- a\n- b\n", "a: b: c\n", "%\n",
    "r0:\n", "r0: ''\n", "r0: ~\n", "r0: null\n", "r0: []\n", "r0: [[]]\n", "r0: {}\n", "r0: role:admin\n", "r0: 'role:admin'\n",
    "r0: @\n", "r0: '@'\n", "r0: !\n", "r0: '!'\n", "r0: ! role:admin\n", "r0: !!str role:admin\n", "r0: !x y\n", "r0: yes\n",
    "r0: no\n", "r0: true\n", "r0: 'no'\n", "r0: 5\n", "r0: 0\n", "r0: 1.5\n", "r0: .inf\n", "r0: 0x10\n", "r0: 0o17\n", "r0: 017\n",
    "r0: 1:30\n", "r0: 0:30\n", "r0: 1e5\n", "r0: 1e+5\n", "r0: 1.e+5\n", "r0: +1\n", "r0: -\n", "r0: - \n", "r0: 1_000\n", "r0: 2001-01-01\n",
    "r0: 2001-1-1\n", "r0: 2001-01-01 10:00:00\n", "r0: =\n", "r0: <<\n", "r0: on\n", "r0: y\n", "r0: 'True':%(x)s\n",
    "r0: \"role:admin\n  or role:reader\"\n", "r0: role:admin\n  or role:reader\n", "r0: >\n  role:admin\n  or role:reader\n",
    "r0: |\n  role:admin\n  or role:reader\n", "r0: >-\n  role:admin\n", "r0: role:admin # comment\n", "r0: role:admin#no\n",
    "r0: 'role:admin'\nr0: 'role:reader'\n", "5: role:admin\n", "yes: role:admin\n", "~: role:admin\n", "? r0\n: role:admin\n",
    "[a]: role:admin\n", "? {a: b}\n: c\n", "a: &x role:admin\nr0: *x\n", "r0: *x\n", "r0: &x [*x]\n", "r0: &x\n  - *x\n",
    "a: &x {r0: role:admin}\n", "base: &x\n", "<<: {r0: role:admin}\n", "<<: {r0: role:admin}\nr0: role:reader\n",
    "r0: role:reader\n<<: {r0: role:admin}\n", "<<: [{r0: role:admin}, {r0: role:reader}]\n", "<<: []\n", "<<: role:admin\n", "<<: [x]\n",
    "<<: {r0: role:admin}\n<<: {r0: role:reader}\n", "<<: {<<: {r0: role:admin}}\n", "<<: {<<: {r0: role:admin}, r0: role:reader}\n", "'<<': {r0: role:admin}\n",
    "r0: role:admin\n---\nr0: role:reader\n", "r0: role:admin\n...\n", "%YAML 1.1\n---\nr0: role:admin\n", "%YAML 2.0\n---\nr0: role:admin\n",
    "\tr0: role:admin\n", "r0:\trole:admin\n", "r0: role:admin\t\n", "{\"r0\": \"role:admin\"}", "{\"r0\":\t\"role:admin\"}", "\t{\"r0\": \"role:admin\"}",
    "{\"r0\": \"role:admin\",}", "{\"r0\": \"role:\\u0061dmin\"}", "{\"r0\": \"role:admin\\/x\"}", "{'r0': 'role:admin'}", "{r0: role:admin}",
    "{\"r0\": \"role:\\ud83d\\ude00\"}", "{\"r0\": \"role:\\u00e9\"}", "{\n\t\"r0\": \"role:admin\"\n}\n",
    "{\"r0\": true}", "{\"r0\": false}", "{\"r0\": null}", "{\"r0\": [\"role:admin\"]}", "{\"r0\": [[\"role:admin\"], [\"role:reader\"]]}",
    "{\"r0\": [[\"role:admin\", \"role:reader\"]]}", "{\"r0\": [5]}", "{\"r0\": [0]}", "{\"r0\": [[5]]}", "{\"r0\": [[\"\"]]}", "{\"r0\": [\"\"]}", "{\"r0\": [{}]}",
    "{\"r0\": [{\"role:admin\": 1}]}", "{\"r0\": {\"role:admin\": 1}}", "{\"r0\": [true]}", "{\"r0\": [false]}", "{\"r0\": [[true]]}", "{\"r0\": [null]}", "{\"r0\": [[null]]}",
    "{\"r0\": [\"role:admin and role:reader\"]}", "{\"r0\": [\" role:admin\"]}", "{\"r0\": [\"(role:admin)\"]}",
    "r0: 'role:admin'\n r1: x\n", "r0: \"role:admin\n", "r0: 'role:admin'x\n", "r0: [role:admin, role:reader]\n", "r0: [[role:admin, role:reader]]\n",
    "r0:\n  - [role:admin]\n  - [role:reader]\n", "r0:\n- role:admin\n- role:reader\n", "\ufeffr0: role:admin\n", "r0: role:\u00e9\n", "r0: \"role:admin\\0\"\n",
    "r0: 'role:admin or rule:default'\ndefault: 'role:reader'\n", "r0: rule:nothing\ndefault: role:reader\n", "default: rule:nothing\nr0: rule:nothing\n",
]

IDENTITIES = [
    {"user_id": "u1", "project_id": "p1", "roles": ["admin", "member", "reader"], "user_domain_id": "default",
     "project_domain_id": "default"},
    {"user_id": "u2", "project_id": "p2", "roles": ["reader"], "user_domain_id": "d1"},
    {"user_id": "u1", "project_id": "p2", "roles": ["Member", "ADMIN"], "is_admin_project": False},
    {"user_id": "nova", "project_id": "service", "roles": ["service"], "service_user_id": "u1", "service_roles": ["service", "x"],
     "service_project_id": "p1", "service_project_domain_id": "default", "service_user_domain_id": "d1"},
    {"user_id": "u1", "system_scope": "all", "roles": ["admin", "reader"]},
    {"user_id": "u1", "domain_id": "d1", "roles": ["reader"]},
    {"user_id": "", "project_id": "", "system_scope": "", "domain_id": "", "roles": []},
]

TARGETS = [
    {"project_id": "p1", "user_id": "u1"},
    {"project_id": "p2"},
    {"project_id": None, "user_id": None, "role.name": "Member", "user.enabled": "True", "a(b)c": "x", "number": "1"},
]
