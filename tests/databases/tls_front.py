"""What ends the TLS of a client, as a balancer does, and sends what its server says in records as large as TLS allows.

    with Postgres(tls=True) as server, TlsFront(server) as front:
        server.url(port=front.port, sslmode="require")

PostgreSQL does so by itself from version 17 on; before, its records have 8 KiB at most. The certificate is the server's."""

import contextlib
import select
import socket
import ssl
import struct
import threading

from postgres_wire import TLS

RECORD_BYTES = 16384
YES = b"S"
PAUSE_S = 0.02  # what has not come by then is for the next record


class TlsFront:
    def __init__(self, server):
        self._server_port = server.port
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(server.options["ssl_cert_file"], server.options["ssl_key_file"])
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self._ends = []
        self._threads = [threading.Thread(target=self._accept, daemon=True)]

    def __enter__(self):
        self._threads[0].start()
        return self

    def __exit__(self, *exception):
        for end in (self._listening, *self._ends):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        for end in (self._listening, *self._ends):
            end.close()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                self._threads.append(threading.Thread(target=self._serve, args=(client,), daemon=True))
                self._threads[-1].start()

    def _serve(self, client):
        """One thread for both directions: an object of TLS is not for two."""
        with contextlib.suppress(OSError):
            request = client.recv(8, socket.MSG_WAITALL)
            if request != struct.pack("!II", 8, TLS):
                raise OSError(f"{request!r} does not ask for TLS")
            client.sendall(YES)
            client = self._context.wrap_socket(client, server_side=True)
            self._ends.append(client)
            server = socket.create_connection(("127.0.0.1", self._server_port))
            server.sendall(request)
            server.recv(1)
            server = ssl._create_unverified_context().wrap_socket(server)
            self._ends.append(server)
            self._forward(client, server)

    def _forward(self, client, server):
        waiting = b""
        while True:
            readable = [end for end in (client, server) if end.pending()]
            readable = readable or select.select([client, server], [], [], PAUSE_S if waiting else None)[0]
            if client in readable:
                said = client.recv(RECORD_BYTES)
                if not said:
                    return
                server.sendall(said)
            if server in readable:
                waiting += server.recv(RECORD_BYTES)
            while len(waiting) >= RECORD_BYTES or waiting and server not in readable:
                client.sendall(waiting[:RECORD_BYTES])
                waiting = waiting[RECORD_BYTES:]
