#!/usr/bin/python3
"""The Python tools, imported once: each command line runs in a fork, which saves the second that an import takes. A
child is in the same state as a new process, because only imports have run before.

A line of JSON on standard input is {tool, words, directory, environment, out, err}, where the latter two are output
files; the answer is a line with the exit code."""

import importlib
import json
import os
import sys
import traceback

MODULES = {"placement-manage": "placement.cmd.manage", "placement-status": "placement.cmd.status"}


def redirect(path, number):
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(fd, number)
    os.close(fd)


def become(asked):
    """Runs in the child; does not return."""
    os.chdir(asked["directory"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    redirect(asked["out"], 1)
    redirect(asked["err"], 2)
    sys.argv[:] = [asked["tool"], *asked["words"]]
    sys.exit(sys.modules[MODULES[asked["tool"]]].main())


def main():
    for module in MODULES.values():
        importlib.import_module(module)
    answers = os.dup(1)
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                become(json.loads(line))
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
                if isinstance(end.code, str):
                    print(end.code, file=sys.stderr)
            except BaseException:  # pylint: disable=broad-except
                traceback.print_exc()
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code & 0xff)
        _, status = os.waitpid(pid, 0)
        os.write(answers, f"{os.waitstatus_to_exitcode(status)}\n".encode())


if __name__ == "__main__":
    main()
