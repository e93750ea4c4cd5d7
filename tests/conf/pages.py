#!/usr/bin/python3
"""Pages that are generated from the table of options: whether they are up to date, and whether the manuals name what
the programs' own helps name.

    tests/conf/pages.py [--build build] [--write]     --write: writes them again
"""

import argparse
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# File, the program's argument, the lines between which its output stands (None: the beginning, the end).
PAGES = (("docs/configuration.md", "reference", "<!-- berth config reference -->\n", None),
         ("docs/placement.conf.sample", "sample", None, None),
         ("docs/man/placement.conf.5", "manual", '.\\" berth config manual\n', '.\\" end\n'))
# Manual, and the helps whose switches it must name, and no others.
MANUALS = (("docs/man/berthd.8", (["berthd"],)),
           ("docs/man/placement-manage.8", (["placement-manage"], ["placement-manage", "db", "online_data_migrations"],
                                            ["placement-manage", "db", "copy"])),
           ("docs/man/placement-status.8", (["placement-status"], ["placement-status", "upgrade", "check"])),
           ("docs/man/berth.8", (["berth", "config", "validate"], ["berth", "config", "show"], ["berth", "policy"],
                                ["berth", "backup"], ["berth", "restore"])))


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def run(build, *words):
    program = os.path.join(ROOT, build, words[0])
    return subprocess.run([program, *words[1:]], check=True, capture_output=True, text=True).stdout


def with_generated(text, begin, end, generated):
    """The text with the generated part in its place."""
    first = text.index(begin) + len(begin) if begin else 0
    last = text.index(end, first) if end else len(text)
    return text[:first] + generated + text[last:]


def switches_of(help_text):
    """{switch: its argument or None} of --help."""
    found = {}
    for line in re.findall(r"^  (-\S.*?)(?:  .*)?$", help_text, re.M):
        for spelling in line.split(", "):
            name, _, argument = spelling.partition(" ")
            found[name] = argument or None
    return found


def switches_in(manual):
    """The same from a manual's .It Fl lines."""
    found = {}
    for line in re.findall(r"^\.It (Fl .*)$", manual, re.M):
        for spelling in line.split(" , "):
            words = spelling.split()
            if words[0] == "Fl":
                found["-" + words[1].replace("\\-", "-")] = words[3] if words[2:3] == ["Ar"] else None
    return found


def problems(build):
    """[(name, problem or None)]"""
    found = []
    for path, action, begin, end in PAGES:
        text = read(path)
        same = with_generated(text, begin, end, run(build, "berth", "config", action)) == text
        found.append((path, None if same else "is not what the program writes: run tests/conf/pages.py --write"))
    for path, helps in MANUALS:
        wanted = {}
        for words in helps:
            wanted.update(switches_of(run(build, *words, "--help")))
        documented = switches_in(read(path))
        different = sorted(name for name in wanted.keys() | documented.keys()
                           if (name in wanted, wanted.get(name)) != (name in documented, documented.get(name)))
        found.append((path, f"differs from --help in {different}" if different or not wanted else None))
    for path in sorted(os.listdir(os.path.join(ROOT, "docs/man"))):
        found.append((f"docs/man/{path} as a manual", lint("docs/man/" + path)))
    return found


def lint(path):
    """The complaints of man and mandoc about a manual."""
    environment = {**os.environ, "MANWIDTH": "78", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", os.path.join(ROOT, path)], env=environment,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode or done.stderr or len(done.stdout) < 500:
        return f"man: {done.stderr or done.returncode}"
    done = subprocess.run(["mandoc", "-Tlint", "-Wwarning", os.path.join(ROOT, path)], capture_output=True, text=True)
    return f"mandoc: {done.stdout}" if done.returncode else None


def write(build):
    for path, action, begin, end in PAGES:
        text = read(path) if os.path.exists(os.path.join(ROOT, path)) else ""
        with open(os.path.join(ROOT, path), "w", encoding="utf-8") as file:
            file.write(with_generated(text, begin, end, run(build, "berth", "config", action)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if options.write:
        write(options.build)
    wrong = [(name, problem) for name, problem in problems(options.build) if problem]
    for name, problem in wrong:
        print(f"{name}: {problem}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
