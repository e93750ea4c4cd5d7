#!/usr/bin/python3
"""Compares berth's configuration with oslo.config's.

    tests/conf/run.py --build build [--cases 3000] [--seed 1] [-v]

1. table: every option of the Python service and its middleware is in berth's table (table.py lists the intended
   differences);
2. values: generated configurations (files, directories, variables, switches; valid, odd and broken ones) are read by
   both, and every option must have the same value, or both must refuse. Intended differences have cases of their own
   (intended.py).
3. commands: `berth config` reports errors and the settings in force (commands.py); the committed reference, sample
   and manual match its output, and manuals name the switches that helps name (pages.py).

The last line is `N passed, N failed`.
"""

import argparse
import collections
import json
import multiprocessing
import os
import random
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
sys.dont_write_bytecode = True

import cases  # noqa: E402
import commands  # noqa: E402
import intended  # noqa: E402
import reference  # noqa: E402
import servers  # noqa: E402
import table  # noqa: E402

SHOWN = 20
BATCH = 200


def common_rows(mine):
    """Options that both know, for the generator, and the defaults that the reference must use."""
    theirs = reference.table()
    config_names = {(section, option.dest) for section, option, _ in reference.registered(reference.new_config())}
    rows = {key: row for key, row in mine.items() if key in theirs and key in config_names}
    return rows, {key: row["default"] for key, row in rows.items() if row["default"] != theirs[key]["default"]}


def read_one(work):
    defaults, directory, environment, arguments = work
    return reference.Reference(defaults).read(directory, environment, arguments)


class Comparison:
    def __init__(self, program, rows, defaults, pool, root):
        self.program, self.rows, self.defaults, self.pool, self.root = program, rows, defaults, pool, root

    def results(self, batch):
        """[(case, the reference's result, berth's)]"""
        lines, work = [], []
        for number, case in enumerate(batch):
            directory = os.path.join(self.root, str(number))
            os.mkdir(directory)
            os.mkdir(os.path.join(directory, "none"))
            case.environment["HOME"] = directory
            if case.arguments and "--config-dir" not in case.arguments:
                case.arguments += ["--config-dir", "@/none"]  # not the machine's
            case.environment = {name: value.replace("@", directory) for name, value in case.environment.items()}
            case.write(directory)
            lines.append(case.line(directory))
            arguments = [word.replace("@", directory) for word in case.arguments]
            work.append((self.defaults, directory, case.environment, arguments))
        done = subprocess.run([self.program, "values"], input="\n".join(lines) + "\n", capture_output=True, text=True,
                              check=True, cwd=self.root)
        mine = [json.loads(line) for line in done.stdout.splitlines()]
        theirs = self.pool.map(read_one, work, chunksize=20)
        for number in range(len(batch)):
            shutil.rmtree(os.path.join(self.root, str(number)))
        return list(zip(batch, theirs, mine, strict=True))

    def difference(self, theirs, mine, tolerant=True):
        """None if they agree. tolerant: an empty number may be its default (intended.py)."""
        if "error" in theirs or "error" in mine:
            return None if "error" in theirs and "error" in mine else \
                f"oslo.config: {theirs.get('error', 'reads it')[:300]}; berth: {mine.get('error', 'reads it')}"
        for (section, name), row in self.rows.items():
            key = f"{section}.{name}"
            emptied = row["type"] in ("integer", "float") and theirs["values"][key] is None and \
                mine["values"][key] == row["default"]
            if theirs["values"][key] != mine["values"][key] and not (tolerant and emptied):
                return f"{key}: oslo.config {theirs['values'][key]!r}, berth {mine['values'][key]!r}"
        return None


def batches(stream):
    batch = []
    for case in stream:
        batch.append(case)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def compare_generated(comparison, options, score):
    generator = cases.Generator(comparison.rows, random.Random(options.seed))
    kinds, shown = collections.Counter(), 0
    for batch in batches(generator.case(number) for number in range(options.cases)):
        for case, theirs, mine in comparison.results(batch):
            problem = comparison.difference(theirs, mine)
            kinds["refused" if "error" in theirs else "read"] += 1
            if problem is None:
                score.passed += 1
            elif shown < SHOWN:
                shown += 1
                score.case(f"configuration {case.name}", f"{problem}\n{case.files} {case.environment} {case.arguments}")
            else:
                score.failed += 1
    print(f"{kinds['read']} configurations were read by both, {kinds['refused']} refused by both, "
          f"but for those that failed")
    few = [kind for kind in ("read", "refused") if kinds[kind] < options.cases // 10]
    score.case("both kinds of configurations", f"hardly any were {few}" if few else None)


def compare_intended(comparison, score):
    everything = [(entry, case) for entry in intended.ENTRIES for case in entry.cases()]
    results = comparison.results([case for _, case in everything])
    for (entry, case), (_, theirs, mine) in zip(everything, results):
        good = entry.explains(theirs if "error" in theirs else {"values": theirs["values"]}, mine) and \
            comparison.difference(theirs, mine, tolerant=False) is not None
        score.case(f"intended {case.name}", None if good else f"oslo.config {str(theirs)[:200]}, berth {str(mine)[:200]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--cases", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    program = os.path.abspath(os.path.join(options.build, "tests/conf/conf_dump"))
    score = servers.Score()
    for name, problem in table.differences(program):
        score.case(f"table: {name}", problem)
    for name, problem in commands.problems(options.build):
        score.case(f"config: {name}", problem)
    rows, defaults = common_rows(table.ours(program))
    with multiprocessing.Pool() as pool, tempfile.TemporaryDirectory(prefix="berth-conf-", dir="/var/tmp") as root:
        comparison = Comparison(program, rows, defaults, pool, root)
        compare_intended(comparison, score)
        compare_generated(comparison, options, score)
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
