"""The packages that the tests install: built when the tree has changed, in build/check/package/."""

import glob
import hashlib
import json
import os
import shutil
import subprocess

import root as roots

WORK = os.path.join(roots.ROOT, "build", "check", "package")
PACKAGES = os.path.join(WORK, "packages")
# Debian's service, of which only files and relations are looked at.
PYTHON_PACKAGES = ("python3-placement", "placement-common", "placement-api")


def fingerprint():
    """Of every file that belongs to the tree."""
    listed = subprocess.run(["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others",
                             "--exclude-standard"], cwd=roots.ROOT, check=True, stdout=subprocess.PIPE).stdout
    total = hashlib.sha256()
    for name in sorted(set(listed.split(b"\0"))):
        path = os.path.join(os.fsencode(roots.ROOT), name)
        if os.path.isfile(path):
            with open(path, "rb") as file:
                total.update(name + b"\0" + hashlib.sha256(file.read()).digest())
    return total.hexdigest()


def build():
    """Makes WORK/berth.deb, and WORK/berth_next.deb with a higher version, as a next release would be. What lintian
    complains of."""
    state = os.path.join(WORK, "built.json")
    now = fingerprint()
    if os.path.exists(state):
        with open(state) as file:
            last = json.load(file)
        if last["fingerprint"] == now:
            return last["complaints"]
        os.unlink(state)
    os.makedirs(WORK, exist_ok=True)
    with open(os.path.join(WORK, "build.log"), "wb") as log:
        done = subprocess.run(["packaging/build_package.sh", PACKAGES], cwd=roots.ROOT, stdin=subprocess.DEVNULL,
                              stdout=log, stderr=subprocess.STDOUT)
    with open(log.name, errors="replace") as file:
        text = file.read()
    complaints = [line for line in text.splitlines() if line.startswith(("E: berth", "W: berth"))]
    if done.returncode and not complaints:
        raise AssertionError(text[-3000:])
    package, = glob.glob(PACKAGES + "/berth_*.deb")
    shutil.copy(package, os.path.join(WORK, "berth.deb"))
    make_next(package)
    with open(state, "w") as file:
        json.dump({"fingerprint": now, "complaints": complaints}, file)
    return complaints


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
    """The kept root with berth's packages, and in its cache what they and these of Debian's need."""
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
    """For the score: whether there is something to test."""
    try:
        complaints = build()
        prepare(*names)
    except (AssertionError, roots.Unprepared) as failure:
        score.case("the packages and a root to install them in are made", failure)
        return False
    score.case("the packages build, and lintian has nothing to say", "\n".join(complaints))
    return True
