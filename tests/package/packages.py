"""The packages that the tests install, built in build/check/package/ when the tree has changed. builder.py builds
them in a clean Debian root."""

import glob
import hashlib
import json
import os
import shutil
import subprocess
import sys

import root as roots

WORK = os.path.join(roots.ROOT, "build", "check", "package")
PACKAGES = os.path.join(WORK, "packages")
# Debian's service: only its files and relations are used.
PYTHON_PACKAGES = ("python3-placement", "placement-common", "placement-api")


def tree_files():
    """The paths in the tree, as bytes, of every file that belongs to it."""
    listed = subprocess.run(["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others",
                             "--exclude-standard"], cwd=roots.ROOT, check=True, stdout=subprocess.PIPE).stdout
    names = sorted(set(listed.split(b"\0")) - {b""})
    return [name for name in names if os.path.isfile(os.path.join(os.fsencode(roots.ROOT), name))]


def fingerprint():
    """A hash of all files that belong to the tree."""
    total = hashlib.sha256()
    for name in tree_files():
        with open(os.path.join(os.fsencode(roots.ROOT), name), "rb") as file:
            total.update(name + b"\0" + hashlib.sha256(file.read()).digest())
    return total.hexdigest()


def build():
    """Creates WORK/berth.deb, and WORK/berth_next.deb with a higher version, like a next release. Returns lintian's
    complaints. Needs root."""
    state = os.path.join(WORK, "built.json")
    now = fingerprint()
    if os.path.exists(state):
        with open(state) as file:
            last = json.load(file)
        if last["fingerprint"] == now:
            return last["complaints"]
        os.unlink(state)
    os.makedirs(WORK, exist_ok=True)
    roots.bare()
    run_logged("build.log", "unshare", "--mount", "--pid", "--fork", "--kill-child", sys.executable,
               os.path.join(os.path.dirname(os.path.abspath(__file__)), "builder.py"), PACKAGES)
    changes, = glob.glob(PACKAGES + "/berth_*.changes")
    text = run_logged("lintian.log", "lintian", "--allow-root", "--fail-on", "none", "--info", "--tag-display-limit", "0",
                      changes)
    complaints = [line for line in text.splitlines() if line.startswith(("E: berth", "W: berth"))]
    package, = glob.glob(PACKAGES + "/berth_*.deb")
    shutil.copy(package, os.path.join(WORK, "berth.deb"))
    make_next(package)
    with open(state, "w") as file:
        json.dump({"fingerprint": now, "complaints": complaints}, file)
    return complaints


def run_logged(name, *command):
    """The command's output, which is kept in WORK/name. It must succeed."""
    with open(os.path.join(WORK, name), "wb") as log:
        done = subprocess.run(command, cwd=roots.ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
    with open(log.name, errors="replace") as file:
        text = file.read()
    if done.returncode:
        raise AssertionError(f"{command[0]} ended with {done.returncode}; {log.name}:\n{text[-3000:]}")
    return text


def make_next(package):
    content = os.path.join(WORK, "next")
    shutil.rmtree(content, ignore_errors=True)
    subprocess.run(["dpkg-deb", "--raw-extract", package, content], check=True)
    control = os.path.join(content, "DEBIAN", "control")
    with open(control) as file:
        fields = file.read()
    version = next(line for line in fields.splitlines() if line.startswith("Version: "))
    with open(control, "w") as file:
        file.write(fields.replace(version, version + "+next"))
    subprocess.run(["dpkg-deb", "--root-owner-group", "--build", content, os.path.join(WORK, "berth_next.deb")],
                   check=True, stdout=subprocess.DEVNULL)


def prepare(*names):
    """The kept root with berth's packages, and their dependencies and those of Debian's packages in its cache."""
    base = roots.base()
    for name in ("berth.deb", "berth_next.deb"):
        shutil.copy(os.path.join(WORK, name), os.path.join(base, "root", name))
    roots.download(base, "/root/berth.deb")
    if names:
        roots.download(base, *names)
    archives = os.path.join(base, "var/cache/apt/archives")
    missing = [name for name in PYTHON_PACKAGES if not glob.glob(f"{archives}/{name}_*.deb")]
    if missing:
        roots.chroot(base, "sh", "-c", f"cd /var/cache/apt/archives && apt-get download {' '.join(missing)}")


def prepare_or_say(score, *names):
    """For the score: whether the tests can run."""
    try:
        complaints = build()
        prepare(*names)
    except (AssertionError, roots.Unprepared) as failure:
        score.case("the packages and a root to install them in are made", failure)
        return False
    score.case("./dev package builds in a clean Debian root, and lintian has nothing to say", "\n".join(complaints) or None)
    return True
