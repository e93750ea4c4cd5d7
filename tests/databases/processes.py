"""What all database servers of the tests need: a directory that ends with the test, a user that they accept, and their
processes."""

import fcntl
import inspect
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import guard  # noqa: E402
import servers  # noqa: E402
from guard import has_ended  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(HERE))
SOCKET_PATH_MOST = 107  # bytes; sockaddr_un, unix(7)
SOCKET_NAME_MOST = 40   # of that, for the names below a place
USUAL = "/tmp"           # the directory of temporary files
ROOM = 6 << 30           # bytes, for the servers of all tests that run at the same time
MADE_ONCE = os.path.join(ROOT, "build/databases")


class Failure(Exception):
    pass


def server_user():
    """The user that runs the servers. As root, which they refuse: Debian's postgres, or else nobody."""
    if os.getuid() != 0:
        return pwd.getpwuid(os.getuid())
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise Failure("neither the user postgres nor nobody exists")


def is_open_to_others(directory):
    """Whether any user may enter the directory and all above it."""
    while directory != "/":
        if not os.stat(directory).st_mode & 0o001:
            return False
        directory = os.path.dirname(directory)
    return True


def temporary_root():
    """In memory, if the directory of temporary files is the usual one and there is room: a server has a thousand files, and
    creating and removing them on a disk takes longer than most tests. Otherwise the directory of temporary files, unless its
    path is too long for sockets or closed to the servers' user."""
    chosen = os.path.realpath(tempfile.gettempdir())
    memory = servers.directory_in_memory(ROOM) if chosen == USUAL else None
    if memory:
        return memory
    fits = len(os.fsencode(chosen)) + SOCKET_NAME_MOST <= SOCKET_PATH_MOST
    return chosen if fits and (os.getuid() != 0 or is_open_to_others(chosen)) else USUAL


class Place:
    """A temporary directory of the servers' user. When it is removed, or when this process ends in whichever way, the
    processes that run in it are ended, too."""

    def __init__(self):
        self.user = server_user()
        self.path = tempfile.mkdtemp(prefix="berth-db-", dir=temporary_root())
        self.own(self.path)
        self._guard = subprocess.Popen([sys.executable, "-I", "-S", os.path.join(HERE, "guard.py"), self.path],
                                       stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, cwd="/", start_new_session=True)

    def own(self, path):
        if os.getuid() == 0:
            os.chown(path, self.user.pw_uid, self.user.pw_gid)

    def make_directory(self, name):
        path = os.path.join(self.path, name)
        os.mkdir(path, 0o700)
        self.own(path)
        return path

    def write(self, name, text):
        """A file that only the servers' user reads and writes."""
        path = os.path.join(self.path, name)
        with open(path, "w", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.write(text)
        self.own(path)
        return path

    def copy(self, source, name):
        """A copy of a directory, which belongs to the servers' user."""
        path = os.path.join(self.path, name)
        subprocess.run(["cp", "-a", "--reflink=auto", source, path], check=True)
        if os.getuid() == 0:
            subprocess.run(["chown", "-R", f"{self.user.pw_uid}:{self.user.pw_gid}", path], check=True)
        return path

    def as_user(self):
        """Arguments of subprocess for a command that is to run as the servers' user, in the place. Its environment has
        none of the variables that libpq reads."""
        changed = {} if os.getuid() != 0 else {"user": self.user.pw_uid, "group": self.user.pw_gid, "extra_groups": []}
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
        return {"cwd": self.path, "env": {**environment, "LC_ALL": "C.UTF-8", "HOME": self.path},
                "stdin": subprocess.DEVNULL, **changed}

    def run(self, *command, timeout=60):
        """Runs a command as the servers' user, and returns what it printed."""
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=timeout,
                              **self.as_user())
        if done.returncode:
            raise Failure(f"{' '.join(command)} ended with {done.returncode}: {done.stdout[-2000:]}")
        return done.stdout

    def start(self, log, *command):
        """Starts a server as the servers' user, in a session of its own so that no signal to the tests reaches it."""
        with open(log, "ab") as output:
            return subprocess.Popen(command, stdout=output, stderr=output, start_new_session=True, **self.as_user())

    def remove(self):
        guard.clean(self.path)
        self._guard.stdin.close()
        self._guard.wait()


def version_of(program):
    """The version that it prints."""
    text = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    return re.search(r"\d[\d.]+", text).group()


def made_once(name, make):
    """The path of the data directory that `with make()` provides, as no server runs in it, to be copied. Making it takes
    seconds, so this happens once for each build directory and name, and again when make() has changed."""
    path = os.path.join(MADE_ONCE, f"{name}-{os.getuid()}-{zlib.crc32(inspect.getsource(make).encode()):08x}")
    os.makedirs(MADE_ONCE, exist_ok=True)
    with open(path + ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(path):
            with make() as data:
                shutil.rmtree(path + ".part", ignore_errors=True)
                shutil.copytree(data, path + ".part")
                os.rename(path + ".part", path)
    return path


def parent_of(pid):
    """None if the process has ended."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return int(file.read().rpartition(")")[2].split()[1])
    except (OSError, IndexError):
        return None


def children_of(pid):
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and parent_of(name) == pid]


def state_of(pid):
    """The letter of proc(5); X if it has ended."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return "X"


def await_end(pids, seconds=10):
    end = time.monotonic() + seconds
    while not all(has_ended(pid) for pid in pids):
        if time.monotonic() > end:
            raise Failure(f"processes still run: {[pid for pid in pids if not has_ended(pid)]}")
        time.sleep(0.005)


def stop_tree(process):
    """Stops the process and its children, and returns their ids. The parent is first, so that it starts no more."""
    os.kill(process.pid, signal.SIGSTOP)
    wait_until(lambda: state_of(process.pid) in "TZX", "the process does not stop")
    pids = [process.pid, *children_of(process.pid)]
    guard.send(pids, signal.SIGSTOP)
    return pids


def continue_tree(process):
    guard.send([*children_of(process.pid), process.pid], signal.SIGCONT)


def kill_tree(process):
    """SIGKILL for the process and its children, none of which can do anything in between."""
    pids = stop_tree(process)
    guard.send(pids, signal.SIGKILL)
    process.wait()
    await_end(pids)


def wait_until(condition, what, seconds=30, pause=0.01):
    """The first true result of condition(). Fails with the text `what`, or with what() if it is a function."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        if time.monotonic() > end:
            raise Failure(f"not in {seconds} s: {what() if callable(what) else what}")
        time.sleep(pause)
    return found


class Beside:
    """A thread that works beside the body of a `with` statement. A subclass has _work(), which returns soon after `is_over` is set."""

    def __init__(self):
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self._work)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *exception):
        self.is_over.set()
        self.thread.join()


class Daemon:
    """A server in a place of its own. A subclass has start(), which returns the object."""

    def __init__(self):
        self.process = None
        self.place = Place()
        self.log_file = self.place.write("log", "")

    def execute(self, *command):
        """Starts the process without waiting until it is ready."""
        if self.is_running():
            raise Failure("the server already runs")
        self.process = self.place.start(self.log_file, *command)

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def expect_running(self):
        if self.process.poll() is not None:
            raise Failure(f"the server ended with {self.process.returncode}: {self.log()[-2000:]}")

    def send(self, number):
        self.process.send_signal(number)

    def kill(self):
        """SIGKILL for the server and all its children."""
        kill_tree(self.process)

    def freeze(self):
        """SIGSTOP for the server and its children: the kernel still accepts connections, and nothing is answered."""
        stop_tree(self.process)

    def thaw(self):
        continue_tree(self.process)

    def log(self):
        with open(self.log_file, errors="replace") as file:
            return file.read()

    def end(self):
        """The end of a test: ends the server and removes its directory."""
        self.place.remove()
        if self.process is not None:
            self.process.wait()

    def __enter__(self):
        try:
            return self if self.is_running() else self.start()
        except BaseException:
            self.end()
            raise

    def __exit__(self, *exception):
        self.end()
