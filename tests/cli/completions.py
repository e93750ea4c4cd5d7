#!/usr/bin/python3
"""The shells' completions: whether they match the programs' own help, and whether bash, zsh and fish offer them.

    tests/cli/completions.py [--build build] [--write]     --write: writes packaging/completions/ again

The last line is `N passed, N failed`.
"""

import argparse
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
sys.dont_write_bytecode = True

import helps  # noqa: E402
import servers  # noqa: E402

PLACE = os.path.join(HERE, "..", "..", "packaging", "completions")
GENERATED = "Generated from the program's help by tests/cli/completions.py --write."
VALUES = {"--service": "placement baremetal valet"}  # of switches; others take files, directories or any text


def kind_of(switch):
    """What completes the value of a switch: words, or the shell's own files or directories, or nothing."""
    return VALUES.get(switch.names[0]) or {"FILE": "files", "PATH": "files", "DIR": "directories"}.get(switch.argument, "")


def levels(program):
    """[(path, [(word, its text)], its switches, whether it takes a file)], where a path is a command's words in one
    text."""
    found = [(" ".join(one.words), [(below.words[-1], below.help) for below in one.commands], one.switches, one.takes_file)
             for one in program.walk()]
    if program.words == ["berth"]:
        found += [(" ".join(["berth", "help", *one.words[1:]]), [(below.words[-1], below.help) for below in one.commands],
                   [], False) for one in program.commands if one.commands]
        place = next(number for number, level in enumerate(found) if level[0] == "berth help")
        found[place] = ("berth help", [(below.words[-1], below.help) for below in program.commands], found[place][2], False)
    return found


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def valued(found):
    """{kind: [path and switch]} of the switches that take a value."""
    kinds = {}
    for path, _, switches, _ in found:
        for switch in switches:
            for name in switch.names if switch.argument else ():
                kinds.setdefault(kind_of(switch), []).append(f"{path} {name}")
    return kinds


def walk_of(found, name, words, first, end):
    """Shell text that finds the path of the word being completed: the same in bash and zsh."""
    steps = [f"{path} {word}" for path, below, _, _ in found for word, _ in below]
    takes = [text for texts in valued(found).values() for text in texts]
    lines = [f"    local path={name} word= before= i", f"    for ((i = {first}; i < {end}; i++)); do", f"        word=${{{words}[i]}}"]
    lines += ['        case "$path $before" in', f"        {' | '.join(map(quoted, takes))}) before= && continue ;;", "        esac"]
    lines += ["        before=$word"]
    if steps:
        lines += ['        case "$path $word" in', f"        {' | '.join(map(quoted, steps))}) path=\"$path $word\" ;;", "        esac"]
    return lines + ["    done", '    case "$path $before" in']


def bash(program):
    name, found = program.words[0], levels(program)
    own = "_" + name.replace("-", "_")
    lines = [f"# {GENERATED}", "", f"{own}() {{", "    local cur=${COMP_WORDS[COMP_CWORD]} words= files="]
    lines += walk_of(found, name, "COMP_WORDS", 1, "COMP_CWORD")
    for kind, texts in sorted(valued(found).items()):
        given = {"files": '-f', "directories": '-d'}.get(kind, f'-W "{kind}"')
        lines += [f"    {' | '.join(map(quoted, texts))})", f'        mapfile -t COMPREPLY < <(compgen {given} -- "$cur")',
                  "        return ;;"]
    lines += ["    esac", "    case $path in"]
    for path, below, switches, takes_file in found:
        offered = [word for word, _ in below] + [one for switch in switches for one in switch.names]
        lines.append(f"    {quoted(path)}) words={quoted(' '.join(offered))}{' files=-f' if takes_file else ''} ;;")
    lines += ["    esac", '    mapfile -t COMPREPLY < <(compgen $files -W "$words" -- "$cur")', "}",
              f"complete -o filenames -F {own} {name}"]
    return "\n".join(lines) + "\n"


def zsh(program):
    name, found = program.words[0], levels(program)
    lines = [f"#compdef {name}", f"# {GENERATED}", "", "    local -a offered"]
    lines += walk_of(found, name, "words", 2, "CURRENT")
    for kind, texts in sorted(valued(found).items()):
        given = {"files": "_files", "directories": "_files -/", "": "_message value"}.get(kind, f"compadd -- {kind}")
        lines += [f"    {' | '.join(map(quoted, texts))})", f"        {given}", "        return ;;"]
    lines += ["    esac", "    case $path in"]
    for path, below, switches, takes_file in found:
        entries = below + [(one, switch.help) for switch in switches for one in switch.names]
        lines += [f"    {quoted(path)})", "        offered=("]
        lines += [f"            {quoted(word.replace(':', chr(92) + ':') + ':' + text)}" for word, text in entries]
        lines += ["        )", *(["        _files"] if takes_file else []), "        ;;"]
    lines += ["    esac", f"    _describe -o {quoted(name)} offered"]
    return "\n".join(line[4:] if line.startswith("    ") else line for line in lines).replace("local path=", "local at=").replace(
        "$path", "$at").replace("path=", "at=") + "\n"


def fish(program):
    name, found = program.words[0], levels(program)
    own = "__fish_" + name.replace("-", "_") + "_is_at"
    steps = [f"{path} {word}" for path, below, _, _ in found for word, _ in below]
    takes = [text for texts in valued(found).values() for text in texts]
    lines = [f"# {GENERATED}", "", f"function {own}", f"    set -l path {name}", "    set -l before",
             "    for word in (commandline -opc)[2..-1]", f"        if contains -- \"$path $before\" {' '.join(map(quoted, takes))}",
             "            set before", "            continue", "        end", "        set before $word",
             f"        if contains -- \"$path $word\" {' '.join(map(quoted, steps))}", "            set path \"$path $word\"",
             "        end", "    end", '    test "$path" = "$argv"', "end", "", f"complete -c {name} -f"]
    for path, below, switches, takes_file in found:
        here = f"complete -c {name} -n {quoted(own + ' ' + path)}"
        lines += [f"{here} -a {quoted(word)} -d {quoted(text)}" for word, text in below]
        lines += [f"{here} -F"] if takes_file else []
        for switch in switches:
            spelled = " ".join(f"-l {one[2:]}" if one.startswith("--") else f"-s {one[1:]}" for one in switch.names)
            kind = kind_of(switch)
            value = {"": "-x", "files": "-r -F", "directories": "-x -a '(__fish_complete_directories)'"}.get(kind, f"-x -a '{kind}'")
            lines.append(f"{here} {spelled}{' ' + value if switch.argument else ''} -d {quoted(switch.help)}")
    return "\n".join(lines) + "\n"


SHELLS = {"bash": (bash, "{}"), "zsh": (zsh, "_{}"), "fish": (fish, "{}.fish")}


def files_of(program):
    """{path below PLACE: text}"""
    return {f"{shell}/{pattern.format(program.words[0])}": write(program) for shell, (write, pattern) in SHELLS.items()}


def ask_bash(program, words):
    script = (f". {PLACE}/bash/{program}\nCOMP_WORDS=({' '.join(map(quoted, words))})\nCOMP_CWORD={len(words) - 1}\n"
              f"_{program.replace('-', '_')}\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"")
    return ["bash", "--norc", "-c", script]


def ask_zsh(program, words):
    """Calls only the function, with stand-ins that print what it passes to zsh."""
    script = ("_describe() { print -l -- ${offered%%:*} }\n"
              "compadd() { shift; print -l -- $@ }; _files() { print -l -- *(N) }; _message() { : }\n"
              f"it() {{\n{open(f'{PLACE}/zsh/_{program}').read()}\n}}\n"
              f"words=({' '.join(map(quoted, words))}); CURRENT={len(words)}; it")
    return ["zsh", "-f", "-c", script]


def ask_fish(program, words):
    return ["fish", "--no-config", "-c", f"source {PLACE}/fish/{program}.fish; complete -C {quoted(' '.join(words))}"]


def check_shell(score, shell, ask, program):
    for path, below, switches, _ in levels(program):
        wanted = {word for word, _ in below}
        spelled = {name for switch in switches for name in switch.names if name.startswith("--")}
        for start, expected in (("", wanted), ("--", spelled)):
            if not expected:
                continue
            done = subprocess.run(ask(program.words[0], [*path.split(), start]), capture_output=True, text=True, timeout=60)
            offered = {line.split("\t")[0] for line in done.stdout.split("\n")}
            missing = expected - offered
            # other shells than zsh return all words: those with another beginning are not offered
            odd = {one for one in offered if one and not one.startswith(start)} if shell != "zsh" else set()
            score.case(f"{shell}: {path} {start}", f"missing {missing}, odd {odd}: {done.stderr}" if missing or odd or done.stderr else None)


def check_values(score):
    """The words after a switch that takes some, and a switch whose value is the name of a command."""
    for shell, ask in (("bash", ask_bash), ("zsh", ask_zsh), ("fish", ask_fish)):
        if not shutil.which(shell):
            continue
        for words, wanted in ((["berth", "policy", "list", "--service", ""], {"placement", "baremetal", "valet"}),
                              (["berth", "--config-file", "config", ""], {"audit", "config", "policy", "help"}),
                              (["berth", "help", "policy", ""], {"list", "check", "sample", "validate", "reference"})):
            done = subprocess.run(ask("berth", words), capture_output=True, text=True, timeout=60)
            missing = wanted - {line.split("\t")[0] for line in done.stdout.split("\n")}
            score.case(f"{shell}: {' '.join(words)}", f"missing {missing}: {done.stdout} {done.stderr}" if missing else None)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    score = servers.Score()
    for program in helps.programs(options.build):
        for name, text in files_of(program).items():
            path = os.path.join(PLACE, name)
            if options.write:
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
            good = os.path.exists(path) and open(path, encoding="utf-8").read() == text
            score.case(name, None if good else "is not what the help says: run tests/cli/completions.py --write")
        for shell, ask in (("bash", ask_bash), ("zsh", ask_zsh), ("fish", ask_fish)):
            if shutil.which(shell):
                check_shell(score, shell, ask, program)
            else:
                print(f"without {shell}: not asked")
    check_values(score)
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
