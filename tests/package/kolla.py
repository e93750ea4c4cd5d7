#!/usr/bin/python3
"""The image of packaging/kolla/Containerfile, as kolla-ansible uses it, without a container: its scripts and the programs in a
copy of this machine's root, with the users, links and rights that the Containerfile makes, and a MariaDB server.

    tests/package/kolla.py [--build build] [NAME…]

NAME: only these groups of cases. Needs root or sudo, for an overlay and a chroot. The image itself is not built, because that
needs a registry. The last line is `N passed, N failed`.
"""

import argparse
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE), *(os.path.join(os.path.dirname(HERE), name) for name in ("databases", "running"))]
sys.dont_write_bytecode = True

import inside  # noqa: E402
import servers  # noqa: E402
from certificates import Authority  # noqa: E402
from mariadb import KOLLA, Mariadb  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(HERE))
KOLLA_FILES = os.path.join(ROOT, "packaging", "kolla")
CONFIGURATION = "/var/lib/kolla/config_files"
LOG = "/var/log/kolla/placement/placement-api.log"
NEWEST = "a082b8bb98d0"
ANSWER_S = 60
GROUPS = ("bootstrap", "apache", "uwsgi", "tls", "own_configuration", "configurations", "links", "permissions", "authorities", "failures")


def containerfile():
    with open(os.path.join(KOLLA_FILES, "Containerfile")) as file:
        return re.sub(r"\\\n\s*", "", file.read())


class Container:
    """The file system of the image, in this process's mount namespace."""

    def __init__(self, build):
        # a file system of its own, because the lower one is all of this machine's
        self.place = tempfile.mkdtemp(prefix="berth-kolla-", dir="/dev/shm")
        self.path = os.path.join(self.place, "root")
        for name in ("root", "upper", "work"):
            os.makedirs(os.path.join(self.place, name))
        options = f"lowerdir=/,upperdir={self.place}/upper,workdir={self.place}/work"
        self.mounts = []
        self.mount("-t", "overlay", "overlay", "-o", options, self.path)
        self.mount("-t", "proc", "proc", self.at("proc"))
        self.mount("--bind", "/dev", self.at("dev"))
        self.make(build)

    def mount(self, *words):
        subprocess.run(["mount", *words], check=True)
        self.mounts.append(words[-1])

    def end(self):
        for path in reversed(self.mounts):
            subprocess.run(["umount", "--lazy", path], check=True)
        shutil.rmtree(self.place, ignore_errors=True)

    def at(self, name):
        return os.path.join(self.path, name.lstrip("/"))

    def write(self, name, text, mode=0o644):
        os.makedirs(os.path.dirname(self.at(name)), exist_ok=True)
        with open(self.at(name), "w") as file:
            file.write(text)
        os.chmod(self.at(name), mode)

    def read(self, name):
        with open(self.at(name), errors="replace") as file:
            return file.read()

    def make(self, build):
        """What the Containerfile does, except for installing packages."""
        for name in ("passwd", "group", "shadow", "gshadow"):  # this machine may have such users
            lines = self.read(f"/etc/{name}").splitlines()
            self.write(f"/etc/{name}", "".join(f"{line}\n" for line in lines if line.split(":")[0] not in ("placement", "kolla")))
        for path in ("/usr/sbin/apache2", "/usr/sbin/httpd", "/usr/local/bin/uwsgi", "/etc/placement", "/etc/apache2", "/etc/httpd",
                     "/etc/berth", "/var/lib/placement", "/var/log/kolla", "/var/lib/kolla", "/etc/sudoers.d/kolla"):
            if os.path.isdir(self.at(path)):
                shutil.rmtree(self.at(path))
            elif os.path.lexists(self.at(path)):
                os.remove(self.at(path))
        if os.path.isdir(self.at("/var/lib/berth")):  # others of this machine may use it meanwhile
            self.mount("-t", "tmpfs", "tmpfs", self.at("/var/lib/berth"))
        for program, place in (("berthd", "sbin"), ("berth", "bin"), ("placement-manage", "bin"), ("placement-status", "bin")):
            path = self.at(f"/usr/{place}/{program}")
            if os.path.lexists(path):
                os.remove(path)
            shutil.copy(os.path.join(build, program), path)
        text = containerfile()
        for names, place in re.findall(r"^COPY (?!--from)(.*) (\S+)$", text, re.M):
            for name in names.split():
                shutil.copy(os.path.join(KOLLA_FILES, name), self.at(place))
        done = self.run("sh", "-ec", re.search(r"^RUN (groupadd.*)$", text, re.M)[1], user=None)
        if done.returncode:
            raise RuntimeError(done.stdout)

    def environment(self, more):
        fixed = dict(word.split("=", 1) for word in re.search(r"^ENV (.*)$", containerfile(), re.M)[1].split())
        return {**fixed, "KOLLA_CONFIG_STRATEGY": "COPY_ALWAYS", "HOME": "/var/lib/placement", **more}

    def command(self, *words, user="placement"):
        who = [f"--userspec={user}:{user}"] if user else []
        return ["chroot", *who, self.path, *words]

    def run(self, *words, user="placement", **environment):
        return subprocess.run(self.command(*words, user=user), env=self.environment(environment), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)

    def begin(self):
        """Nothing of an earlier container is there but its log."""
        for path in ("/run_command", "/configured"):
            if os.path.exists(self.at(path)):
                os.remove(self.at(path))
        for path in ("/etc/placement", "/etc/apache2/conf-enabled", "/etc/httpd/conf.d"):
            for entry in os.scandir(self.at(path)):
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path)
                else:
                    os.remove(entry.path)

    @contextlib.contextmanager
    def started(self, url, *words, **environment):
        """kolla_start until the end of the block; gives the process and, afterwards, what it printed."""
        with tempfile.TemporaryFile("w+") as output:
            process = subprocess.Popen(self.command("kolla_start"), env=self.environment(environment), stdin=subprocess.DEVNULL,
                                       stdout=output, stderr=subprocess.STDOUT, text=True)
            try:
                end = time.monotonic() + ANSWER_S
                while self.run("healthcheck_curl", url, *words).returncode:
                    if process.poll() is not None or time.monotonic() > end:
                        output.seek(0)
                        raise RuntimeError(f"{url} is not served: {output.read()[-2000:]}")
                    time.sleep(0.1)
                yield process
            finally:
                if process.poll() is None:
                    process.send_signal(signal.SIGTERM)
                process.wait(ANSWER_S)


class Deployment:
    """What kolla-ansible puts into the directory of its configuration."""

    def __init__(self, container, url):
        self.container, self.url, self.port = container, url, servers.free_port()

    def placement_conf(self, **more):
        lines = ["[DEFAULT]", "debug = False", f"log_file = {LOG}", "state_path = /var/lib/placement",
                 "[oslo_middleware]", "enable_proxy_headers_parsing = true",
                 "[oslo_concurrency]", "lock_path = /var/lib/placement/tmp",
                 "[placement_database]", f"connection = {self.url}", "connection_recycle_time = 10", "max_overflow = 1000",
                 "max_pool_size = 1", "max_retries = 2", "retry_interval = 1", "[api]", "auth_strategy = noauth2"]
        for section, line in more.items():
            lines += [f"[{section}]", line]
        return "\n".join(lines) + "\n"

    def write(self, command, files, directory=False):
        """files: {name: (where it is copied to, its text)}"""
        entries = [{"source": f"{CONFIGURATION}/{name}", "dest": dest, "owner": "placement", "perm": "0600"}
                   for name, (dest, _) in files.items()]
        if directory:
            entries.append({"source": f"{CONFIGURATION}/ca-certificates", "dest": "/var/lib/kolla/share/ca-certificates",
                            "owner": "root", "perm": "0600"})
        permissions = [{"path": "/var/log/kolla/placement", "owner": "placement:kolla", "recurse": True},
                       {"path": LOG, "owner": "placement:placement"}]
        shutil.rmtree(self.container.at(CONFIGURATION), ignore_errors=True)
        for name, (_, text) in files.items():
            self.container.write(f"{CONFIGURATION}/{name}", text, 0o600)
        config = {"command": command, "config_files": entries, "permissions": permissions}
        self.container.write(f"{CONFIGURATION}/config.json", json.dumps(config))

    def common(self, **more):
        return {"placement.conf": ("/etc/placement/placement.conf", self.placement_conf(**more)),
                "migrate-db.rc": ("/etc/placement/migrate-db.rc", "NOVA_API_DB=nova_api\n")}

    def apache(self, program="/usr/sbin/apache2", place="/etc/apache2/conf-enabled", listen="Listen 127.0.0.1:{port}", engine="On", tls=(),
               **more):
        tls_lines = f'  SSLEngine {engine}\n  SSLCertificateFile "{tls[0]}"\n  SSLCertificateKeyFile "{tls[1]}"\n' if tls else ""
        text = (f"{listen.format(port=self.port)}\nServerTokens Prod\n<VirtualHost *:{self.port}>\n"
                f"  WSGIScriptAlias / /placement-api\n{tls_lines}</VirtualHost>\n")
        files = {**self.common(**more), "placement-api-wsgi.conf": (f"{place}/00-placement-api.conf", text),
                 "other.conf": (f"{place}/other.conf", "Listen 192.0.2.1:1\n")}
        self.write(f"{program} -DFOREGROUND", files)

    def uwsgi(self, tls=(), certificates=()):
        address = f"https = 127.0.0.1:{self.port},{','.join(tls)},HIGH" if tls else f"http = 127.0.0.1:{self.port}"
        text = (f"[uwsgi]\nadd-header = Connection: close\n{address}\nmaster = true\nmodule = placement.wsgi.api:application\n"
                "; http = 192.0.2.1:1\n")
        files = {"placement-api-uwsgi.ini": ("/etc/placement/placement-api-uwsgi.ini", text)}
        for path, content in certificates:
            files[os.path.basename(path)] = (path, content)
        self.write("uwsgi /etc/placement/placement-api-uwsgi.ini", {**self.common(), **files})


class Image:
    """All cases yield (what, whether it is right, what was found)."""

    def __init__(self, container, server):
        self.container, self.server = container, server
        self.deployment = Deployment(container, server.url())

    def cases(self, groups):
        if "bootstrap" not in groups:
            self.deployment.apache()
            self.container.run("kolla_start", KOLLA_BOOTSTRAP="")
        for group in groups:
            yield from getattr(self, group)()

    def bootstrap(self):
        self.deployment.apache()
        done = self.container.run("kolla_start", KOLLA_BOOTSTRAP="")
        yield "bootstrap creates the schema", done.returncode == 0, done.stdout
        found = self.server.sql("SELECT version_num FROM alembic_version")
        yield "of the newest revision", found == [(NEWEST,)] or found == ((NEWEST,),), found
        batches = "Running batches"  # of online data migrations
        for name, migrates in (("KOLLA_BOOTSTRAP", True), ("KOLLA_UPGRADE", False), ("KOLLA_OSM", True)):
            self.container.begin()
            done = self.container.run("kolla_start", **{name: ""})
            yield f"{name} on a database that is complete", done.returncode == 0 and "Running command" not in done.stdout and \
                migrates == (batches in done.stdout), done.stdout
        done = self.container.run("placement-manage", "db", "stamp", "422ece571366")
        done = self.container.run("kolla_start", KOLLA_UPGRADE="")
        found = self.server.sql("SELECT version_num FROM alembic_version")[0][0]
        yield "KOLLA_UPGRADE upgrades the schema", done.returncode == 0 and found == NEWEST, (found, done.stdout)
        done = self.container.run("kolla_start", KOLLA_CONFIG=json.dumps({"command": "echo begun"}), KOLLA_BOOTSTRAP="",
                                  KOLLA_SKIP_EXTEND_START="")
        yield "KOLLA_SKIP_EXTEND_START starts the command", done.stdout.endswith("\nbegun\n") and batches not in done.stdout, done.stdout

    def serves(self, process, scheme="http"):
        """Within kolla_start: the root answers, and requests are logged where kolla's fluentd reads them."""
        with open(f"/proc/{process.pid}/comm") as file:
            name = file.read().strip()
        yield "kolla_start has become berthd", name == "berthd", name
        done = self.container.run("healthcheck_curl", f"{scheme}://127.0.0.1:{self.deployment.port}/traits")
        yield "the health check fails for an answer that is an error", done.returncode == 1 and "401" in done.stdout, done.stdout
        client = servers.Client(self.deployment.port)
        if scheme == "http":
            status = client.ask("GET", "/resource_providers")[0]
            yield "it serves", status == 200, status
        log = os.stat(self.container.at(LOG))
        yield "its log is the service user's", (log.st_uid, log.st_gid) == (42482, 42482), (log.st_uid, log.st_gid)
        yield "and has the first line of berthd", "berthd 0" in self.container.read(LOG), self.container.read(LOG)[-500:]

    def apache(self):
        there = os.stat(self.container.at("/etc/placement"))
        found = (there.st_uid, there.st_gid, oct(there.st_mode & 0o7777))
        yield "the directory of the configuration is the service user's", found == (42482, 42482, "0o750"), found
        for program, place, how in (("/usr/sbin/apache2", "/etc/apache2/conf-enabled", {}),
                                    ("/usr/sbin/httpd", "/etc/httpd/conf.d",
                                     {"listen": "listen {port}", "engine": "off", "tls": ("a", "b")})):
            self.container.begin()
            self.deployment.apache(program, place, **how)
            with self.container.started(f"http://127.0.0.1:{self.deployment.port}") as process:
                for what, *found in self.serves(process):
                    yield f"{program}: {what}", *found
                with open(f"/proc/{process.pid}/status") as file:
                    uids = re.search(r"^Uid:\s+(.*)$", file.read(), re.M)[1].split()
                yield f"{program}: as the service user", set(uids) == {"42482"}, uids
                conf = os.stat(self.container.at("/etc/placement/placement.conf"))
                found = (conf.st_uid, conf.st_gid, oct(conf.st_mode & 0o7777))
                yield f"{program}: whose configuration nobody else can read", found == (42482, 42482, "0o600"), found
                state = os.listdir(self.container.at("/var/log/kolla/placement"))
                yield f"{program}: its own files are beside the log", any(name.startswith("acknowledged-") for name in state), state
                for what, *found in self.checks():
                    yield f"{program}: {what}", *found
                for words, part in (("placement-status upgrade check", "| Check: Database Server"), ("berth config validate", "\n0 errors, "),
                                    ("placement-manage db coexist status", "disabled, changes waiting: 0")):
                    done = self.container.run(*words.split())
                    yield f"{program}: {words}", done.returncode == 0 and part in done.stdout, (done.returncode, done.stdout)
            yield f"{program}: SIGTERM ends it", process.returncode == 0, process.returncode

    def checks(self):
        """What kolla-ansible asks before it makes a container again."""
        done = self.container.run("sudo", "-E", "kolla_set_configs", "--check")
        yield "check: nothing has changed", done.returncode == 0, done.stdout
        path = f"{CONFIGURATION}/placement.conf"
        text = self.container.read(path)
        self.container.write(path, text + "[berth]\n", 0o600)
        done = self.container.run("sudo", "-E", "kolla_set_configs", "--check")
        yield "check: a file has changed", done.returncode == 1 and "has other content" in done.stdout, done.stdout
        self.container.write(path, text, 0o600)
        copy = self.container.at("/etc/placement/placement.conf")
        for change, undo, word in ((lambda: os.chmod(copy, 0o644), lambda: os.chmod(copy, 0o600), "mode"),
                                   (lambda: os.chown(copy, 0, 0), lambda: os.chown(copy, 42482, 42482), "owner")):
            change()
            done = self.container.run("sudo", "-E", "kolla_set_configs", "--check")
            yield f"check: the {word} has changed", done.returncode == 1 and f"another {word}" in done.stdout, done.stdout
            undo()

    def uwsgi(self):
        self.container.begin()
        self.deployment.uwsgi()
        with self.container.started(f"http://127.0.0.1:{self.deployment.port}") as process:
            for what, *found in self.serves(process):
                yield f"uwsgi: {what}", *found
        yield "uwsgi: SIGTERM ends it", process.returncode == 0, process.returncode

    def tls(self):
        with tempfile.TemporaryDirectory() as directory:
            cert, key = Authority(directory).issue("placement")
            with open(cert) as one, open(key) as other:
                pair = (one.read(), other.read())
        paths = ("/etc/placement/certs/placement-cert.pem", "/etc/placement/certs/placement-key.pem")
        self.container.begin()
        self.deployment.uwsgi(paths, zip(paths, pair))
        with self.container.started(f"https://127.0.0.1:{self.deployment.port}") as process:
            for what, *found in self.serves(process, "https"):
                yield f"uwsgi with TLS: {what}", *found
        self.container.begin()
        for path, text in zip(paths, pair):
            self.container.write(path, text, 0o644)
        self.deployment.apache(tls=paths)
        with self.container.started(f"https://127.0.0.1:{self.deployment.port}") as process:
            for what, *found in self.serves(process, "https"):
                yield f"Apache with TLS: {what}", *found

    def own_configuration(self):
        """packaging/kolla/config.json, without kolla-ansible."""
        self.container.begin()
        shutil.rmtree(self.container.at(CONFIGURATION))
        self.container.write(f"{CONFIGURATION}/placement.conf",
                             self.deployment.placement_conf(berth=f"listen = 127.0.0.1:{self.deployment.port}"))
        with open(os.path.join(KOLLA_FILES, "config.json")) as file:
            self.container.write(f"{CONFIGURATION}/config.json", file.read())
        with self.container.started(f"http://127.0.0.1:{self.deployment.port}") as process:
            for what, *found in self.serves(process):
                yield f"config.json of berth: {what}", *found
        yield "config.json of berth: SIGTERM ends it", process.returncode == 0, process.returncode

    def set_configs(self, config, **environment):
        done = self.container.run("sudo", "-E", "kolla_set_configs", KOLLA_CONFIG=json.dumps(config), **environment)
        return done.returncode, done.stdout

    def configurations(self):
        """What config.json can say."""
        container, base = self.container, "/var/lib/kolla/tried"
        container.write(f"{CONFIGURATION}/tree/inner/a", "a")
        container.write(f"{CONFIGURATION}/tree/b.conf", "b")
        container.write(f"{base}/kept", "kept")
        entry = {"source": f"{CONFIGURATION}/tree", "dest": base, "owner": "placement:kolla", "perm": "0640"}
        found = self.set_configs({"command": "true", "config_files": [{**entry, "merge": True}]})
        inner = os.stat(container.at(f"{base}/inner"))
        yield "a directory is merged", found[0] == 0 and os.path.exists(container.at(f"{base}/kept")), found
        yield "its directories can be entered", (inner.st_gid, oct(inner.st_mode & 0o777)) == (42400, "0o750"), oct(inner.st_mode)
        found = self.set_configs({"command": "true", "config_files": [entry]})
        yield "or replaces what was there", found[0] == 0 and not os.path.exists(container.at(f"{base}/kept")), found
        glob_entry = {"source": f"{CONFIGURATION}/tree/*.conf", "dest": f"{base}/globbed/", "owner": "root", "perm": "0400"}
        found = self.set_configs({"command": "true", "config_files": [glob_entry]})
        yield "wildcards are understood", found[0] == 0 and os.listdir(container.at(f"{base}/globbed")) == ["b.conf"], found
        kept = {"source": f"{CONFIGURATION}/tree/b.conf", "dest": f"{base}/same", "preserve_properties": True}
        os.chown(container.at(f"{CONFIGURATION}/tree/b.conf"), 42482, 42400)
        os.chmod(container.at(f"{CONFIGURATION}/tree/b.conf"), 0o604)
        found = self.set_configs({"command": "true", "config_files": [kept]})
        copy = os.stat(container.at(f"{base}/same"))
        yield "properties are kept", (copy.st_uid, copy.st_gid, copy.st_mode & 0o777) == (42482, 42400, 0o604), (found, copy)
        container.write("/elsewhere.json", json.dumps({"command": "echo elsewhere"}))
        done = container.run("sudo", "-E", "kolla_set_configs", KOLLA_CONFIG_FILE="/elsewhere.json")
        yield "config.json may be elsewhere", done.returncode == 0 and container.read("/run_command") == "echo elsewhere", done.stdout
        once = {"command": "true", "config_files": [{**kept, "dest": f"{base}/once"}]}
        found = self.set_configs(once, KOLLA_CONFIG_STRATEGY="COPY_ONCE")
        os.remove(container.at(f"{base}/once"))
        again = self.set_configs(once, KOLLA_CONFIG_STRATEGY="COPY_ONCE")
        yield "COPY_ONCE copies once", (found[0], again[0]) == (0, 0) and not os.path.exists(container.at(f"{base}/once")), (found, again)
        for what, config, part, environment in (
                ("without a strategy", {"command": "true"}, "KOLLA_CONFIG_STRATEGY", {"KOLLA_CONFIG_STRATEGY": ""}),
                ("without a command", {}, "there is no command", {}),
                ("a file that is missing", {"command": "true", "config_files": [{**entry, "source": "/nowhere"}]}, "/nowhere", {}),
                ("an unknown user", {"command": "true", "config_files": [{**entry, "owner": "nobody-here"}]}, "nobody-here", {}),
                ("a mode that is none", {"command": "true", "config_files": [{**entry, "perm": "rw"}]}, "rw", {}),
                ("without an owner", {"command": "true", "config_files": [{"source": "/a", "dest": "/b"}]}, "owner", {}),
                ("a misspelt word", {"command": "true", "config_files": [{**entry, "optoinal": True}]}, "unknown: optoinal", {}),
                ("permissions without an owner", {"command": "true", "permissions": [{"path": "/a"}]}, "permissions lacks", {})):
            found = self.set_configs(config, **environment)
            yield f"{what}: one line", found[0] == 1 and part in found[1] and found[1].count("\n") == 1, found

    def check_configs(self, config):
        done = self.container.run("sudo", "-E", "kolla_set_configs", "--check", KOLLA_CONFIG=json.dumps(config))
        return done.returncode, done.stdout

    def links(self):
        """A directory of links, as Kubernetes mounts configurations; and links to nothing."""
        container, base = self.container, "/var/lib/kolla/linked"
        shutil.rmtree(container.at(CONFIGURATION), ignore_errors=True)
        container.write(f"{CONFIGURATION}/data/inner/a", "a")
        os.makedirs(container.at(f"{CONFIGURATION}/tree"))
        os.symlink("../data/inner", container.at(f"{CONFIGURATION}/tree/inner"))
        os.symlink("inner/a", container.at(f"{CONFIGURATION}/tree/a"))
        entry = {"source": f"{CONFIGURATION}/tree", "dest": base, "owner": "placement", "perm": "0600"}
        config = {"command": "true", "config_files": [entry]}
        found = self.set_configs(config)
        copies = [(name, os.path.islink(container.at(f"{base}/{name}")), container.read(f"{base}/{name}")) for name in ("a", "inner/a")]
        yield "what links lead to is copied", found[0] == 0 and copies == [("a", False, "a"), ("inner/a", False, "a")], (found, copies)
        found = self.check_configs(config)
        yield "check: nothing has changed", found[0] == 0, found
        os.remove(container.at(f"{base}/inner/a"))
        found = self.check_configs(config)
        yield "check: a copy is missing", found[0] == 1 and f"{base}/inner/a is missing" in found[1], found
        os.symlink("nothing", container.at(f"{CONFIGURATION}/tree/dangling"))
        found = self.set_configs(config)
        yield "a link to nothing: one line", found[0] == 1 and "dangling" in found[1] and found[1].count("\n") == 1, found
        for what, more, is_link in (("may be ignored", {**entry, "ignore_dangling": True}, False),
                                    ("stays with its properties", {"source": entry["source"], "dest": base, "merge": True,
                                                                   "preserve_properties": True}, True)):
            config = {"command": "true", "config_files": [more]}
            found, again = self.set_configs(config), self.check_configs(config)
            kept = os.path.islink(container.at(f"{base}/dangling"))
            yield f"a link to nothing {what}", (found[0], again[0], kept) == (0, 0, is_link), (found, again, kept)

    def permissions(self):
        container, base = self.container, "/var/lib/kolla/permitted"
        for name in ("one", "inner/a", "excluded/b"):
            container.write(f"{base}/{name}", name)
        container.write("/var/lib/kolla/elsewhere", "")
        os.symlink("../elsewhere", container.at(f"{base}/link"))
        rights = {"path": base, "owner": "placement", "perm": "0640", "recurse": True, "exclude": ["excluded"]}
        found = self.set_configs({"command": "true", "permissions": [rights, {"path": "/nowhere", "owner": "root"}]})
        owners = {name: os.stat(container.at(f"{base}/{name}")).st_uid for name in ("one", "inner/a", "excluded/b", "link")}
        wanted = {"one": 42482, "inner/a": 42482, "excluded/b": 0, "link": 0}
        yield "permissions are given", found[0] == 0 and owners == wanted, (found, owners)
        modes = [oct(os.stat(container.at(f"{base}/{name}")).st_mode & 0o777) for name in ("one", "inner")]
        yield "with modes", modes == ["0o640", "0o750"], modes
        found = self.set_configs({"command": "true", "permissions": [{"path": base, "owner": "root"}]})
        owners = [os.stat(container.at(f"{base}{name}")).st_uid for name in ("", "/one")]
        yield "only of the path itself, unless recurse is set", found[0] == 0 and owners == [0, 42482], (found, owners)
        os.makedirs(container.at(f"{base}/fixed"))
        container.mount("-t", "tmpfs", "-o", "ro", "tmpfs", container.at(f"{base}/fixed"))
        container.begin()
        found = self.set_configs({"command": "true", "permissions": [rights]})
        yield "a path that cannot be changed is named, and the start goes on", \
            found[0] == 0 and f"{base}/fixed keeps its owner or mode" in found[1] and container.read("/run_command") == "true", found

    def authorities(self):
        texts = {}
        for name in ("one.crt", "other.pem"):
            with tempfile.TemporaryDirectory() as directory, open(Authority(directory).cert) as file:
                texts[name] = file.read()
        self.container.begin()
        self.deployment.apache()
        config = json.loads(self.container.read(f"{CONFIGURATION}/config.json"))
        config["config_files"].append({"source": f"{CONFIGURATION}/ca-certificates", "dest": "/var/lib/kolla/share/ca-certificates",
                                       "owner": "root", "perm": "0600"})
        self.container.write(f"{CONFIGURATION}/config.json", json.dumps(config))
        for name, text in texts.items():
            self.container.write(f"{CONFIGURATION}/ca-certificates/{name}", text)

        def known():
            bundle = self.container.read("/etc/ssl/certs/ca-certificates.crt").replace("\n", "")
            return [name for name, text in texts.items() if "".join(text.split("\n")[1:3]) in bundle]

        done = self.container.run("kolla_start", KOLLA_BOOTSTRAP="")
        yield "the deployer's authorities are known", done.returncode == 0 and known() == list(texts), (known(), done.stdout)
        mode = oct(os.stat(self.container.at("/usr/local/share/ca-certificates/kolla-one.crt")).st_mode & 0o777)
        yield "to every user", mode == "0o644", mode
        os.remove(self.container.at(f"{CONFIGURATION}/ca-certificates/one.crt"))
        done = self.container.run("kolla_start", KOLLA_BOOTSTRAP="")
        yield "and no longer when they have gone", done.returncode == 0 and known() == ["other.pem"], (known(), done.stdout)

    def failures(self):
        self.container.begin()
        self.deployment.apache()
        self.server.stop()
        done = self.container.run("kolla_start", KOLLA_BOOTSTRAP="")
        yield "bootstrap fails without a database", done.returncode == 1 and "cannot be reached" in done.stdout, done.stdout
        done = self.container.run("kolla_start")
        yield "and so does the service", done.returncode == 1, done.stdout
        log = self.container.read(LOG)
        yield "which says so in its log", "berthd could not start" in log and "cannot be reached" in log, log[-500:]
        os.remove(self.container.at("/etc/apache2/conf-enabled/00-placement-api.conf"))
        self.container.write("/empty.ini", "[uwsgi]\nhttps-socket = 192.0.2.1:1\n")
        for words, part in ((("/usr/sbin/apache2", "-DFOREGROUND"), "no configuration of Apache"), (("uwsgi",), "no .ini"),
                            (("uwsgi", "/nowhere.ini"), "/nowhere.ini cannot be read"),
                            (("uwsgi", "/empty.ini"), "/empty.ini names no address")):
            done = self.container.run(*words)
            is_right = (done.returncode, done.stdout.count("\n")) == (1, 1) and part in done.stdout
            yield f"{' '.join(words)} without a configuration: one line", is_right, done.stdout


def main():
    if not sys.argv[1:2] == ["--inside"]:
        inside.become_root()
        os.execvp("unshare", ["unshare", "--mount", sys.executable, os.path.abspath(__file__), "--inside", *sys.argv[1:]])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", metavar="DIRECTORY", default=os.path.join(ROOT, "build"))
    parser.add_argument("groups", nargs="*", metavar="NAME")
    arguments = parser.parse_args(sys.argv[2:])
    groups = [name for name in GROUPS if name in arguments.groups or not arguments.groups]
    score = servers.Score()
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(Mariadb(options=KOLLA))
        container = Container(arguments.build)
        stack.callback(container.end)
        for what, right, found in Image(container, server).cases(groups):
            score.case(what, None if right else repr(found))
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
