"""The command line of tests that are methods test_PART of one class; their output ends with `N passed, N failed`."""

import argparse
import os
import shutil
import sys
import tempfile


def play(kind, parts, description, numbers=()):
    """Returns the exit status. `kind`: constructed from the program and a directory, it has passed, failed and
    case(); `numbers`: its attributes that an option sets."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--berthd", metavar="PROGRAM", required=True)
    for name in numbers:
        parser.add_argument("--" + name, type=int, default=getattr(kind, name))
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(parts))
    arguments = parser.parse_args()
    if set(arguments.parts) - set(parts):
        parser.error("no such part")
    directory = tempfile.mkdtemp(prefix=f"berth-{os.path.basename(sys.argv[0])}-")
    tests = kind(os.path.abspath(arguments.berthd), directory)
    for name in numbers:
        setattr(tests, name, getattr(arguments, name))
    try:
        for part in arguments.parts or parts:
            try:
                getattr(tests, "test_" + part)()
            except Exception as error:  # noqa: BLE001: an aborted part is a failure, the others go on
                tests.case(part, False, f"{type(error).__name__}: {error}")
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    print(f"{tests.passed} passed, {tests.failed} failed")
    return 1 if tests.failed else 0
