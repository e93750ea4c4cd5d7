#!/usr/bin/python3
"""./dev check: all checks, part by part, each with its time.

    tests/check.py [TIER | PART…]   the parts of a tier (landing by default), or those named
    tests/check.py --list           their names, each with its tier

Each tier includes all parts of the tiers before it: `quick` for every few minutes of work, `landing` for CI, `full` for
nights: long seeds and loads, fuzzing, coverage, and every suite under TSan.
    tests/check.py --jobs N       the number of parts at a time; 3 by default, since most parts also wait

A part is a command whose last line is `N passed, N failed`, or one that passes or fails as a whole. Its output goes to
build/check/PART.log, and is shown when it fails. The last line is the sum of all parts.
"""

import argparse
import contextlib
import glob
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time

import preloaded

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PYTHON = "/usr/bin/python3"
LOGS = "build/check"
CCACHE = {"CCACHE_BASEDIR": ROOT, "CCACHE_NOHASHDIR": "1"}  # where the clone is makes no difference
PART_TIMEOUT_S = 1500  # the tests under TSan take 430 s on a slow machine that does nothing else
SHOWN_LINES = 150
SHOWN_FAILURES, SHOWN_REASONS, SHOWN_CHARACTERS = 20, 6, 300  # of each part, at the end

children = set()  # running commands


TIERS = ("quick", "landing", "full")


class Part:
    """`tier`: the first tier that includes it. `after`: parts whose results it needs. `room`: only one part with
    this value runs at a time. `alone`: nothing runs beside it, because it measures. `waits`: it mostly waits for
    clients and timeouts, so it runs in addition to the jobs. `beside`: it takes minutes and little processor time, so it
    has a worker of its own and delays no other."""

    def __init__(self, name, *commands, tier="landing", reports=None, after=("build",), room=None, alone=False,
                 waits=False, beside=False, seconds_most=PART_TIMEOUT_S, **environment):
        self.name = name
        self.tier = tier
        self.seconds_most = seconds_most
        self.commands = commands
        self.reports = reports  # sanitizers write their reports here
        self.after, self.room, self.alone, self.waits, self.beside = set(after), room, alone, waits, beside
        self.environment = environment


def script(path, *arguments):
    return [PYTHON, path, *arguments]


def build(directory, *options, compiler="gcc", linker="bfd", targets=":"):
    """Sets the directory up once, then builds; warnings are errors. With ccache, what another clone has compiled
    is not compiled again. linker: one of those of binutils. targets: a command that prints what is built; by default everything."""
    jobs = str(os.cpu_count())
    setup = "[ -f %s/build.ninja ] || CC=\"$(command -v ccache || :) %s\" CC_LD=%s meson setup %s --buildtype=debugoptimized %s" % (
        directory, compiler, linker, directory, shlex.join(options))
    return ["sh", "-c", f"({setup}) && targets=$({targets}) && ninja -C {directory} -j {jobs} $targets"]


def compile_only(directory, *options, compiler):
    """As build(), but links nothing."""
    return build(directory, *options, compiler=compiler, targets=f"ninja -C {directory} -t targets rule c_COMPILER")


WORLDS = ("placement", "nodes", "valet")


def on_postgres(path, *arguments, options=()):
    """The same with a PostgreSQL server of its own."""
    return script("tests/databases/with_postgres.py", *options, "--", *script(path, *arguments))


def on_mariadb(path, *arguments, options=()):
    """The same with a MariaDB server, or with --galera a cluster."""
    return script("tests/databases/with_mariadb.py", *options, "--", *script(path, *arguments))


def on_galera(*commands):
    """All of them with one cluster behind HAProxy."""
    return script("tests/databases/with_mariadb.py", "--galera", "--haproxy", "--", "sh", "-c", " && ".join(map(shlex.join, commands)))


API_SUITES = ("api/run", "valet/api", "baremetal/api")


def simulate(directory, world, seeds):
    return [directory + "/tests/sim/sim", "--world", world, "--seeds", str(seeds)]


def simulate_fleet(directory, seeds):
    return [directory + "/tests/sim/sim_fleet", "--seeds", str(seeds)]


def simulate_galera(directory, seeds):
    return [directory + "/tests/sim/sim_galera", "--seeds", str(seeds)]


def sanitized(name, kinds):
    directory = "build-" + name
    berthd = directory + "/berthd"
    # what only counts steps finds no other errors than its neighbours
    costly = ("valet/solve/hostile",)
    # what the store does on a cluster, and its threads on PostgreSQL, it does on MariaDB; so do the programs that are run on
    # both kinds of servers, but for those that read most kinds of answers
    clusters = ("store/*_galera", "store/*_cluster")
    both = ("at_once", "blocked", "coexist", "cuts", "going_back", "head_news", "housekeeping", "looks", "replaced", "unknown")
    alike = (*clusters, *(("store/postgres/",) if name == "tsan" else ("store/postgres/" + test for test in both)))
    # programs that start no threads have no races, nor has what a store does in one thread, beside which its others only wait
    single = ("fuzz", "sim", "auth/", "query/", "model/", "conf/", "cli/", "logging_ini/", "api/schema/", "api/text/", "policy/[!k]*",
              "engine/claims_random", "engine/culprits", "engine/examine", "engine/merge", "products/", "placement/", "replica/[!p]*",
              "baremetal/api/", "baremetal/write/[!c]*", "valet/solve/", "valet/state/", "valet/api/[!c]*", "valet/write/[!f]*",
              "store/accesses", "store/backup_faults", "store/contract", "store/copies", "store/failing", "store/faults",
              "store/follow", "store/many_rows", "store/missing", "store/nodes", "store/odd_values", "store/others", "store/restore",
              "store/salvage", "store/schema", "store/value", "store/waves",
              *("store/mariadb/" + test for test in (
                  "changes", "coexist", "contract", "equal_texts", "examined", "facts", "follow", "id", "inspect", "large_batches",
                  "missing", "odd_values", "promoted", "random_batches", "reading", "refus", "restoring", "statements", "value")))
    rest = ",".join((*(single if name == "tsan" else costly), *alike))
    found = {
        "ASAN_OPTIONS": "detect_stack_use_after_return=1:quarantine_size_mb=64",
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
        "TSAN_OPTIONS": "second_deadlock_stack=1:halt_on_error=1",
    }
    # a second signal ends berthd immediately, which the tool reports as a leak of threads after waiting a second
    ends_at_once = {"TSAN_OPTIONS": found["TSAN_OPTIONS"] + ":report_thread_leaks=0:atexit_sleep_ms=0"}

    # Races occur in data shared between threads, which the functional suites' sequential requests hardly exercise.
    full = {"tsan": ("keystone", "api", "baremetal", "valet", "hostile", "running", "admin", "logging", "policy", "rest", "sim"),
            "asan": ("rest",)}

    def part(what, *commands, waits=False, **other):
        reports = os.path.join(ROOT, directory, "reports", what)
        environment = {key: f"log_path={reports}/report:{value}" for key, value in {**found, **other}.items()}
        return Part(f"{name}-{what}", *commands, tier="full" if what in full[name] else "landing", reports=reports,
                    after=(name + "-build", whole_build), waits=waits, **environment)

    whole_build = name + "-whole-build"
    parts = [
        # only as much debug information as the lines in reports need; and the linker that takes a third of the time, because there
        # are hundreds of programs
        Part(name + "-build", build(directory, f"-Db_sanitize={kinds}", "-Db_lundef=false", "-Doptimization=1", "-Ddebug=false",
                                    "-Dc_args=-g1", linker="gold",
                                    targets=shlex.join(script("tests/units.py", directory, "--without", rest, "--targets"))), after=()),
        Part(whole_build, ["ninja", "-C", directory], tier="full", after=(name + "-build",)),
        part("keystone", script("tests/keystone/faults.py", "--berthd", berthd), waits=True),
        part("sessions", script("tests/databases/sessions.py", "--build", directory), waits=True),
        part("units", script("tests/units.py", directory, "--slow", "6", "--without", rest)),
        part("rest", script("tests/units.py", directory, "--slow", "6", "--only", rest)),
        part("api", script("tests/api/run.py", "--berthd", berthd)),
        part("baremetal", script("tests/baremetal/api.py", "--berthd", berthd)),
        part("valet", script("tests/valet/api.py", "--berthd", berthd),
             script("tests/valet/contract.py", "--berthd", berthd),
             script("tests/valet/plans.py", "--berthd", berthd),
             script("tests/valet/changes.py", "--berthd", berthd, "--walks", "3"),
             script("tests/valet/ids.py", "--berthd", berthd),
             script("tests/valet/answers.py", "--berthd", berthd)),
        # without "pathological", which measures memory and time: sanitizers use some of both
        part("hostile", script("tests/hostile/run.py", "--berthd", berthd, "malformed", "bodies", "slow", "metal", "greedy", "mixture")),
        part("running",
             script("tests/running/run.py", "--berthd", berthd, "--quick", "tls", "sockets", "stop", "restart"), **ends_at_once),
        part("admin",
             script("tests/admin/run.py", "--berthd", berthd, "pages", "file_removed", "drains", "as_oslo_middleware",
                    "candidates", "writer", "under_load", "saturated", "against_the_api")),
        part("load",
             script("tests/crash/kill.py", "--berthd", berthd, "--kills", "5", "--terms", "5"),
             script("tests/conf/reload.py", "--berthd", berthd),
             script("tests/faults/run.py", "--berthd", berthd, "two_berthd", "backup", "file_replaced", "sqlite_shell_writes")),
        # without the cases that mostly run the Python service, or loads that -load includes, too
        part("logging", script("tests/logging/run.py", "--berthd", berthd, "files", "daemons")),
        part("policy",
             script("tests/policy/run.py", "--build", directory),
             script("tests/policy/diff.py", "--build", directory, "--seeds", "1", "--files", "4")),
    ]
    if name == "asan":
        parts += [part("schema", script("tests/databases/schema.py", "--build", directory, "handed_back", "incomplete_rows", "unknown",
                                        "broken_off", "at_once", "few_rights", "other_berths", "ids", "unreachable"), waits=True)]
    if name == "tsan":
        parts += [part("races", script("tests/baremetal/races.py", "--berthd", berthd)),
                  part("sim", *(simulate(directory, world, 20) for world in WORLDS), simulate_fleet(directory, 20),
                       simulate_galera(directory, 20))]
    return parts


HOUR_S = 3600
FAILING = ("store/failing_calls", "store/failing_tools")  # each call fails once: what that finds is found under ASan


def on_mysql(name, *commands, **more):
    """A part that runs these with MySQL servers. The server is that of Debian's unstable release, which changes, so nothing
    that is required before a merge depends on it."""
    return Part("mysql-" + name, *commands, tier="full", BERTH_TEST_ON="mysql", **more)


def mysql():
    berthd, beside = ("--berthd", "build/berthd"), ("--berthd", "build/berthd", "--database", "mariadb")
    databases = "tests/databases/"
    return [
        on_mysql("units", script("tests/units.py", "build", "--only", "store/mariadb/")),
        on_mysql("api", *(on_mariadb(f"tests/{path}.py", *berthd) for path in API_SUITES)),
        on_mysql("instances", on_mariadb(databases + "instances.py", *berthd, "--seconds", "4"),
                 on_mariadb(databases + "read_your_writes.py", *berthd, "--attempts", "1500")),
        on_mysql("values", script(databases + "values.py", "--build", "build", "--mariadb", "utf8mb3"), waits=True),
        on_mysql("diff", script("tests/diff/run.py", *berthd, "--mariadb", "--requests", "400")),
        on_mysql("coexist", script(databases + "mariadb_coexist.py")),
        on_mysql("sessions", script(databases + "mariadb_sessions.py"), waits=True),
        on_mysql("copying", script(databases + "copying.py")),
        on_mysql("schema", script(databases + "mariadb_schema.py"), waits=True),
        on_mysql("beside-python", script(databases + "beside_python.py", *beside, "--seconds", "2")),
        on_mysql("startup", script(databases + "startup.py", *berthd, "--mariadb"), waits=True),
        on_mysql("unavailable", script(databases + "unavailable.py", *berthd, "--mariadb"), waits=True),
        on_mysql("outage", script(databases + "outage.py", *berthd, "--mariadb", "--rounds", "10"), waits=True),
        on_mysql("kill", on_mariadb("tests/crash/kill.py", *berthd, "--kills", "20", "--terms", "5")),
    ]


def isolated():
    """MariaDB with a setting that is on from 11.6.2 on. Its server has it as an option."""
    berthd, databases, setting = ("--berthd", "build/berthd"), "tests/databases/", "innodb_snapshot_isolation=ON"
    return Part("mariadb-isolated", script("tests/units.py", "build", "--only", "store/mariadb/"),
                on_mariadb(databases + "instances.py", *berthd, "--seconds", "4"),
                on_galera(script(databases + "instances.py", *berthd, "--seconds", "4")),
                *(script(databases + "beside_python.py", *berthd, "--database", kind, "--seconds", "2") for kind in ("mariadb", "galera")),
                script(databases + "coexist.py", *berthd, "--database", "mariadb", "--attempts", "30", "--seconds", "1"),
                script(databases + "mariadb_refusals.py", *berthd), tier="full", BERTH_TEST_SETTINGS=setting)


def at_length():
    """Parts that take hours."""
    return [
        Part("diff-long", script("tests/diff/run.py", "--berthd", "build/berthd", "--requests", "10000", "--seeds", "10"),
             tier="full", seconds_most=2 * HOUR_S),
        Part("diff-postgres-long", script("tests/diff/run.py", "--berthd", "build/berthd", "--postgres", "--requests", "10000",
                                          "--seeds", "3"), tier="full", seconds_most=2 * HOUR_S),
        Part("diff-mariadb-long", script("tests/diff/run.py", "--berthd", "build/berthd", "--mariadb", "--requests", "10000",
                                         "--seeds", "3"), tier="full", seconds_most=2 * HOUR_S),
        Part("diff-selftest-all", script("tests/diff/selftest.py"), tier="full"),
        Part("baremetal-diff-selftest", script("tests/baremetal/selftest.py"), tier="full"),
        Part("policy-diff-long", script("tests/policy/diff.py", "--build", "build", "--seeds", "30"), tier="full",
             seconds_most=HOUR_S),
        Part("policy-access-long", script("tests/policy/access.py", "--build", "build"), tier="full"),
        Part("units-costly", script("tests/units.py", "build", "--only", ",".join(FAILING)), tier="full"),
        Part("galera-soak-long", script("tests/databases/soak.py", "--galera", "--berthd", "build/berthd", "--minutes", "30", "--seed", "2"),
             tier="full", beside=True, seconds_most=2 * HOUR_S),
        Part("soak-long", script("tests/databases/soak.py", "--berthd", "build/berthd", "--minutes", "30", "--seed", "2"),
             tier="full", beside=True, seconds_most=HOUR_S),
        Part("outage-100", script("tests/databases/outage.py", "--berthd", "build/berthd", "--rounds", "100", "--every"),
             tier="full", waits=True),
        Part("galera-outage-100", script("tests/databases/outage.py", "--berthd", "build/berthd", "--galera", "--rounds", "100", "--every"),
             tier="full", waits=True, seconds_most=HOUR_S),
        Part("patroni", script("tests/databases/patroni_failovers.py", "--build", "build"), tier="full", waits=True),
        Part("galera-api", *(on_galera(script(f"tests/{path}.py", "--berthd", "build/berthd")) for path in API_SUITES), tier="full"),
        Part("read-your-writes-galera", on_galera(script("tests/databases/read_your_writes.py", "--berthd", "build/berthd", "--attempts",
                                                         "1000000", "--switch", "5")), tier="full", seconds_most=2 * HOUR_S),
        Part("read-your-writes-long", on_postgres("tests/databases/read_your_writes.py", "--berthd", "build/berthd", "--attempts",
                                                  "1000000"), tier="full", seconds_most=2 * HOUR_S),
        Part("without-servers", build("build-none", "-Dpostgres=disabled", "-Dmariadb=disabled", "-Dtests=false"),
             script("tests/databases/not_built.py", "build-none", "POSTGRES", "MARIADB"), tier="full", after=()),
        *(Part(f"without-{lacking}", build(f"build-no-{lacking}", f"-D{lacking}=disabled"),
               script("tests/databases/not_built.py", f"build-no-{lacking}", lacking.upper()), tier="full", after=())
          for lacking in ("postgres", "mariadb")),
        Part("fuzz-coverage", script("tests/fuzz/coverage.py"), tier="full"),
        Part("baremetal-diff-long",
             script("tests/baremetal/differential.py", "--berthd", "build/berthd", "--requests", "10000"), tier="full",
             seconds_most=HOUR_S),
        Part("sim-long", *(simulate("build", world, 20000) for world in WORLDS), tier="full", seconds_most=3 * HOUR_S),
        Part("sim-fleet-long", simulate_fleet("build", 1000000), tier="full", seconds_most=4 * HOUR_S),
        Part("sim-galera-long", simulate_galera("build", 1000000), tier="full", seconds_most=8 * HOUR_S),
        Part("kill-long", script("tests/crash/kill.py", "--berthd", "build/berthd", "--kills", "200", "--terms", "50"),
             tier="full", seconds_most=HOUR_S),
        Part("powercut-long", script("tests/crash/powercut.py", "--build", "build", "--cuts", "100", "--reconstructions", "1500"),
             tier="full", seconds_most=2 * HOUR_S),
        Part("chaos-long", *(script("tests/valet/chaos.py", "--berthd", "build/berthd", "--seed", str(seed))
                             for seed in range(100, 120)), tier="full", seconds_most=HOUR_S),
        Part("clang-tidy-all", script("tests/clang_tidy.py", "--all"), after=("clang",), tier="full", seconds_most=HOUR_S),
        Part("fuzz", ["./dev", "fuzz", "120"], tier="full", seconds_most=3 * HOUR_S),
        Part("coverage", script("tests/coverage.py"), tier="full", after=(), alone=True, seconds_most=4 * HOUR_S),
    ]


PARTS = [
    Part("build", build("build"), tier="quick", after=()),
    # for its warnings: none of them depends on optimisation
    Part("clang", compile_only("build-clang", "-Doptimization=0", "-Ddebug=false", compiler="clang"), after=()),
    Part("format",
         ["sh", "-c", "find src tests bench -name '*.[ch]' 2>/dev/null | xargs clang-format --dry-run -Werror"], tier="quick", after=()),
    Part("tidy", script("tests/tidy.py"), tier="quick", after=()),
    Part("selftest", script("tests/selftest.py"), tier="quick", after=()),
    Part("clang-tidy", script("tests/clang_tidy.py"), after=("clang",)),
    Part("units", script("tests/units.py", "build", "--without", ",".join(FAILING)), tier="quick"),
    Part("databases", script("tests/databases/selftest.py"), tier="quick", waits=True),
    Part("databases-mariadb", script("tests/databases/mariadb_selftest.py"), waits=True),
    # early, because nothing would run beside the last minutes of a part that takes so many, or of several that take turns
    Part("package", script("tests/package/run.py"), room="packages"),
    Part("package-switch", script("tests/package/switch.py"), room="packages"),
    Part("package-guide", script("tests/package/guide.py"), room="packages"),
    Part("readme", script("tests/package/readme.py"), room="packages"),  # after the build, of whose compilations it makes use
    Part("package-rpm", script("tests/package/rpm.py"), room="packages"),
    Part("package-container", script("tests/package/container.py"), room="packages"),
    *sanitized("asan", "address,undefined"),
    *sanitized("tsan", "thread"),
    # long ones before short ones, so that all end at nearly the same time
    Part("keystone", script("tests/keystone/run.py", "--berthd", "build/berthd")),
    Part("faults", script("tests/faults/run.py", "--berthd", "build/berthd"), waits=True),
    Part("running", script("tests/running/run.py", "--berthd", "build/berthd")),
    Part("proxies", script("tests/proxies/run.py", "--berthd", "build/berthd"), waits=True),
    Part("hostile", script("tests/hostile/run.py", "--berthd", "build/berthd")),
    Part("api", script("tests/api/run.py", "--berthd", "build/berthd"), tier="quick"),
    Part("api-coverage", script("tests/api/run.py", "--coverage")),
    Part("diff",
         script("tests/diff/run.py", "--berthd", "build/berthd", "--requests", "3000")),
    Part("diff-postgres", script("tests/diff/run.py", "--berthd", "build/berthd", "--postgres", "--requests", "400")),
    Part("diff-galera", script("tests/diff/run.py", "--berthd", "build/berthd", "--galera", "--requests", "400")),
    # one corruption of each kind: of the status, of a header, of a list, of what a write leaves
    Part("diff-selftest", script("tests/diff/selftest.py", "status", "version", "candidate-lost", "lost-write")),
    Part("policy", script("tests/policy/run.py", "--build", "build")),
    Part("policy-diff", script("tests/policy/diff.py", "--build", "build", "--seeds", "1", "--files", "15")),
    Part("valet-api", script("tests/valet/api.py", "--berthd", "build/berthd"), tier="quick"),
    Part("valet-contract", script("tests/valet/contract.py", "--berthd", "build/berthd")),
    Part("valet-plans", script("tests/valet/plans.py", "--berthd", "build/berthd"),
         script("tests/valet/dear.py", "--berthd", "build/berthd")),
    Part("valet-changes", script("tests/valet/changes.py", "--berthd", "build/berthd")),
    Part("valet-ids", script("tests/valet/ids.py", "--berthd", "build/berthd"),
         script("tests/valet/generations.py", "--berthd", "build/berthd")),
    Part("valet-answers", script("tests/valet/answers.py", "--berthd", "build/berthd")),
    Part("baremetal-checks", script("tests/baremetal/checks.py", "--build", "build")),
    Part("baremetal-api", script("tests/baremetal/api.py", "--berthd", "build/berthd"), tier="quick"),
    Part("baremetal-clients", script("tests/baremetal/clients.py", "--berthd", "build/berthd"), waits=True),
    Part("baremetal-nova", script("tests/baremetal/nova_driver.py", "--berthd", "build/berthd")),
    Part("baremetal-races", script("tests/baremetal/races.py", "--berthd", "build/berthd")),
    Part("baremetal-kill", script("tests/baremetal/kill.py", "--berthd", "build/berthd")),
    Part("baremetal-diff", script("tests/baremetal/differential.py", "--berthd", "build/berthd", "--requests", "600")),
    Part("policy-access", script("tests/policy/access.py", "--build", "build", "--share", "48")),
    Part("docs", script("tests/docs/run.py")),
    Part("logging",
         script("tests/logging/run.py", "--berthd", "build/berthd"), script("tests/logging/format_cases.py"),
         script("tests/logging/rotation_cases.py")),
    Part("e2e", script("tests/e2e/run.py", "--berthd", "build/berthd")),
    Part("postgres-api", *(on_postgres(f"tests/{path}.py", "--berthd", "build/berthd") for path in API_SUITES)),
    Part("mariadb-api", *(on_mariadb(f"tests/{path}.py", "--berthd", "build/berthd") for path in API_SUITES)),
    Part("instances", on_postgres("tests/databases/instances.py", "--berthd", "build/berthd"),
         on_postgres("tests/databases/instances.py", "--berthd", "build/berthd", "--pooled", options=["--pgbouncer"])),
    Part("mariadb-instances", on_mariadb("tests/databases/instances.py", "--berthd", "build/berthd", "--seconds", "4"),
         on_mariadb("tests/databases/read_your_writes.py", "--berthd", "build/berthd", "--attempts", "1500")),
    Part("galera-instances",
         on_galera(script("tests/databases/instances.py", "--berthd", "build/berthd", "--seconds", "4"),
                   script("tests/databases/instances.py", "--berthd", "build/berthd", "--seconds", "4", "--pooled"),
                   script("tests/databases/read_your_writes.py", "--berthd", "build/berthd", "--attempts", "1500"),
                   script("tests/databases/read_your_writes.py", "--berthd", "build/berthd", "--attempts", "1500", "--switch", "1"))),
    Part("soak", script("tests/databases/soak.py", "--berthd", "build/berthd", "--minutes", "5", "--clients", "3", "--pause", "0.1"),
         beside=True, seconds_most=HOUR_S),
    Part("galera-soak", script("tests/databases/soak.py", "--galera", "--berthd", "build/berthd", "--minutes", "5", "--clients", "3", "--pause",
                               "0.1"), beside=True, seconds_most=HOUR_S),
    Part("outage", script("tests/databases/outage.py", "--berthd", "build/berthd"), waits=True),
    Part("mariadb-outage", script("tests/databases/outage.py", "--berthd", "build/berthd", "--mariadb", "--rounds", "10"), waits=True),
    # one round of each kind, beside other parts: the second that the long form wants would be too little
    Part("galera-outage", script("tests/databases/outage.py", "--berthd", "build/berthd", "--galera", "--rounds", "6", "--seconds", "3"),
         waits=True),
    Part("read-your-writes", on_postgres("tests/databases/read_your_writes.py", "--berthd", "build/berthd", "--attempts", "3000")),
    Part("refusals", script("tests/databases/refusals.py", "--berthd", "build/berthd"), waits=True),
    Part("mariadb-refusals", script("tests/databases/mariadb_refusals.py", "--berthd", "build/berthd"), waits=True),
    Part("askers", script("tests/databases/askers.py", "--berthd", "build/berthd"), waits=True),
    Part("stalled", script("tests/databases/stalled.py", "--berthd", "build/berthd"), waits=True),
    Part("startup", script("tests/databases/startup.py", "--berthd", "build/berthd"), waits=True),
    Part("mariadb-unavailable", script("tests/databases/unavailable.py", "--berthd", "build/berthd", "--mariadb"), waits=True),
    Part("mariadb-startup", script("tests/databases/startup.py", "--berthd", "build/berthd", "--mariadb"), waits=True),
    Part("stops", script("tests/databases/stops.py", "--berthd", "build/berthd"), waits=True),
    Part("reports", script("tests/databases/reports.py", "--build", "build"), waits=True),
    Part("galera-reports", script("tests/databases/galera_reports.py", "--build", "build"), waits=True),
    Part("unavailable", script("tests/databases/unavailable.py", "--berthd", "build/berthd"), waits=True),
    Part("valet-instances", script("tests/databases/valet_instances.py", "--berthd", "build/berthd"),
         on_postgres("tests/valet/chaos.py", "--berthd", "build/berthd", "--berths", "2", "--rounds", "4", "--seed", "11")),
    Part("mariadb-valet", on_mariadb("tests/valet/chaos.py", "--berthd", "build/berthd", "--berths", "2", "--rounds", "4", "--seed", "11")),
    # kills, and the API where statements matter most
    Part("galera-suites", on_galera(script("tests/crash/kill.py", "--berthd", "build/berthd", "--kills", "20", "--terms", "5"),
                                    script("tests/api/run.py", "--berthd", "build/berthd", "allocations-put", "inventories",
                                           "provider-tree", "reshaper", "traits", "usages"))),
    Part("values", script("tests/databases/values.py", "--build", "build"), waits=True),
    Part("mariadb-values", script("tests/databases/values.py", "--build", "build", "--mariadb", "utf8mb3"), waits=True),
    Part("mariadb-values-utf8mb4", script("tests/databases/values.py", "--build", "build", "--mariadb", "utf8mb4"), tier="full", waits=True),
    Part("metal-instances", script("tests/databases/metal_instances.py", "--build", "build"), waits=True),
    Part("rolling", *(script("tests/databases/rolling.py", "--build", "build", "--database", database, *words)
                      for database, words in (("postgres", ("--sync",)), ("mariadb", ("--sync",)), ("mariadb", ("--coexist",)),
                                              ("galera", ()))),
         tier="full"),
    Part("rolling-galera", script("tests/databases/rolling.py", "--build", "build", "--database", "galera", "--sync"),
         script("tests/databases/rolling.py", "--build", "build", "--database", "galera", "--coexist", "--controllers", "2")),
    Part("unavailable-every", script("tests/databases/unavailable.py", "--berthd", "build/berthd", "--every"), tier="full", waits=True),
    Part("went-back", *(script("tests/databases/went_back.py", "--berthd", "build/berthd", "--database", database)
                        for database in ("postgres", "mariadb"))),
    Part("promoted", script("tests/databases/promoted.py", "--berthd", "build/berthd"), waits=True),
    Part("restoring", *(script("tests/databases/restoring.py", "--berthd", "build/berthd", "--database", database)
                        for database in ("postgres", "mariadb")), waits=True),
    Part("pool-failover", script("tests/databases/pool_failover.py", "--build", "build"), waits=True),
    Part("beside-python", script("tests/databases/beside_python.py", "--berthd", "build/berthd")),
    Part("beside-python-mariadb",
         script("tests/databases/beside_python.py", "--berthd", "build/berthd", "--database", "mariadb", "--seconds", "2")),
    Part("beside-python-galera",
         script("tests/databases/beside_python.py", "--berthd", "build/berthd", "--database", "galera", "--seconds", "2"), tier="full"),
    Part("python-over-capacity", script("tests/databases/python_over_capacity.py", "--berthd", "build/berthd")),
    Part("orphans", *(script("tests/databases/orphans.py", "--build", "build", "--database", database)
                      for database in ("postgres", "mariadb", "sqlite")),
         waits=True),
    Part("coexist", *(script("tests/databases/coexist.py", "--berthd", "build/berthd", "--attempts", "30", "--seconds", "1", *words)
                      for words in ((), ("--database", "mariadb")))),
    Part("coexist-galera", script("tests/databases/coexist.py", "--berthd", "build/berthd", "--database", "galera"), tier="full"),
    Part("no-schema-changes", *(script("tests/databases/no_schema_changes.py", "--berthd", "build/berthd", "--database", database)
                                for database in ("mariadb", "galera"))),
    Part("lost-commits", script("tests/databases/lost_commits.py", "--berthd", "build/berthd"), waits=True),
    Part("conf", script("tests/conf/run.py", "--build", "build")),
    Part("urls", script("tests/databases/urls.py")),
    Part("mariadb-urls", script("tests/databases/mariadb_urls.py")),
    Part("sessions", script("tests/databases/sessions.py"), waits=True),
    Part("mariadb-sessions", script("tests/databases/mariadb_sessions.py"), waits=True),
    Part("schema", script("tests/databases/schema.py"), waits=True),
    Part("mariadb-schema", script("tests/databases/mariadb_schema.py", "--collations", "utf8mb3_general_ci,utf8mb4_unicode_ci"), waits=True),
    Part("mariadb-schema-general", script("tests/databases/mariadb_schema.py", "--collations", "utf8mb4_general_ci"), tier="full", waits=True),
    Part("copying", script("tests/databases/copying.py", "--build", "build"), waits=True),
    Part("mariadb-coexist", script("tests/databases/mariadb_coexist.py")),
    Part("clouds", script("tests/databases/clouds.py", "--berthd", "build/berthd"), waits=True),
    Part("galera-faults", script("tests/databases/galera_faults.py", "--berthd", "build/berthd", "--faults",
                                 "split,restore_backup,full_disk,beside_python,kill_used,replace_used,freeze,behind,switch,kill_all"), waits=True),
    Part("galera-faults-long", script("tests/databases/galera_faults.py", "--berthd", "build/berthd", "--rounds", "2", "--seed", "2"),
         tier="full", waits=True),
    Part("mariadb-moved", script("tests/databases/mariadb_moved.py", "--berthd", "build/berthd")),
    Part("reload", script("tests/conf/reload.py", "--berthd", "build/berthd"), waits=True),
    Part("cli", script("tests/cli/run.py", "--build", "build")),
    Part("dev", script("tests/cli/dev.py")),
    Part("completions", script("tests/cli/completions.py", "--build", "build")),
    Part("cli-help", script("tests/cli/operator.py", "--build", "build")),
    Part("keystone-faults", script("tests/keystone/faults.py", "--berthd", "build/berthd"), waits=True),
    Part("sim-nodes", simulate("build", "nodes", 1000)),
    Part("sim-fleet", simulate_fleet("build", 1000)),
    Part("sim-galera", simulate_galera("build", 1000)),
    Part("valet-chaos", script("tests/valet/chaos.py", "--berthd", "build/berthd")),
    Part("valet-chaos-two", script("tests/valet/chaos.py", "--berthd", "build/berthd", "--berths", "2", "--seed", "5")),
    Part("valet-enforced", script("tests/valet/enforced.py", "--berthd", "build/berthd")),
    Part("sim-valet", simulate("build", "valet", 2000)),
    Part("kill", script("tests/crash/kill.py", "--berthd", "build/berthd")),
    Part("package-kolla", script("tests/package/kolla.py")),
    Part("mariadb-kill", on_mariadb("tests/crash/kill.py", "--berthd", "build/berthd", "--kills", "20", "--terms", "5")),
    Part("powercut", script("tests/crash/powercut.py", "--build", "build", "--cuts", "15", "--reconstructions", "75")),
    Part("admin", script("tests/admin/run.py", "--berthd", "build/berthd")),
    Part("beside", script("tests/faults/beside.py", "--berthd", "build/berthd")),
    Part("backups", script("tests/faults/backups.py", "--berthd", "build/berthd")),
    *mysql(),
    isolated(),
    *at_length(),
]


def end_group(pid):
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def run_command(command, environment, log, seconds_most):
    """(exit status, CPU seconds of the command and its children); processes that it leaves running are ended."""
    child = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                             env={**CCACHE, **os.environ, **environment}, start_new_session=True)
    children.add(child.pid)
    end = time.monotonic() + seconds_most
    try:
        while time.monotonic() < end:
            pid, status, used = os.wait4(child.pid, os.WNOHANG)
            if pid:
                child.returncode = os.waitstatus_to_exitcode(status)
                return child.returncode, used.ru_utime + used.ru_stime
            time.sleep(0.05)
        log.write(f"\nended after {seconds_most} s\n".encode())
        return 1, 0
    finally:
        end_group(child.pid)
        child.wait()
        children.discard(child.pid)


def verdict_of(status, text, reports):
    """(passed, failed) of a part's output."""
    counts = re.findall(r"^(\d+) passed, (\d+) failed$", text, re.M)
    if not counts:
        return (1, 0) if status == 0 and not reports else (0, 1)
    passed, failed = (sum(int(count[i]) for count in counts) for i in (0, 1))
    if reports or (failed == 0 and (status != 0 or passed == 0)):
        failed += max(1, len(reports))
    return passed, failed


def run_part(part):
    """(passed, failed, CPU seconds, output)"""
    path = os.path.join(ROOT, LOGS, part.name + ".log")
    if part.reports:
        os.makedirs(part.reports, exist_ok=True)
        for old in glob.glob(part.reports + "/report*"):
            os.unlink(old)
    status = cpu = 0
    with open(path, "wb") as log:
        for command in part.commands:
            log.write(f"$ {shlex.join(command)}\n".encode())
            log.flush()
            if not status:
                status, spent = run_command(command, part.environment, log, part.seconds_most)
                cpu += spent
    text = open(path, errors="replace").read()
    found = glob.glob(part.reports + "/report*") if part.reports else []
    for report in found:
        text += f"\n{report}:\n" + open(report, errors="replace").read()[:8000]
    return *verdict_of(status, text, found), cpu, text


# What the workers accept.


def is_for_jobs(part):
    return not part.beside


def is_for_waiting(part):
    return part.waits


def is_for_beside(part):
    return part.beside


class Schedule:
    """The parts in order, several at a time. Workers call next() and ended()."""

    def __init__(self, parts):
        self.waiting = list(parts)
        self.running = []
        self.changed = threading.Condition()

    def _is_held_up(self, part):
        open_parts = {other.name for other in self.waiting + self.running}
        return bool(part.after & open_parts or (part.alone and self.running) or
                    any(other.alone or (part.room and other.room == part.room) for other in self.running))

    def next(self, accepts):
        """A part to run that the worker accepts, or None if there is none left."""
        with self.changed:
            while any(accepts(part) for part in self.waiting):
                for part in self.waiting:
                    if not self._is_held_up(part) and accepts(part):
                        self.waiting.remove(part)
                        self.running.append(part)
                        return part
                    if part.alone and not part.after & {other.name for other in self.waiting + self.running}:
                        break  # later parts would delay it for ever
                self.changed.wait()
        return None

    def ended(self, part):
        with self.changed:
            self.running.remove(part)
            self.changed.notify_all()


def failures_of(part, text):
    """The lines of a part's output that name its failures, each with the reasons that are indented below it. Without any: how the
    output ends."""
    found = []
    ending = "\n    ".join(["no case is named", *[line.strip() for line in text.splitlines() if line.strip()][-SHOWN_REASONS:]])
    for case in re.findall(r"^(?:FAILED |not ok ).*(?:\n    .*)*", text, re.M)[:SHOWN_FAILURES] or [ending]:
        lines = [line[:SHOWN_CHARACTERS] for line in case.splitlines()]
        found += [f"{part}: {lines[0]}", *lines[1:1 + SHOWN_REASONS]]
    return found


class Score:
    def __init__(self):
        self.passed = self.failed = 0
        self.failures = []  # lines to be shown once more at the end, where a log that is cut still has them
        self.lock = threading.Lock()

    def tell(self, part, seconds, cpu, passed, failed, text):
        with self.lock:
            self.passed, self.failed = self.passed + passed, self.failed + failed
            if failed:
                print("\n".join(text.splitlines()[-SHOWN_LINES:]))
                self.failures += failures_of(part.name, text)
            print("%-6s %-23s %6.1f s   CPU %6.1f s   %d passed, %d failed" % (
                "FAILED" if failed else "ok", part.name, seconds, cpu, passed, failed), flush=True)


def work(schedule, score, accepts):
    while (part := schedule.next(accepts)) is not None:
        start = time.monotonic()
        try:
            passed, failed, cpu, text = run_part(part)
        except Exception as problem:  # the others go on in any case
            passed, failed, cpu, text = 0, 1, 0, repr(problem)
        score.tell(part, time.monotonic() - start, cpu, passed, failed, text)
        schedule.ended(part)


def chosen(words, parser):
    """The names of the parts."""
    names, unknown = set(), []
    for word in words:
        if word in TIERS:
            names |= {part.name for part in PARTS if TIERS.index(part.tier) <= TIERS.index(word)}
        elif any(part.name == word for part in PARTS):
            names.add(word)
        else:
            unknown.append(word)
    if unknown:
        parser.error("no such tier or part: " + ", ".join(unknown))
    return names


def main():
    parser = argparse.ArgumentParser(prog="./dev check")
    parser.add_argument("--list", action="store_true", help="name the parts")
    parser.add_argument("--jobs", type=int, default=3, metavar="N", help="parts at a time (3), beside those that mostly wait")
    parser.add_argument("parts", nargs="*", metavar="TIER or PART", help="a tier (quick, landing, full) or parts; landing")
    options = parser.parse_args()
    wanted = chosen(options.parts or ["landing"], parser)
    if options.list:
        print("\n".join(f"{part.name:25} {part.tier}" for part in PARTS))
        return 0
    os.makedirs(os.path.join(ROOT, LOGS), exist_ok=True)
    with contextlib.ExitStack() as stack:
        if len(wanted) > 1:  # a single part begins sooner without
            programs = stack.enter_context(preloaded.Preloaded())
            os.environ["PATH"] = f"{programs.path}:{os.environ['PATH']}"
        return play([part for part in PARTS if part.name in wanted], options.jobs)


def play(parts, jobs):
    began = time.monotonic()
    schedule = Schedule(parts)
    score = Score()
    workers = [threading.Thread(target=work, args=(schedule, score, accepts), daemon=True)
               for accepts in [is_for_jobs] * max(1, jobs) + [is_for_waiting, is_for_beside]]
    for worker in workers:
        worker.start()
    try:
        for worker in workers:
            worker.join()
    except KeyboardInterrupt:
        for pid in list(children):
            end_group(pid)
        raise
    for failure in score.failures:
        print(failure)
    print("%.1f s in all" % (time.monotonic() - began))
    print(f"{score.passed} passed, {score.failed} failed")
    return 1 if score.failed else 0


if __name__ == "__main__":
    sys.exit(main())
