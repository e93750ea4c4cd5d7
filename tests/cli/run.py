#!/usr/bin/python3
"""Compares placement-manage and placement-status with the Python tools of the same names: the same command lines on
copies of the same database, and then exit code, standard output and rows.

    tests/cli/run.py --build build [-v] [PART OF A NAME…]

Intended differences are in intended.py. The last line is `N passed, N failed`: a case is one command line on one
database; each entry of intended.py is another, which must be used.
"""

import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
sys.dont_write_bytecode = True

import databases  # noqa: E402
import intended  # noqa: E402
import servers  # noqa: E402

CONFIGURATION = """[placement_database]
connection = sqlite:///{path}
[oslo_policy]
{policy}
[cache]
enabled = true
"""


class Case:
    """`files`: additional files in the directory of the configuration."""

    def __init__(self, tool, words, database="absent", before=(), configured=True, files=None, policy=""):
        self.tool, self.words, self.database, self.before = tool, list(words), database, list(before)
        self.configured, self.files, self.policy = configured, files or {}, policy
        self.name = " ".join([tool, *self.before, *self.words, "on", database, *sorted(self.files)]) + \
            ("" if configured else " unconfigured")


def cases():
    manage, status = "placement-manage", "placement-status"
    for revision in databases.REVISIONS:
        for kind in ("complete", "missing-roots", "missing-consumers", "missing-both"):
            database = f"{revision}/{kind}"
            yield Case(status, ["upgrade", "check"], database)
            if kind != "complete":
                yield Case(manage, ["db", "online_data_migrations"], database)
            if revision != "422ece571366":
                yield Case(manage, ["db", "sync"], database)
    newest = "422ece571366/"
    for words in (["version"], ["sync"], ["stamp", "b4ed3a175331"], ["stamp", "422e"], ["stamp", "head"],
                  ["stamp", "heads"], ["stamp", "base"], ["stamp", "no"], ["stamp", "123456789abc"], ["stamp", ""]):
        yield Case(manage, ["db", *words], newest + "complete")
    for odd in ("absent", "empty", "garbage", "unreachable", newest + "unknown-revision", newest + "without-revision"):
        for words in (["version"], ["sync"], ["stamp", "422ece571366"], ["online_data_migrations"]):
            yield Case(manage, ["db", *words], odd)
        yield Case(status, ["upgrade", "check"], odd)
    for count in ("0", "-1", "x", "", " 7 ", "+1_0", "1.5", "1", "60", "61", "119", "120", "121", "1000000",
                  "99999999999999999999"):
        yield Case(manage, ["db", "online_data_migrations", "--max-count", count], newest + "missing-both")
    yield Case(manage, ["db", "online_data_migrations", "--max-count=5"], newest + "complete")
    yield from lines(manage, status)
    json_policy, yaml_policy = '{"placement:usages": "@"}\n', '"placement:usages": "@"\n'
    for files, policy in (({"policy.yaml": yaml_policy}, "policy_file = policy.yaml"),
                          ({"policy.yaml": json_policy}, "policy_file = policy.yaml"),
                          ({"policy.json": json_policy}, ""), ({"policy.json": "{"}, ""),
                          ({"rules.json": json_policy}, "policy_file = rules.json"),
                          ({"policy.json": json_policy}, "policy_file = absent.json"),
                          ({"policy.json": "17"}, ""), ({"policy.json": ""}, "")):
        yield Case(status, ["upgrade", "check"], newest + "missing-consumers", files=files, policy=policy)


def lines(manage, status):
    """Unusual command lines."""
    on = "422ece571366/complete"
    for words in ([], ["--help"], ["-h"], ["--version"], ["bogus"], ["--bogus"], ["db"], ["db", "-h"], ["db", "bogus"],
                  ["db", "stamp"], ["db", "stamp", "a", "b"], ["db", "version", "extra"], ["db", "sync", "--debug"],
                  ["db", "version", "--help"], ["db", "stamp", "x", "--help"], ["db", "online_data_migrations", "--help"],
                  ["db", "online_data_migrations", "--max-count"], ["db", "online_data_migrations", "5"],
                  ["--config-file"], ["--config-file", "--debug", "db", "version"]):
        yield Case(manage, words, on)
    for words in ([], ["--help"], ["--version"], ["bogus"], ["upgrade"], ["upgrade", "--help"], ["upgrade", "bogus"],
                  ["upgrade", "check", "extra"], ["upgrade", "check", "--bogus"], ["upgrade", "check", "--help"],
                  ["upgrade", "--json", "check"], ["upgrade", "check", "--json"]):
        yield Case(status, words, on)
    for tool, words in ((manage, ["db", "version"]), (status, ["upgrade", "check"])):
        yield Case(tool, words, configured=False)
        yield Case(tool, words, on, before=["--config-file", "nowhere.conf"])
        yield Case(tool, words, on, before=["--config-dir", "nowhere"])
        yield Case(tool, words, on, before=["--config-file", "broken.conf"], files={"broken.conf": "[x\n"})
        yield Case(tool, words, on, before=["--debug", "--use-json", "--log-date-format", "%Y", "--nouse-syslog",
                                            "--log-file", "tool.log", "--log-dir=.", "--nowatch-log-file"])
        yield Case(tool, words, on, before=["--log-config", "nothing", "--bogus"])
    yield Case(manage, [], configured=False)
    yield Case(manage, ["db"], configured=False)


class PythonTools:
    """preloaded.py, one for each thread."""

    def __init__(self):
        self.mine, self.all = threading.local(), []

    def process(self):
        if not hasattr(self.mine, "process"):
            self.mine.process = subprocess.Popen(["/usr/bin/python3", "-B", os.path.join(HERE, "preloaded.py")],
                                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            self.all.append(self.mine.process)
        return self.mine.process

    def run(self, tool, words, directory, environment):
        process = self.process()
        with tempfile.TemporaryDirectory(prefix="berth-cli-out-", dir="/var/tmp") as apart:
            files = [os.path.join(apart, name) for name in ("out", "err")]
            asked = {"tool": tool, "words": words, "directory": directory, "environment": environment,
                     "out": files[0], "err": files[1]}
            process.stdin.write(json.dumps(asked) + "\n")
            process.stdin.flush()
            code = int(process.stdout.readline())
            return (code, *(open(file).read() for file in files))

    def stop(self):
        for process in self.all:
            process.stdin.close()
            process.wait()


class Runner:
    def __init__(self, build, templates):
        self.build, self.templates, self.python = os.path.abspath(build), templates, PythonTools()

    def run_berth(self, case, words, directory, environment):
        done = subprocess.run([os.path.join(self.build, case.tool), *words], cwd=directory, env=environment,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
        return done.returncode, done.stdout, done.stderr

    def run_python(self, case, words, directory, environment):
        return self.python.run(case.tool, words, directory, environment)

    def run(self, case, run):
        with tempfile.TemporaryDirectory(prefix="berth-cli-", dir="/var/tmp") as directory:
            path = os.path.join(directory, "no-such-directory" if case.database == "unreachable" else "", "placement.db")
            if case.database != "unreachable":
                self.templates.copy(case.database, path)
            for name, text in case.files.items():
                with open(os.path.join(directory, name), "w") as file:
                    file.write(text)
            os.mkdir(os.path.join(directory, "none"))
            environment = {name: value for name, value in os.environ.items() if not name.startswith("OS_")}
            environment["HOME"] = directory
            where = ["--config-dir", "none"]
            if case.configured:
                with open(os.path.join(directory, "case.conf"), "w") as file:
                    file.write(CONFIGURATION.format(path=path, policy=case.policy))
                where = ["--config-file", "case.conf", *where]
            code, out, err = run(case, [*where, *case.before, *case.words], directory, environment)
            return {"code": code, "out": out, "err": err, "content": databases.content(path)}

    def both(self, case):
        return self.run(case, self.run_python), self.run(case, self.run_berth)


UPGRADES = [*databases.REVISIONS, "a082b8bb98d0"]


def steps_are_logged(case, steps):
    """Each upgrade has a line in Alembic's format."""
    revision = case.database.split("/")[0]
    if revision not in UPGRADES:
        return len(steps) == 1 and "Creating the schema at a082b8bb98d0" in steps[0]
    pairs = list(zip(UPGRADES, UPGRADES[1:]))[UPGRADES.index(revision):]
    return [line.split("] ", 1)[1] for line in steps] == [f"Running upgrade {old} -> {new}" for old, new in pairs]


def verdict_of(case, python, berth):
    """The problem, or None."""
    wanted = python
    for entry in intended.ENTRIES:
        wanted = entry.apply(case, wanted, berth)
    found = [f"{what}: {berth[what]!r}, not {wanted[what]!r}" for what in ("code", "out", "content")
             if berth[what] != wanted[what]]
    if berth["code"] not in (0, 1, 2, 127, 255):
        found.append(f"exit code {berth['code']}: {berth['err']!r}")
    steps = [line for line in berth["err"].splitlines() if " INFO alembic.runtime.migration " in line]
    error_lines = berth["err"].count("\n") - len(steps)
    if case.words == ["db", "sync"] and berth["code"] == 0 and not steps_are_logged(case, steps):
        found.append(f"steps: {steps}")
    if berth["code"] in (1, 255) and not berth["out"] and error_lines != 1:
        found.append(f"{error_lines} lines of errors: {berth['err']!r}")
    return "; ".join(found) or None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("-v", "--verbose", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    score = servers.Score()
    wanted = [case for case in cases() if not options.names or any(name in case.name for name in options.names)]
    with tempfile.TemporaryDirectory(prefix="berth-cli-templates-", dir="/var/tmp") as directory:
        runner = Runner(options.build, databases.Databases(directory))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for case, (python, berth) in zip(wanted, pool.map(runner.both, wanted)):
                problem = verdict_of(case, python, berth)
                score.case(case.name, problem)
                if options.verbose:
                    print(json.dumps({"python": python, "berth": berth}, indent=1))
        runner.python.stop()
    for entry in intended.ENTRIES if not options.names else []:
        score.case(f"intended {entry.id}", None if entry.used else "no case needs it")
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
