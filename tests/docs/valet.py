"""Compares the reference of the Valet API with the sources: every route with its methods and its rule, a section and
an example for each of them, the options."""

import os
import re

import markdown

OVERVIEW = "docs/api/valet.md"
PAGES = {"docs/api/valet/groups.md": ("/v1/groups", "/v1/status"), "docs/api/valet/plans.md": ("/v1/plans", "/v1/placements")}
HEAD = re.compile(r"^(GET|PUT|POST|DELETE) (/v1/\S+)$")
ROW = re.compile(r"^\| (`/[^|]*`) \| ([A-Z, ]+) \| (yes|no) \|([^|]*)\|$", re.M)
OPTION = re.compile(r"^\| ((?:`\w+`(?:, )?)+) \| ([^|]*) \|", re.M)


def read(path):
    with open(os.path.join(markdown.ROOT, path), encoding="utf-8") as file:
        return file.read()


def routes():
    """From src/valet/api/routes.c: [(method, path, rule)], the rule "" where none is checked."""
    rules = dict(re.findall(r'AT\((\w+)\) = RULE\("([\w:]+)", (?:\w+)', read("src/policy/rules_valet.c")))
    table = re.search(r"valet_routes\[\w*\] = \{\n(.*?)\n\};", read("src/valet/api/routes.c"), re.S).group(1)
    found = []
    for entry in re.split(r"(?=\{\.method = )", table)[1:]:
        method, path = (re.search(rf'\.{name} = "([^"]+)"', entry).group(1) for name in ("method", "path"))
        rule = re.search(r"\bASKS\(POLICY_VALET_(\w+)\)", entry)
        found.append((method, path, "valet:" + rules[rule.group(1)] if rule else ""))
    return found


def check_overview(report, found):
    documented = {}
    for paths, methods, token, role in ROW.findall(read(OVERVIEW)):
        for path in re.findall(r"`([^`]+)`", paths):
            documented[path] = (methods.split(", "), token == "yes", role.strip())
    admins = set(re.findall(r'RULE\("([\w:]+)", ADMIN', read("src/policy/rules_valet.c")))
    for path in dict.fromkeys(path for _, path, _ in found):
        methods = [method for method, other, _ in found if other == path]
        rules = {rule for _, other, rule in found if other == path}
        role = "" if rules == {""} else "admin" if all(rule[len("valet:"):] in admins for rule in rules) else "any"
        said = documented.get(path, ([], None, ""))
        good = said[0] == methods and said[1] == (rules != {""}) and (said[2] == role or said[2].startswith(role + "; "))
        report(f"{OVERVIEW}: {path}", None if good else f"says {said}, the sources {methods} {rules}")


def check_sections(report, found, name, paths):
    page = markdown.Page(os.path.join(markdown.ROOT, name) if not os.path.exists(name) else name)
    sections = {}
    for part in re.split(r"^### ", read(name), flags=re.M)[1:]:
        head, _, text = part.partition("\n")
        if HEAD.match(head):
            sections[HEAD.match(head).groups()] = text.split("\n## ")[0]
    examples = "\n".join(block.text for block in page.blocks if block.info[:2] == ["sh", "test"])
    wanted = {(method, path): rule for method, path, rule in found
              if path.startswith(paths) and method != "HEAD"}
    report(f"{name}: sections", None if set(sections) == set(wanted) else f"{set(sections) ^ set(wanted)}")
    for (method, path), rule in wanted.items():
        text = sections.get((method, path), "")
        report(f"{name}: {method} {path}: rule", None if re.findall(r"[Pp]olicy `([\w:]+)`", text)[:1] == [rule] else text[:200])
        pattern = re.sub(r"\{\w+\}", r"[^\\s/]+", path)
        report(f"{name}: {method} {path}: example",
               None if re.search(rf"\bvalet {method} {pattern}(?=\s|$)", examples) else "there is none")


def check_options(report):
    part = read(OVERVIEW).partition("\n## Options\n")[2]
    documented = {name for names, _ in OPTION.findall(part) for name in re.findall(r"`(\w+)`", names)}
    known = set(re.findall(r'"valet", "(\w+)"', read("src/conf/options.c")))
    report("options of [valet]", None if documented == known and known else f"{documented ^ known}")


def check(report):
    found = routes()
    check_overview(report, found)
    for name, paths in PAGES.items():
        check_sections(report, found, name, paths)
    check_options(report)
