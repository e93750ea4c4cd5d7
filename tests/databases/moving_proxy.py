"""A proxy in front of MariaDB servers that continues a connection on another server, as ProxySQL does when a server has
gone: the client notices nothing, and its session lacks all settings there.

    with MovingProxy(first) as proxy:
        proxy.port
        proxy.target = second       # of new connections
        proxy.move(second)          # open ones continue there, with the next statement

It logs in to the other server with the client's own packet, so that both ends use the same form of the protocol; only the
answer to the server's challenge is another one. Without TLS, and for the native authentication by password."""

import hashlib
import select
import socket
import threading

SOCKET_S = 30


def read_exactly(end, count):
    data = b""
    while len(data) < count:
        more = end.recv(count - len(data))
        if not more:
            raise ConnectionError("the server has ended the connection")
        data += more
    return data


def read_packet(end):
    """(number, payload)"""
    head = read_exactly(end, 4)
    return head[3], read_exactly(end, int.from_bytes(head[:3], "little"))


def packet(number, payload):
    return len(payload).to_bytes(3, "little") + bytes([number]) + payload


def challenge_of(greeting):
    """The 20 bytes in the server's first packet."""
    after = greeting.index(b"\0", 1) + 1 + 4  # the version, and the connection's number
    return greeting[after:after + 8] + greeting[after + 8 + 19:after + 8 + 19 + 12]


def native_answer(password, challenge):
    once = hashlib.sha1(password.encode()).digest()
    mask = hashlib.sha1(challenge + hashlib.sha1(once).digest()).digest()
    return bytes(a ^ b for a, b in zip(once, mask))


def with_answer(response, answer):
    """A client's login with another answer to the challenge, which is after its fixed fields and the user's name."""
    begin = response.index(b"\0", 32) + 1
    return response[:begin] + bytes([len(answer)]) + answer + response[begin + 1 + response[begin]:]


class Connection:
    def __init__(self, proxy, client, server):
        self.proxy, self.client, self.server = proxy, client, server
        self.next = None       # the server on which it is to continue
        self.login = None      # the client's packet
        self.is_answered = False

    def run(self):
        try:
            self.relay()
        except OSError:
            pass
        self.end()
        self.proxy.connections.discard(self)

    def relay(self):
        while True:
            for ready in select.select([self.client, self.server], [], [])[0]:
                data = ready.recv(65536)
                if not data:
                    return
                if ready is self.server:
                    self.client.sendall(data)
                    self.is_answered = self.login is not None
                else:
                    self.forward(data)

    def forward(self, data):
        if self.login is None:
            number, length = data[3], int.from_bytes(data[:3], "little")
            assert number == 1 and len(data) == 4 + length, "a login without TLS is one packet"
            self.login = data[4:]
        elif self.is_answered and self.next is not None:
            self.continue_on(self.next)
        self.is_answered = False
        self.server.sendall(data)

    def continue_on(self, node):
        self.next = None
        server = socket.create_connection(("127.0.0.1", node.port), timeout=SOCKET_S)
        number, greeting = read_packet(server)
        answer = native_answer(node.password, challenge_of(greeting))
        server.sendall(packet(number + 1, with_answer(self.login, answer)))
        result = read_packet(server)[1]
        assert result[:1] == b"\0", f"the login is answered {result!r}"
        server.settimeout(None)
        self.server.close()
        self.server = server
        self.proxy.moved += 1

    def end(self):
        for end in (self.client, self.server):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            end.close()


class MovingProxy:
    """target: a Mariadb. moved: how many connections have been continued on another server."""

    def __init__(self, target):
        self.target, self.connections, self.moved = target, set(), 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def move(self, node):
        for connection in list(self.connections):
            connection.next = node

    def _accept(self):
        while True:
            try:
                client = self.listener.accept()[0]
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self.target.port))
            except OSError:
                client.close()
                continue
            for end in (client, server):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection = Connection(self, client, server)
            self.connections.add(connection)
            threading.Thread(target=connection.run, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for connection in list(self.connections):
            connection.end()
