"""Clean Debian roots: one created by debootstrap is kept in build/package-roots/, and each test gets a copy."""

import os
import shutil
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KEPT = os.path.join(ROOT, "build", "package-roots")
MIRROR = os.environ.get("BERTH_DEBIAN_MIRROR", "http://deb.debian.org/debian")
# systemd to boot it, and packages that the tests need in an installed system.
BASE_PACKAGES = ("systemd-sysv", "dbus", "man-db", "logrotate")
# Required to get a source tree: ./dev has to install everything else that a build needs.
BARE_PACKAGES = ("git",)
ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "HOME": "/root",
               "DEBIAN_FRONTEND": "noninteractive"}


class Unprepared(Exception):
    """A root could not be created; the text is for people."""


def suite():
    """The release of this machine, for which its packages are built."""
    with open("/etc/os-release") as file:
        names = dict(line.rstrip("\n").split("=", 1) for line in file if "=" in line)
    return names["VERSION_CODENAME"].strip('"')


def chroot(path, *command, check=True, user=None, **more):
    """Runs a command in a root; standard output and error are combined."""
    who = [] if user is None else [f"--userspec={user}"]
    done = subprocess.run(["chroot", *who, path, *command], env=ENVIRONMENT, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", **more)
    if check and done.returncode:
        raise AssertionError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout[-3000:]}")
    return done


def base():
    """The path of the kept root in which the packages are installed; created if it does not exist."""
    return made(suite(), BASE_PACKAGES)


def bare():
    """The same for the root in which they are built."""
    return made(suite() + "-bare", BARE_PACKAGES)


def made(name, packages):
    path = os.path.join(KEPT, name)
    if os.path.exists(path):
        return path
    archives = os.path.join(KEPT, "archives")
    os.makedirs(archives, exist_ok=True)
    begun = path + ".begun"
    shutil.rmtree(begun, ignore_errors=True)
    done = subprocess.run(["debootstrap", "--variant=minbase", "--include=" + ",".join(packages), "--cache-dir=" + archives,
                           suite(), begun, MIRROR], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise Unprepared(f"debootstrap needs {MIRROR} (BERTH_DEBIAN_MIRROR names another), and could not use it: "
                         + done.stdout.strip().splitlines()[-1])
    chroot(begun, "apt-get", "clean")
    with open(os.path.join(begun, "etc/dpkg/dpkg.cfg.d/fast"), "w") as file:
        file.write("force-unsafe-io\n")  # these roots need not survive a power cut
    os.rename(begun, path)
    return path


def download(path, *packages):
    """Downloads everything needed to install these into the root's own cache: afterwards no network is needed."""
    command = ["apt-get", "--yes", "--no-install-recommends", "--download-only", "install", *packages]
    if chroot(path, *command, check=False).returncode:
        chroot(path, "apt-get", "update", check=False)
        done = chroot(path, *command, check=False)
        if done.returncode:
            raise Unprepared(f"{' '.join(packages)} cannot be fetched from {MIRROR}: "
                             + done.stdout.strip().splitlines()[-1])


class Root:
    """A test's changes on top of kept roots, the uppermost first. Needs a private mount namespace."""

    def __init__(self, layers, directory):
        self.directory, self.path = directory, os.path.join(directory, "root")
        self.layers = [os.path.join(directory, "upper"), *layers]
        shutil.rmtree(directory, ignore_errors=True)
        for name in ("root", "upper", "work"):
            os.makedirs(os.path.join(directory, name))
        options = f"lowerdir={':'.join(layers)},upperdir={self.layers[0]},workdir={directory}/work"
        subprocess.run(["mount", "-t", "overlay", "overlay", "-o", options, self.path], check=True)
        self.mount()

    def mount(self):
        """Mounts what programs expect; a booted system mounts its own."""
        for kind, name in (("proc", "proc"), ("devpts", "dev/pts")):
            subprocess.run(["mount", "-t", kind, kind, self.at(name)], check=True)

    def unmount(self):
        for name in ("dev/pts", "proc"):
            subprocess.run(["umount", self.at(name)], check=True)

    def at(self, *names):
        return os.path.join(self.path, *(name.lstrip("/") for name in names))

    def run(self, *command, **more):
        return chroot(self.path, *command, **more)

    def install(self, *packages, **options):
        return self.run("apt-get", "--yes", "--no-install-recommends", "--allow-downgrades",
                        "install", *packages, **options).stdout

    def write(self, name, text, mode=None):
        path = self.at(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
        if mode is not None:
            os.chmod(path, mode)

    def keep(self):
        """Unmounts it, for use as self.layers of others."""
        self.unmount()
        subprocess.run(["umount", self.path], check=True)

    def remove(self):
        self.keep()
        shutil.rmtree(self.directory)
