"""Links between pages and to files: every target exists, and every page can be reached from docs/README.md."""

import os
import re

import markdown

START = "docs/README.md"
# Pages that are still to be written; a name is removed when its page exists.
AWAITED = set()
MANUALS = "docs/man/"  # installed elsewhere: pages name them as `berthd(8)`
OUTSIDE = re.compile(r"^[a-z][a-z0-9+.-]*:")


def resolve(path, target):
    """(path from the root, anchor) of a link on a page."""
    place, _, anchor = target.partition("#")
    if not place:
        return path, anchor
    return os.path.normpath(os.path.join(os.path.dirname(path), place)), anchor


def problem_of(path, target, pages):
    place, anchor = resolve(path, target)
    if place in AWAITED:
        return None
    if path.startswith("docs/") and (not place.startswith("docs/") or place.startswith(MANUALS)):
        return f"{target} is not beside this page in a package"
    if place.startswith("..") or not os.path.exists(os.path.join(markdown.ROOT, place)):
        return f"{target} leads nowhere"
    if anchor and (place not in pages or anchor not in pages[place].anchors()):
        return f"{target}: no such heading"
    return None


def check(report):
    pages = {path: markdown.Page(path) for path in markdown.pages()}
    reached, queue = set(), [START]
    while queue:
        path = queue.pop()
        if path in reached or path not in pages:
            continue
        reached.add(path)
        queue += [resolve(path, target)[0] for target, _ in pages[path].links() if not OUTSIDE.match(target)]
    for path, page in pages.items():
        if not path.startswith("docs/") and path not in reached:
            continue  # of the project's root only what docs/ links to
        problems = [f"line {line}: {problem}" for target, line in page.links()
                    if not OUTSIDE.match(target) and (problem := problem_of(path, target, pages))]
        report(f"links of {path}", "; ".join(problems) or None)
        if path.startswith("docs/"):
            report(f"{START} leads to {path}", None if path in reached else "by no way")
    linked = {resolve(START, target)[0] for target, _ in pages[START].links()}
    linked |= {f"{MANUALS}{name}.{section}" for name, section in re.findall(r"`([\w.-]+)\((\d)\)`", "\n".join(pages[START].lines))}
    for path in sorted(AWAITED):
        here = os.path.exists(os.path.join(markdown.ROOT, path))
        report(f"awaited {path}", "is here: take it from AWAITED in tests/docs/links.py" if here else None)
    for folder, _, names in os.walk(os.path.join(markdown.ROOT, "docs")):
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), markdown.ROOT)
            report(f"{START} names {path}", None if path == START or path in linked else "not")
