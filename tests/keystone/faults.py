#!/usr/bin/python3
"""Failures of Keystone: unavailable, slow, invalid answers, a wrong certificate, refusing the service; and attacks
of clients on Keystone through berth.

    tests/keystone/faults.py --berthd build/berthd [CASE…]

The Keystone is the tests' own (fake.py). The last line is `N passed, N failed`.
"""

import argparse
import sys
import time

import bodies
import many_tokens
import nonsense
import tenants
import unavailable
from case import servers

GROUPS = (unavailable.Unavailable, bodies.Bodies, nonsense.Nonsense, many_tokens.ManyTokens, tenants.Tenants)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--berthd", required=True)
    parser.add_argument("cases", nargs="*", metavar="CASE")
    options = parser.parse_args()
    known = {name: group for group in GROUPS for name in vars(group) if not name.startswith("_")}
    unknown = set(options.cases) - set(known)
    if unknown:
        parser.error("no such case: " + ", ".join(sorted(unknown)))
    score = servers.Score()
    for name, group in known.items():
        if options.cases and name not in options.cases:
            continue
        case = group(options.berthd)
        began = time.monotonic()
        try:
            getattr(case, name)()
            score.case(name, None, time.monotonic() - began)
        except Exception as problem:  # a failure of one case does not affect the others
            score.case(name, f"{type(problem).__name__}: {problem}", time.monotonic() - began)
        finally:
            case._end()
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
