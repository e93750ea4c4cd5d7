#!/usr/bin/python3
"""clang-tidy over the C sources that have changed.

    tests/clang_tidy.py [--all | FILE…]

Checks files that differ from the merge base of `origin/main` and HEAD, and files that git does not know; if that commit
is HEAD itself, as in a fresh clone, the files of its last commit. The enabled checks are in .clang-tidy. The last line
is `N passed, N failed`: a case is a file.
"""

import argparse
import concurrent.futures
import glob
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = "build-clang"  # its compile_commands.json has clang's options


def git(*arguments):
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.split() if done.returncode == 0 else []


def changed():
    base = git("merge-base", "origin/main", "HEAD")
    here = git("rev-parse", "HEAD")
    if not base or base == here:
        base = git("rev-parse", "HEAD~1")
    names = set(git("diff", "--name-only", *base)) | set(git("ls-files", "--others", "--exclude-standard"))
    return sorted(names)


def is_checked(name):
    return name.startswith(("src/", "tests/", "bench/")) and name.endswith(".c") and os.path.exists(os.path.join(ROOT, name))


def check(name):
    """The problem with the file, or ""."""
    done = subprocess.run(["clang-tidy", "-p", BUILD, "--quiet", "--warnings-as-errors=*", name], cwd=ROOT,
                          capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stdout + done.stderr[-2000:]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="all of src/")
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    if options.all:
        names = sorted(os.path.relpath(path, ROOT) for path in glob.glob(os.path.join(ROOT, "src/**/*.c"), recursive=True))
    else:
        names = options.files or changed()
    names = [name for name in names if is_checked(name)]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, problem in zip(names, pool.map(check, names)):
            print(f"{'FAILED' if problem else 'ok    '} {name}{': ' if problem else ''}{problem}")
            failed += bool(problem)
    print(f"{len(names) - failed or (0 if failed else 1)} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
