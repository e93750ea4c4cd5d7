"""Parses a page: its headings, fenced blocks, links and the directives in HTML comments."""

import dataclasses
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FENCE = re.compile(r"^(```+)\s*(.*)$")
HEADING = re.compile(r"^(#{1,6}) +(.*?)\s*$")
LINK = re.compile(r"!?\[[^\]\[]*\]\(([^)\s]+)\)")
DIRECTIVE = re.compile(r"<!-- (server|define):\s*(.*?)\s*-->", re.S)


@dataclasses.dataclass
class Block:
    """A fenced block; `first` is the line of its opening fence, from 1, `last` that of the closing one."""
    info: list
    text: str
    first: int
    last: int

    def __str__(self):
        return f"line {self.first}"


@dataclasses.dataclass
class Directive:
    """<!-- server: OPTIONS… --> or <!-- define: PAGE -->"""
    word: str
    text: str
    first: int


@dataclasses.dataclass
class Section:
    """The content below a heading, up to the next of the same or a higher level."""
    level: int
    title: str
    text: str
    first: int


class Page:
    def __init__(self, path):
        self.path = path
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            self.text = file.read()
        self.lines = self.text.split("\n")
        self.blocks = []
        self.prose = []  # lines, with those of fenced blocks emptied
        self._read()

    def _read(self):
        fence, start = None, 0
        for number, line in enumerate(self.lines, 1):
            match = FENCE.match(line)
            if fence is None and match:
                fence, info, start = match.group(1), match.group(2).split(), number
            elif fence is not None and line.rstrip() == fence:
                text = "\n".join(self.lines[start:number - 1])
                self.blocks.append(Block(info, text, start, number))
                fence = None
            elif fence is None:
                self.prose.append(line)
                continue
            self.prose.append("")
        if fence is not None:
            raise ValueError(f"{self.path}: the block of line {start} does not end")

    def directives(self):
        text = "\n".join(self.prose)
        return [Directive(match.group(1), match.group(2), text.count("\n", 0, match.start()) + 1)
                for match in DIRECTIVE.finditer(text)]

    def headings(self):
        """[(level, title, line)]"""
        return [(len(match.group(1)), match.group(2), number)
                for number, line in enumerate(self.prose, 1) if (match := HEADING.match(line))]

    def anchors(self):
        """The anchors that GitHub makes of headings."""
        found = set()
        for _, title, _ in self.headings():
            plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).replace("`", "")
            base = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
            anchor, again = base, 0
            while anchor in found:
                again += 1
                anchor = f"{base}-{again}"
            found.add(anchor)
        return found

    def sections(self, level):
        headings = self.headings()
        for i, (depth, title, line) in enumerate(headings):
            if depth != level:
                continue
            end = next((below for deep, _, below in headings[i + 1:] if deep <= level), len(self.lines) + 1)
            yield Section(level, title, "\n".join(self.lines[line:end - 1]), line)

    def links(self):
        """[(target, line)], without code."""
        return [(match.group(1), number) for number, line in enumerate(self.prose, 1)
                for match in LINK.finditer(re.sub(r"`[^`]*`", "", line))]


def pages():
    """Every page of the project's documentation, by its path from the root."""
    found = [name for name in sorted(os.listdir(ROOT)) if name.endswith(".md")]
    for folder, _, names in sorted(os.walk(os.path.join(ROOT, "docs"))):
        found += [os.path.relpath(os.path.join(folder, name), ROOT) for name in sorted(names) if name.endswith(".md")]
    return found
