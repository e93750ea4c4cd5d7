"""Ends everything that a test runs below a directory, and removes the directory.

    python3 guard.py DIRECTORY <PIPE

The processes below a directory are those whose working directory is inside it. Database servers put their children into
sessions of their own, so a process group would not find them. As a program, this waits until all writing ends of the pipe
are closed, that is, until the test has ended in whichever way, even by SIGKILL."""

import ctypes
import glob
import os
import shutil
import signal
import sys
import time

QUICK_END_S = 5
IPC_RMID = 0


def processes_below(directory):
    """Process ids, without zombies."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                where = os.readlink(f"/proc/{entry}/cwd").removesuffix(" (deleted)")
            except OSError:  # it has ended, or belongs to another user
                continue
            if where == directory or where.startswith(directory + "/"):
                found.append(int(entry))
    return found


def send(pids, *signals):
    for pid in pids:
        for number in signals:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass


def postmaster_lines(data):
    """The lines of a data directory's postmaster.pid; none if no server runs in it or was killed in it."""
    try:
        with open(os.path.join(data, "postmaster.pid")) as file:
            return file.read().splitlines()
    except OSError:
        return []


def remove_segment(data):
    """A killed postmaster leaves a System V segment of shared memory in the kernel: line 7 has its key and its id."""
    for line in postmaster_lines(data)[6:7]:
        ctypes.CDLL(None).shmctl(int(line.split()[1]), IPC_RMID, None)


def postmasters_below(directory):
    """{process id: data directory}, for the servers that run."""
    running = processes_below(directory)
    data_directories = [os.path.dirname(path) for path in glob.glob(f"{directory}/*/postmaster.pid")]
    found = {int(lines[0]): data for data in data_directories if (lines := postmaster_lines(data))}
    return {pid: data for pid, data in found.items() if pid in running}


def has_ended(pid):
    """Whether it is gone or a zombie."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] in "ZX"
    except (OSError, IndexError):
        return True


def end_processes(directory):
    """An immediate shutdown of the servers, in which they end their children and free what they share; then SIGKILL."""
    send(processes_below(directory), signal.SIGCONT)
    masters = postmasters_below(directory)
    send(masters, signal.SIGQUIT)
    end = time.monotonic() + QUICK_END_S
    while not all(has_ended(pid) for pid in masters) and time.monotonic() < end:
        time.sleep(0.01)
    while running := processes_below(directory):
        send(running, signal.SIGKILL)
        time.sleep(0.01)


def clean(directory):
    if not os.path.exists(directory):
        return
    end_processes(directory)
    for path in glob.glob(f"{directory}/*/postmaster.pid"):
        remove_segment(os.path.dirname(path))
    shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    sys.stdin.buffer.read()
    clean(sys.argv[1])
