#!/usr/bin/python3
"""The image of packaging/Containerfile, built on a root from debootstrap instead of debian:12-slim from a registry,
and run as documented: not as root, with read-only files, without capabilities.

    tests/package/container.py

Needs what run.py needs, and podman with runc; without those only the lists of packages are compared. The last line is
`N passed, N failed`.
"""

import glob
import os
import re
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
sys.dont_write_bytecode = True

import inside  # noqa: E402
import root as roots  # noqa: E402
import servers  # noqa: E402
from installed import METAL_PORT, PORT, expect, expect_used, use  # noqa: E402

STORAGE = os.path.join(roots.KEPT, "containers")
BASE = "docker.io/library/debian:12-slim"
PODMAN = ["podman", "--root", STORAGE, "--runroot", "/run/berth-containers", "--storage-driver", "overlay", "--runtime", "runc",
          "--cgroup-manager", "cgroupfs", "--log-level", "error"]
# Installed by ./dev build, but not needed for building the programs alone, or under another name.
OTHERWISE = {"libcmocka-dev", "ninja-build"}


def podman(*arguments, check=True):
    done = subprocess.run([*PODMAN, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", cwd=roots.ROOT)
    if check and done.returncode:
        raise AssertionError(f"podman {' '.join(arguments)} ended with {done.returncode}:\n{done.stdout[-3000:]}")
    return done


def read(name):
    with open(os.path.join(roots.ROOT, name)) as file:
        return file.read()


def packages_named_alike():
    """Every way of building berth needs the same libraries."""
    wanted = set(re.search(r'^to_build="([^"]*)"', read("dev"), re.M).group(1).split()) - OTHERWISE
    image = set(re.search(r"--no-install-recommends \\\n\s+(dpkg-dev .*?)\n[A-Z]", read("packaging/Containerfile"),
                          re.S).group(1).split())
    debian = set(re.findall(r"[a-z0-9.+-]+", re.search(r"^Build-Depends:\n(.*?)^\S", read("packaging/debian/control"),
                                                       re.M | re.S).group(1)))
    expect(wanted <= image, f"packaging/Containerfile does not install {wanted - image}")
    essential = {"gcc", "libc6-dev"}
    expect(wanted - essential <= debian, f"packaging/debian/control does not name {wanted - essential - debian}")
    libraries = {name for path in glob.glob(os.path.join(roots.ROOT, "src", "**", "meson.build"), recursive=True)
                 + ["meson.build"] for name in re.findall(r"\bdependency\('([^']+)'", read(path))}
    spec = set(re.findall(r"^BuildRequires: +pkgconfig\((.*?)\)", read("packaging/rpm/berth.spec"), re.M))
    expect(libraries - {"cmocka", "threads"} == spec, f"packaging/rpm/berth.spec names {spec}, meson {libraries}")


def import_base():
    """A stand-in for debian:12-slim: only its release matters here."""
    if podman("image", "exists", BASE, check=False).returncode == 0:
        return
    tar = subprocess.Popen(["tar", "--directory", roots.base(), "--create", "--exclude=./var/cache/apt/archives/*.deb",
                            "--exclude=./root/*", "."], stdout=subprocess.PIPE)
    subprocess.run([*PODMAN, "import", "-", BASE], stdin=tar.stdout, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    expect(tar.wait() == 0, "tar")


def builds():
    import_base()
    podman("build", "--isolation", "chroot", "--layers", "--pull-never", "--tag", "berth", "--file",
           "packaging/Containerfile", ".")


def says_how_to_run_it():
    text = podman("image", "inspect", "berth", "--format", "{{.User}} {{.Config.StopSignal}} {{.Config.Entrypoint}} "
                  "{{.Config.ExposedPorts}} {{.Config.Volumes}}").stdout.strip()
    expect(text == "8778:8778 SIGTERM [/usr/sbin/berthd] map[6385/tcp:{} 8090/tcp:{} 8778/tcp:{}] map[/var/lib/berth:{}]", text)
    programs = podman("run", *LOCKED, "--rm", "--entrypoint", "/bin/ls", "berth", "/usr/bin/placement-manage", "/usr/sbin/berthd")
    expect(programs.stdout.count("\n") == 2, programs.stdout)


# podman sets the limits of processes and files to values that this machine may refuse.
LOCKED = ["--network=host", "--read-only", "--cap-drop=all", "--security-opt=no-new-privileges",
          "--ulimit=nofile=4096:4096", "--ulimit=nproc=4096:4096"]


class Container:
    """berthd in a container until the end of the block; its log remains available."""

    def __init__(self, *more, ends=False):
        self.more, self.ends = more, ends

    def __enter__(self):
        self.id = podman("run", "--detach", *LOCKED, *self.more, "berth").stdout.strip()
        end = time.monotonic() + 20
        while not self.ends:
            try:
                servers.Client(PORT).must(200, "GET", "/")
                break
            except OSError:
                expect(time.monotonic() < end, podman("logs", self.id).stdout)
                time.sleep(0.05)
        return self

    def __exit__(self, *exception):
        if not self.ends:
            began = time.monotonic()
            podman("stop", "--time", "30", self.id)
            expect(time.monotonic() - began < 20, "SIGTERM did not end it")
        self.status = int(podman("wait", self.id).stdout)
        self.log = podman("logs", self.id).stdout
        podman("rm", self.id)


def keeps_its_state():
    """A new container on the same volume."""
    with Container("--volume", "state:/var/lib/berth") as first:
        use(servers.Client(PORT))
    expect(first.status == 0 and "placement.requestlog" in first.log, first.log)
    with Container("--volume", "state:/var/lib/berth"):
        expect_used(servers.Client(PORT))


def serves_bare_metal_when_enabled():
    with Container("--volume", "state:/var/lib/berth") as container:
        pass
    expect("bare metal API" not in container.log, container.log)
    with Container("--volume", "state:/var/lib/berth", "--env", "OS_BAREMETAL__ENABLED=true"):
        status, root = servers.Client(METAL_PORT).ask("GET", "/")
        expect(status == 200 and root["default_version"]["version"] == "1.82", f"{status} {root}")


def follows_a_mounted_configuration(directory):
    with open(os.path.join(directory, "placement.conf"), "w") as file:
        file.write("[api]\nauth_strategy = noauth2\n[placement_database]\n"
                   "connection = sqlite:////var/lib/berth/other.db\nsync_on_startup = true\n")
    os.chmod(directory, 0o755)
    mounts = ("--volume", "state:/var/lib/berth", "--volume", directory + ":/etc/placement:ro")
    with Container(*mounts) as container:
        expect(servers.Client(PORT).must(200, "GET", "/resource_providers")["resource_providers"] == [], "another state")
        version = podman("exec", container.id, "placement-manage", "db", "version").stdout
        expect(version == "a082b8bb98d0\n", version)
    with open(os.path.join(directory, "placement.conf"), "a") as file:
        file.write("max_retries = many\n")
    with Container(*mounts, ends=True) as container:
        pass
    expect(container.status == 1 and "/etc/placement/placement.conf:6" in container.log, container.log)


def play(score):
    servers.set_loopback_up()
    directory = os.path.join(roots.ROOT, "build", "check", "container")
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    cases = [says_how_to_run_it, keeps_its_state, serves_bare_metal_when_enabled, lambda: follows_a_mounted_configuration(directory)]
    names = ["says_how_to_run_it", "keeps_its_state", "serves_bare_metal_when_enabled", "follows_a_mounted_configuration"]
    for name, case in zip(names, cases):
        attempt(score, name, case)
    podman("rm", "--all", "--force", "--time", "0", check=False)
    podman("volume", "rm", "--force", "state", check=False)
    for path in glob.glob("/sys/fs/cgroup/*/libpod_parent"):
        for parent, _, _ in os.walk(path, topdown=False):
            os.rmdir(parent)
    return score.end()


def attempt(score, name, case):
    began, problem = time.monotonic(), None
    try:
        case()
    except (AssertionError, OSError, roots.Unprepared, subprocess.SubprocessError) as failure:
        problem = failure
    score.case(name, problem, time.monotonic() - began)


def main():
    score = servers.Score()
    if inside.arguments_inside(score) is not None:
        return play(score)
    attempt(score, "packages_named_alike", packages_named_alike)
    if os.geteuid() or not (shutil.which("podman") and shutil.which("runc")):
        print("       the image: left out: it needs root, podman and runc")
        return score.end()
    attempt(score, "builds", builds)
    if score.failed:
        return score.end()
    return inside.run_inside(__file__, score)


if __name__ == "__main__":
    sys.exit(main())
