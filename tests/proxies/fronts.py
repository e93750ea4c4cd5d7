"""The front servers, each with a snippet of docs/deployment.md inside a configuration that has what a distribution's
own main file has: modules, users, directories for logs."""

import os
import re
import socket
import subprocess
import time

from servers import free_port

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GUIDE = os.path.join(ROOT, "docs/deployment.md")
START_S = 20
APACHE_MODULES = ["mpm_event", "authz_core", "proxy", "proxy_http", "headers", "ssl", "socache_shmcb"]


def snippet(kind, name):
    with open(GUIDE) as file:
        found = re.findall(rf"^```{kind} {name}\n(.*?)^```$", file.read(), re.M | re.S)
    if len(found) != 1:
        raise AssertionError(f"docs/deployment.md has {len(found)} snippets named {kind} {name}")
    return found[0]


def filled(text, places):
    """Every placeholder of the guide must occur: otherwise the test and the guide differ."""
    for old, new in places.items():
        if old not in text:
            raise AssertionError(f"the snippet has no {old}")
        text = text.replace(old, new)
    return text


class Front:
    """A running front server. `site` has: directory, cert, key, both, tcp (port of berth), second, path; metal_tcp
    and metal_path of the Bare Metal API. At the root that API has a port of its own, under prefixes it shares
    `port`."""

    kind = None
    takes_second = False

    def __init__(self, programs, site, name):
        self.programs, self.site, self.name = programs, site, name
        self.port = free_port()
        self.metal_port = free_port() if name == "root" else self.port
        self.directory = os.path.join(site.directory, f"{self.kind}-{name}")
        os.makedirs(self.directory)
        os.chmod(self.directory, 0o777)
        self.log = os.path.join(self.directory, "output")
        scheme = "https" if name == "root" else "http"
        self.url, self.metal_url = (f"{scheme}://127.0.0.1:{port}" for port in (self.port, self.metal_port))
        self.config = os.path.join(self.directory, "configuration")
        with open(self.config, "w") as file:
            file.write(self.whole(filled(snippet(self.kind, name), self.places())))
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            env=programs.environment(), cwd=self.directory)
        end = time.monotonic() + START_S
        while time.monotonic() < end:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                if self.process.poll() is not None:
                    break
                time.sleep(0.05)
        self.stop()
        raise AssertionError(f"{self.kind} does not start: {self.said()}")

    def said(self):
        with open(self.log, errors="replace") as file:
            return file.read()[-1500:]

    def berth(self):
        if self.name == "root":
            return {"127.0.0.1:8780": f"127.0.0.1:{self.site.tcp}", "127.0.0.1:6386": f"127.0.0.1:{self.site.metal_tcp}"}
        return {"/run/berth/api.sock": self.site.path, "/run/berth/baremetal.sock": self.site.metal_path}

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.stop()


class Nginx(Front):
    kind = "nginx"

    def places(self):
        if self.name == "root":
            return {**self.berth(), "listen 8778": f"listen 127.0.0.1:{self.port}",
                    "listen 6385": f"listen 127.0.0.1:{self.metal_port}",
                    "/etc/ssl/placement.pem": self.site.cert, "/etc/ssl/placement.key": self.site.key}
        return {**self.berth(), "listen 80;": f"listen 127.0.0.1:{self.port};"}

    def whole(self, text):
        temporary = "".join(f"    {kind}_temp_path {self.directory}/{kind};\n"
                            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        return (f"daemon off;\nworker_processes 2;\npid {self.directory}/pid;\nerror_log stderr;\n"
                f"events {{ worker_connections 1024; }}\nhttp {{\n    access_log off;\n{temporary}{text}}}\n")

    def command(self):
        return [self.programs.path("nginx"), "-p", self.directory, "-c", self.config, "-e", "stderr"]


class Apache(Front):
    kind = "apache"

    def places(self):
        if self.name == "root":
            return {**self.berth(), "Listen 8778": f"Listen 127.0.0.1:{self.port}", "*:8778": f"*:{self.port}",
                    "Listen 6385": f"Listen 127.0.0.1:{self.metal_port}", "*:6385": f"*:{self.metal_port}",
                    "/etc/ssl/placement.pem": self.site.cert, "/etc/ssl/placement.key": self.site.key}
        return {**self.berth(), "Listen 80\n": f"Listen 127.0.0.1:{self.port}\n", "*:80>": f"*:{self.port}>"}

    def whole(self, text):
        modules = "".join(f"LoadModule {name}_module {self.programs.apache_modules()}/mod_{name}.so\n"
                          for name in APACHE_MODULES)
        return (f"ServerRoot {self.directory}\nServerName localhost\nPidFile {self.directory}/pid\n"
                f"DefaultRuntimeDir {self.directory}\nMutex pthread\nErrorLog /dev/stderr\nUser nobody\nGroup nogroup\n"
                f"{modules}{text}")

    def command(self):
        return [self.programs.path("apache2"), "-DFOREGROUND", "-f", self.config]


class HAProxy(Front):
    kind = "haproxy"

    def places(self):
        if self.name == "root":
            return {**self.berth(), "bind :8778": f"bind 127.0.0.1:{self.port}",
                    "bind :6385": f"bind 127.0.0.1:{self.metal_port}", "127.0.0.2:8780": f"127.0.0.1:{self.site.second}",
                    "/etc/ssl/placement-and-key.pem": self.site.both}
        return {**self.berth(), "bind :80\n": f"bind 127.0.0.1:{self.port}\n"}

    def whole(self, text):
        return text

    def command(self):
        return [self.programs.path("haproxy"), "-db", "-f", self.config]


FRONTS = [Nginx, Apache, HAProxy]
