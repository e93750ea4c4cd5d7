"""nginx, Apache httpd and HAProxy as Debian builds them: those of the machine, or unpacked below build/proxies,
where nothing is installed and no service is started."""

import glob
import os
import shutil
import subprocess

PACKAGES = ["nginx", "apache2-bin", "haproxy"]
NAMES = ["nginx", "apache2", "haproxy"]


class Missing(Exception):
    pass


def installed():
    return all(shutil.which(name, path="/usr/sbin:/usr/bin") for name in NAMES)


def download(archives):
    """Debian's client resolves their missing dependencies, and only downloads them; one that is installed while others are
    not is downloaded as well."""
    os.makedirs(archives + "/partial", exist_ok=True)
    command = ["apt-get", "install", "--download-only", "--reinstall", "--no-install-recommends", "--yes", "-qq",
               "-o", f"Dir::Cache::archives={archives}", "-o", "Debug::NoLocking=1", *PACKAGES]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        subprocess.run(["apt-get", "update", "-qq"], capture_output=True, stdin=subprocess.DEVNULL)
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise Missing(f"apt-get cannot download {' '.join(PACKAGES)}: {done.stderr.strip()[-300:]}")


class Programs:
    def __init__(self, directory):
        self.root = "/"
        if installed():
            return
        self.root = os.path.join(directory, "root")
        done = os.path.join(directory, "unpacked")
        if not os.path.exists(done):
            download(os.path.join(directory, "debs"))
            for package in glob.glob(os.path.join(directory, "debs/*.deb")):
                subprocess.run(["dpkg-deb", "-x", package, self.root], check=True)
            open(done, "w").close()
        for name in NAMES:
            if not os.path.exists(self.path(name)):
                raise Missing(f"{name} is neither installed nor below {self.root}")

    def path(self, name):
        return os.path.join(self.root, "usr/sbin", name)

    def apache_modules(self):
        return os.path.join(self.root, "usr/lib/apache2/modules")

    def environment(self):
        libraries = glob.glob(os.path.join(self.root, "usr/lib/*-linux-gnu"))
        return {**os.environ, "LD_LIBRARY_PATH": ":".join(libraries)} if self.root != "/" else dict(os.environ)
