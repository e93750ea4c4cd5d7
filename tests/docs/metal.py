"""Compares the reference of the Bare Metal API with the sources: every route with its first version and its policy,
every field with its first version and who may set it, the verbs, power targets and transient states of the machine,
the options, the statuses that occur in the tests of the API, and an example for each route."""

import glob
import os
import re

import markdown
import yaml

OVERVIEW = "docs/api/baremetal.md"
ALLOCATIONS = "docs/api/baremetal/allocations.md"
NODES = "docs/api/baremetal/nodes.md"
METHODS = "GET|PUT|POST|PATCH|DELETE"
HEAD = re.compile(rf"^({METHODS}) (/\S*)$")
SAYS = re.compile(r"^Versions (1\.\d+) and later(?:;|\.)")
FIELD = re.compile(r'\b(FIELD|INTERFACE)\((\w+),\s*"(\w+)",\s*(\d+),\s*([^()]*)\)')
ROW = re.compile(rf"^\| `({METHODS}) (/v1/\S+)` \| (1\.\d+) \|(?: `(baremetal:[\w:]+)` \|)?", re.M)
# Handlers of methods that a path does not have and that are refused with texts of their own.
REFUSING = ("handle_baremetal_nodes_refuse", "handle_baremetal_node_refuse")
# Documented once for all routes, in the overview.
EVERYWHERE = {401, 403, 405, 406, 413, 503}


def read(path):
    with open(os.path.join(markdown.ROOT, path), encoding="utf-8") as file:
        return file.read()


def anonymous(path):
    """The names of parts of a path do not matter to clients."""
    return re.sub(r"\{\w+\}", "{}", path)


def routes():
    """From src/baremetal/api/routes.c: {(method, path): (first minor, handler)}"""
    table = re.search(r"baremetal_routes\[\w*\] = \{\n(.*?)\n\};", read("src/baremetal/api/routes.c"), re.S).group(1)
    found = {}
    for entry in re.split(r"(?=\{\.method = )", table)[1:]:
        method, path = re.match(r'\{\.method = "(\w+)",\s*\.path = "([^"]+)"', entry).groups()
        since = int(re.search(r"\bSINCE\((\d+)\)", entry).group(1))
        handler = re.search(r"(?:READS\(|WRITES\(|\.handle = )(\w+)", entry).group(1)
        whole = path if path in ("/", "/v1") else "/v1" + path
        if handler not in REFUSING:
            found[method, anonymous(whole)] = max(since, 1), handler
    return found


def sections(page):
    """[(method, path, section)]"""
    for section in page.sections(2):
        head = HEAD.match(section.title)
        if head:
            yield (*head.groups(), section)


def documented_routes(pages):
    """[(method, path, first minor or None, where)]: from headings, and from tables for routes described in a line."""
    for page in pages:
        for method, path, section in sections(page):
            says = SAYS.search(section.text.strip())
            yield method, anonymous(path), says and int(says.group(1)[2:]), f"{page.path}:{section.first}"
        for method, path, since, _ in ROW.findall(page.text):
            yield method, anonymous(path), int(since[2:]), page.path


def check_routes(pages, report):
    known, documented = routes(), list(documented_routes(pages))
    for method, path, since, where in documented:
        first = known.get((method, path), (None,))[0]
        report(f"{where} {method} {path}", None if first is not None and since == first else
               f"says {since}, src/baremetal/api/routes.c {first}")
    for key in known:
        count = sum(route[:2] == key for route in documented)
        report("documented: %s %s" % key, None if count == 1 else f"{count} times")
    listed = {(method, anonymous(path)) for method, path in
              re.findall(rf"^\| \[`({METHODS}) (/\S*)`\]\(", pages[0].text, re.M)}
    listed |= {(method, anonymous(path)) for page in pages for method, path, _, _ in ROW.findall(page.text)}
    report("the list of routes", None if listed == set(known) else f"{listed ^ set(known)}")


def check_policies(pages, report):
    rules = set(re.findall(r'RULE\(\s*"([\w:]+)"', read("src/policy/rules_baremetal.c")))
    named = {name for page in pages for name in re.findall(r"`baremetal:([\w:]+)`", page.text)}
    report("policies", None if len(named) > 20 and named <= rules else f"no such rules: {sorted(named - rules)}")
    for page in pages:
        for method, path, section in sections(page):
            good = path in ("/", "/v1") or re.search(r"policy `baremetal:[\w:]+`", section.text)
            report(f"{page.path}:{section.first} policy", None if good else "names none")


def fields(path):
    """{name: (first minor, where it may be given, whether it can be sorted by)}; without the internal ones."""
    found = {}
    for kind, _, name, since, rest in FIELD.findall(read(path)):
        flags = "USER | SORT" if kind == "INTERFACE" else rest.split(",")[1].strip()
        if "INTERNAL" in flags:
            continue
        given = {"POST": "POST" in flags or "USER" in flags, "PATCH": "PATCH" in flags or "USER" in flags}
        found[name] = int(since), " ".join(verb for verb in given if given[verb]), re.search(r"\bSORT\b", flags) is not None
    return found


def table_of(page, title):
    """The rows of the first table below that heading: [[cell]]"""
    section = next(section for section in page.sections(2) if section.title == title)
    table = re.search(r"(?:^\|.*\n)+", section.text + "\n", re.M).group()
    return [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in table.strip().split("\n")[2:]]


def check_fields(page, title, source, least, report):
    known = fields(source)
    documented = {row[0].strip("`"): (int(row[1][2:]), row[2]) for row in table_of(page, title)}
    report(f"fields of {source}", None if len(known) >= least else f"only {sorted(known)}")
    for name in sorted(known.keys() | documented.keys()):
        wanted = known.get(name, (None,))[:2]
        report(f"{page.path} `{name}`", None if documented.get(name) == wanted else f"says {documented.get(name)}, not {wanted}")
    # The page lists the fields that cannot be sorted by: lists, objects, and those without a column.
    sentence = re.search(r"list can be sorted by all of them but (.*?)\n\n", page.text, re.S).group(1)
    objects = {row[0].strip("`") for row in table_of(page, title) if row[3] == "`{}`"} if "objects" in sentence else set()
    unsorted = set(re.findall(r"`(\w+)`", sentence)) | objects
    wanted = {name for name in known if not known[name][2]}
    report(f"{page.path} sort keys", None if unsorted == wanted else f"{sorted(unsorted ^ wanted)}")


def state_names():
    """{NODE_…: name}"""
    return dict(re.findall(r'\[(NODE_\w+)\] = \{"([\w -]+)"', read("src/model/node_states.c")))


def transitions():
    """From src/model/node_machine.c: ({verb name: (since, NODE_…)}, {(NODE_verb, from, passed, to)}, {transient:
    failed})"""
    source, state = read("src/model/node_machine.c"), state_names()
    verbs = {name: (int(since), verb) for name, verb, since in
             re.findall(r'\{"(\w+)", (NODE_\w+), (\d+)\}', source)}
    table = re.search(r"TRANSITIONS\[\] = \{\n(.*?)\n\};", source, re.S).group(1)
    rows = re.findall(r"\{(NODE_\w+), (NODE_\w+), (NODE_\w+), (NODE_\w+)\}", table)
    transient = re.search(r"TRANSIENT\[\] = \{\n(.*?)\n\};", source, re.S).group(1)
    following, failed = {}, {}
    for here, then, fails, _ in re.findall(r"\{(NODE_\w+), (NODE_\w+), (NODE_\w+), (NODE_\w+)\}", transient):
        following[here], failed[state[here]] = then, state[fails]
    edges = set()
    for verb, begins, passed, ends in rows:
        through = [passed] if passed != "NODE_NO_STATE" else []
        while through and following[through[-1]] != "NODE_NO_STATE":
            through.append(following[through[-1]])
        edges.add((verb, state[begins], tuple(state[one] for one in through), state[ends]))
    return verbs, edges, failed


def check_machine(page, report):
    verbs, edges, failed = transitions()
    documented_verbs, documented = {}, set()
    for names, since, begins, passes, ends in table_of(page, "Provision states"):
        for name, first in zip(re.findall(r"`([^`]+)`", names), since.split(", ")):
            documented_verbs.setdefault(name, set()).add(int(first[2:]))
            for state in re.findall(r"`([^`]+)`", begins):
                documented.add((name, state, tuple(re.findall(r"`([^`]+)`", passes)), ends.strip("`")))
    wanted = {(name, *edge[1:]) for name, (_, verb) in verbs.items() for edge in edges if edge[0] == verb}
    report("verbs", None if documented_verbs == {name: {since} for name, (since, _) in verbs.items()} else f"{documented_verbs} {verbs}")
    report("transitions", None if documented == wanted and len(wanted) > 25 else f"{sorted(documented ^ wanted)}")
    rows = re.findall(r"^\| `([\w ]+)` \| `([\w ]+)` \|$", page.text, re.M)
    report("after a restart", None if dict(rows) == failed and len(failed) > 5 else f"{rows} {failed}")
    powers = dict(re.findall(r'\[(NODE_POWER_\w+)\] = "([\w ]+)"', read("src/model/node_states.c")))
    wanted = {(name, int(since), powers[power]) for name, since, power in
              re.findall(r'\{"([\w ]+)", (\d+), (NODE_POWER_\w+)\}', read("src/model/node_states.c"))}
    documented = {(name, int(since), ends) for name, since, ends in
            re.findall(r"^\| `([\w ]+)` \| 1\.(\d+) \| `([\w ]+)` \|$", page.text, re.M)}
    report("power targets", None if documented == wanted and wanted else f"{documented ^ wanted}")


def check_options(page, report):
    source = read("src/conf/options.c")
    known = set(re.findall(r'"baremetal",\s*"(\w+)"', source))
    documented = {name for row in table_of(page, "Options") for name in re.findall(r"`(\w+)`", row[0])}
    report("options of [baremetal]", None if documented == known and known else f"{documented ^ known}")


def statuses_seen():
    """The expectations of tests/baremetal/gabbits: {(method, path): {status}}; of names only those that are routes."""
    known = [(method, re.compile("^" + re.escape(path).replace(r"\{\}", "[^/]+") + "$"), (method, path))
             for method, path in routes()]
    known.sort(key=lambda route: route[2][1].count("{}"))
    seen = {}
    for name in sorted(glob.glob(os.path.join(markdown.ROOT, "tests/baremetal/gabbits/*.yaml"))):
        with open(name, encoding="utf-8") as file:
            tests = yaml.safe_load(file)["tests"]
        for test in (dict(test, **case) for test in tests for case in (test.get("cases") or {"": {}}).values()):
            method = next((key for key in test if key in METHODS.split("|")), None)
            if method is None or not str(test.get("status", 200)).isdigit():
                continue
            path = test[method].split("?")[0]
            path = re.sub(r"/$", "", path) or "/"
            path = path if path == "/" or path.startswith("/v1") else "/v1" + path
            for verb, pattern, route in known:
                if verb == method and pattern.match(path):
                    seen.setdefault(route, set()).add(int(test.get("status", 200)))
                    break
    return seen


def check_statuses(pages, report):
    seen = statuses_seen()
    report("statuses of the bare metal tests", None if len(seen) > 20 else f"only of {sorted(seen)}")
    for page in pages:
        for method, path, section in sections(page):
            documented = {int(status) for row in re.findall(r"^\| ((?:\d{3})(?:, \d{3})*) \|", section.text, re.M)
                    for status in row.split(", ")}
            missing = seen.get((method, anonymous(path)), set()) - documented - EVERYWHERE
            report(f"{page.path}:{section.first} statuses", f"not documented: {sorted(missing)}" if missing else None)


def check_examples(pages, report):
    for page in pages:
        for method, path, section in sections(page):
            end = section.first + section.text.count("\n") + 1
            pattern = re.sub(r"\\\{\w+\\\}", r"[^/?'\" ]+", re.escape(path))
            asked = re.compile(rf"\b(?:metal|metal_at \S+) {method} ['\"]?{pattern}(?=['\"?\s]|$)", re.M)
            good = any(asked.search(block.text) for block in page.blocks
                       if section.first < block.first <= end and block.info[:2] == ["sh", "test"])
            report(f"{page.path}:{section.first} example", None if good else f"none asks {method} {path}")


def check(report):
    overview, allocations, nodes = pages = [markdown.Page(path) for path in (OVERVIEW, ALLOCATIONS, NODES)]
    check_routes(pages, report)
    check_policies(pages, report)
    check_fields(allocations, "Members", "src/model/node_allocation.c", 12, report)
    check_fields(nodes, "Fields", "src/model/node.c", 60, report)
    check_machine(nodes, report)
    check_options(overview, report)
    check_statuses(pages, report)
    check_examples(pages, report)
