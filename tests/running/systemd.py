"""packaging/systemd/ under a real systemd: the machine's /usr, booted in a container that is otherwise empty
(systemd-nspawn --volatile=yes, with only its own loopback network). Where no container can be booted, only the units
are verified, which is reported, and counts as a failure in CI, where one can."""

import json
import os
import resource
import shutil
import signal
import subprocess
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
UNITS = os.path.join(ROOT, "packaging/systemd")
EXPOSURE_MOST = 2.0
BOOT_S = 60
HAMMER_S = 10
UID = 990
ADDRESS = "http://127.0.0.1:8778"
# systemd creates the second one's directory, and makes it and its contents the service's own when that starts
PATHS = ("/run/berth.sock", "/run/berth/api.sock")


SPARE_DIFFERS = ("Description=", "StartLimitIntervalSec=", "Sockets=", "Restart=", "RestartSec=", "RestartPreventExitStatus=")


def same_units(score):
    """The spare service is the same, except for how it is started and stopped."""
    def lines(name):
        with open(os.path.join(UNITS, name)) as file:
            return [line for line in file.read().split("\n[Install]")[0].splitlines()
                    if line.strip() and not line.startswith(("#", *SPARE_DIFFERS))]

    score.case("berthd-spare.service is berthd.service", None if lines("berthd-spare.service") == lines("berthd.service")
               else "they differ")


def verify(score, directory, program):
    """The units unchanged, except for the program, which is not installed."""
    for name in os.listdir(UNITS):
        with open(os.path.join(UNITS, name)) as source, open(os.path.join(directory, name), "w") as target:
            berth = os.path.join(os.path.dirname(program), "berth")
            target.write(source.read().replace("/usr/sbin/berthd", program).replace("/usr/bin/berth ", berth + " "))
    paths = [os.path.join(directory, name) for name in sorted(os.listdir(UNITS))]
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", *paths], capture_output=True, text=True,
                          env={**os.environ, "SYSTEMD_UNIT_PATH": directory + ":"})
    # names that only enabled units have
    said = "\n".join(line for line in done.stderr.splitlines() if "berthd" in line and "-enabled.socket" not in line)
    score.case("systemd-analyze verify", None if done.returncode == 0 and not said else done.stderr)
    done = subprocess.run(["systemd-analyze", "security", "--offline=true", "--json=off", "--no-pager", "--threshold=100",
                           os.path.join(UNITS, "berthd.service")], capture_output=True, text=True)
    level = [line for line in done.stdout.splitlines() if "Overall exposure level" in line]
    exposure = float(level[0].split(": ")[1].split()[0]) if level else None
    score.case(f"systemd-analyze security: {exposure}",
               None if exposure is not None and exposure < EXPOSURE_MOST else done.stdout[-500:])


class Container:
    """A booted container; run() runs a command inside it."""

    def __init__(self, program, directory):
        self.shared = os.path.join(directory, "shared")
        os.makedirs(self.shared + "/units/berthd.service.d")
        os.makedirs(self.shared + "/state")
        for name in os.listdir(UNITS):
            shutil.copy(os.path.join(UNITS, name), self.shared + "/units")
        with open(self.shared + "/units/berthd.socket", "a") as unit:
            unit.write("".join(f"\n[Socket]\nListenStream={path}\nSocketGroup=nogroup\nSocketMode=0660\n" for path in PATHS))
        self.write("units/berthd.service.d/test.conf",
                   "[Service]\nExecStart=\nExecStart=/berth/berthd $BERTHD_OPTIONS\nWatchdogSec=4\nExecReload=\n"
                   "ExecReload=/berth/berth config validate $BERTHD_OPTIONS\nExecReload=/bin/kill -HUP $MAINPID\n")
        os.makedirs(self.shared + "/units/berthd-spare.service.d")
        self.write("units/berthd-spare.service.d/test.conf", "[Service]\nExecStart=\nExecStart=/berth/berthd\n")
        self.write("passwd", f"root:x:0:0::/root:/bin/sh\nplacement:x:{UID}:{UID}::/var/lib/placement:/bin/false\n"
                             "nobody:x:65534:65534::/:/bin/false\n")
        self.write("group", f"root:x:0:\nplacement:x:{UID}:\nnogroup:x:65534:\n")
        self.configuration = ("[api]\nauth_strategy = noauth2\n[placement_database]\n"
                              "connection = sqlite:////var/lib/berth/berth.db\nsync_on_startup = true\n")
        self.write("placement.conf", self.configuration)
        self.write("units/test.target", "[Unit]\nDescription=a test\nRequires=basic.target\nAfter=basic.target\n")
        shutil.copy(program, self.shared + "/berthd")
        shutil.copy(os.path.join(os.path.dirname(os.path.abspath(program)), "berth"), self.shared + "/berth")
        os.mkdir(self.shared + "/bin")
        shutil.copy(os.path.join(os.path.dirname(program), "berth"), self.shared + "/bin")
        os.chmod(self.shared, 0o755)
        os.chmod(directory, 0o755)
        self.log = open(os.path.join(directory, "nspawn.log"), "wb")
        binds = {self.shared: "/berth", self.shared + "/passwd": "/etc/passwd", self.shared + "/group": "/etc/group",
                 self.shared + "/placement.conf": "/etc/placement/placement.conf", self.shared + "/bin": "/usr/local/bin",
                 os.path.join(ROOT, "tests"): "/tests"}
        self.process = subprocess.Popen(
            ["systemd-nspawn", "--quiet", "--directory=/", "--volatile=yes", "--register=no", "--keep-unit",
             "--private-network", "--console=pipe", f"--machine=berth-{os.getpid()}",
             *[f"--bind-ro={outside}:{inside}" for outside, inside in binds.items()],
             "--setenv=SYSTEMD_UNIT_PATH=/berth/units:", "--boot", "--", "--unit=test.target"],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        self.leader = None

    def write(self, name, text):
        with open(os.path.join(self.shared, name), "w") as file:
            file.write(text)

    def boot(self):
        """None, or the reason why it did not boot."""
        end = time.monotonic() + BOOT_S
        while time.monotonic() < end:
            if self.process.poll() is not None:
                return self.said()
            children = subprocess.run(["pgrep", "-P", str(self.process.pid)], capture_output=True, text=True).stdout.split()
            self.leader = children[0] if children else None
            if self.leader and self.run("systemctl", "is-active", "test.target").stdout.strip() == "active":
                return None
            time.sleep(0.2)
        return f"no boot in {BOOT_S} s: {self.said()}"

    def said(self):
        with open(self.log.name, errors="replace") as file:
            return file.read()[-1000:]

    def inside(self, *command):
        return ["nsenter", "-t", self.leader, "-a", *command]

    def run(self, *command, timeout=60):
        return subprocess.run(self.inside(*command), capture_output=True, text=True, timeout=timeout,
                              stdin=subprocess.DEVNULL)

    def systemctl(self, *arguments):
        return self.run("systemctl", "--no-pager", *arguments)

    def shown(self, unit, name):
        return self.systemctl("show", "-P", name, unit).stdout.strip()

    def curl(self, path):
        return self.run("curl", "-s", "-m", "20", "-o", "/dev/null", "-w", "%{http_code}", ADDRESS + path).stdout

    def journal(self):
        return self.run("journalctl", "--no-pager", "-n", "40", "-u", "berthd*").stdout

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                pass
        if self.leader and os.path.exists(f"/proc/{self.leader}") and self.process.poll() is None:
            os.kill(int(self.leader), signal.SIGKILL)
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.log.close()


def wait_until(condition, seconds=20):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.1)
    return False


def status_fields(container, pid):
    text = container.run("cat", f"/proc/{pid}/status").stdout
    return dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)


def lives(score, box):
    done = box.systemctl("start", "berthd.socket")
    score.case("the socket starts", None if done.returncode == 0 else done.stderr)
    before = box.shown("berthd.service", "ActiveState")
    code = box.curl("/")
    score.case("the first request starts the service", None if before == "inactive" and code == "200"
               else f"{before} {code} {box.journal()}")
    pid = box.shown("berthd.service", "MainPID")
    text = box.shown("berthd.service", "StatusText")
    score.case("it reports its status", None if text.startswith("serving 0 providers") else text)
    fields = status_fields(box, pid)
    wanted = {"Uid": f"{UID}\t{UID}\t{UID}\t{UID}", "NoNewPrivs": "1", "Seccomp": "2", "CapEff": "0" * 16,
              "CapBnd": "0" * 16}
    wrong = {name: fields.get(name) for name, value in wanted.items() if fields.get(name) != value}
    score.case("it is locked in", f"{wrong}" if wrong else None)
    limit = box.run("grep", "open files", f"/proc/{pid}/limits").stdout.split()
    most = min(65535, resource.getrlimit(resource.RLIMIT_NOFILE)[1])  # a container's systemd cannot raise it
    score.case(f"it may open {most} files", None if str(most) in limit else f"{limit}")
    threads = [line.split()[:2] for line in box.run("ps", "-L", "-o", "cls,ni,comm", "-p", pid).stdout.splitlines()[1:]]
    score.case("all threads have the same priority", None if threads and all(thread == ["TS", "0"] for thread in threads)
               else f"{threads}")
    done = box.systemctl("reload", "berthd")
    again = box.shown("berthd.service", "MainPID")
    score.case("reload", None if done.returncode == 0 and again == pid and box.shown("berthd", "ActiveState") == "active"
               else done.stderr)


def reload_of_a_wrong_configuration(score, box):
    """The reload fails, and berthd goes on unchanged."""
    pid = box.shown("berthd.service", "MainPID")
    box.write("placement.conf", box.configuration + "[berth]\nidle_timeout = soon\n")
    failed = box.systemctl("reload", "berthd").returncode
    reported = "idle_timeout must be a whole number" in box.journal()
    box.write("placement.conf", box.configuration)
    done = box.systemctl("reload", "berthd").returncode
    now = box.shown("berthd.service", "MainPID"), box.shown("berthd.service", "ActiveState")
    score.case("a reload of a wrong configuration fails", None if failed and reported and done == 0 and now == (pid, "active")
               and box.curl("/") == "200" else f"{failed} {reported} {done} {now} {box.journal()}")


def reload_with_options(score, box):
    """A drop-in names another configuration: a reload checks the one that berthd uses, not the machine's own."""
    box.write("other.conf", box.configuration)
    box.write("units/berthd.service.d/options.conf", '[Service]\nEnvironment="BERTHD_OPTIONS=--config-file /berth/other.conf -d"\n')
    box.systemctl("daemon-reload")
    box.systemctl("restart", "berthd")
    pid = box.shown("berthd.service", "MainPID")
    words = box.run("cat", f"/proc/{pid}/cmdline").stdout.split("\0")[1:-1]
    score.case("berthd has the switches of BERTHD_OPTIONS", None if words == ["--config-file", "/berth/other.conf", "-d"] else words)
    box.write("placement.conf", box.configuration + "[berth]\nidle_timeout = soon\n")
    code = box.systemctl("reload", "berthd").returncode
    score.case("a reload does not mind what berthd does not read", box.journal() if code else None)
    box.write("placement.conf", box.configuration)
    box.write("other.conf", box.configuration + "[berth]\nidle_timeout = late\n")
    code = box.systemctl("reload", "berthd").returncode
    score.case("a reload of a wrong configuration of BERTHD_OPTIONS fails", None if code and "not 'late'" in box.journal() and
               box.shown("berthd.service", "MainPID") == pid and box.curl("/") == "200" else box.journal())
    os.unlink(os.path.join(box.shared, "units/berthd.service.d/options.conf"))
    box.systemctl("daemon-reload")
    box.systemctl("restart", "berthd")


def hammered(score, box, name, *steps):
    """No request fails meanwhile."""
    began = time.monotonic()
    hammer = subprocess.Popen(box.inside("/usr/bin/python3", "-B", "/tests/running/hammer.py", ADDRESS, str(HAMMER_S)),
                              stdout=subprocess.PIPE, text=True)
    try:
        time.sleep(1.5)
        failed = [f"{step}: {done.stderr}" for step in steps for done in [box.systemctl(*step)] if done.returncode]
        if time.monotonic() - began > HAMMER_S:
            failed.append("the steps took longer than the load")
        result = json.loads(hammer.communicate(timeout=60)[0])
    finally:
        if hammer.poll() is None:
            hammer.kill()
            hammer.wait()
    bad = failed or result["failures"] or (None if result["answered"] > 100 else "no load")
    score.case(f"{name} ({result['answered']} requests, longest {result['longest_ms']} ms)",
               f"{bad} {box.journal()}" if bad else None, time.monotonic() - began)


OTHER_SOCKETS = {"admin": (8779, "/healthz"), "baremetal": (6385, "/"), "valet": (8090, "/")}


def hands_over_all(score, box):
    """Restarts beside a spare one, with load on the listeners of all four."""
    units = [f"berthd-{name}.socket" for name in OTHER_SOCKETS]
    box.systemctl("enable", *units)
    box.systemctl("restart", "berthd")
    loads = {name: subprocess.Popen(box.inside("/usr/bin/python3", "-B", "/tests/running/hammer.py", f"http://127.0.0.1:{port}",
                                               str(HAMMER_S), "--get", path, "--keep", "4", "--once", "4"),
                                    stdout=subprocess.PIPE, text=True) for name, (port, path) in OTHER_SOCKETS.items()}
    try:
        hammered(score, box, "restarts beside a spare one, all four sockets given", ["start", "berthd-spare"],
                 ["restart", "berthd"], ["stop", "berthd-spare"], ["start", "berthd-spare"], ["restart", "berthd"],
                 ["stop", "berthd-spare"])
        for name, load in loads.items():
            result = json.loads(load.communicate(timeout=60)[0])
            score.case(f"meanwhile at the {name} socket ({result['answered']} requests, longest {result['longest_ms']} ms)",
                       None if result["answered"] > 100 and not result["failures"] else f"{result} {box.journal()}")
    finally:
        for load in loads.values():
            if load.poll() is None:
                load.kill()
                load.wait()
    box.systemctl("disable", "--now", *units)
    box.systemctl("restart", "berthd")


def spare_that_fails(score, box):
    """The spare service cannot start if berthd itself has opened one of its addresses; berthd and its socket go on."""
    box.write("placement.conf", box.configuration + "[baremetal]\nenabled = true\n")
    box.systemctl("restart", "berthd")
    codes = [box.systemctl("start", "berthd-spare").returncode for _ in range(8)]
    journal = box.journal()
    state = box.shown("berthd.socket", "ActiveState"), box.shown("berthd.service", "ActiveState")
    reported = "cannot listen on 127.0.0.1:6385: Address already in use" in journal and "service manager holds" in journal
    score.case("a spare one that cannot open an address does no harm", None if 0 not in codes and reported and
               state == ("active", "active") and box.curl("/") == "200" else f"{codes} {state} {journal}")
    box.systemctl("reset-failed", "berthd-spare")
    box.write("placement.conf", box.configuration)
    box.systemctl("restart", "berthd")


def keeps_paths(score, box):
    """After restarts, and a stop of the spare one."""
    for path in PATHS:
        code = box.run("curl", "-s", "-m", "20", "-o", "/dev/null", "-w", "%{http_code}", "--unix-socket", path,
                       "http://localhost/").stdout
        score.case(f"{path}, which systemd opened, is still there", None if code == "200" else box.run("ls", "-l", path).stderr)
    owner = box.run("stat", "--format", "%a %G", PATHS[0]).stdout.strip()
    score.case("with the group of the clients that may connect", None if owner == "660 nogroup" else owner)


def watched(score, box):
    pid = box.shown("berthd.service", "MainPID")
    box.run("kill", "-STOP", pid)
    good = wait_until(lambda: box.shown("berthd.service", "MainPID") not in (pid, "0"), 30)
    result = box.shown("berthd.service", "NRestarts")
    score.case("the watchdog ends one that hangs, and another one serves",
               None if good and result == "1" and box.curl("/") == "200" else f"{good} {result} {box.journal()}")


def valet(score, box):
    """The Valet API's socket: enabled, then opened by a restart."""
    def code():
        return box.run("curl", "-s", "-m", "20", "-o", "/dev/null", "-w", "%{http_code}", "http://127.0.0.1:8090/").stdout

    before = code()
    box.systemctl("enable", "berthd-valet.socket")
    box.systemctl("restart", "berthd")
    score.case("the Valet API is served, and was not before", None if (before, code()) == ("000", "200") else
               f"{before} {code()} {box.systemctl('status', 'berthd-valet.socket').stdout} {box.journal()}")
    box.systemctl("disable", "--now", "berthd-valet.socket")
    box.systemctl("restart", "berthd")
    score.case("the Valet API is gone with its socket", None if (code(), box.curl("/")) == ("000", "200") else code())


def metal(score, box):
    """The Bare Metal API's socket, as in the guide: enabled, then opened by a restart, under load on the other one."""
    address = "http://127.0.0.1:6385/"

    def code():
        return box.run("curl", "-s", "-m", "20", "-o", "/dev/null", "-w", "%{http_code}", address).stdout

    before = code()
    hammered(score, box, "a restart that opens the bare metal API's socket", ["enable", "berthd-baremetal.socket"],
             ["restart", "berthd"])
    score.case("it is served then, and was not before", None if (before, code()) == ("000", "200") else
               f"{before} {code()} {box.systemctl('status', 'berthd-baremetal.socket').stdout} {box.journal()}")
    load = subprocess.Popen(box.inside("/bin/sh", "-c", "for i in $(seq 200); do curl -s -m 20 -o /dev/null -w '%{http_code}\\n' "
                                       f"{address}; sleep 0.01; done"), stdout=subprocess.PIPE, text=True)
    done = box.systemctl("restart", "berthd")
    codes = load.communicate(timeout=120)[0].split()
    score.case("its clients see nothing of a restart", None if codes == ["200"] * 200 and done.returncode == 0 else
               f"{sorted(set(codes))} {done.stderr}")
    box.systemctl("disable", "--now", "berthd-baremetal.socket")
    box.systemctl("restart", "berthd")
    score.case("disabled, it is gone", None if (code(), box.curl("/")) == ("000", "200") else f"{code()} {box.curl('/')}")


def ends(score, box):
    done = box.systemctl("stop", "berthd.socket", "berthd.service")
    result = box.shown("berthd.service", "Result"), box.shown("berthd.service", "ExecMainStatus")
    score.case("a stop is clean", None if done.returncode == 0 and result == ("success", "0") else f"{result}")
    box.write("placement.conf", "[api]\nauth_strategy = nonsense\n")
    box.systemctl("start", "berthd.service")
    good = wait_until(lambda: box.shown("berthd.service", "ActiveState") == "failed", 30)
    journal = box.journal()
    score.case("a wrong configuration fails, with its reason in the journal, and is given up",
               None if good and "auth_strategy must be one of" in journal else journal)


def with_container(score, program, directory, play):
    """Calls play with a booted container; where none can be booted, that is said, and counts as a failure in CI."""
    box = Container(program, directory)
    try:
        problem = box.boot()
        if problem:
            print(f"SKIPPED: no container with systemd can be booted here: {problem}", flush=True)
            if os.environ.get("CI"):
                score.case("a container with systemd", problem)
            return
        play(box)
    finally:
        box.end()


def play(score, box):
    box.systemctl("disable", "--now", *[f"berthd-{name}.socket" for name in OTHER_SOCKETS])  # a first boot enables all units
    lives(score, box)
    reload_of_a_wrong_configuration(score, box)
    reload_with_options(score, box)
    hammered(score, box, "systemctl restart under load", *[["restart", "berthd"]] * 3)
    hammered(score, box, "restart beside a spare one under load", ["start", "berthd-spare"],
             ["restart", "berthd"], ["stop", "berthd-spare"])
    hands_over_all(score, box)
    spare_that_fails(score, box)
    keeps_paths(score, box)
    metal(score, box)
    valet(score, box)
    watched(score, box)
    ends(score, box)


def run(score, program, quick):
    same_units(score)
    with tempfile.TemporaryDirectory(prefix="berth-systemd-", dir="/var/tmp") as directory:
        os.mkdir(directory + "/verify")
        verify(score, directory + "/verify", os.path.abspath(program))
        with_container(score, program, directory, lambda box: play(score, box))
