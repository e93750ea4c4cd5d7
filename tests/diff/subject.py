"""Starts berthd (or a stand-in with the same command line) and sends requests over one kept-open connection.

Requests are written as raw bytes, so that odd targets and headers arrive unchanged; http.client reads the answers.
"""

import http.client
import os
import select
import signal
import socket
import subprocess
import time

import servers
from exchange import Answer


class SubjectError(Exception):
    pass


class Subject:
    def __init__(self, program, config_file, log_path, environment=None):
        self.program, self.config_file, self.log_path = program, config_file, log_path
        self.environment = environment
        self.process = self.socket = None
        self.reconnects = 0

    def start(self, patience_s=60):
        self.port = servers.free_port()
        self.host = "127.0.0.1:%d" % self.port
        if not os.access(self.program[0], os.X_OK):
            raise SubjectError("no program at %s: build it first" % self.program[0])
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                self.program + ["--config-file", self.config_file, "--listen", self.host],
                stdout=subprocess.PIPE,
                stderr=log,
                stdin=subprocess.DEVNULL,
                env=self.environment,
            )
        deadline = time.monotonic() + patience_s
        said = b""
        while not any(line.startswith(b"berthd: ready") for line in said.split(b"\n")):
            left = deadline - time.monotonic()
            ready, _, _ = select.select([self.process.stdout], [], [], max(left, 0))
            piece = os.read(self.process.stdout.fileno(), 4096) if ready else b""
            if not piece:
                self.kill()
                raise SubjectError("%s did not get ready: see %s" % (" ".join(self.program), self.log_path))
            said += piece

    def stop(self):
        """Ends it as an init system does; True if it exited with status 0."""
        self._hang_up()
        if self.process is None:
            return True
        self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.kill()
            return False
        self.process.stdout.close()
        self.process = None
        return status == 0

    def kill(self):
        self._hang_up()
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()
            self.process = None

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def _hang_up(self):
        if self.socket is not None:
            self.socket.close()
            self.socket = None

    def ask(self, request):
        lines = ["%s %s HTTP/1.1" % (request.method, request.target), "Host: " + self.host]
        lines += ["%s: %s" % pair for pair in request.headers]
        if request.body is not None:
            lines.append("Content-Length: %d" % len(request.body))
        raw = "\r\n".join(lines + ["", ""]).encode("latin-1") + (request.body or b"")
        fresh = self.socket is None
        answer = self._exchange(raw, request.method)
        if answer is None and not fresh:
            # The kept-open connection had been closed; a new one decides.
            self.reconnects += 1
            answer = self._exchange(raw, request.method)
        return answer or Answer(0, [], b"")

    def _exchange(self, raw, method):
        try:
            if self.socket is None:
                self.socket = socket.create_connection(("127.0.0.1", self.port), timeout=60)
                self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.socket.sendall(raw)
        except OSError:
            # An early answer (413, 400) may wait although the rest could not be sent.
            if self.socket is None:
                return None
        try:
            response = http.client.HTTPResponse(self.socket, method=method)
            response.begin()
            body = response.read()
            headers = [(k.lower(), v) for k, v in response.getheaders()]
            if response.will_close:
                self._hang_up()
            return Answer(response.status, headers, body)
        except (OSError, http.client.HTTPException):
            self._hang_up()
            return None
