#!/usr/bin/python3
"""berthd in operation: TLS, unix sockets, sockets and messages of the service manager, stop, restart, systemd, the
commands of docs/backup.md, and the way from a refused claim to its reason in docs/troubleshooting.md.

    tests/running/run.py [--berthd PROGRAM] [--quick] [PART…]     last line: N passed, N failed

--quick: fewer rounds, for builds with sanitizers.
"""

import argparse
import os
import sys
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
sys.dont_write_bytecode = True

import backup_page  # noqa: E402
import refusal_page  # noqa: E402
import restart  # noqa: E402
import sockets  # noqa: E402
import status  # noqa: E402
import stop  # noqa: E402
import systemd  # noqa: E402
import tls  # noqa: E402
import words  # noqa: E402
from servers import Score  # noqa: E402

PARTS = {"tls": tls.run, "sockets": sockets.run, "words": words.run, "status": status.run, "stop": stop.run, "restart": restart.run,
         "systemd": systemd.run, "backup_page": backup_page.run,
         "refusal_page": refusal_page.run}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--berthd", default="build/berthd")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("parts", nargs="*", metavar="PART")
    options = parser.parse_args()
    unknown = set(options.parts) - set(PARTS)
    if unknown:
        parser.error("no such part: " + ", ".join(sorted(unknown)))
    score = Score()
    for name in options.parts or PARTS:
        print(f"-- {name}", flush=True)
        try:
            PARTS[name](score, options.berthd, options.quick)
        except Exception as error:  # an aborted part has failed; the others still run
            traceback.print_exc()
            score.case(f"{name} broke off", f"{type(error).__name__}: {error}")
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
