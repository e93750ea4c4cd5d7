"""The table on the terminal, and bench/RESULTS.md."""

import collections

import os

import rows as table
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
        for connections, c in sorted(by_connections.items(), key=lambda item: int(item[0])):
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

def goals(rows):
    yield from ("| | | goal | figure | |", "|---|---|---|---|---|")
    for row in rows:
        yield f"| {row.group} | {row.what} | {row.goal} | {row.figure} | {MARK[row.met]} |"
    unmet_lines = list(unmet.sections(rows))
    if unmet_lines:
        yield from ("", "## Not met", *unmet_lines)


def server_of(row):
    """None: a row of the embedded store."""
    return next((server for server, (title, _) in table.SERVERS.items() if row.group.startswith(title + ": ")), None)


def heading(server):
    return f"# {table.SERVERS[server][0]}"


def server_lines(server, results, rows):
    measured, title = results[server], table.SERVERS[server][0]
    yield from (heading(server), "", f"{results['date']}, {results['machine']}, berth {results['berth_version']}.", "")
    if measured["reference_date"] != results["date"]:
        yield from (f"The Python service's figures are of {measured['reference_date']}.", "")
    if measured["noisy"]:
        yield from (f"The machine was not quiet: other programs had more than a tenth of it during "
                    f"{len(measured['noisy'])} cells (marked ~).", "")
    yield from goals([row for row in rows if server_of(row) == server])
    for target, shown in (("berth", f"berth on {title}"), ("reference", "The Python service on the same server")):
        yield from ("", f"## {shown}", "", *cells_table(measured["cells"][target]))
    yield from ("", f"## Facts on {title}", "")
    for name, value in measured["facts"].items():
        yield f"- {name} = {value}"
    yield ""


def parts(path):
    """The lines of the file before those about servers, and those about each server, of earlier runs."""
    found = {server: [] for server in table.SERVERS}
    lines = []
    if os.path.exists(path):
        with open(path) as file:
            lines = file.read().splitlines()
    begins = sorted((lines.index(heading(server)), server) for server in found if heading(server) in lines)
    for (begin, server), (end, _) in zip(begins, begins[1:] + [(len(lines), None)]):
        found[server] = lines[begin:end]
    return lines[:begins[0][0]] if begins else lines + [""], found


def save(path, lines):
    with open(path, "w") as file:
        file.write("\n".join(lines).rstrip("\n") + "\n")


def write_server(path, server, results, rows):
    """Replaces what the file has about a server."""
    lines, found = parts(path)
    found[server] = server_lines(server, results, rows)
    save(path, [*lines, *with_ends(found)])


def with_ends(found):
    """The parts about servers, each with an empty line behind it."""
    for lines in found.values():
        lines = list(lines)
        yield from lines if not lines or lines[-1] == "" else [*lines, ""]


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
              "README.md.", ""]
    lines += goals([row for row in rows if server_of(row) is None])
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
    _, found = parts(path)
    found.update((server, server_lines(server, results, rows)) for server in found if server in results)
    save(path, [*lines, "", *with_ends(found)])
