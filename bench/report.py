"""The table on the terminal, and bench/RESULTS.md."""

import collections

import unmet

MARK = {True: "met", False: "NOT MET", None: "—"}


def print_rows(rows):
    group = None
    for row in rows:
        if row.group != group:
            group = row.group
            print(f"\n{group}")
        print(f"  {MARK[row.met]:8} {row.what:52} {row.goal:34} {row.figure}")
    counts = collections.Counter(MARK[row.met] for row in rows)
    print(f"\n{counts['met']} met, {counts['NOT MET']} not met, {counts['—']} not measured")


def cells_table(cells):
    yield "| question | connections | requests/s | p50 ms | p99 ms | CPU µs a request | bytes | answers |"
    yield "|---|---|---|---|---|---|---|---|"
    for question, by_connections in cells.items():
        for connections, c in by_connections.items():
            answers = ", ".join(f"{n} × {status}" for status, n in c["status"].items())
            if c["unanswered"]:
                answers += f", {c['unanswered']} unanswered at the end"
            if c["failed"]:
                answers += f", {c['failed']} broken off"
            noisy = " ~" if c["others_share"] > 0.1 else ""
            yield (f"| {question}{noisy} | {connections} | {c['rps']:.1f} | {c['p50_us'] / 1000:.3f} | "
                   f"{c['p99_us'] / 1000:.3f} | {c['cpu_us']:.1f} | {c['answer_bytes']:.0f} | "
                   f"{answers} |")


def commits_table(commits):
    yield "| claims in a commit | claims/s | commits/s | CPU µs a claim |"
    yield "|---|---|---|---|"
    for c in commits:
        yield (f"| {c['mean_batch']:.1f} | {c['claims_per_s']:.0f} | {c['commits_per_s']:.0f} | "
               f"{c['cpu_us_per_claim']:.1f} |")


TITLES = {
    "berth": "berth",
    "reference": "The Python service: uwsgi, 2 processes of {threads} threads, MariaDB",
    "http": "Limit: bare libmicrohttpd, by size of the answer",
    "socket": "Limit: writing the same bytes to the same socket",
}


def write(path, results, rows, threads):
    lines = ["# Results of the bench", "",
             f"{results['date']}, {results['machine']}, berth {results['berth_version']}.", ""]
    if results["reference_date"] != results["date"]:
        lines += [f"The Python service's figures are of {results['reference_date']}.", ""]
    if results["noisy"]:
        lines += [f"The machine was not quiet: other programs had more than a tenth of it during "
                  f"{len(results['noisy'])} cells (marked ~).", ""]
    lines += ["CPU is of all processes of a server, the database counted in, for each request that "
              "was answered; at 16 connections unless a row says otherwise. How to read this: "
              "README.md.", "",
              "| | | goal | figure | |", "|---|---|---|---|---|"]
    lines += [f"| {r.group} | {r.what} | {r.goal} | {r.figure} | {MARK[r.met]} |" for r in rows]
    unmet_lines = list(unmet.sections(rows))
    if unmet_lines:
        lines += ["", "## Not met", *unmet_lines]
    for target, title in TITLES.items():
        if results["cells"].get(target):
            lines += ["", f"## {title.format(threads=threads)}", ""]
            lines += cells_table(results["cells"][target])
    commits = list(results["commits"].values()) + [
        c for c in results.get("berth_commits", {}).values()]
    if commits:
        lines += ["", "## Limit: raw commits to SQLite", ""] + list(commits_table(commits))
    sync = results["sync"]
    lines += ["", f"fdatasync of one page: {sync['in_place_per_s']:.0f}/s in place, "
              f"{sync['growing_per_s']:.0f}/s at the end of a growing file.", "", "## Facts", ""]
    for target, facts in results["facts"].items():
        lines += [f"- {target}: {name} = {value}" for name, value in facts.items()]
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")
