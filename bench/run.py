#!/usr/bin/python3
"""The bench: berth compared with the Python service and with the physical limits, in one run.

Prints the table of goals with goal, figure, met or not met, and writes bench/RESULTS.md. To be run by hand on a quiet
machine, never by CI. See README.md."""

import argparse
import json
import os
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True

import baremetal
import innocent
import lanes
import measure
import occupy
import questions
import reference
import report
import rows
import tail
import targets
import valet
from on_mariadb import OnMariadb
from on_postgres import OnPostgres

HERE = os.path.dirname(os.path.abspath(__file__))
CACHE = os.path.join(HERE, "reference.json")
BATCHES = (1, 2, 4, 8, 16, 32, 64, 128)
SIZES = (300, 16384, 523000, 777000, 2600000)
# By these names for all of their rows. That of their results, as well.
SERVERS = {"postgres": OnPostgres, "mariadb": OnMariadb}
EXTRAS = ("groups", "turns", "units", "memory", "start", "lane", "limits", "commits", "baremetal", "valet", "lanes",
          "tail", "occupy", "innocent") + sum((server.names() for server in SERVERS.values()), ())


def arguments():
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__)
    parser.add_argument("--quick", action="store_true",
                        help="within a few minutes: the kept figures of the Python service, no cloud of "
                             "a million hosts, nothing written")
    parser.add_argument("--rows", metavar="NAME,…", help="only these: "
                        + ", ".join((*targets.BERTH_QUESTIONS, *EXTRAS, *SERVERS)))
    parser.add_argument("--build", default=os.path.join(HERE, "..", "build"),
                        help="build directory (build)")
    parser.add_argument("--berthd", help="the berthd to measure (berthd in the build directory)")
    parser.add_argument("--kept-reference", action="store_true",
                        help="do not run the Python service, compare with its kept figures")
    parser.add_argument("--work", default="/var/tmp/berth-bench",
                        help="directory for clouds and databases: its disk is measured")
    options = parser.parse_args()
    options.build = os.path.abspath(options.build)
    options.berthd = os.path.abspath(options.berthd or os.path.join(options.build, "berthd"))
    options.names = options.rows.split(",") if options.rows else None
    for name, server in SERVERS.items():
        if name in (options.names or ()):
            options.names = [other for other in options.names if other != name] + list(server.names())
    unknown = set(options.names or ()) - set(targets.BERTH_QUESTIONS + EXTRAS)
    if unknown:
        parser.error(f"no such rows: {', '.join(sorted(unknown))}")
    return options


def wanted(options, name):
    return options.names is None or name in options.names


def read_kept():
    if not os.path.exists(CACHE):
        return {}
    with open(CACHE) as file:
        return json.load(file)


def write_kept(kept):
    with open(CACHE, "w") as file:
        json.dump(kept, file, indent=1)
        file.write("\n")


def run_reference(options, loader, results):
    names = [name for name in targets.REFERENCE_QUESTIONS if wanted(options, name)]
    if options.quick or options.kept_reference or not (names or wanted(options, "baremetal")):
        kept = read_kept()
        if "cells" not in kept:
            print("no figures of the Python service are kept: run without --quick once")
            return
        results["cells"]["reference"] = kept["cells"]
        results["facts"]["reference"] = kept["facts"]
        results["reference_date"] = kept["date"]
        print(f"Python service: figures of {kept['date']}, {kept['machine']}")
        return
    missing = reference.missing()
    if missing:
        sys.exit("The Python service cannot be run, missing: " + ", ".join(missing)
                 + "\nSee bench/README.md, or use --quick or --kept-reference.")
    print("Python service")
    cells, facts = targets.measure_reference(options.work, loader, names)
    if wanted(options, "baremetal"):
        facts["baremetal"] = baremetal.ironic(60)
        targets.say(f"ironic: {facts['baremetal']}")
    results["cells"]["reference"], results["facts"]["reference"] = cells, facts
    if options.names is None:
        write_kept({"date": results["date"], "machine": results["machine"], "cells": cells, "facts": facts,
                    "noisy": measure.noisy({"reference": cells}),
                    **{server: kept for server, kept in read_kept().items() if server in SERVERS}})


def run_berth(options, loader, results):
    if not os.path.exists(options.berthd):
        print(f"no {options.berthd}: berth is not measured")
        return
    print("berth")
    results["berth_version"] = subprocess.run(
        [options.berthd, "--version"], stdout=subprocess.PIPE, text=True).stdout.strip()
    berth = targets.Berth(options.berthd, options.build, options.work, loader,
                          0.6 if options.quick else 4, targets.CONNECTIONS)
    try:
        names = [name for name in targets.BERTH_QUESTIONS if wanted(options, name)]
        for name in names:
            if options.quick:
                if name in ("flat1m_10", "usages_1m", "sharing_10"):
                    continue
                berth.connections = {"claim": (16, 256), "claim_one": (16,), "post_shared": (16,),
                                     "post_disjoint": (16,)}.get(name, (1, 16))
            berth.ask(name)
            if name in targets.CLOSE_TO_REFERENCE and not (options.quick or options.kept_reference):
                berth.ask_beside_reference(name)
        runs = 1 if options.quick else 5
        for extra, act in (("turns", lambda: [berth.write_in_turns(narrow, broad, 2 * runs) for narrow, broad in rows.PAIRS]),
                           ("units", berth.last_units), ("memory", berth.memory),
                           ("start", lambda: berth.start_times(runs)),
                           ("lane", lambda: berth.slow_lane(runs))):
            if wanted(options, extra):
                act()
    finally:
        berth.stop()
    if wanted(options, "baremetal") and not options.quick:
        berth.facts["baremetal"] = baremetal.berth(options.berthd, options.work, 20)
        targets.say(f"bare metal: {berth.facts['baremetal']}")
    if wanted(options, "valet") and not options.quick:
        berth.facts["valet"] = valet.berth(options.berthd, options.work, loader)
        targets.say(f"plans: {berth.facts['valet']}")
    for extra, act in (("lanes", lambda: lanes.measured(options.berthd, options.build, options.work)),
                       ("tail", lambda: tail.measured(options.berthd, options.work, loader)),
                       ("occupy", lambda: occupy.worst(occupy.measured(options.berthd, options.build, options.work))),
                       ("innocent", lambda: innocent.measured(options.berthd, runs=3))):
        if wanted(options, extra) and not options.quick:
            berth.facts[extra] = act()
            targets.say(f"{extra}: {berth.facts[extra]}")
    if wanted(options, "groups"):
        berth.facts["groups"] = targets.measure_groups(options.build)
    results["cells"]["berth"], results["facts"]["berth"] = berth.cells, berth.facts
    results["berth_commits"], results["beside"] = berth.commits, berth.beside


def run_limits(options, loader, results):
    """At the sizes of the measured answers or, if there are none, at the usual sizes."""
    print("limits")
    answers = results["cells"].get("berth") or results["cells"].get("reference") or {}
    measured = [round(cells["16"]["answer_bytes"]) for name, cells in answers.items()
                if "16" in cells and not questions.QUESTIONS[name].writes]
    sizes = []
    for size in measured + [s for s in SIZES if not (options.quick and measured)]:
        if size >= 100 and all(abs(size - kept) > 0.1 * kept for kept in sizes):
            sizes.append(size)
    results["cells"].update(targets.measure_limits(
        options.build, options.work, loader, sorted(sizes), 0.4 if options.quick else 3,
        (1, 16) if options.quick else targets.CONNECTIONS))


def run_server(options, server, loader, results):
    kind = SERVERS[server]
    title, names = kind.kind.title, [name for name in kind.names() if wanted(options, name)]
    kept = read_kept().get(server) if options.quick or options.kept_reference else None
    missing = kind.missing()
    if not names or missing:
        print(f"{title} is not measured, missing: {', '.join(missing)}\n" if names else "", end="")
        return
    print(f"berth on {title}" + (f"; the Python service's figures are of {kept['date']}, {kept['machine']}" if kept else ""))
    bench = kind(options.berthd, options.build, options.work, loader, quick=options.quick,
                 kept=kept or ({"cells": {}} if options.quick or options.kept_reference else None))
    try:
        bench.measure(names)
    finally:
        bench.close()
    cells = bench.reference_cells
    if all(str(c) in cells.get(name, {}) for name, c in kind.REFERENCE_CELLS) and bench.kept is None:
        kept = {"date": results["date"], "machine": results["machine"], "cells": cells,
                "noisy": measure.noisy({"reference": cells})}
        write_kept(read_kept() | {server: kept})
    results[server] = {"facts": bench.facts, "cells": {"berth": bench.cells, "reference": cells},
                       "reference_date": kept and kept["date"], "noisy": measure.noisy({"berth": bench.cells})}


def run_commits(options, results):
    for batch in (1, 16) if options.quick else BATCHES:
        results["commits"][str(batch)] = targets.measure_commits(
            options.build, options.work, batch, 0.5 if options.quick else 3)


def main():
    options = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that servers are stopped on exit
    os.makedirs(options.work, exist_ok=True)
    subprocess.run(["ninja", "-C", options.build, "bench-programs"], check=True,
                   stdout=subprocess.DEVNULL)
    loader = measure.Loader(options.build)
    results = {"date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()), "cells": {}, "facts": {},
               "commits": {}, "berth_version": "not measured",
               "sync": targets.measure_sync(options.build, options.work,
                                            0.5 if options.quick else 3)}
    results["machine"] = measure.machine(results["sync"])
    results["reference_date"] = results["date"]
    print(f"{results['date']}, {results['machine']}, load average {os.getloadavg()[0]:.2f}")
    run_reference(options, loader, results)
    run_berth(options, loader, results)
    if wanted(options, "limits"):
        run_limits(options, loader, results)
    if wanted(options, "commits"):
        run_commits(options, results)
    for server in SERVERS:
        run_server(options, server, loader, results)
    table = rows.Table(results).build()
    if options.names:
        table = [row for row in table if row.met is not None]
    report.print_rows(table)
    results["noisy"] = measure.noisy({
        target: cells for target, cells in results["cells"].items()
        if target != "reference" or results["reference_date"] == results["date"]})
    if results["noisy"]:
        print(f"the machine was not quiet: other programs had more than a tenth of it during "
              f"{len(results['noisy'])} cells")
    path = os.path.join(HERE, "RESULTS.md")
    if not options.quick and options.names is None:
        report.write(path, results, table, reference.THREADS)
    for server, kind in SERVERS.items():
        if not options.quick and options.names is not None and set(kind.names()) <= set(options.names) and server in results:
            report.write_server(path, server, results, table)
    return 1 if any(row.met is False for row in table) else 0


if __name__ == "__main__":
    sys.exit(main())
