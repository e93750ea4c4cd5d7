"""A TCP proxy in front of a database server, which fails when a test wants it to.

    with Postgres() as server, FaultyProxy(server.port) as proxy:
        server.url(port=proxy.port)
        lost = proxy.cut(sender="server", kind="CommandComplete", text="^COMMIT$")      # the answer to the next COMMIT
        ...
        lost.wait()

A fault waits for the n-th message from then on that matches, and then happens before or after that message is forwarded:
cut() ends the connection, swallow() keeps it open and forwards nothing more in either direction, not even an answer to that
message; delay() forwards later.
The same for all connections, at once: cut_all(), swallow_all(), delay_all(), refuse(). recover() forgets all faults,
and what was swallowed arrives late, as after a network was down. All methods may be called by any thread.

All that knows the protocol is in a class of its own (postgres_wire.py)."""

import collections
import contextlib
import re
import socket
import struct
import threading
import time

from postgres import servers
from postgres_wire import PostgresWire
from processes import Failure, wait_until

CHUNK_BYTES = 1 << 16
OTHER = {"client": "server", "server": "client"}


class Fault:
    """application, number: the connections it is for, by their application_name or by their order (the first is 1); all
    by default. sender, kind, text: the messages that count; text is a regular expression that is searched in the
    message's text, in any case. nth: which of them; then the count begins again until the fault has happened `times`
    times; None for always."""

    def __init__(self, action, sender=None, kind=None, text=None, nth=1, when="before", application=None, number=None,
                 times=1):
        if when not in ("before", "after") or sender not in (None, "client", "server"):
            raise ValueError(f"{when}, {sender}")
        self.action, self.when = action, when
        self.sender, self.kind, self.nth, self.times = sender, kind, nth, times
        self.text = None if text is None else re.compile(text, re.IGNORECASE)
        self.application, self.number = application, number
        self.happened = 0
        self._seen = self._over = 0
        self._changed = threading.Condition()

    def is_due(self, connection, sender, message):
        """Counts the message, and returns whether the fault is to happen now."""
        if (self.sender not in (None, sender) or self.kind not in (None, message.kind)
                or not connection.is_one_of(self.application, self.number)
                or self.text is not None and not self.text.search(message.text or "")):
            return False
        with self._changed:
            self._seen += 1
            if self._seen % self.nth or self.happened == self.times:
                return False
            self.happened += 1
        return True

    def happen(self, connection):
        self.action(connection)
        with self._changed:
            self._over += 1
            self._changed.notify_all()

    def wait(self, seconds=30, times=1):
        """Until it has happened that often, and what it does is done."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._over >= times, seconds):
                raise Failure(f"the fault did not happen in {seconds} s")


class Connection:
    """One client's connection, and the one to the server that belongs to it. counts: by sender and kind, what was
    received."""

    def __init__(self, proxy, number, client, flows):
        self.number = number
        self.counts = {"client": collections.Counter(), "server": collections.Counter()}
        self.is_open = True
        self._proxy = proxy
        self._wire = proxy.protocol()
        self._ends = {"client": client}
        self._flows = threading.Event()  # cleared while the connection is swallowed
        if flows:
            self._flows.set()
        self._answers = {"client": threading.Event(), "server": threading.Event()}  # cleared while the other end's fault happens
        for answers in self._answers.values():
            answers.set()
        self._threads = [threading.Thread(target=self._serve, daemon=True)]
        self._threads[0].start()

    @property
    def application(self):
        return self._wire.application

    def is_one_of(self, application, number):
        return application in (None, self.application) and number in (None, self.number)

    def swallow(self):
        self._flows.clear()

    def flow(self):
        self._flows.set()

    def cut(self, reset=False):
        """The client sees the end of the connection, or a reset. The server gets all that was forwarded, and then sees
        an orderly end; what it still answers is dropped."""
        self.is_open = False
        client = self._ends["client"]
        if reset:
            with contextlib.suppress(OSError):  # it has just ended by itself
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            shut(client, socket.SHUT_RD)  # wakes the thread that reads
            client.close()  # sends the reset
        else:
            shut(client, socket.SHUT_RDWR)
        if "server" in self._ends:
            shut(self._ends["server"], socket.SHUT_WR)
        self._flows.set()

    def end(self):
        self.cut()
        for end in list(self._ends.values()):
            shut(end, socket.SHUT_RDWR)
        for thread in list(self._threads):
            thread.join(5)

    def _serve(self):
        try:
            self._flows.wait()
            if not self.is_open:
                return
            self._ends["server"] = self._proxy.connect()
            self._threads.append(threading.Thread(target=self._forward, args=("server",), daemon=True))
            self._threads[1].start()
            self._forward("client")
            self._threads[1].join()
        except OSError:  # the server refuses connections
            pass
        finally:
            self.is_open = False
            for end in self._ends.values():
                end.close()
            self._proxy.forget(self)

    def _forward(self, sender):
        """All that one end sends."""
        source, target = self._ends[sender], self._ends[OTHER[sender]]
        try:
            while data := source.recv(CHUNK_BYTES):
                time.sleep(self._proxy.latency(self) if sender == "client" else 0)
                self._forward_messages(sender, source, target, self._wire.feed(sender, data))
        except OSError:
            pass
        if sender == "server" and self.is_open:
            shut(target, socket.SHUT_RDWR)  # a server that ends takes no more either
            self.is_open = False
        else:
            shut(target, socket.SHUT_WR)

    def _forward_messages(self, sender, source, target, messages):
        ready = []
        for message in messages:
            self.counts[sender][message.kind] += 1
            faults = self._proxy.due(self, sender, message)
            for fault in faults:
                if fault.when == "before":
                    self._send(sender, target, ready)
                    ready = []
                    fault.happen(self)
            if message.reply is not None:
                source.sendall(message.reply)
            else:
                ready.append(message.data)
            for fault in faults:
                if fault.when == "after":
                    self._fail_after(fault, sender, target, ready)
                    ready = []
        self._send(sender, target, ready)

    def _fail_after(self, fault, sender, target, ready):
        """An answer may arrive before the fault has happened: it has to wait until then. This does not wait for a fault of the
        other end, which may be waiting for this one."""
        answers = self._answers[OTHER[sender]]
        answers.clear()
        try:
            self._flows.wait()
            self._send_now(target, ready)
            fault.happen(self)
        finally:
            answers.set()

    def _send(self, sender, target, ready):
        self._answers[sender].wait()
        self._flows.wait()
        self._send_now(target, ready)

    def _send_now(self, target, ready):
        if ready and self.is_open:
            target.sendall(b"".join(ready))


def shut(end, how):
    try:
        end.shutdown(how)
    except OSError:  # the other side was faster
        pass


class FaultyProxy:
    """Listens on `port` of 127.0.0.1. to_port: the server's."""

    def __init__(self, to_port, protocol=PostgresWire, port=None):
        self.to_port, self.protocol = to_port, protocol
        self.port = port or servers.free_port()
        self._lock = threading.Lock()
        self._faults, self._latencies = (), {}  # replaced as a whole, so that connections need no lock to read them
        self._connections = []
        self._ended = collections.Counter()  # the messages of ended connections, by application, sender and kind
        self._made = 0
        self._flows = True  # new connections
        self._listener = None
        self._listen()

    # Faults at a message. Each returns the Fault; its arguments are those of Fault.

    def cut(self, reset=False, **which):
        return self._add(lambda connection: connection.cut(reset), which)

    def swallow(self, **which):
        return self._add(Connection.swallow, which)

    def delay(self, seconds, **which):
        """Also delays what the same end sends afterwards, and after a message its answers."""
        return self._add(lambda connection: time.sleep(seconds), which)

    # Faults at once.

    def cut_all(self, reset=False, application=None):
        for connection in self.connections(application):
            connection.cut(reset)

    def swallow_all(self, application=None):
        """Without an application, also swallows connections that are made from now on."""
        with self._lock:
            self._flows = self._flows and application is not None
        for connection in self.connections(application):
            connection.swallow()

    def delay_all(self, seconds, application=None):
        """Whatever clients send, or the clients of this name, from now on."""
        with self._lock:
            self._latencies = {**self._latencies, application: seconds}

    def refuse(self):
        """Refuses new connections; those that are open stay."""
        with self._lock:
            listener, self._listener = self._listener, None
        if listener:
            shut(listener, socket.SHUT_RDWR)
            self._acceptor.join()
            listener.close()

    def recover(self):
        with self._lock:
            self._faults, self._latencies = (), {}
            self._flows = True
        for connection in self.connections():
            connection.flow()
        if self._listener is None:
            self._listen()

    # What is seen.

    def connections(self, application=None, number=None):
        """Those that are open, in their order."""
        with self._lock:
            return [connection for connection in self._connections if connection.is_one_of(application, number)]

    def count(self, sender, kind, application=None):
        """How many of these messages were received."""
        with self._lock:
            ended = sum(number for (name, *rest), number in self._ended.items()
                        if rest == [sender, kind] and application in (None, name))
            return ended + sum(connection.counts[sender][kind] for connection in self._connections
                               if connection.is_one_of(application, None))

    def await_connection(self, application=None, seconds=30):
        return wait_until(lambda: self.connections(application), f"no connection of {application}", seconds)[0]

    # For the connections.

    def due(self, connection, sender, message):
        return [fault for fault in self._faults if fault.is_due(connection, sender, message)]

    def latency(self, connection):
        return self._latencies.get(connection.application, self._latencies.get(None, 0)) if self._latencies else 0

    def connect(self):
        made = socket.create_connection(("127.0.0.1", self.to_port))
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return made

    def forget(self, connection):
        with self._lock:
            self._connections.remove(connection)
            for sender, counts in connection.counts.items():
                self._ended.update({(connection.application, sender, kind): number for kind, number in counts.items()})

    # Inside.

    def _add(self, action, which):
        fault = Fault(action, **which)
        with self._lock:
            self._faults += (fault,)
        return fault

    def _listen(self):
        self._listener = socket.create_server(("127.0.0.1", self.port), backlog=128)
        self._acceptor = threading.Thread(target=self._accept, args=(self._listener,), daemon=True)
        self._acceptor.start()

    def _accept(self, listener):
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._lock:
                self._made += 1
                self._connections.append(Connection(self, self._made, client, self._flows))

    def end(self):
        self.refuse()
        for connection in self.connections():
            connection.end()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.end()
