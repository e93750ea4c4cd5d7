"""Parses the help of the programs. They print it from the tables with which they parse their command lines, so it
lists exactly what they accept."""

import dataclasses
import os
import re
import subprocess

PROGRAMS = ("berth", "berthd", "placement-manage", "placement-status")
ENTRY = re.compile(r"^  (\S.*?)(?:  +(\S.*))?$")
SPELLING = re.compile(r"(?:^|, )(-[-\w]+)(?: ([A-Z][A-Z:=]*))?")


@dataclasses.dataclass
class Switch:
    names: list    # with their dashes
    argument: str  # its name in the help; "" if it takes none
    help: str


@dataclasses.dataclass
class Command:
    """A program, a command of it, or an action of a command."""
    words: list     # as typed: ["berth", "config", "show"]
    argument: str   # as the list shows it after the name: "[SECTION [OPTION]]"
    help: str       # from the list
    switches: list
    commands: list  # one level below
    takes_file: bool

    def walk(self):
        yield self
        for below in self.commands:
            yield from below.walk()


def run(build, words):
    return subprocess.run([os.path.join(build, words[0]), *words[1:]], capture_output=True, text=True, timeout=60,
                          stdin=subprocess.DEVNULL)


def entries(text, *titles):
    """[[name and argument, help]] below lines that are one of the titles."""
    found, inside = [], False
    for line in text.split("\n"):
        if not line.startswith(" "):
            inside = line in titles
        elif inside and (match := ENTRY.match(line)):
            found.append([match.group(1), match.group(2) or ""])
        elif inside:
            found[-1][1] = f"{found[-1][1]} {line.strip()}".strip()
    return found


def switches(text):
    found = []
    for shown, said in entries(text, "switches:"):
        spelled = SPELLING.findall(shown)
        found.append(Switch([name for name, _ in spelled], next((word for _, word in spelled if word), ""), said))
    return found


def read(build, words, argument="", said="", lists=()):
    """The command with these words. `lists`: the entries of its list, if another help has shown them."""
    text = run(build, [*words, "--help"]).stdout
    categories = entries(text, "categories:")
    listed = categories or lists or entries(text, "commands:", "actions:")
    below = []
    for shown, help_of_it in listed:
        name, _, rest = shown.partition(" ")
        inner = [*words, name]
        if run(build, [*inner, "--help"]).stdout == text and not lists:  # its help is that of its command
            below.append(Command(inner, rest, help_of_it, switches(text), [], False))
        elif name != "help":
            below.append(read(build, inner, rest, help_of_it, entries(text, "commands:") if categories else ()))
    return Command(words, argument, said, switches(text), below, text.partition("\n")[0].endswith(" FILE"))


def programs(build):
    return [read(os.path.abspath(build), [name]) for name in PROGRAMS]
