"""Logging configurations in Python's format (log_config_append), read by both services; and the effect of SIGHUP."""

import os
import signal
import socket
import time

import case
import same_lines
from case import ask, berthd, expect, wait_until

# from openstack-helm's placement chart, with its default values.
HELM = """
[formatter_context]
class = oslo_log.formatters.ContextFormatter
datefmt = %Y-%m-%d %H:%M:%S
[formatter_default]
datefmt = %Y-%m-%d %H:%M:%S
format = %(message)s
[formatters]
keys = context,default
[handler_null]
args = ()
class = logging.NullHandler
formatter = default
[handler_stderr]
args = (sys.stderr,)
class = StreamHandler
formatter = context
[handler_stdout]
args = (sys.stdout,)
class = StreamHandler
formatter = context
[handlers]
keys = stdout,stderr,null
[logger_amqp]
handlers = stderr
level = WARNING
qualname = amqp
[logger_placement]
handlers = stdout
level = INFO
qualname = placement
[logger_root]
handlers = null
level = WARNING
[loggers]
keys = root,placement,amqp
"""

FORMATTERS = """
[DEFAULT]
log = FILE
[formatters]
keys = plain, context, json, bare
[formatter_plain]
format = %(asctime)s %(levelname)-7s <%(name)s> %(message)s
[formatter_context]
class = oslo_log.formatters.ContextFormatter
[formatter_json]
class = oslo_log.formatters.JSONFormatter
datefmt = %H:%M
[formatter_bare]
"""
ROOT = """
[loggers]
keys = root
[logger_root]
level = DEBUG
handlers = file
"""


def file_handler(formatter, more=""):
    return f"""
[handlers]
keys = file
[handler_file]
class = FileHandler
args = ('%(log)s', 'a')
formatter = {formatter}
{more}
"""


CONFIGURATIONS = {
    "plain": FORMATTERS + ROOT + file_handler("plain"),
    "context without dates": FORMATTERS + ROOT + file_handler("context"),
    "json": FORMATTERS + ROOT + file_handler("json"),
    "bare": FORMATTERS + ROOT + file_handler("bare"),
    "no formatter": FORMATTERS + ROOT + file_handler(""),
    "level of the handler": FORMATTERS + ROOT + file_handler("plain", "level = INFO"),
    "watched": FORMATTERS + ROOT + file_handler("plain").replace("FileHandler", "handlers.WatchedFileHandler"),
    "twice by propagation": FORMATTERS + file_handler("plain") + """
[loggers]
keys = root, placement
[logger_root]
handlers = file
[logger_placement]
qualname = placement
level = INFO
handlers = file
""",
    "no propagation": FORMATTERS + file_handler("plain") + """
[loggers]
keys = root, placement, requestlog
[logger_root]
handlers = file
level = CRITICAL
[logger_placement]
qualname = placement
handlers = file
propagate = 0
level = ERROR
[logger_requestlog]
qualname = placement.requestlog
handlers =
level = INFO
""",
}


def put(path, text):
    with open(path, "w") as file:
        file.write(text)


def play_same_lines(score, program, directory):
    pair = same_lines.Pair(program, directory)
    try:
        for number, (name, text) in enumerate(CONFIGURATIONS.items()):
            found = []
            for server in ("python", "berth"):
                log = os.path.join(directory, f"{server}-ini-{number}.log")
                put(os.path.join(directory, f"{server}.ini"), text.replace("FILE", log))
                found.append(log)
            lines = pair.lines_of_configuration(os.path.join(directory, "{}.ini"), found, same_lines.REQUESTS)
            enough = len(lines[0]) >= len(same_lines.REQUESTS)
            problem = same_lines.difference(*(sorted(each) for each in lines))
            score.case(f"same lines by logging configuration: {name}",
                       problem if enough else f"only {len(lines[0])} lines")
    finally:
        pair.stop()


def openstack_helm(program, directory):
    """Lines about requests on standard output, like those of the Python service, together with berth's own."""
    ini = os.path.join(directory, "logging.conf")
    put(ini, HELM)
    options = ["[DEFAULT]", f"log_config_append = {ini}", "[oslo_policy]", "enforce_scope = false"]
    python = same_lines.PythonWithLog(directory, name="python.db", options=options)
    berth = berthd(program, directory, *options[1:])
    found = []
    for server in (python, berth):
        out = os.path.join(directory, server.id + ".out")
        with server:
            for request in same_lines.REQUESTS:
                same_lines.ask(server.port, request)
            wait_until(lambda: open(out).read().count("status: ") == len(same_lines.REQUESTS), "lines are missing")
            server.stop() if server is berth else server.kill()
        with open(out) as file:
            found.append(file.read().splitlines())
        if server is berth:
            expect(server.log() == "", f"on standard error: {server.log()}")
    lines = [sorted(same_lines.masked(line) for line in text if "status: " in line) for text in found]
    problem = same_lines.difference(*lines)
    expect(not problem, problem)
    expect(any(" INFO berth [-] Placement API on " in line for line in found[1]), "berth's own lines are missing")
    expect(not any("DEBUG" in line for line in found[1]), "lines below the level")


def sys_log_handler(program, directory):
    """Datagrams of both services, byte for byte."""
    found = []
    for kind in ("python", "berth"):
        path = os.path.join(directory, kind)
        ini = os.path.join(directory, kind + ".ini")
        put(ini, FORMATTERS + ROOT.replace("DEBUG", "INFO") + f"""
[handlers]
keys = file
[handler_file]
class = handlers.SysLogHandler
args = ('{path}', handlers.SysLogHandler.LOG_LOCAL5)
formatter = plain
""")
        options = ["[DEFAULT]", f"log_config_append = {ini}"]
        receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        receiver.bind(path)
        receiver.settimeout(20)
        server = (same_lines.PythonWithLog(directory, name="python.db", options=options) if kind == "python" else
                  berthd(program, directory, *options[1:]))
        with server:
            same_lines.ask(server.port, same_lines.REQUESTS[3])
            data = b""
            while b"status: " not in data:
                data = receiver.recv(65536)
            server.kill()
        receiver.close()
        found.append(same_lines.masked(data.decode()))
    expect(found[0] == found[1] and found[0].startswith("<174>") and found[0].endswith("\0"), found)


def hup_reads_the_configuration_again(program, directory):
    """Levels from the file that log_config_append names; an invalid file is reported and changes nothing."""
    ini, log = os.path.join(directory, "l.ini"), os.path.join(directory, "p.log")
    text = (FORMATTERS + ROOT + file_handler("context")).replace("FILE", log)
    put(ini, text.replace("DEBUG", "ERROR"))
    with berthd(program, directory, f"log_config_append = {ini}") as server:
        ask(server, "a", 5)
        time.sleep(0.3)  # a line is written after its answer
        put(ini, text)
        server.process.send_signal(signal.SIGHUP)
        time.sleep(0.3)
        ask(server, "b", 5)
        wait_until(lambda: open(log).read().count("Starting request") == 5, "no lines of level DEBUG")
        put(ini, text.replace("DEBUG", "LOUD"))
        server.process.send_signal(signal.SIGHUP)
        wait_until(lambda: "no such level: LOUD" in open(log).read(), "the fault is not logged")
        ask(server, "c", 5)
        server.stop()
    with open(log) as file:
        found = file.read()
    expect("/nowhere/a-" not in found, "lines below the level")
    expect(found.count("Starting request") == 10, "the levels have changed")


def rate_limit(program, directory):
    """oslo.log's filter; the current Python service does not start with it (it expects an option of another name)."""
    with berthd(program, directory, "rate_limit_burst = 20", "rate_limit_interval = 3600",
                "rate_limit_except_level = ERROR") as server:
        ask(server, "a", 50)
        server.stop()
    log = server.log()
    expect(log.count(" ERROR root [None req-") == 1, "not logged once")
    expect("Logging rate limit: drop after 20 records/3600 sec" in log, "not logged")
    expect(log.count(" INFO ") == 20, f"{log.count(' INFO ')} lines")


def secrets(program, directory):
    """Neither in the options logged at DEBUG nor anywhere else."""
    with berthd(program, directory, "debug = true", "[keystone_authtoken]", "password = geheim1",
                "memcache_secret_key = geheim2", "application_credential_secret = geheim3", "[profiler]",
                "hmac_keys = geheim4") as server:
        ask(server, "a", 3)
        server.stop()
    log = server.log()
    expect("geheim" not in log, "a secret is in the log")
    expect("keystone_authtoken.password    = ****" in log and "placement_database.connection  = ****" in log, "")


CASES = [openstack_helm, sys_log_handler, hup_reads_the_configuration_again, rate_limit, secrets]


def play(score, program, directory):
    play_same_lines(score, program, directory)
    case.play(score, program, directory, CASES)
