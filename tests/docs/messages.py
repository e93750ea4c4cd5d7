"""Messages and the sources. Every message that the tables of docs/troubleshooting.md and of the errors of the Bare
Metal and Valet APIs explain, under `message`, `the text` or `the reason`, must occur in berth's code; every text
with which the APIs, the planners or the database refuse something must be documented, for bare metal with its
status."""

import glob
import os
import re

import markdown

METAL = "docs/api/baremetal/errors.md"
VALET, PLANS = "docs/api/valet/groups.md", "docs/api/valet/plans.md"
PAGES = {"docs/troubleshooting.md": 30, METAL: 60, VALET: 15, PLANS: 40}  # the minimum number of messages of each
COLUMNS = ("message", "the text", "the reason")
LEAST = 8         # shorter parts occur everywhere
LEAST_REFUSAL = 14
REFUSING = ("src/api/**/*.c", "src/query/*.c", "src/store/**/*.c", "src/engine/**/*.c",
            "src/placement/**/*.c", "src/baremetal/**/*.c", "src/valet/api/**/*.c", "src/valet/write/*.c")
NO_REFUSALS = ('{"', '["', "/v1/", "SELECT ", "INSERT ", "UPDATE ", "SET ", "WHERE ", "' WHERE ", "FROM ", "HAVING ", "EXPLAIN ", "; S")
LEAST_INSIDE = 11  # of a string that is only a part of what the page shows


METAL_REFUSING = ("src/baremetal/api/**/*.c", "src/baremetal/write/node_*.c",
                  "src/baremetal/write/plan_node*.c")

ONE = r'"(?:\\.|[^"\\\n])*"'
STRING = re.compile(rf"{ONE}(?:\s*{ONE})*")
CALL = re.compile(rf"\b(?:err_set\w*|(?!db_)(?:[a-z_]+_)?(?:refuse|fail)\w*|buf_append_lit|arena_printf)\s*\((?!&?sql,)((?:[^;\"]|{ONE})*);")
STATUS = re.compile(rf"\berr_set\w*\s*\([^,;]+,\s*(\d{{3}}),((?:[^;\"]|{ONE})*);")
SPEC = r"%[-.*0-9]*(?:ll|z)?[sducx]"


def pieces(text, pattern, least=LEAST):
    return [part for part in re.split(pattern, text) if len(part.strip()) >= least]


def strings(source):
    """The strings in C text; adjacent literals are one."""
    for match in STRING.finditer(source):
        yield "".join(part[1:-1] for part in re.findall(ONE, match.group())).replace('\\"', '"')


def sources(*patterns):
    """[(path, text)]"""
    for pattern in patterns:
        for path in sorted(glob.glob(os.path.join(markdown.ROOT, pattern), recursive=True)):
            with open(path, encoding="utf-8") as file:
                yield os.path.relpath(path, markdown.ROOT), re.sub(r"^\s*#include.*$", "", file.read(), flags=re.M)


def literals():
    """The fixed parts of every string in the sources."""
    return {part.replace("%%", "%") for _, source in sources("src/**/*.c") for text in strings(source)
            for part in pieces(text, SPEC)}


def refusals():
    """[(path, fixed part of a text with which something is refused)]; without JSON, HTML and SQL: what is
    appended to a buffer named `sql`, and what begins like a statement."""
    for path, source in sources(*REFUSING):
        for call in CALL.finditer(source):
            for text in strings(call.group(1)):
                if '": ' not in text and "</" not in text and not text.lstrip().startswith(NO_REFUSALS):
                    yield from ((path, part.strip().replace("%%", "%")) for part in pieces(text, SPEC, LEAST_REFUSAL))


def cells_of(page):
    """[(heads of the table, cells of a row, line)]"""
    heads = None
    for number, line in enumerate(page.prose, 1):
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")] if line.startswith("|") else None
        if cells is not None and heads is not None and set(line) - set("|- "):
            yield heads, cells, number
        heads = cells if heads is None or cells is None else heads


def messages(page):
    """[(message, line)]"""
    for heads, cells, line in cells_of(page):
        for i in (i for i, head in enumerate(heads) if head in COLUMNS):
            yield from ((span, line) for span in re.findall(r"`([^`]+)`", cells[i] if i < len(cells) else ""))


def in_one_line(text):
    return re.sub(r"\s+", " ", text.replace('\\"', '"'))


def check_refusals(report):
    documentation = in_one_line(" ".join(markdown.Page(path).text for path in markdown.pages() if path.startswith("docs/")))
    refused = set(refusals())
    report("texts of refusals", None if len(refused) > 550 else f"only {len(refused)}")
    for path, text in sorted(refused):
        report(f"{path}: {text}", None if in_one_line(text) in documentation else "is nowhere in docs/")


def check_explained(path, least, said, report):
    explained = list(messages(markdown.Page(path)))
    report(f"messages of {path}", None if len(explained) > least else f"only {len(explained)}")
    for message, line in explained:
        missing = [part for part in pieces(message, "…")
                   if not any(part.strip() in text or len(text.strip()) >= LEAST_INSIDE and text.strip() in part
                              for text in said)]
        report(f"{path}:{line} {message}", f"nothing in src/ says {missing}" if missing else None)


def check_statuses(report):
    """Where the sources set a status with a text, the page of bare metal's errors has a row with both."""
    rows = [(set(cells[0].split(", ")), in_one_line(cells[1])) for heads, cells, _ in cells_of(markdown.Page(METAL))
            if heads[0] == "status"]
    found = 0
    for path, source in sources(*METAL_REFUSING):
        for status, call in STATUS.findall(source):
            longest = max((part for text in strings(call) for part in pieces(text, SPEC)), key=len, default="")
            if len(longest) < LEAST:
                continue
            found += 1
            good = any(status in statuses and in_one_line(longest.strip()) in text for statuses, text in rows)
            report(f"{path}: {status} {longest.strip()}", None if good else f"no row of {METAL} has both")
    report("statuses of bare metal", None if found > 40 else f"only {found}")


def check(report):
    check_refusals(report)
    said = literals()
    for path, least in PAGES.items():
        check_explained(path, least, said, report)
    check_statuses(report)
