#!/usr/bin/python3
"""The help of all programs, their versions, their errors for unknown names, and what their commands print (tools.py).

    tests/cli/operator.py --build build

The last line is `N passed, N failed`.
"""

import argparse
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
sys.dont_write_bytecode = True

import helps  # noqa: E402
import servers  # noqa: E402
import tools  # noqa: E402


def problem_of(done, code, out=None, err=""):
    """The problem, or None. `out` and `err`: required text; "": no output; None: anything."""
    if done.returncode != code:
        return f"ends with {done.returncode}: {done.stderr!r}"
    for wanted, came in ((out, done.stdout), (err, done.stderr)):
        if wanted is not None and (wanted not in came or (wanted == "" and came)):
            return f"{wanted!r} is not in {came!r}"
    return None


def check_commands(build, score, berth):
    """Each command of the table, and each action of a command."""
    for command in list(berth.walk())[1:]:
        words = command.words[1:]
        if words == ["help"]:
            continue
        asked = helps.run(build, ["berth", "help", *words])
        itself = helps.run(build, [*command.words, "--help"])
        problem = problem_of(asked, 0, f"usage: berth {words[0]}")
        if problem is None and asked.stdout != itself.stdout:
            problem = f"another help than that of --help: {asked.stdout}"
        score.case(f"berth help {' '.join(words)}", problem)
        # Two letters in the wrong order.
        slip = words[-1][0] + words[-1][2] + words[-1][1] + words[-1][3:]
        done = helps.run(build, ["berth", *words[:-1], slip])
        score.case(f"berth {' '.join(words[:-1])} {slip}", problem_of(done, 2, "", f": {slip}; did you mean {words[-1]}?\n"))


def check_berth(build, score):
    whole = helps.run(build, ["berth", "--help"]).stdout
    for words, *wanted in ((["help"], 0, whole), (["-h"], 0, whole), (["help", "cofnig"], 2, "", "did you mean config?\n"),
                           (["help", "help"], 0, whole), (["hlep"], 2, "", "did you mean help?\n"),
                           (["help", "config", "vlidate"], 2, "", "did you mean validate?\n"),
                           (["nothing-like-it"], 2, "", "no such command: nothing-like-it\n"),
                           ([], 2, "", whole), (["--hlep"], 2, "", "--hlep; did you mean --help?\n"),
                           (["audit", "--confg-file", "x"], 2, "", "--confg-file; did you mean --config-file?\n"),
                           (["config", "--help"], 0, "berth config ACTION --help"),
                           (["help", "config", "show", "more"], 0, "usage: berth config show")):
        score.case(" ".join(["berth", *words]), problem_of(helps.run(build, ["berth", *words]), *wanted))


def check_manual(score, program):
    """The sections that every manual has, and each command and action of the program."""
    name = program.words[0]
    with open(os.path.join(HERE, "..", "..", "docs", "man", f"{name}.8"), encoding="utf-8") as file:
        text = file.read()
    for section in ("SYNOPSIS", "DESCRIPTION", "EXIT STATUS", "EXAMPLES", "LIMITS", "SEE ALSO"):
        score.case(f"{name}(8): {section}", None if f".Sh {section}\n" in text else "is not there")
    for command in list(program.walk())[1:]:
        if not command.commands:
            words = " ".join(command.words[1:])
            score.case(f"{name}(8): {words}", None if re.search(rf"^\.(It )?Cm {words}\b", text, re.M) else "is not there")


def version():
    with open(os.path.join(HERE, "..", "..", "meson.build"), encoding="utf-8") as file:
        return re.search(r"^  version: '([\d.]+)',$", file.read(), re.M).group(1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    build = os.path.abspath(parser.parse_args().build)
    score = servers.Score()
    programs = helps.programs(build)
    for program in programs:
        name = program.words[0]
        # upstream's tools print only the number
        wanted = f"{version()}\n" if name.startswith("placement-") else f"{name} {version()}\n"
        for switch in ("--version", "-V"):
            done = helps.run(build, [name, switch])
            score.case(f"{name} {switch}", problem_of(done, 0) or (None if done.stdout == wanted else repr(done.stdout)))
        check_manual(score, program)
        for command in program.walk():
            bare = [" ".join(switch.names) for switch in command.switches if not switch.help]
            described = bool(command.switches or command.commands) and (len(command.words) == 1 or bool(command.help)) and not bare
            score.case(f"the help of {' '.join(command.words)}", None if described else f"no text: {bare or command}")
    check_berth(build, score)
    check_commands(build, score, programs[0])
    for words, meant in ((["placement-manage", "dbs"], "db"), (["placement-manage", "db", "snyc"], "sync"),
                         (["placement-status", "upgrade", "chekc"], "check"), (["placement-status", "upgarde"], "upgrade"),
                         (["berthd", "--lisen", "x"], "--listen")):
        score.case(" ".join(words), problem_of(helps.run(build, words), 2, "", f"; did you mean {meant}?\n"))
    tools.check(build, score)
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
