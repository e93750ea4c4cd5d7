"""What an operator looks at first: the log's first and last line, berth status, and the page that it shows."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time
import urllib.request

import servers


HEADER = b"HTTP/1.1 200 OK\r\n\r\n"


def wait_until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)


def berth(program, *arguments):
    done = subprocess.run([os.path.join(os.path.dirname(os.path.abspath(program)), "berth"), "status", *arguments],
                          capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


def played_by(answer, pause_s=None):
    """The port of a server that answers one connection with these bytes, byte by byte if there is a pause; None:
    never."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(1)

    def serve():
        with listener:
            client, _ = listener.accept()
            client.recv(65536)
            if answer is None:
                threading.Event().wait(30)
            try:
                for piece in [answer or b""] if pause_s is None else [answer[at:at + 1] for at in range(len(answer))]:
                    client.sendall(piece)
                    time.sleep(pause_s or 0)
            except OSError:
                pass  # the client has given up
            client.close()

    threading.Thread(target=serve, daemon=True).start()
    return listener.getsockname()[1]


def odd_answers(score, program):
    for name, answer, wanted in (("nothing", b"", 3), ("no HTTP", b"hello\r\n\r\n", 3), ("half a header", b"HTTP/1.1 200 OK\r\n", 3),
                                 ("no JSON", b"HTTP/1.1 200 OK\r\n\r\nhello", 1), ("a list", b"HTTP/1.1 200 OK\r\n\r\n[]", 1),
                                 ("an older berthd", b"HTTP/1.1 404 Not Found\r\n\r\nthere is no such page", 1),
                                 ("an empty object", b"HTTP/1.1 200 OK\r\n\r\n{}", 1),
                                 ("other types", b'HTTP/1.1 200 OK\r\n\r\n{"version": "1", "ready": false, "checks": [], '
                                                 b'"addresses": {}, "recent_errors": [1], "configuration_files": [null]}', 1),
                                 ("too much", HEADER + b"x" * (2 << 20), 3), ("silence", None, 3)):
        code, out, err = berth(program, "--admin", f"127.0.0.1:{played_by(answer)}")
        score.case(f"berth status, answered by {name}", None if code == wanted and (out or err) else f"{code} {out} {err}")


def no_status_page(score, program):
    """An answer that another program may well give; it says nothing about readiness."""
    for name, body in (("an empty object", b"{}"), ("no version", b'{"ready": true}'), ("another type", b'{"ready": 1, "version": "1"}')):
        code, out, err = berth(program, "--admin", f"127.0.0.1:{played_by(HEADER + body)}")
        score.case(f"berth status, {name}: no status page", None if code == 1 and not out and
                   err == "berth status: the answer (HTTP 200) is not a status page of berthd\n" else f"{code} {out} {err}")


def slow_answer(score, program):
    """Each byte is in time, but the whole answer is not."""
    began = time.monotonic()
    port = played_by(HEADER + b" " * 50000, pause_s=0.001)  # less than a tick of the receive timeout
    code, _, err = berth(program, "--admin", f"127.0.0.1:{port}")
    took = time.monotonic() - began
    score.case("berth status waits 5 seconds for all of the answer", None if code == 3 and 4.5 < took < 8 and
               "no complete answer within 5 seconds" in err else f"{code} {took} {err}")


def control_characters(score, program):
    """They could move the cursor of the terminal, or forge lines."""
    odd = "a\x1b[2Jb\nc\x7fd\u009be\u00e9"
    texts = {"version": odd, "database": odd, "ready": False, "configuration_files": [odd],
             "checks": {odd: {"ok": False, "detail": odd}, "schema": {"ok": True, "detail": odd}},
             "addresses": [{"serves": odd, "url": odd}], "recent_errors": [{"time": 0, "logger": odd, "message": odd}]}
    answer = HEADER + json.dumps(texts, ensure_ascii=False, indent=1).encode()
    _, out, err = berth(program, "--admin", f"127.0.0.1:{played_by(answer)}")
    shown = r"a\x1b[2Jb\x0ac\x7fd\x9be" + "\u00e9"
    bare = re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", out)
    score.case("berth status writes control characters as \\xNN", None if not bare and not err and out.count(shown) == 10
               else f"{out.count(shown)} {out!r} {err}")
    _, out, _ = berth(program, "--json", "--admin", f"127.0.0.1:{played_by(answer)}")
    bare = re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", out)
    score.case("berth status --json escapes them as JSON does", None if not bare and json.loads(out) == texts else repr(out))


def server_header(score, program):
    """Off unless the option is set; then at each listener, whatever the status."""
    version = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=60).stdout.split()[1]
    for value in (None, "true", "false"):
        with tempfile.TemporaryDirectory(prefix="berth-header-") as directory:
            ports = [servers.free_port() for _ in range(4)]
            options = ["[berth]", f"admin_listen = 127.0.0.1:{ports[3]}", *([f"server_header = {value}"] if value else [])]
            found = []
            with servers.Berthd(program, directory, port=ports[0], baremetal_port=ports[1], valet_port=ports[2], options=options):
                for port in ports:
                    for path in ("/", "/healthz", "/nowhere", "/%00"):
                        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
                        connection.request("GET", path)
                        answer = connection.getresponse()
                        found.append((ports.index(port), answer.status, answer.headers.get_all("Server")))
                        connection.close()
            wanted = [f"berth/{version}"] if value == "true" else None
            wrong = [one for one in found if one[2] != wanted]
            score.case(f"Server header with server_header = {value}", wrong or (None if len(found) == 16 else found))


def lines(score, server):
    """The lines of a complete log."""
    log = [line for line in server.log().splitlines() if " alembic.runtime.migration " not in line]
    first = re.search(r" INFO berth \[-\] berthd \d+\.\d+\.\d+ serves sqlite:////\S+\.db, revision [0-9a-f]{12}: 0 resource "
                      r"providers, loaded in \d+\.\d\d s$", log[0])
    score.case("the log's first line", None if first else log[0])
    score.case("the log's last line", None if log[-1].endswith(" INFO berth [-] stopped") else log[-1])


def run(score, program, quick):
    with tempfile.TemporaryDirectory(prefix="berth-status-") as directory:
        path, port = os.path.join(directory, "admin.sock"), servers.free_port()
        options = ["[berth]", f"admin_listen = 127.0.0.1:{port}", f"admin_listen = unix:{path}"]
        server = servers.Berthd(program, directory, options=options, valet_port=servers.free_port())
        with server:
            server.client().make_provider("5c0f4a1e-7d51-4a8e-9a51-6d1f0a4be101", VCPU=1)
            code, out, err = berth(program, "--config-file", server.config_file)
            wanted = [f"process {server.process.pid}, since ", f"configuration  {server.config_file}\n",
                      f"database       sqlite:///{server.database}\n", ", 1 resource provider\n",
                      f"Placement API on http://127.0.0.1:{server.port}\n", f"Valet API on http://127.0.0.1:{server.valet_port}\n",
                      f"metrics and health on unix:{path}\n", "state          ready\n", "recent errors  none\n"]
            missing = [part for part in wanted if part not in out]
            score.case("berth status", None if code == 0 and not missing and not err else f"{code} {missing} {out} {err}")
            code, out, _ = berth(program, "--admin", f"unix:{path}", "--json")
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/status", timeout=10) as answer:
                page = json.load(answer)
            shown = json.loads(out)
            same = all(shown[name] == page[name] for name in page if name not in ("uptime", "checks"))
            score.case("berth status --json, by a unix socket", None if code == 0 and same else f"{code} {out}")
            with open(server.config_file, "a") as file:
                file.write("\n[placement]\nallocation_conflict_retry_count = nonsense\n")
            server.process.send_signal(signal.SIGHUP)
            wait_until(lambda: "the configuration stays as it was" in server.log())
            code, out, _ = berth(program, "--admin", f"127.0.0.1:{port}")
            score.case("a reload that failed is a recent error", None if code == 0 and re.search(
                r"recent errors  \S+ \S+ berth: the configuration stays as it was: ", out) else f"{code} {out}")
            code, out, _ = berth(program, "--config-file", server.config_file)
            score.case("a broken configuration still gives the address", None if code == 0 else f"{code} {out}")
            server.stop()
        lines(score, server)
        code, out, err = berth(program, "--config-file", server.config_file)
        score.case("none runs", None if code == 3 and "no berthd answers on" in err and "admin_listen" in err else f"{code} {err}")
        code, _, err = berth(program, "--admin", "nonsense")
        score.case("no address", None if code == 2 and "--admin must be" in err else f"{code} {err}")
        odd_answers(score, program)
        no_status_page(score, program)
        slow_answer(score, program)
        control_characters(score, program)
        server_header(score, program)
