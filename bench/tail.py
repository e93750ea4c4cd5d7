#!/usr/bin/python3
"""The tail of the claims' latencies: 16 and 256 connections that claim without a pause, alone and beside one client
that creates plans and deletes them as fast as it can. Each run is long enough to contain many checkpoints.

    bench/tail.py [--berthd FILE]... [--seconds 60] [--rounds 3] [--build build]

Several programs are measured alternately, each on a fresh copy of one cloud, and the medians of the rounds count,
because the speeds of machine and disk change within minutes. `./dev bench` measures one program, with shorter rounds."""

import argparse
import os
import statistics
import sys
import tempfile
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import measure  # noqa: E402
import valet  # noqa: E402

LEVEL = 80
CASES = ((16, False), (256, False), (16, True), (256, True))
P99_TIMES, MAX_MS = 3, 100  # the goals
FIGURES = (("claims/s", lambda r: r["rps"]), ("p50 ms", lambda r: r["p50_us"] / 1000),
           ("p99 ms", lambda r: r["p99_us"] / 1000), ("max ms", lambda r: r["max_us"] / 1000))


def measure_once(binary, template, work, loader, connections, beside, seconds):
    cloud = valet.Cloud(binary, template, work, LEVEL, 0)
    stop, took = threading.Event(), []
    planner = threading.Thread(target=valet.keep_planning, args=(cloud.client, 0, stop, took))
    try:
        file = valet.claims_file(cloud.empty, work)
        loader.cell(cloud.server, file, connections, 1)
        if beside:
            planner.start()
        result = loader.cell(cloud.server, file, connections, seconds)
        result["plans_per_s"] = len(took) / result["seconds"]
        return result
    finally:
        stop.set()
        if beside:
            planner.join()
        cloud.close()


def figures(results):
    """The medians of the rounds, and whether they meet the goals."""
    found = {what: statistics.median(map(figure, results)) for what, figure in FIGURES}
    found["plans/s"] = statistics.median(r["plans_per_s"] for r in results)
    found["met"] = found["p99 ms"] <= P99_TIMES * found["p50 ms"] and found["max ms"] <= MAX_MS
    return found


def measured(binary, work, loader, seconds=20, rounds=3):
    """By case; the rounds of all cases alternate, each on a fresh copy of one cloud."""
    with tempfile.TemporaryDirectory(prefix="berth-tail-", dir=work) as directory:
        template = os.path.join(directory, "template.db")
        valet.make_cloud(binary, template, directory)
        results = {case: [] for case in CASES}
        for _ in range(rounds):
            for case in CASES:
                results[case].append(measure_once(binary, template, directory, loader, *case, seconds))
    return {f"{connections} connections{' beside plans' if beside else ''}": figures(results[connections, beside])
            for connections, beside in CASES}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--berthd", action="append")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--build", default="build")
    parser.add_argument("--cases", default="0,1,2,3", help="which of 16, 256, 16 beside plans, 256 beside plans")
    options = parser.parse_args()
    programs = options.berthd or [os.path.join(options.build, "berthd")]
    loader = measure.Loader(options.build)
    with tempfile.TemporaryDirectory(prefix="berth-tail-", dir="/var/tmp") as work:
        template = os.path.join(work, "template.db")
        valet.make_cloud(programs[0], template, work)
        for number in options.cases.split(","):
            connections, beside = CASES[int(number)]
            rounds = {program: [] for program in programs}
            for _ in range(options.rounds):
                for program in programs:
                    rounds[program].append(
                        measure_once(program, template, work, loader, connections, beside, options.seconds))
            for program, results in rounds.items():
                found = figures(results)
                print(f"{connections:3} connections{' beside plans' if beside else '':13} {os.path.basename(program):14}",
                      *(f"{what} {figure:9.2f} " for what, figure in found.items() if what != "met"),
                      f"others {100 * statistics.median(r['others_share'] for r in results):2.0f} %",
                      "met" if found["met"] else "not met", flush=True)


if __name__ == "__main__":
    main()
