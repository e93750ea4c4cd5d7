#!/usr/bin/python3
"""The documentation: runs every example against a live berthd and compares the answer with the page's; checks that
link targets exist, and that the API reference covers the sources.

    tests/docs/run.py [--programs build] [PAGE…]       all checks, or the examples of these pages
    tests/docs/run.py --write PAGE…                    updates answers in the pages where they differ
    tests/docs/run.py --python PAGE…                   uses the Python service instead, to see where it differs

A page's blocks ```sh test are run in order, in one shell, against a server of the page's own with an empty
database; the block ```json answer (or text, http) that follows one is its expected output. Blocks ```sh test define
can be included by other pages with <!-- define: PAGE -->; <!-- server: fresh --> starts a new server, with lines of
placement.conf after [api] if any are given. In the blocks 127.0.0.1:8778 is the server, 127.0.0.1:6385 its Bare
Metal API, 127.0.0.1:8090 its Valet API, /var/lib/berth its directory.
answers.py describes what is made equal before the comparison.

The last line is `N passed, N failed`.
"""

import argparse
import concurrent.futures
import sys

import examples
import links
import markdown
import messages
import metal
import metal_policies
import reference
import session
import valet


def tested_pages():
    return [path for path in markdown.pages() if path.startswith("docs/") or path == "README.md"
            if any(examples.is_test(block) for block in markdown.Page(path).blocks)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", default="build", help="directory of berthd")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--python", action="store_true")
    parser.add_argument("pages", nargs="*", metavar="PAGE")
    options = parser.parse_args()
    score = session.servers.Score()
    if not options.pages:
        links.check(score.case)
        reference.check(score.case)
        metal.check(score.case)
        metal_policies.check(score.case, options.programs)
        valet.check(score.case)
        messages.check(score.case)
    kind = {"server": session.servers.PythonService} if options.python else {}

    def run(path):
        found = []
        examples.run_page(markdown.Page(path), options.programs, lambda *case: found.append(case), options.write, **kind)
        return found

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for cases in pool.map(run, options.pages or tested_pages()):
            for case in cases:
                score.case(*case)
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
