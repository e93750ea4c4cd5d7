"""build_package.sh with commands that fail half-way: it must not create packages of a partial tree."""

import os
import subprocess
import tempfile

import root as roots

# Each does its work, and then fails as with a full disk or a broken repository.
FAILING = {"git": "ls-files", "sort": "--zero-terminated", "uniq": "--zero-terminated", "tar": "--create", "xz": "--threads=1"}


def build_with(failing, argument):
    """(exit status, whether dpkg-buildpackage was called)"""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as directory:
        commands, out, called = (os.path.join(directory, name) for name in ("bin", "out", "called"))
        os.mkdir(commands)
        scripts = {"dpkg-buildpackage": f"touch {called}", "lintian": ":"}
        if failing:
            real = subprocess.run(["sh", "-c", f"command -v {failing}"], check=True, stdout=subprocess.PIPE, text=True).stdout
            scripts[failing] = f'{real.strip()} "$@" || exit\ncase " $* " in *" {argument} "*) exit 2 ;; esac'
        for name, text in scripts.items():
            with open(os.path.join(commands, name), "w") as file:
                file.write(f"#!/bin/sh\n{text}\n")
            os.chmod(file.name, 0o755)
        done = subprocess.run(["packaging/build_package.sh", out], cwd=roots.ROOT, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              env={**os.environ, "XZ_OPT": "-0", "PATH": commands + ":" + os.environ["PATH"]})
        return done.returncode, os.path.exists(called)


def problems():
    found = []
    status, called = build_with(None, None)
    if status or not called:
        found.append(f"with nothing that fails it ends with {status}")
    for name, argument in FAILING.items():
        status, called = build_with(name, argument)
        if not status or called:
            found.append(f"{name} fails, and the package is built nevertheless" if called else f"{name} fails: {status}")
    return "; ".join(found) or None
