#!/usr/bin/python3
"""The differential: sends the same random but seeded requests to the Python service and to berthd.

    tests/diff/run.py [--berthd build/berthd] [--requests 10000] [--seeds 1] [--first-seed N] [--keep DIR]
    tests/diff/run.py --seed S --until N        plays seed S up to step N (only the part that N is in)

See README.md beside this file. Last line: "N passed, N failed". Exit status 0 only without a failure.
"""

import argparse
import collections
import contextlib
import multiprocessing
import os
import shlex
import shutil
import sys
import tempfile
import time

if os.environ.get("PYTHONHASHSEED") != "0":
    # The reference selects and prints in the order of Python's sets: a replay must see the same order.
    os.environ["PYTHONHASHSEED"] = "0"
    os.execv(sys.executable, [sys.executable] + sys.argv)

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import intended  # noqa: E402
import minimise  # noqa: E402
import reference  # noqa: E402
import servers  # noqa: E402
import walk  # noqa: E402
from databases import Galera, Mariadb, Postgres, Sqlite  # noqa: E402
from exchange import ALL_ROUTES  # noqa: E402
from subject import SubjectError  # noqa: E402

PART = 2500  # requests of one walk: small clouds are fast, and every walk has another cloud
LEAST_ASKED = 50
LEAST_SUCCEEDED = 0.60
LEAST_ANSWERED = 1 / 2
LEAST_RICH = 1 / 3


def arguments():
    parser = argparse.ArgumentParser(prog="./dev diff", description="plays random requests to the Python service and to berthd")
    parser.add_argument("--berthd", default="build/berthd", help="program (and arguments) to test")
    parser.add_argument("--requests", type=int, default=10000, help="requests a seed")
    parser.add_argument("--seeds", type=int, default=1, help="number of seeds")
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--seed", type=int, help="replay: this seed alone")
    parser.add_argument("--until", type=int, help="replay: up to and with step N - 1")
    parser.add_argument("--minimise", action="store_true", help="shorten the way to the first failure, print it")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--postgres", action="store_true", help="both on a PostgreSQL server, not on SQLite files")
    parser.add_argument("--mariadb", action="store_true", help="both on a MariaDB server")
    parser.add_argument("--galera", action="store_true", help="both on a Galera cluster behind HAProxy")
    parser.add_argument("--keep", metavar="DIR", help="keep databases and logs there")
    parser.add_argument("--same", action="store_true", help="the program is a reference: nothing is intended")
    parser.add_argument("--allow-500", action="store_true", help="berth may answer 500 where the reference does")
    parser.add_argument("--oracle", action="store_true", help="check the second opinion on candidates, too")
    parser.add_argument("--state-every", type=int, default=walk.STATE_EVERY, help="compare the whole state so often")
    parser.add_argument("--failures", type=int, default=8, help="a walk ends after so many kinds of failure")
    parser.add_argument("--routes", action="store_true", help="print every route's counts")
    parser.add_argument("--verbose", action="store_true", help="print every request")
    return parser.parse_args()


def jobs_of(args):
    """[(seed, part, steps, first step)]"""
    if args.seed is not None:
        if args.until is not None:
            part = max(args.until - 1, 0) // PART
            return [(args.seed, part, PART, part * PART)]
        args.first_seed, args.seeds = args.seed, 1
    found = []
    for seed in range(args.first_seed, args.first_seed + args.seeds):
        for part, first in enumerate(range(0, args.requests, PART)):
            found.append((seed, part, min(PART, args.requests - first), first))
    return found


def play(job):
    options, directory, (seed, part, steps, first) = job
    one = walk.Walk(options, seed, part, steps, os.path.join(directory, "seed%d-part%d" % (seed, part)))
    one.first_step = first
    result = one.run()
    one.end()
    if not options.keep:
        shutil.rmtree(one.directory, ignore_errors=True)
    return result


def main():
    args = arguments()
    began = time.monotonic()
    if args.keep:
        os.makedirs(args.keep, exist_ok=True)
    directory = tempfile.mkdtemp(prefix="berth-diff-", dir=args.keep or servers.directory_in_memory())
    try:
        with contextlib.ExitStack() as stack:
            if args.postgres or args.mariadb or args.galera:
                databases = Postgres() if args.postgres else Galera() if args.galera else Mariadb()
                stack.callback(databases.end)
            else:
                databases = Sqlite()
            status = differential(args, os.path.abspath(directory), began, databases)
    except SubjectError as error:
        print("diff: %s" % error)
        print("0 passed, 1 failed")
        status = 1
    finally:
        if not args.keep:
            shutil.rmtree(directory, ignore_errors=True)
    return status


def differential(args, directory, began, databases):
    options = walk.Options()
    options.program = shlex.split(args.berthd)
    options.program[0] = os.path.abspath(options.program[0])
    options.same, options.oracle, options.verbose = args.same, args.oracle, args.verbose
    options.keep, options.until, options.state_every = args.keep, args.until, args.state_every
    options.most_failures, options.allow_500 = args.failures, args.allow_500 or args.same
    reference.preload()
    options.databases = databases
    databases.make_template(options.program, directory, lambda url: reference.config_text(url, True))
    jobs = [(options, directory, job) for job in jobs_of(args)]
    results = []
    # One process for each walk: the service keeps its configuration in globals.
    with multiprocessing.get_context("fork").Pool(max(1, min(args.workers, len(jobs))), maxtasksperchild=1) as pool:
        for result in pool.imap_unordered(play, jobs, chunksize=1):
            results.append(result)
            for text in result.reports:
                print(text, flush=True)
    failing = next((r for r in results if r.last is not None), None)
    if args.minimise and failing is not None:
        trail, again = minimise.shortest(options, directory, failing.trail, failing.last, failing.last_kind)
        print("-- shortest way found (%d of %d changes)%s" % (
            len(trail), len(failing.trail), "" if again else ": does not fail again by its changes alone"))
        for request in trail + [failing.last]:
            print(request.text() + "\n")
    return summary(args, results, time.monotonic() - began)


def summary(args, results, seconds):
    total = walk.Result(0, 0)
    for result in results:
        for name in ("asked", "failed", "succeeded", "state_reads", "state_failures", "questions", "answered", "rich",
                     "order_only", "reconnects", "reference_errors", "reference_seconds", "subject_seconds"):
            setattr(total, name, getattr(total, name) + getattr(result, name))
        for name in ("routes", "routes_2xx", "versions", "hits", "statuses", "kinds"):
            getattr(total, name).update(getattr(result, name))
    shortfalls = thresholds(total)
    # A short run or a replay cannot reach everything, and need not.
    strict = args.until is None and total.asked >= 10000
    print("requests %d, %.1f %% answered 2xx; statuses %s" % (
        total.asked, 100 * total.succeeded / max(total.asked, 1),
        ", ".join("%d: %d" % pair for pair in sorted(total.statuses.items()))))
    print("routes: least asked %s, least answered 2xx %s; microversions: least asked %s" % (
        least(total.routes, ALL_ROUTES), least(total.routes_2xx, ALL_ROUTES), least(total.versions, range(40))))
    print("candidates questions %d, non-empty %d, granular, nested or sharing %d" % (
        total.questions, total.answered, total.rich))
    print("whole-state reads %d; answers that differ only in the order of a list %d; reconnects %d; 500s of the reference %d" % (
        total.state_reads, total.order_only, total.reconnects, total.reference_errors))
    never = print_intended(total, "postgresql" if args.postgres else "mariadb" if args.mariadb or args.galera else "sqlite")
    failed = total.failed
    if total.kinds:
        print("failures by kind (route, statuses of reference / berth, what differs):")
        for kind, count in total.kinds.most_common(40):
            print("  %6d  %s" % (count, kind))
    if args.routes:
        for route in ALL_ROUTES:
            print("  %6d asked %6d answered 2xx  %s %s" % (total.routes[route], total.routes_2xx[route], *route))
    if strict:
        for text in shortfalls:
            print("FAILED: " + text)
        if never and not args.same:
            print("FAILED: intended differences never hit: " + ", ".join(never))
        failed += len(shortfalls) + (0 if args.same else len(never))
    else:
        print("fewer than 10000 requests: thresholds and hits are not checked (%d below)" % len(shortfalls))
    print("time %.1f s (reference %.1f s, berth %.1f s of the walks)" % (
        seconds, total.reference_seconds, total.subject_seconds))
    print("%d passed, %d failed" % (max(0, total.asked - total.failed), failed))
    return 1 if failed or not total.asked else 0


def least(counter, keys):
    key = min(keys, key=lambda k: counter[k])
    return "%s (%d)" % (" ".join(key) if isinstance(key, tuple) else "1.%d" % key, counter[key])


def thresholds(total):
    found = []
    if total.succeeded < LEAST_SUCCEEDED * total.asked:
        found.append("only %d of %d answered 2xx" % (total.succeeded, total.asked))
    for route in ALL_ROUTES:
        if total.routes[route] < LEAST_ASKED:
            found.append("%s %s asked %d times" % (route[0], route[1], total.routes[route]))
    for minor in range(40):
        if total.versions[minor] < LEAST_ASKED:
            found.append("microversion 1.%d asked %d times" % (minor, total.versions[minor]))
    if total.answered < LEAST_ANSWERED * total.questions or not total.questions:
        found.append("only %d of %d candidates questions non-empty" % (total.answered, total.questions))
    if total.rich < LEAST_RICH * total.questions:
        found.append("only %d of %d candidates questions granular, nested or sharing" % (total.rich, total.questions))
    return found


def print_intended(total, kind):
    """Prints the list with the number of uses; returns the ids that should have been used."""
    never = []
    print("intended differences (hits):")
    known = collections.Counter(total.hits)
    for entry in intended.ENTRIES:
        hits = known.pop(entry.id, 0)
        note = " [%s, see %s]" % (entry.mark, entry.test) if entry.mark else ""
        print("  %6d  %s: %s%s" % (hits, entry.id, entry.reason, note))
        if not hits and entry.mark in (None, kind):
            never.append(entry.id)
    for name, hits in sorted(known.items()):
        print("  %6d  %s" % (hits, name))
    return never


if __name__ == "__main__":
    sys.exit(main())
