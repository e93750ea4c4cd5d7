#!/usr/bin/python3
"""The log in operation: real configuration files, rotation, syslog, the journal; and lines equal to those of the
Python service.

    tests/logging/run.py --berthd build/berthd [GROUP…]

The last line is `N passed, N failed`.
"""

import argparse
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE)]

import configurations  # noqa: E402
import daemons  # noqa: E402
import files  # noqa: E402
import reasons  # noqa: E402
import same_lines  # noqa: E402
import servers  # noqa: E402

GROUPS = {"same_lines": same_lines.play, "files": files.play, "daemons": daemons.play, "reasons": reasons.play,
          "configurations": configurations.play}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--berthd", required=True)
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=", ".join(GROUPS))
    options = parser.parse_args()
    unknown = set(options.groups) - set(GROUPS)
    if unknown:
        parser.error("no such group: " + ", ".join(sorted(unknown)))
    score = servers.Score()
    for name, play in GROUPS.items():
        if options.groups and name not in options.groups:
            continue
        with tempfile.TemporaryDirectory(prefix="berth-logging-") as directory:
            play(score, os.path.abspath(options.berthd), directory)
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
