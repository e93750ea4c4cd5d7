"""Messages and the sources. What docs/troubleshooting.md explains in its tables, under `message` or `the text`, has to
be something that berth says; and every text with which the API, the planners or the database refuse something has to
stand somewhere in the documentation."""

import glob
import os
import re

import markdown

PAGE = "docs/troubleshooting.md"
COLUMNS = ("message", "the text")
LEAST = 8         # shorter pieces are everywhere
LEAST_REFUSAL = 14
REFUSING = ("src/api/**/*.c", "src/query/*.c", "src/store/**/*.c", "src/write/*.c")
LEAST_INSIDE = 11  # of a string that is only a part of what the page shows


ONE = r'"(?:\\.|[^"\\\n])*"'
STRING = re.compile(rf"{ONE}(?:\s*{ONE})*")
CALL = re.compile(rf"\b(?:err_set\w*|refuse\w*|buf_append_lit)\s*\(((?:[^;\"]|{ONE})*);")
SPEC = r"%[-.*0-9]*(?:ll|z)?[sducx]"


def pieces(text, pattern, least=LEAST):
    return [part for part in re.split(pattern, text) if len(part.strip()) >= least]


def strings(source):
    """Of C text; neighbouring literals are one."""
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
    return {part for _, source in sources("src/**/*.c") for text in strings(source) for part in pieces(text, SPEC)}


def refusals():
    """[(path, fixed part of a text with which something is refused)]; not of JSON, HTML or SQL."""
    for path, source in sources(*REFUSING):
        for call in CALL.finditer(source):
            for text in strings(call.group(1)):
                if '": ' not in text and "</" not in text and not text.startswith(('{"', "SELECT ")):
                    yield from ((path, part.strip()) for part in pieces(text, SPEC, LEAST_REFUSAL))


def messages(page):
    """[(message, line)]"""
    columns = None
    for number, line in enumerate(page.prose, 1):
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")] if line.startswith("|") else None
        if cells is None:
            columns = None
        elif columns is None:
            columns = [i for i, cell in enumerate(cells) if cell in COLUMNS]
        else:
            for i in columns:
                yield from ((span, number) for span in re.findall(r"`([^`]+)`", cells[i] if i < len(cells) else ""))


def check(report):
    told = " ".join(markdown.Page(path).text for path in markdown.pages() if path.startswith("docs/"))
    told = re.sub(r"\s+", " ", told.replace('\\"', '"'))
    refused = set(refusals())
    report("texts of refusals", None if len(refused) > 100 else f"only {len(refused)}")
    for path, text in sorted(refused):
        report(f"{path}: {text}", None if re.sub(r"\s+", " ", text) in told else "is nowhere in docs/")
    page, said = markdown.Page(PAGE), literals()
    explained = list(messages(page))
    report(f"messages of {PAGE}", None if len(explained) > 30 else f"only {len(explained)}")
    for message, line in explained:
        missing = [part for part in pieces(message, "…")
                   if not any(part.strip() in text or len(text.strip()) >= LEAST_INSIDE and text.strip() in part
                              for text in said)]
        report(f"{PAGE}:{line} {message}", f"nothing in src/ says {missing}" if missing else None)
