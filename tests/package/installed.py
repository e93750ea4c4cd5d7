"""The package in a root that is not running: files, users, the service as its unit starts it, upgrade, removal."""

import os
import re

import servers
from root import Root
from unit import Service

HOST = "bbbbbbbb-0000-4000-8000-000000000001"
CONSUMER = "cccccccc-0000-4000-8000-000000000001"
PORT = 8778
METAL_PORT = 6385
PROGRAMS = ("placement-manage", "placement-status")
# Path: owner, group, mode; of an installation without a configuration.
OWNED = {
    "/etc/berth/placement.conf": ("root", "placement", 0o640),
    "/etc/logrotate.d/berth": ("root", "root", 0o644),
    "/usr/sbin/berthd": ("root", "root", 0o755),
    "/usr/bin/placement-manage": ("root", "root", 0o755),
    "/var/lib/berth": ("placement", "placement", 0o750),
    "/var/log/berth": ("placement", "adm", 0o750),
}
# What installing and removing any package leaves in a system.
LEFT_BY_APT = re.compile(r"/(var/(cache|log/(apt|dpkg|alternatives)|backups|lib/(dpkg|apt|systemd/deb-systemd-helper-))"
                         r"|etc/(\.pwd\.lock|ld\.so|(passwd|group|g?shadow|sub[ug]id)-?$)|root|run|tmp|proc|dev)\b")


def expect(good, what):
    if not good:
        raise AssertionError(what)


def use(client):
    """A provider, and an allocation against it."""
    client.make_provider(HOST, "host", VCPU=16)
    status, answer = client.claim(CONSUMER, None, **{HOST: {"VCPU": 2}})
    expect(status == 204, answer)


def expect_used(client, amount=2):
    used = client.must(200, "GET", f"/resource_providers/{HOST}/usages")["usages"]
    expect(used == {"VCPU": amount}, used)
    expect(client.must(200, "GET", f"/allocations/{CONSUMER}")["allocations"], "the allocation is gone")


class Case:
    """Each public method of a subclass is a case, in a root of its own; it returns None or the reason why it was
    left out."""

    def __init__(self, layers, directory, log):
        self._root = Root(layers, directory)
        self._log = log
        self._services = []

    def _end(self):
        for service in self._services:
            service.close()
        self._root.remove()

    def _install(self, package="/root/berth.deb", **more):
        text = self._root.install(package, **more)
        self._log.write(text.encode())
        expect(not re.search(r"(?im)^(dpkg: )?(warning|error)|failed|cannot", text), text)
        return text

    def _service(self):
        service = Service(self._root, "berthd")
        self._services.append(service)
        service.start(self._log)
        return service

    def _files(self):
        """Every path with its kind, except those that apt and dpkg write."""
        found = set()
        for directory, names, files in os.walk(self._root.path):
            inside = "/" + os.path.relpath(directory, self._root.path)
            names[:] = [name for name in names if not LEFT_BY_APT.match(os.path.join(inside, name))]
            found.update(os.path.join(inside, name) for name in names + files)
        return {path for path in found if not LEFT_BY_APT.match(path)}


class Installed(Case):
    """Cases that begin with the package installed."""

    def files(self):
        """Users, owners, modes, enabled units, and no errors found by dpkg."""
        root = self._root
        users = dict(line.split(":", 1) for line in root.run("getent", "passwd").stdout.splitlines())
        fields = users["placement"].split(":")
        expect(int(fields[1]) < 1000 and fields[4:] == ["/var/lib/placement", "/bin/false"], fields)
        for path, (owner, group, mode) in OWNED.items():
            found = root.run("stat", "--format", "%U %G %a", path).stdout.split()
            expect(found == [owner, group, f"{mode:o}"], f"{path}: {found}")
        for link in ("multi-user.target.wants/berthd.service", "sockets.target.wants/berthd.socket",
                     "sockets.target.wants/berthd-admin.socket"):
            expect(os.path.islink(root.at("/etc/systemd/system", link)), f"{link} is not there")
        others = ["berthd-baremetal.socket", "berthd-valet.socket"]
        for unit in others:
            expect(not os.path.lexists(root.at("/etc/systemd/system/sockets.target.wants", unit)), f"{unit} is enabled")
        expect(not os.path.lexists(root.at("/etc/systemd/system/multi-user.target.wants/berthd-spare.service")), "spare")
        verified = root.run("dpkg", "--verify", "berth", check=False).stdout.split("\n")
        expect([line for line in verified if line.strip() and "placement.conf" not in line] == [], verified)
        expect(root.run("dpkg", "--audit").stdout == "", "dpkg --audit")
        expect(root.run("systemd-analyze", "verify", "berthd.service", "berthd.socket", "berthd-admin.socket",
                        *others).stdout == "", "systemd-analyze")

    def programs(self):
        """Each program runs with the libraries that the package depends on, prints its version, and has a manual
        page."""
        root = self._root
        listed = root.run("dpkg", "--listfiles", "berth").stdout.split("\n")
        programs = [path for path in listed if re.match(r"/usr/s?bin/.", path)]
        expect(len(programs) >= 3, programs)
        for program in programs:
            expect(re.search(r"\d+\.\d+\.\d+", root.run(program, "--version").stdout), f"{program} --version")
            name = os.path.basename(program)
            pages = [path for path in listed if re.search(rf"/man([18])/{name}\.\1\.gz$", path)]
            expect(len(pages) == 1, f"{program} has no page of its own")
        pages = [path for path in listed if re.match(r"/usr/share/man/.*\.gz$", path)]
        for page in pages:
            done = root.run("man", "--warnings", "--local-file", page)
            expect(not re.search(r"roff:|mdoc warning|: warning:", done.stdout), done.stdout[:500])
            expect(done.stdout.count("\n") > 20, done.stdout)

    def serves(self):
        """As started by its unit, without configuration: noauth2 on loopback; stops, starts, and keeps its data."""
        service = self._service()
        use(servers.Client(PORT))
        expect(service.stop() == 0, "SIGTERM")
        owner = self._root.run("stat", "--format", "%U %G", "/var/lib/berth/berth.db").stdout
        expect(owner == "placement placement\n", owner)
        service.start(self._log)
        expect_used(servers.Client(PORT))
        expect(service.stop() == 0, "SIGTERM")
        version = self._root.run("placement-manage", "db", "version", user="placement").stdout
        expect(version == "a082b8bb98d0\n", version)

    def log_rotates(self):
        """As placement's user, by copying: berthd continues writing its open file."""
        root = self._root
        root.run("sh", "-c", "echo line >/var/log/berth/berthd.log && chown placement: /var/log/berth/berthd.log")
        root.run("logrotate", "--force", "/etc/logrotate.d/berth")
        files = {name: os.stat(root.at("/var/log/berth", name)).st_size for name in os.listdir(root.at("/var/log/berth"))}
        expect(files == {"berthd.log": 0, "berthd.log.1": 5}, files)

    def diverts(self):
        """Programs of python3-placement are diverted, in any order of installation, and restored."""
        root = self._root
        def programs():
            return {name for name in os.listdir(root.at("/usr/bin")) if name.startswith(PROGRAMS)}

        def owner(name):
            with open(root.at("/usr/bin", name), "rb") as file:
                return "berth" if file.read(4) == b"\x7fELF" else "python"

        both = {name + end for name in PROGRAMS for end in ("", ".python3-placement")}
        library = "dpkg --install --force-depends /var/cache/apt/archives/python3-placement_*.deb"
        shipped = programs()
        root.run("sh", "-c", library)
        expect(programs() == both | shipped, programs())
        expect({owner(name) for name in shipped} == {"berth"}, "berth's programs were overwritten")
        root.run("dpkg", "--remove", "berth")
        expect(programs() == set(PROGRAMS) and {owner(name) for name in programs()} == {"python"}, programs())
        expect(root.run("dpkg-divert", "--list", "*placement*").stdout == "", "a diversion is left")
        root.run("dpkg", "--install", "/root/berth.deb")
        expect(programs() == both | shipped and owner("placement-manage") == "berth", programs())
        root.run("dpkg", "--purge", "--force-depends", "python3-placement")
        expect(programs() == shipped, programs())

    def takes_turns(self):
        """berth and placement-api exclude each other, and apt says what it would do."""
        root = self._root
        text = root.run("apt-get", "--simulate", "install", "placement-api").stdout
        expect(re.search(r"^Remv berth ", text, re.M) and re.search(r"^Inst placement-api ", text, re.M), text)
        root.run("dpkg", "--remove", "berth")
        root.run("sh", "-c", "cd /var/cache/apt/archives && "
                 "dpkg --unpack --force-depends placement-common_*.deb placement-api_*.deb")
        root.run("dpkg", "--unpack", "--force-depends", "/root/berth.deb")
        state = root.run("dpkg-query", "--show", "--showformat", "${Package} ${db:Status-Status}\n").stdout
        expect(re.search(r"^placement-api (config-files|not-installed)$", state, re.M), state)
        expect("\nplacement-common unpacked\n" in state, state)


class Bare(Case):
    """Cases that install it themselves."""

    def upgrades(self):
        """Data, the administrator's configuration and its mode stay; an existing user of that name is used
        unchanged."""
        root = self._root
        root.run("addgroup", "--system", "placement")
        root.run("adduser", "--system", "--home", "/var/lib/placement", "--ingroup", "placement", "placement")
        self._install()
        service = self._service()
        use(servers.Client(PORT))
        with open(root.at("/etc/berth/placement.conf"), "a") as file:
            file.write("[berth]\naccess_log = false\n")
        root.run("chmod", "0600", "/etc/berth/placement.conf")
        root.run("chown", "placement:", "/etc/berth/placement.conf")
        root.run("dpkg-statoverride", "--add", "placement", "placement", "0600", "/etc/berth/placement.conf")
        self._install("/root/berth_next.deb")
        expect(service.process.poll() is None, "without systemd nothing restarts a service")
        expect(service.stop() == 0, "SIGTERM")
        mode = root.run("stat", "--format", "%U %a", "/etc/berth/placement.conf").stdout
        expect(mode == "placement 600\n", mode)
        with open(root.at("/etc/berth/placement.conf")) as file:
            expect("access_log" in file.read(), "the configuration is the package's again")
        service.start(self._log)
        expect_used(servers.Client(PORT))

    def placement_conf(self):
        """With /etc/placement only that is read; its database is synced only on request."""
        root = self._root
        root.write("/etc/placement/placement.conf", "[api]\nauth_strategy = noauth2\n[placement_database]\n"
                   "connection = sqlite:////var/lib/placement/placement.sqlite\n")
        self._install()
        os.mkdir(root.at("/var/lib/placement"))
        root.run("chown", "placement:", "/var/lib/placement")
        self._install("/root/berth_next.deb")
        expect(not os.listdir(root.at("/var/lib/placement")), "a database was created without a request")
        root.run("sh", "-c", "echo berth berth/db-sync boolean true | debconf-set-selections")
        root.run("dpkg-reconfigure", "berth")
        found = root.run("stat", "--format", "%U %G", "/var/lib/placement/placement.sqlite").stdout
        expect(found == "placement placement\n", found)
        service = self._service()
        use(servers.Client(PORT))
        expect(service.stop() == 0, "SIGTERM")
        expect(not os.path.exists(root.at("/var/lib/berth/berth.db")), "a database of berth's own")
        # A user who may not read it gets an error, not a service with other settings.
        os.chmod(root.at("/etc/placement"), 0o750)
        done = root.run("placement-manage", "db", "version", user="nobody", check=False)
        expect(done.returncode == 1 and re.search("/etc/placement/.*: Permission denied", done.stdout), done.stdout)

    def removes_and_purges(self):
        """Removed: configuration and data stay. Purged: the database stays unless its removal was confirmed;
        everything else is as before the installation."""
        root = self._root
        before = self._files()
        dependencies = self._install()
        names = re.search(r"NEW packages will be installed:\n((?:  .*\n)+)", dependencies).group(1).split()
        names.remove("berth")
        service = self._service()
        use(servers.Client(PORT))
        expect(service.stop() == 0, "SIGTERM")
        service.close()
        root.run("apt-get", "--yes", "remove", "berth")
        left = self._files()
        expect({"/etc/berth/placement.conf", "/var/lib/berth/berth.db"} <= left, "removed too much")
        expect("/usr/sbin/berthd" not in left, "removed too little")
        root.run("apt-get", "--yes", "purge", "berth")
        expect("/var/lib/berth/berth.db" in self._files(), "the database was removed without a question")

        self._install()
        service = self._service()
        expect_used(servers.Client(PORT))
        expect(service.stop() == 0, "SIGTERM")
        root.write("/var/lib/berth/operators.db", "")
        root.run("sh", "-c", "echo berth berth/purge-database boolean true | debconf-set-selections")
        root.run("apt-get", "--yes", "purge", "berth", *names)
        after = self._files() - before
        expect(after == {"/var/lib/berth", "/var/lib/berth/operators.db"}, sorted(after))
        expect(before - self._files() == set(), sorted(before - self._files()))
