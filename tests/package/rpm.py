#!/usr/bin/python3
"""The RPM of packaging/rpm/berth.spec, built with Debian's rpm: its content, owners, and scripts.

    tests/package/rpm.py

The macros of systemd-rpm-macros are defined here, because Debian has no such package. The last line is `N passed, N
failed`.
"""

import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
sys.dont_write_bytecode = True

import inside  # noqa: E402
import packages  # noqa: E402
import root as roots  # noqa: E402
import servers  # noqa: E402
from installed import expect  # noqa: E402

WORK = os.path.join(roots.ROOT, "build", "check", "rpm")
SPEC = "packaging/rpm/berth.spec"
# set_build_flags: nobody runs the package's programs, so they need no optimisation
MACROS = {"set_build_flags": "export CFLAGS=-O0",
          "_topdir": WORK, "_unitdir": "/usr/lib/systemd/system", "_dbpath": WORK + "/database",
          "systemd_post()": "systemd_post %{*}", "systemd_preun()": "systemd_preun %{*}",
          "systemd_postun_with_restart()": "systemd_postun_with_restart %{*}"}


def rpm(program, *arguments):
    macros = [word for name, text in MACROS.items() for word in ("--define", f"{name} {text}")]
    done = subprocess.run([program, *macros, *arguments], cwd=roots.ROOT, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with open(os.path.join(WORK, "rpm.log"), "a") as log:
        log.write(f"$ {program} {' '.join(arguments)}\n{done.stdout}{done.stderr}")
    expect(done.returncode == 0, f"{program} ended with {done.returncode}: {done.stderr[-2000:]}; see {log.name}")
    return done.stdout


def versions_agree():
    """The version is meson.build's; the packages' descriptions repeat it."""
    version = subprocess.run(["meson", "introspect", "--projectinfo", "meson.build"], cwd=roots.ROOT, check=True,
                          stdout=subprocess.PIPE, text=True).stdout.split('"version": "')[1].split('"')[0]
    spec = rpm("rpmspec", "--query", "--srpm", "--queryformat", "%{version}", SPEC)
    changelog = subprocess.run(["dpkg-parsechangelog", "-l", "packaging/debian/changelog", "-S", "Version"],
                               cwd=roots.ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    expect(spec == version, f"{SPEC} says {spec}, meson.build {version}")
    expect(changelog.rpartition("-")[0] == version, f"packaging/debian/changelog says {changelog}, meson.build {version}")
    return version


def builds(version):
    """From the source that Debian's package is built from."""
    packages.build()
    source = os.path.join(packages.PACKAGES, f"berth_{version}.orig.tar.xz")
    os.makedirs(os.path.join(WORK, "SOURCES"))
    with open(os.path.join(WORK, "SOURCES", f"berth-{version}.tar.gz"), "wb") as packed:
        unpacked = subprocess.Popen(["xz", "--decompress", "--stdout", source], stdout=subprocess.PIPE)
        subprocess.run(["gzip"], stdin=unpacked.stdout, stdout=packed, check=True)
    rpm("rpmbuild", "-ba", "--nodeps", SPEC)


def has_everything(version):
    package = os.path.join(WORK, "RPMS", os.uname().machine, f"berth-{version}-1.{os.uname().machine}.rpm")
    lines = rpm("rpm", "--query", "--package", "--queryformat",
                "[%{FILENAMES} %{FILEUSERNAME} %{FILEGROUPNAME} %{FILEMODES:octal} %{FILEFLAGS:fflags}\n]", package)
    files = {line.split()[0]: line.split()[1:] for line in lines.splitlines()}
    for path, wanted in {
        "/usr/sbin/berthd": ["root", "root", "100755"],
        "/usr/bin/placement-manage": ["root", "root", "100755"],
        "/usr/lib/systemd/system/berthd.socket": ["root", "root", "100644"],
        "/usr/lib/systemd/system/berthd-spare.service": ["root", "root", "100644"],
        "/usr/lib/systemd/system/berthd-admin.socket": ["root", "root", "100644"],
        "/usr/lib/systemd/system/berthd-baremetal.socket": ["root", "root", "100644"],
        "/usr/lib/systemd/system/berthd-valet.socket": ["root", "root", "100644"],
        "/etc/berth/placement.conf": ["root", "placement", "100640", "cn"],
        "/var/lib/berth": ["placement", "placement", "40750"],
        "/usr/share/doc/berth/configuration.md": ["root", "root", "100644", "d"],
    }.items():
        expect(files.get(path) == wanted, f"{path}: {files.get(path)}")
    scripts = rpm("rpm", "--query", "--package", "--scripts", package)
    for line in ("systemd_post berthd.socket berthd-admin.socket berthd-baremetal.socket berthd-valet.socket berthd.service",
                 "systemd_postun_with_restart berthd.service\n", "useradd --system"):
        expect(line in scripts, f"{line} is not in {scripts}")


def main():
    inside.become_root()  # the source is created in a Debian root
    score = servers.Score()
    shutil.rmtree(WORK, ignore_errors=True)
    os.makedirs(WORK)
    version = None
    for case in (versions_agree, builds, has_everything):
        try:
            version = case(*([version] if version else [])) or version
        except (AssertionError, OSError, subprocess.SubprocessError) as failure:
            score.case(case.__name__, failure)
            break
        score.case(case.__name__)
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
