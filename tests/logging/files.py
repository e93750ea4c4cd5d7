"""Log files: rotated by others, by berthd itself, removed, on a full disk."""

import os
import re
import resource
import shutil
import signal
import subprocess
import time

import case
from case import ask, berthd, expect, expect_all, names_in, wait_until


def logrotate_copytruncate(program, directory):
    """The file is copied and truncated: lines go on at its beginning, not after a hole."""
    log = os.path.join(directory, "p.log")
    with berthd(program, directory, f"log_file = {log}") as server:
        asked = []
        for generation in range(3):
            ask(server, f"g{generation}", 50)
            asked += [f"g{generation}-{number}" for number in range(50)]
            wait_until(lambda: len(names_in(log)) == 50, "the lines are not written")
            shutil.copy(log, f"{log}.{generation}")
            os.truncate(log, 0)
        ask(server, "last", 1)
        server.stop()
    expect_all(asked + ["last-0"], case.files(log))
    expect(os.path.getsize(log) < 4096, "the file was not cut")


def logrotate_rename_and_hup(program, directory):
    log = os.path.join(directory, "p.log")
    with berthd(program, directory, f"log_file = {log}", "log_rotation_type = size") as server:
        load = case.Load(server)
        for generation in range(8):
            time.sleep(0.25)
            os.rename(log, f"{log}.a{generation}")
            server.process.send_signal(signal.SIGHUP)
            wait_until(lambda: os.path.exists(log), "no new file after SIGHUP")
        asked = load.end()
        server.stop()
    expect_all(asked, case.files(log))


def renamed_without_a_word(program, directory):
    """As oslo.log's WatchedFileHandler, which is its default."""
    log = os.path.join(directory, "p.log")
    with berthd(program, directory, f"log_file = {log}") as server:
        load = case.Load(server)
        for generation in range(8):
            time.sleep(0.25)
            os.rename(log, f"{log}.a{generation}")
            wait_until(lambda: os.path.exists(log), "no new file")
        asked = load.end()
        server.stop()
    expect_all(asked, case.files(log))


def failed_start(program, directory):
    """Its reason is on standard error, once, and in every other destination of the log: whatever it is that fails."""
    for number, (options, reason) in enumerate((
            (["[placement_database]", "max_retries = soon"], "[placement_database] max_retries must be a whole number, not 'soon'"),
            (["[placement_database]", "connection = nonsense"], "the database connection is not a URL"),
            (["[berth]", "listen = 192.0.2.1:1"], "cannot listen on 192.0.2.1:1"),
            (["[oslo_policy]", "policy_file = " + os.path.join(directory, "bad.yaml")], "must be text (in quotes) or a list"))):
        with open(os.path.join(directory, "bad.yaml"), "w") as file:
            file.write('"placement:traits:list": 1\n')
        log, config = (os.path.join(directory, f"{number}.{end}") for end in ("log", "conf"))
        for destination in ([f"log_file = {log}"], []):
            with open(config, "w") as file:
                file.write("\n".join(["[DEFAULT]", *destination, "[api]", "auth_strategy = noauth2", "[placement_database]",
                                      f"connection = sqlite:///{directory}/p.db", "sync_on_startup = true", *options]) + "\n")
            done = subprocess.run([program, "--config-file", config], capture_output=True, text=True,
                                  timeout=30)
            lines = [line for line in done.stderr.splitlines() if reason in line]
            expect(done.returncode == 1 and len(lines) == 1 and lines[0].startswith("berthd: "), f"{options}: {done}")
        with open(log) as file:
            lines = file.read().splitlines()
        expect(re.fullmatch(r"\S+ \S+ \d+ CRITICAL berth \[-\] berthd could not start: .*" + re.escape(reason) + ".*", lines[-1]),
               f"{options}: {lines}")
        expect(sum(reason in line for line in lines) == 1, lines)


def failed_start_without_a_log(program, directory):
    """A log file that cannot be opened is the reason, or stands in no other reason's way."""
    log = os.path.join(directory, "absent", "p.log")
    for option, reason in (("[api]", "cannot open the log file"), ("max_logfile_count = few", "max_logfile_count must be a whole")):
        config = os.path.join(directory, "a.conf")
        with open(config, "w") as file:
            file.write(f"[DEFAULT]\nlog_file = {log}\n{option}\n[placement_database]\nconnection = sqlite:///{directory}/p.db\n")
        done = subprocess.run([program, "--config-file", config], capture_output=True, text=True, timeout=30)
        expect(done.returncode == 1 and done.stderr.startswith("berthd: ") and reason in done.stderr and
               done.stderr.count("\n") == 1, done)


def watch_log_file(program, directory):
    """Created again before any further line."""
    log = os.path.join(directory, "p.log")
    with berthd(program, directory, f"log_dir = {directory}", "log_file = p.log", "watch_log_file = true") as server:
        os.unlink(log)
        wait_until(lambda: os.path.exists(log), "no new file")
        ask(server, "a", 3)
        wait_until(lambda: len(names_in(log)) == 3, "the lines are not written")
        os.rename(log, log + ".1")
        wait_until(lambda: os.path.exists(log), "no new file")
        ask(server, "b", 3)
        server.stop()
    expect(sorted(names_in(log)) == ["b-0", "b-1", "b-2"], names_in(log))


def rotation_by_size(program, directory):
    """openstack-k8s-operators' settings, with smaller files; no file reaches its limit."""
    log = os.path.join(directory, "p.log")
    with berthd(program, directory, f"log_file = {log}", "log_rotation_type = size", "max_logfile_size_mb = 1",
                "max_logfile_count = 30") as server:
        load = case.Load(server, padding=3000)
        wait_until(lambda: len(case.files(log)) >= 8, "too few rotations", 60)
        asked = load.end()
        server.stop()
    rotated = case.files(log)
    expect(sorted(rotated) == sorted([log] + [f"{log}.{i}" for i in range(1, len(rotated))]), rotated)
    for path in rotated[1:]:
        size = os.path.getsize(path)
        expect(1 << 20 > size > (1 << 20) - 8192, f"{path} has {size} bytes")
    expect_all(asked, rotated)


def size_rotation_keeps_so_many(program, directory):
    log = os.path.join(directory, "p.log")
    with berthd(program, directory, f"log_file = {log}", "log_rotation_type = SIZE", "max_logfile_size_mb = 1",
                "max_logfile_count = 2") as server:
        ask(server, "a", 1600, 3000)
        server.stop()
    expect(case.files(log) == [log, log + ".1", log + ".2"], case.files(log))
    expect("a-1599" in names_in(log) and "a-0" not in names_in(*case.files(log)), "the wrong ones are gone")


def settings_of_k8s_operators(program, directory):
    log = os.path.join(directory, "placement.log")
    with berthd(program, directory, "debug = true", f"log_file = {log}", "log_rotation_type=size",
                "max_logfile_count=5", "max_logfile_size_mb=50") as server:
        ask(server, "a", 10)
        server.stop()
    with open(log) as file:
        text = file.read()
    expect(text.count("Starting request: ") == 10 and text.count("status: 404") == 10, "lines are missing")


def rotation_by_interval(program, directory):
    log = os.path.join(directory, "p.log")
    with berthd(program, directory, f"log_file = {log}", "log_rotation_type = interval", "log_rotate_interval = 1",
                "log_rotate_interval_type = seconds", "max_logfile_count = 100") as server:
        load = case.Load(server)
        time.sleep(4.5)
        asked = load.end()
        server.stop()
    rotated = case.files(log)
    expect(len(rotated) >= 4, rotated)
    for path in rotated:
        expect(re.fullmatch(r"p\.log(\.\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d)?", os.path.basename(path)), path)
    expect_all(asked, rotated)


def interval_rotation_keeps_so_many(program, directory):
    log = os.path.join(directory, "p.log")
    with berthd(program, directory, f"log_file = {log}", "log_rotation_type = interval", "log_rotate_interval = 1",
                "log_rotate_interval_type = Seconds", "max_logfile_count = 2") as server:
        for number in range(5):
            ask(server, "a", 1, 0, number)
            time.sleep(1.1)
        server.stop()
    expect(len(case.files(log)) == 3, case.files(log))


def removed_directory(program, directory):
    """Lines are lost and counted, requests are answered; once the directory is back, so is the log."""
    logs = os.path.join(directory, "logs")
    log = os.path.join(logs, "p.log")
    os.mkdir(logs)
    with berthd(program, directory, f"log_file = {log}") as server:
        ask(server, "before", 3)
        shutil.rmtree(logs)
        ask(server, "lost", 100)
        time.sleep(1.2)
        os.mkdir(logs)
        wait_until(lambda: os.path.exists(log), "no new file")
        wait_until(lambda: "bytes of the log could not be written and are lost" in open(log).read(), "not logged")
        ask(server, "after", 3)
        server.stop()
    expect(sorted(names_in(log)) == ["after-0", "after-1", "after-2"], names_in(log))


def path_that_cannot_be_opened(program, directory):
    """After the rename something else has the file's name: lines go on to the renamed file, and say so."""
    log = os.path.join(directory, "p.log")
    with berthd(program, directory, f"log_file = {log}") as server:
        ask(server, "a", 3)
        os.rename(log, log + ".1")
        os.mkdir(log)
        ask(server, "b", 50)
        wait_until(lambda: f"WARNING berth.log [-] the log file {log} cannot be reopened: Is a directory\n"
                   in open(log + ".1").read(), "not logged")
        time.sleep(1.2)
        os.rmdir(log)
        wait_until(lambda: os.path.exists(log), "no new file")
        ask(server, "c", 3)
        server.stop()
    expect(len(names_in(log + ".1")) == 53 and len(names_in(log)) == 3, "lines are missing")


def two_berthd_on_one_file(program, directory):
    """As in a restart without a gap: whichever process rotates, every line is kept."""
    sizes = ["log_rotation_type = size", "max_logfile_size_mb = 1", "max_logfile_count = 500"]
    seconds = ["log_rotation_type = interval", "log_rotate_interval = 1", "log_rotate_interval_type = seconds",
               "max_logfile_count = 500"]
    for kind, options in {"s": sizes, "i": seconds}.items():
        homes = [os.path.join(directory, kind + which) for which in ("log", "one", "other")]
        for home in homes:
            os.mkdir(home)
        log = os.path.join(homes[0], "p.log")
        with (berthd(program, homes[1], f"log_file = {log}", *options) as one,
              berthd(program, homes[2], f"log_file = {log}", *options) as other):
            loads = [case.Load(server, padding=3000) for server in (one, other)]
            time.sleep(2.5)
            asked = [name for load in loads for name in load.end()]
            one.stop()
            other.stop()
        found = names_in(*case.files(log))
        expect(len(case.files(log)) > 2, f"{kind}: too few rotations")
        expect(sorted(found) == sorted(asked), f"{kind}: {len(asked)} asked, {len(found)} lines")


def rotation_in_vain(program, directory):
    log = os.path.join(directory, "p.log")
    os.makedirs(os.path.join(log + ".1", "in the way"))
    with berthd(program, directory, f"log_file = {log}", "log_rotation_type = size", "max_logfile_size_mb = 1",
                "max_logfile_count = 1") as server:
        ask(server, "a", 400, 3000)
        wait_until(lambda: f"the log file {log} cannot be rotated: " in open(log).read(), "not logged")
        server.stop()
    text = open(log).read()
    expect(text.count("cannot be rotated") == 1 and len(names_in(log)) == 400, "logged more than once, or lines are missing")


def full_disk(program, directory):
    """A file that cannot grow: lines are lost, the process goes on; once truncated, it takes lines again."""
    log = os.path.join(directory, "p.log")

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python ignores it
        resource.setrlimit(resource.RLIMIT_FSIZE, (300000, 300000))

    with berthd(program, directory, f"log_file = {log}", limits=limit) as server:
        ask(server, "a", 2000, 200)
        expect(os.path.getsize(log) == 300000, "the file is not full")
        os.truncate(log, 0)
        ask(server, "b", 20)
        wait_until(lambda: "bytes of the log could not be written" in open(log).read(), "not logged")
        server.stop()
    with open(log) as file:
        text = file.read()
    expect(text.count("/nowhere/b-") == 20, "lines are missing")


def reader_that_does_not_read(program, directory):
    """Standard error is a pipe that is never read: every request is answered quickly."""
    server = berthd(program, directory)
    reading, writing = os.pipe()
    out = open(os.path.join(directory, "out"), "wb")
    server.process = subprocess.Popen(server.command(), stdin=subprocess.DEVNULL, stdout=out, stderr=writing)
    try:
        wait_until(lambda: b"ready" in open(out.name, "rb").read(), "it does not start")
        began = time.monotonic()
        ask(server, "a", 3000, 500)
        took = time.monotonic() - began
        expect(took < 20, f"3000 requests took {took:.1f} s")
        os.set_blocking(reading, False)
        expect(len(os.read(reading, 1 << 20)) > 0, "nothing was written")
        began = time.monotonic()
        expect(server.stop() == 0 and time.monotonic() - began < 10, "the end takes long")
    finally:
        server.kill()
        for fd in (reading, writing):
            os.close(fd)
        out.close()


def without_standard_descriptors(program, directory):
    """Started without them: no file and no connection of its own may get a descriptor to which lines are written."""
    log = os.path.join(directory, "p.log")
    server = berthd(program, directory, f"log_file = {log}", "use_stderr = true")
    server.process = subprocess.Popen(["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *server.command()])
    try:
        wait_until(lambda: os.path.exists(log) and "Placement API on" in open(log).read(), "it does not start")
        ask(server, "a", 3)
        links = [os.readlink(f"/proc/{server.process.pid}/fd/{fd}") for fd in range(3)]
        expect(server.stop() == 0, "the exit status")
    finally:
        server.kill()
    expect(links == ["/dev/null"] * 3, links)


def refused(program, directory, *options):
    server = berthd(program, directory, *options)
    try:
        with server:
            pass
    except RuntimeError:
        lines = server.log().splitlines()
        expect(server.process.returncode == 1, f"exit status {server.process.returncode}")
        expect(len(lines) == 1 and lines[0].startswith("berthd: "), lines)
        return lines[0]
    raise AssertionError("it started")


def starts_that_are_refused(program, directory):
    line = refused(program, directory, "log_file = /nowhere/p.log")
    expect(line == "berthd: cannot open the log file /nowhere/p.log: No such file or directory", line)
    line = refused(program, directory, f"log_file = {directory}")
    expect(line.endswith("Is a directory"), line)
    line = refused(program, directory, "use_syslog = true", "syslog_log_facility = LOG_NOTHING")
    expect("syslog_log_facility must be one of LOG_USER" in line, line)
    line = refused(program, directory, "log_config_append = /nowhere/logging.conf")
    expect("/nowhere/logging.conf: No such file" in line, line)
    line = refused(program, directory, "logging_context_format_string = %(message)")
    expect("logging_context_format_string: an incomplete format" in line, line)


CASES = [logrotate_copytruncate, logrotate_rename_and_hup, renamed_without_a_word, watch_log_file, rotation_by_size,
         size_rotation_keeps_so_many, settings_of_k8s_operators, rotation_by_interval,
         interval_rotation_keeps_so_many, removed_directory,
         path_that_cannot_be_opened, two_berthd_on_one_file,
         rotation_in_vain, full_disk, reader_that_does_not_read, without_standard_descriptors,
         starts_that_are_refused, failed_start, failed_start_without_a_log]


def play(score, program, directory):
    case.play(score, program, directory, CASES)
