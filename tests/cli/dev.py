#!/usr/bin/python3
"""./dev itself: help and mistakes install nothing, `./dev run` gives each port a directory of its own, and the
output of a build.

    tests/cli/dev.py

Needs build/ to be built. Where ./dev would install or build, PATH begins with commands of those names that only record
their calls. The last line is `N passed, N failed`.
"""

import contextlib
import fcntl
import http.client
import os
import pty
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE)]
sys.dont_write_bytecode = True

import servers  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(HERE))
RUN = os.path.join(ROOT, "build", "run")
HOST = "dddddddd-0000-4000-8000-000000000001"
COMMANDS = ("run", "build", "check", "package", "bench", "fuzz", "diff", "format")
FORBIDS = ("/usr/sbin/policy-rc.d", "/etc/postgresql-common/createcluster.d/berth-dev.conf")
NOTED = ("apt-get", "dpkg-query", "sudo", "meson", "ninja", "clang-format", "update-rc.d")
MISUSED = [["run", port] for port in ("0", "99999", "65536", "abc", "-1", "08", "", "8778x", "1 2", "999999999999999999999")] + [
    ["run", "1000", "2000"], ["build", "x"], ["package", "x"], ["format", "x"], ["fuzz", "x"], ["fuzz", "1", "x"]]
REFUSED = [["nonsense"], ["help", "nonsense"], ["nonsense", "--help"], ["check", "nonsense"], ["check", "--nonsense"]]


def expect(good, what):
    if not good:
        raise AssertionError(what)


class Fakes:
    """Commands that record their calls and do nothing. `installed`: the state that dpkg-query reports for every
    package. apt-get also records which of the files exist that forbid services and clusters. `waiting_for`: a package whose
    installation waits until ninja is called, which waits for that; it then fails."""

    def __init__(self, directory, installed, installation_fails=False, waiting_for=None):
        self.path, self.calls_file = os.path.join(directory, "bin"), os.path.join(directory, "calls")
        os.makedirs(self.path)
        for name in NOTED:
            lines = ["#!/bin/sh", f'echo "{name} $*" >>"{self.calls_file}"']
            if name == "dpkg-query":
                lines.append("echo 'installed '" if installed else "exit 1")
            if name == "apt-get":
                if waiting_for:
                    lines.append(f'case " $* " in *" {waiting_for} "*) {self._await("^ninja ")}; exit 1;; esac')
                lines.append(f'ls {" ".join(FORBIDS)} >>"{self.calls_file}" 2>/dev/null; exit {int(installation_fails)}')
            if name == "ninja" and waiting_for:
                lines.append(self._await(f" {waiting_for} "))
            if name == "sudo":
                lines.append('[ "$1" != -n ] || shift\nexec "$@"')
            with open(os.path.join(self.path, name), "w") as file:
                file.write("\n".join(lines) + "\n")
            os.chmod(file.name, 0o755)

    def _await(self, call):
        return f'until grep -q "{call}" "{self.calls_file}"; do sleep 0.05; done'

    def environment(self):
        return {**os.environ, "PATH": self.path + ":" + os.environ["PATH"]}

    def calls(self):
        if not os.path.exists(self.calls_file):
            return []
        with open(self.calls_file) as file:
            return file.read().splitlines()


def dev(*words, **more):
    return subprocess.run(["./dev", *words], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=120, **more)


def ask_in_vain(words, status):
    """Runs it where nothing is installed; returns its output. It must exit with that status without looking for a
    package."""
    with tempfile.TemporaryDirectory() as directory:
        fakes = Fakes(directory, installed=False)
        done = dev(*words, env=fakes.environment())
        expect(done.returncode == status, f"{words}: {done.returncode}, {done.stdout}{done.stderr}")
        expect(not fakes.calls(), f"{words} called {fakes.calls()}")
    return done


def help_installs_nothing():
    everything = ask_in_vain([], 0).stdout
    for name in COMMANDS:
        expect(f"\n  {name} " in everything, f"{name} is not in {everything}")
    for words in (["help"], ["--help"], ["-h"]):
        expect(ask_in_vain(words, 0).stdout == everything, f"{words} prints something else")
    for name in COMMANDS:
        for words in ([name, "--help"], [name, "-h"], ["help", name], [name, "1", "--help"]):
            done = ask_in_vain(words, 0)
            expect(done.stdout.startswith("usage: ./dev ") and not done.stderr, f"{words}: {done.stdout}{done.stderr}")


def list_installs_nothing():
    names = ask_in_vain(["check", "--list"], 0).stdout.split()[::2]
    expect("build" in names and "dev" in names, names)


def mistakes_install_nothing():
    before = os.path.exists(RUN) and sorted(os.listdir(RUN))
    for words in MISUSED:
        done = ask_in_vain(words, 2)
        expect(not done.stdout and re.fullmatch(r"dev: .*\n", done.stderr), f"{words}: {done.stdout}{done.stderr}")
    for words in REFUSED:
        done = ask_in_vain(words, 2)
        expect(not done.stdout and "usage:" in done.stderr, f"{words}: {done.stdout}{done.stderr}")
    expect(before == (os.path.exists(RUN) and sorted(os.listdir(RUN))), "a wrong port has a directory")


def installs_what_is_missing():
    """Proves that the tests above would notice an installation."""
    with tempfile.TemporaryDirectory() as directory:
        fakes = Fakes(directory, installed=False)
        done = dev("build", env=fakes.environment())
        expect(done.returncode == 0 and done.stderr.startswith("dev: installing gcc "), done.stderr)
        calls = [call for call in fakes.calls() if call.startswith("apt-get ")]
        expect(len(calls) == 2 and calls[0].endswith(" update") and "--no-install-recommends install gcc " in calls[1], calls)


def starts_no_database():
    """While database servers are installed, no service may start and no cluster be created. Afterwards this applies no more,
    even if the installation failed; and the services do not start at the next boot either."""
    if os.getuid() != 0:
        return
    before = [name for name in FORBIDS if os.path.exists(name)]
    with tempfile.TemporaryDirectory() as directory:
        fakes = Fakes(directory, installed=False, installation_fails=True)
        done = dev("check", "databases", env=fakes.environment())
        expect(done.returncode == 1 and "dev: could not install" in done.stderr, done.stderr)
        seen = [call for call in fakes.calls() if call in FORBIDS]
        expect(seen == sorted(FORBIDS), f"the files while apt-get ran: {seen}")
    for words, disabled in ((["diff"], ["pgbouncer", "mariadb", "haproxy"]), (["bench"], ["mariadb", "haproxy"])):
        with tempfile.TemporaryDirectory() as directory:
            fakes = Fakes(directory, installed=False)
            dev(*words, "--nonsense", env=fakes.environment())  # which is refused after the installation
            seen = [call.split()[1:] for call in fakes.calls() if call.startswith("update-rc.d ")]
            expect(seen == [[name, "disable"] for name in disabled], f"{words}: {seen}")
    with tempfile.TemporaryDirectory() as directory:
        fakes = Fakes(directory, installed=False)
        dev("build", env=fakes.environment())
        seen = [call for call in fakes.calls() if call in FORBIDS]
        expect(FORBIDS[1] not in seen, "without a database server: " + str(seen))
    expect([name for name in FORBIDS if os.path.exists(name)] == before, "files are left")


def builds_while_it_installs():
    """What a build needs comes first; then both go on at the same time."""
    with tempfile.TemporaryDirectory() as directory:
        fakes = Fakes(directory, installed=False, waiting_for="haproxy")
        done = dev("check", env=fakes.environment())
        expect(done.returncode == 1 and "dev: could not install" in done.stderr, done.stderr)
        first, *others = [call for call in fakes.calls() if " install " in call or call.startswith("ninja ")]
        expect(" gcc " in first and " haproxy " not in first and len(others) == 2, [first, *others])


def is_concise_without_a_terminal():
    with tempfile.TemporaryDirectory() as directory:
        fakes = Fakes(directory, installed=True)
        done = dev("build", env=fakes.environment())
        expect((done.stdout, done.stderr) == ("", "dev: building in build/\n"), done.stdout + done.stderr)
        expect(any(call.startswith("ninja ") and "--quiet" in call for call in fakes.calls()), fakes.calls())


def shows_progress_on_a_terminal():
    with tempfile.TemporaryDirectory() as directory:
        fakes = Fakes(directory, installed=False)
        ours, theirs = pty.openpty()
        done = subprocess.run(["./dev", "build"], cwd=ROOT, env=fakes.environment(), stdin=theirs, stdout=theirs,
                              stderr=theirs, timeout=120)
        os.close(theirs)
        os.close(ours)
        calls = [call for call in fakes.calls() if call.startswith(("apt-get ", "ninja "))]
        expect(done.returncode == 0 and len(calls) == 3, f"{done.returncode} {calls}")
        expect(not any("quiet" in call or "-qq" in call for call in calls), calls)


def builds_one_at_a_time():
    """ninja does not lock its directory."""
    with tempfile.TemporaryDirectory() as directory, open(os.path.join(ROOT, "build", "dev.lock"), "a") as lock:
        fakes = Fakes(directory, installed=True)
        fcntl.flock(lock, fcntl.LOCK_EX)
        build = subprocess.Popen(["./dev", "build"], cwd=ROOT, env=fakes.environment(), stderr=subprocess.PIPE, text=True)
        line = build.stderr.readline()
        expect(line == "dev: waiting for another build in build/\n", line)
        calls = fakes.calls()
        fcntl.flock(lock, fcntl.LOCK_UN)
        text = build.communicate(timeout=60)[1]
        expect(build.returncode == 0 and text == "dev: building in build/\n", text)
        expect(not any("ninja " in call for call in calls) and len(fakes.calls()) > len(calls), fakes.calls())


class Run:
    """`./dev run PORT` until the end of the block; build/run/PORT is then removed unless it is kept."""

    def __init__(self, port, keep=False):
        self.port, self.keep = port, keep
        self.home = os.path.join(RUN, str(port))
        self.client = servers.Client(port)

    def __enter__(self):
        settings = {"OS_API__AUTH_STRATEGY": "keystone", "OS_BAREMETAL__ENABLED": "false"}  # the machine's
        self.output = tempfile.TemporaryFile("a+")  # appended to, because reading moves the offset of the writer as well
        self.process = subprocess.Popen(["./dev", "run", str(self.port)], cwd=ROOT, env={**os.environ, **settings},
                                        stdin=subprocess.DEVNULL, stdout=self.output, stderr=subprocess.STDOUT)
        return self

    def text(self):
        self.output.seek(0)
        return self.output.read()

    def await_ready(self, seconds=60):
        """Sets its four ports by name."""
        end = time.monotonic() + seconds
        while not (ready := re.search(r"^berthd: ready (.*)$", self.text(), re.M)):
            expect(self.process.poll() is None and time.monotonic() < end, f"{self.process.poll()}: {self.text()}")
            time.sleep(0.05)
        ports = [int(port) for port in re.findall(r"http://127\.0\.0\.1:(\d+)", ready.group(1))]
        expect(len(ports) == 4 and ports[0] == self.port, ready.group(1))
        self.ports = dict(zip(("placement", "metal", "valet", "admin"), ports))

    def configuration(self):
        """The content of its directory except the database."""
        found = {}
        for name in sorted(os.listdir(self.home)):
            path = os.path.join(self.home, name)
            if os.path.isfile(path) and not name.startswith("berth.db"):
                with open(path) as file:
                    found[name] = file.read(), os.stat(path).st_mtime_ns
        return found

    def end(self, number):
        self.client.close()
        self.process.send_signal(number)
        return self.process.wait(20)

    def __exit__(self, *exception):
        self.client.close()
        self.process.kill()
        self.process.wait()
        self.output.close()
        if not self.keep:
            shutil.rmtree(self.home, ignore_errors=True)


def answers(port, path="/"):
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        connection.request("GET", path, headers={"x-auth-token": "admin"})
        return connection.getresponse().status == 200


def runs_side_by_side():
    """Started at once: each with its own configuration, database and ports, and all APIs enabled."""
    with Run(servers.free_port()) as first, Run(servers.free_port()) as second:
        first.await_ready()
        second.await_ready()
        ports = [*first.ports.values(), *second.ports.values()]
        expect(len(set(ports)) == 8, ports)
        for run in (first, second):
            expect(f"http://127.0.0.1:{run.port}, database and configuration in build/run/{run.port}/" in run.text(), run.text())
            shown = {int(port) for port in re.findall(r"127\.0\.0\.1:(\d+)", run.text().split("Ctrl-C ends it.")[0])}
            expect(shown == set(run.ports.values()) - {run.ports["admin"]}, f"{shown} of {run.ports}")
            text, _ = run.configuration()["placement.conf"]
            for wanted in (f"sqlite:///{run.home}/berth.db", f":{run.ports['metal']}\n", f":{run.ports['valet']}\n"):
                expect(wanted in text, f"{wanted} is not in {text}")
            expect(os.path.exists(os.path.join(run.home, "berth.db")), os.listdir(run.home))
            expect(answers(run.ports["metal"], "/v1/nodes"), "bare metal")
            expect(answers(run.ports["valet"], "/v1/groups"), "Valet")
            expect(answers(run.ports["admin"], "/readyz"), "health")
        first.client.make_provider(HOST, "host", VCPU=1)
        status, _ = second.client.ask("GET", f"/resource_providers/{HOST}")
        expect(status == 404, "they share a database")
        refuses_the_port_of_another(first)
        statuses = first.end(signal.SIGTERM), second.end(signal.SIGINT)
        expect(statuses == (0, 0), f"ended by SIGTERM and SIGINT: {statuses}")


def refuses_the_port_of_another(run):
    before = run.configuration()
    done = dev("run", str(run.port))
    expect(done.returncode == 1 and not done.stdout, f"{done.returncode} {done.stdout}")
    expect(re.fullmatch(rf"dev: another \./dev run has port {run.port}: .*\n", done.stderr), done.stderr)
    expect(run.configuration() == before, "the configuration of the one that runs has changed")
    run.client.must(200, "GET", f"/resource_providers/{HOST}")


def refuses_a_port_in_use():
    """The port is in use by another program: nothing is built."""
    with socket.socket() as other, tempfile.TemporaryDirectory() as directory:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        fakes = Fakes(directory, installed=True)
        done = dev("run", str(port), env=fakes.environment())
        expect(done.returncode == 1 and not done.stdout and not fakes.calls(), f"{done.returncode} {fakes.calls()}")
        expect(not os.path.exists(os.path.join(RUN, str(port))), "it has a directory")
        expect(re.fullmatch(rf"dev: cannot listen on 127\.0\.0\.1:{port}: Address already in use: .*\n", done.stderr), done.stderr)


def keeps_its_database():
    port = servers.free_port()
    with Run(port, keep=True) as run:
        run.await_ready()
        run.client.make_provider(HOST, "host", VCPU=1)
        run.end(signal.SIGTERM)
    with Run(port) as run:
        run.await_ready()
        run.client.must(200, "GET", f"/resource_providers/{HOST}")


def chooses_other_ports():
    """At the end of the range of ports, where the next numbers are not ports."""
    port = next(port for port in (65535, 65534, 65533) if is_free(port))
    with Run(port) as last:
        last.await_ready()
        expect(len(set(last.ports.values())) == 4 and all(map(answers, last.ports.values())), last.ports)


def is_free(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


CASES = (help_installs_nothing, list_installs_nothing, mistakes_install_nothing, installs_what_is_missing,
         starts_no_database, builds_while_it_installs,
         is_concise_without_a_terminal, shows_progress_on_a_terminal, builds_one_at_a_time, runs_side_by_side,
         refuses_a_port_in_use, keeps_its_database, chooses_other_ports)


def main():
    score = servers.Score()
    for case in CASES:
        began, problem = time.monotonic(), None
        try:
            case()
        except Exception as failure:
            problem = f"{failure!r:.3000}"
        score.case(case.__name__, problem, time.monotonic() - began)
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
