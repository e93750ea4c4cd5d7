"""Runs the tests of this folder as root in namespaces of their own, so that mounts, processes and addresses end with
them."""

import os
import shutil
import subprocess
import sys


def become_root():
    if os.geteuid() == 0:
        return
    if shutil.which("sudo") is None or subprocess.run(["sudo", "-n", "true"], stderr=subprocess.DEVNULL).returncode:
        print("FAILED the tests of the package need root or sudo: they make Debian roots and work in them\n"
              "0 passed, 1 failed")
        sys.exit(1)
    os.execvp("sudo", ["sudo", "-n", sys.executable, *sys.argv])


def run_inside(program, score, *arguments):
    """Runs the program again with --inside and the score so far; returns its exit status."""
    return subprocess.run(["unshare", "--mount", "--pid", "--net", "--fork", "--kill-child", "--mount-proc",
                           sys.executable, os.path.abspath(program), "--inside", str(score.passed), str(score.failed),
                           *arguments]).returncode


def arguments_inside(score):
    """None before run_inside; then the arguments after the score, which this program continues."""
    if sys.argv[1:2] != ["--inside"]:
        return None
    score.passed, score.failed = map(int, sys.argv[2:4])
    return sys.argv[4:]
