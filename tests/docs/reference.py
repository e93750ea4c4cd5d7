"""Compares the API reference with the sources and with the API tests: every route with its microversions and its
policy, every status that occurs in the tests of the API, every error code, every member of a body and parameter of a
query, an example for each route, and a request before and after for each microversion."""

import glob
import os
import re
import sys

import markdown

sys.path.insert(0, os.path.join(markdown.ROOT, "tests", "api"))

import coverage_table  # noqa: E402
import suites  # noqa: E402

OVERVIEW = "docs/api/placement.md"
HISTORY = "docs/api/microversions.md"
HEAD = re.compile(r"^(GET|PUT|POST|DELETE) (/\S*)$")
SAYS = re.compile(r"^Microversions? (1\.\d+)(?: to (1\.\d+)| and later)[;.](?: [Pp]olicy `([\w:]+)`\.)?", re.M)
# Documented once for all routes, in the overview.
EVERYWHERE = {401, 403, 405, 406, 413, 414, 415, 431, 503}
HANDLER_CHECKS = {("GET", "/usages"): "placement:usages", ("GET", "/"): None}


def read(path):
    with open(os.path.join(markdown.ROOT, path), encoding="utf-8") as file:
        return file.read()


def newest():
    return int(re.search(r"PLACEMENT_MINOR_MAX = (\d+)", read("src/placement/api/microversion.h")).group(1))


def policies():
    """From src/policy/rules_placement.c: {POLICY_…: name}"""
    rows = re.findall(r'AT\((\w+)\) =\s*OPERATION\(\s*"([\w:]+)"', read("src/policy/rules_placement.c"))
    return {"POLICY_" + rule: "placement:" + name for rule, name in rows}


def routes():
    """From src/placement/api/routes.c: {(method, path, first minor, last minor): policy's name or None}"""
    table = re.search(r"placement_routes\[\] = \{\n(.*?)\n\};", read("src/placement/api/routes.c"), re.S).group(1)
    names, found = policies(), {}
    for entry in re.split(r"(?=\{\.method = )", table)[1:]:
        method, path = re.match(r'\{\.method = "(\w+)",\s*\.path = "([^"]+)"', entry).groups()
        since = re.search(r"\bSINCE\((\d+)\)", entry)
        first, last = (since.group(1), newest()) if since else (
            re.search(r"\.min_minor = (\d+)", entry).group(1), re.search(r"\.max_minor = (\d+)", entry).group(1))
        policy = re.search(r"\bASKS\((\w+)\)", entry)
        found[method, path, int(first), int(last)] = names[policy.group(1)] if policy else HANDLER_CHECKS[method, path]
    return found


def reference_pages():
    folder = os.path.join(markdown.ROOT, "docs/api/placement")
    return [markdown.Page(OVERVIEW)] + [markdown.Page(f"docs/api/placement/{name}")
                                        for name in sorted(os.listdir(folder))]


def documented_routes(pages):
    """[(method, path, first minor, last minor, policy, section, page)]; the range is None if it is missing."""
    for page in pages:
        for section in page.sections(2):
            head = HEAD.match(re.sub(r"`| \(.*", "", section.title))
            if head is None:
                continue
            says = SAYS.search(section.text)
            first, last = (None, None) if says is None else (
                int(says.group(1)[2:]), int(says.group(2)[2:]) if says.group(2) else newest())
            yield (*head.groups(), first, last, says and says.group(3), section, page)


def check_routes(documented, report):
    known = routes()
    for method, path, first, last, policy, section, page in documented:
        where = f"{page.path}:{section.first}"
        key = method, path, first, last
        report(f"{where} {method} {path}", None if key in known else f"1.{first} to 1.{last} is not in src/placement/api/routes.c")
        if key in known:
            report(f"{where} policy", None if policy == known[key] else f"says {policy}, not {known[key]}")
    for key in known:
        found = [1 for route in documented if route[:4] == key]
        report("documented: %s %s 1.%d to 1.%d" % key, None if found else "not")
    wanted = set(policies().values())
    report("every policy rule is some route's", None if wanted == {name for name in known.values() if name} else
           f"{wanted ^ {name for name in known.values() if name}}")


def documented_statuses(section):
    """First columns of its table rows: {status}"""
    return {int(status) for row in re.findall(r"^\| ((?:\d{3})(?:, \d{3})*) \|", section.text, re.M)
            for status in row.split(", ")}


def statuses_seen():
    """The expectations of the API's tests: {(method, path of the table): {status: {minor}}}"""
    seen, known = {}, list(coverage_table.patterns())
    for name in sorted(glob.glob(os.path.join(markdown.ROOT, "tests/api/gabbits/*.yaml"))):
        file = suites.File(name)
        defaults = file.defaults()
        for test in file.tests(False):
            method, path, minor = coverage_table.request_of(test, defaults)
            status = str(test.get("status", defaults.get("status", 200)))
            for (route, verb), pattern in known:
                if verb == method and pattern.match(path) and status.isdigit():
                    seen.setdefault((method, route), {}).setdefault(int(status), set()).add(minor)
                    break
    return seen


def check_statuses(documented, report):
    seen = statuses_seen()
    report("statuses of the API's tests", None if len(seen) > 30 else f"only of {len(seen)} routes")
    for method, path, first, last, _, section, page in documented:
        if first is None:
            continue
        wanted = {status for status, minors in seen.get((method, path), {}).items()
                  if status not in EVERYWHERE and any(m is not None and first <= m <= last for m in minors)}
        missing = wanted - documented_statuses(section)
        report(f"{page.path}:{section.first} statuses", f"not documented: {sorted(missing)}" if missing else None)


def check_codes(pages, report):
    sources = "".join(read(os.path.relpath(path, markdown.ROOT)) for path in
                      glob.glob(os.path.join(markdown.ROOT, "src/api/**/*.c"), recursive=True) +
                      glob.glob(os.path.join(markdown.ROOT, "src/engine/*.c")) +
                      glob.glob(os.path.join(markdown.ROOT, "src/*/write/*.c")) +
                      glob.glob(os.path.join(markdown.ROOT, "src/*/api/**/*.c"), recursive=True) +
                      glob.glob(os.path.join(markdown.ROOT, "src/query/*.c")))
    sent = set(re.findall(r'"(placement\.[a-z_]+(?:\.[a-z_]+)?)\\?"', sources)) - set(re.findall(
        r'(?:logger = |LOGGER )"(placement\.[\w.]+)"', sources))
    table = set(re.findall(r"^\| `(placement\.[\w.]+)` \|", pages[0].text, re.M))
    report("error codes", None if sent and sent == table else f"sources {sorted(sent - table)}, page {sorted(table - sent)}")
    rest = "".join(page.text for page in pages[1:])
    for code in sorted(table - {"placement.undefined_code"}):
        report(f"some route answers {code}", None if f"`{code}`" in rest else "none says so")


def check_members(pages, report):
    """Names in the tables of schemas, and the words of the patterns of query parameters."""
    text = "".join(page.text for page in pages)
    names = set()
    for path in glob.glob(os.path.join(markdown.ROOT, "src/api/schema/*.c")):
        source = read(os.path.relpath(path, markdown.ROOT))
        names.update(re.findall(r'\{\s*"(\w+)",\s*(?:&|ANY)', source))
    names.update(("resources", "required", "member_of", "in_tree"))
    report("members of bodies and queries", None if len(names) > 25 else f"only {sorted(names)}")
    for name in sorted(names):
        report(f"`{name}` is described", None if f"`{name}`" in text else "not")


def asks(text, method, path):
    """Whether a block has `ask METHOD PATH` or `at VERSION METHOD PATH`."""
    pattern = re.sub(r"\\\{\w+\\\}", r"[^/?'\" ]+", re.escape(path))
    return re.search(rf"\b(?:ask|at \S+) {method} ['\"]?{pattern}(?=['\"?\s]|$)", text, re.M)


def check_examples(documented, report):
    for method, path, _, _, _, section, page in documented:
        end = section.first + section.text.count("\n") + 1
        blocks = [block.text for block in page.blocks
                  if section.first < block.first <= end and block.info[:2] == ["sh", "test"]]
        good = any(asks(text, method, path) for text in blocks)
        report(f"{page.path}:{section.first} example", None if good else f"none asks {method} {path}")


def check_history(report):
    page = markdown.Page(HISTORY)
    documented = {}
    for section in page.sections(2):
        match = re.match(r"1\.(\d+)\b", section.title)
        if match:
            documented[int(match.group(1))] = section
    report("microversions", None if sorted(documented) == list(range(newest() + 1)) else f"{sorted(documented)}")
    for minor, section in documented.items():
        versions = set(re.findall(r"^(?:[^`\n]*\$\()?\b(?:at|at_headers) 1\.(\d+) ", section.text, re.M))
        wanted = {str(minor), str(minor - 1)} if minor else {"0"}
        report(f"1.{minor} is shown", None if wanted <= versions else f"asked at {sorted(versions)} only")


def check(report):
    pages = reference_pages()
    documented = list(documented_routes(pages))
    check_routes(documented, report)
    check_statuses(documented, report)
    check_codes(pages, report)
    check_members(pages, report)
    check_examples(documented, report)
    check_history(report)
