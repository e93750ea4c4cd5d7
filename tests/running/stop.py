"""Stops: requests in progress are completed, a second signal ends berthd, and the exit status shows which."""

import http.client
import json
import signal
import socket
import sqlite3
import tempfile
import threading
import time

from service_manager import Manager, tcp_socket

HEADERS = {"x-auth-token": "admin", "openstack-api-version": "placement 1.39", "content-type": "application/json"}


class Lock:
    """Another program's write transaction: writes of berthd wait for its end."""

    def __init__(self, database):
        self.connection = sqlite3.connect(database, isolation_level=None)
        self.connection.execute("BEGIN IMMEDIATE")

    def release(self):
        self.connection.execute("ROLLBACK")
        self.connection.close()


class Write(threading.Thread):
    """A request in progress: (status, headers) at the end, or the error."""

    def __init__(self, port, name):
        super().__init__(daemon=True)
        self.port, self.name, self.outcome = port, name, None
        self.start()

    def run(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request("POST", "/resource_providers", json.dumps({"name": self.name}), HEADERS)
            answer = connection.getresponse()
            answer.read()
            self.outcome = answer.status, answer.getheader("connection")
        except (OSError, http.client.HTTPException) as error:
            self.outcome = type(error).__name__, str(error)
        finally:
            connection.close()


class Case:
    def __init__(self, program, directory, *options):
        self.sock = tcp_socket()
        self.manager = Manager(program, directory, ["[berth]", *options], [("placement", self.sock)])
        self.process = self.manager.start()
        self.port = self.sock.getsockname()[1]

    def ask(self, connection, path="/"):
        connection.request("GET", path, headers=HEADERS)
        answer = connection.getresponse()
        answer.read()
        return answer

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.manager.__exit__()


def finishes(score, program, directory):
    with Case(program, directory) as case:
        lock = Lock(case.manager.database)
        writes = [Write(case.port, f"w{i}") for i in range(8)]
        kept = http.client.HTTPConnection("127.0.0.1", case.port, timeout=10)
        case.ask(kept)
        body = socket.create_connection(("127.0.0.1", case.port))
        text = b'{"name": "slowly"}'
        body.sendall(b"POST /resource_providers HTTP/1.1\r\nHost: x\r\nX-Auth-Token: admin\r\nContent-Type: "
                     b"application/json\r\nOpenStack-API-Version: placement 1.39\r\nContent-Length: %d\r\n\r\n" % len(text))
        time.sleep(0.3)
        case.process.signal(signal.SIGTERM)
        time.sleep(0.1)
        again = case.ask(kept)
        score.case("a kept connection may send one more request, and its answer says close",
                   None if again.status == 200 and again.getheader("connection") == "close" else f"{again.headers}")
        _, index = case.process.wait_for("STATUS", after=len(case.process.messages) - 1)
        body.sendall(text)
        time.sleep(0.8)
        states = [message["STATUS"] for _, message in case.process.messages if "STATUS" in message]
        score.case("the status describes what is waited for",
                   None if any(state.startswith("stopping: 9 requests") for state in states) else f"{states}")
        lock.release()
        for write in writes:
            write.join(10)
        outcomes = [write.outcome for write in writes]
        score.case("writes that had begun are answered, and the answers say close",
                   None if outcomes == [(200, "close")] * 8 else f"{outcomes}")
        body.settimeout(10)
        got = body.recv(200)
        score.case("so is a request whose body was still coming", None if b" 200 OK" in got else f"{got}")
        status = case.process.wait()
        score.case("the stop is clean", None if status == 0 else f"{status} {case.process.log()[-500:]}")


def grace(score, program, directory):
    with Case(program, directory, "stop_grace = 1") as case:
        silent = socket.create_connection(("127.0.0.1", case.port))
        silent.sendall(b"POST /resource_providers HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
        time.sleep(0.3)
        began = time.monotonic()
        case.process.signal(signal.SIGTERM)
        status = case.process.wait()
        took = time.monotonic() - began
        score.case("stop_grace bounds it, and the exit status shows it",
                   None if status == 3 and 0.9 < took < 4 else f"{status} after {took:.1f} s")
        score.case("so does the log", None if "1 requests are cut off" in case.process.log() else case.process.log())
        silent.close()


def second_signal(score, program, directory):
    for first, second in ((signal.SIGTERM, signal.SIGTERM), (signal.SIGINT, signal.SIGINT),
                          (signal.SIGTERM, signal.SIGINT)):
        with Case(program, directory) as case:
            silent = socket.create_connection(("127.0.0.1", case.port))
            silent.sendall(b"POST /resource_providers HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
            time.sleep(0.3)
            case.process.signal(first)
            case.process.wait_for("STOPPING")
            began = time.monotonic()
            case.process.signal(second)
            status = case.process.wait()
            took = time.monotonic() - began
            score.case(f"{first.name} and {second.name}: at once",
                       None if status == 3 and took < 1 and "second signal" in case.process.log()
                       else f"{status} after {took:.1f} s: {case.process.log()[-300:]}")
            silent.close()


def idle(score, program, directory):
    with Case(program, directory) as case:
        kept = [http.client.HTTPConnection("127.0.0.1", case.port, timeout=10) for _ in range(50)]
        for connection in kept:
            case.ask(connection)
        silent = [socket.create_connection(("127.0.0.1", case.port)) for _ in range(50)]
        time.sleep(0.3)  # until they are accepted: requests that wait in a passed socket belong to the next process
        began = time.monotonic()
        case.process.signal(signal.SIGTERM)
        status = case.process.wait()
        took = time.monotonic() - began
        score.case("idle connections hold nothing up", None if status == 0 and took < 3 else f"{status}, {took:.1f} s")
        for sock in silent:
            sock.settimeout(5)
        ends = [connection.sock.recv(1) for connection in kept] + [sock.recv(1) for sock in silent]
        score.case("they see the end of the stream, not a reset", None if ends == [b""] * 100 else "")
        for sock in silent:
            sock.close()


def statuses(score, program, directory):
    with Manager(program, directory, arguments=["--nonsense"]) as manager:
        process = manager.start(wait=False)
        status = process.wait()
        score.case("a wrong command line ends with 2", None if status == 2 else status)
    taken = tcp_socket()
    arguments = ["--listen", f"127.0.0.1:{taken.getsockname()[1]}"]
    with Manager(program, directory, arguments=arguments) as manager:
        process = manager.start(wait=False)
        status = process.wait()
        score.case("an address that is taken ends with 1", None if status == 1 else status)
    taken.close()


def run(score, program, quick):
    for part in (finishes, grace, second_signal, idle, statuses):
        with tempfile.TemporaryDirectory(prefix="berth-stop-") as directory:
            part(score, program, directory)
