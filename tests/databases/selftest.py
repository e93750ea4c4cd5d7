#!/usr/bin/python3
"""The database servers of the tests do what the tests rely on.

    tests/databases/selftest.py [CASE…]

The last line is `N passed, N failed`.
"""

import sys
import time
import traceback

from postgres import servers  # first, because it sets the path
from command_cases import Commands
from proxy_cases import Proxied
from server_cases import Alone, Replicated, Shared

KINDS = (Shared, Replicated, Alone, Commands, Proxied)


def run(kind, name, cases):
    """The reason why the case failed, or None. `cases`: the object of the kind, once there is one."""
    try:
        if kind not in cases:
            cases[kind] = kind()
        getattr(cases[kind], name)()
    except Exception as failure:
        return f"{failure!r}\n{traceback.format_exc()}"
    return None


def main():
    kinds = {name: kind for kind in KINDS for name in vars(kind) if not name.startswith("_") and name != "close"}
    unknown = [name for name in sys.argv[1:] if name not in kinds]
    if unknown:
        sys.exit(f"no such case: {', '.join(unknown)}; there are {', '.join(kinds)}")
    score, cases = servers.Score(), {}
    for name in sys.argv[1:] or kinds:
        began = time.monotonic()
        score.case(name, run(kinds[name], name, cases), time.monotonic() - began)
    for case in cases.values():
        case.close()
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
