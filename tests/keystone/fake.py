"""The tests' own Keystone, for what a real one does not do on request: be slow, be unavailable, send invalid
answers.

It knows GET /v3/projects/{id}, POST /v3/auth/tokens (any credentials except those it is configured to refuse), GET
/v3/auth/tokens for its own tokens, and its version documents; it counts requests. One object, many threads."""

import copy
import http.server
import json
import socket
import ssl
import threading
import time
import urllib.parse

DOMAIN = {"id": "default", "name": "Default"}
OWN_USER = {"id": "u-placement", "name": "placement", "domain": DOMAIN}


def stamp(seconds):
    """The time in that many seconds, in Keystone's format."""
    return time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime(time.time() + seconds))


def token_body(user="u-1", project="p-1", roles=("admin",), lives=3600, **more):
    """Keystone's description of a token; more: additional members, None removes one."""
    body = {
        "methods": ["password"],
        "user": {"id": user, "name": "n-" + user, "domain": dict(DOMAIN), "password_expires_at": None},
        "audit_ids": ["audit"],
        "expires_at": stamp(lives),
        "issued_at": stamp(-10),
        "roles": [{"id": "r-" + name, "name": name} for name in roles],
        "is_domain": False,
    }
    if project is not None:
        body["project"] = {"id": project, "name": "n-" + project, "domain": dict(DOMAIN)}
    body.update(more)
    return {name: value for name, value in body.items() if value is not None}


class Query:
    """A request to Keystone."""

    def __init__(self, handler):
        self.method, self.path = handler.command, handler.path
        self.headers = {name.lower(): value for name, value in handler.headers.items()}
        self.at = time.monotonic()

    def __repr__(self):
        return f"{self.method} {self.path} {(self.token or '-')[:40]!r}"

    @property
    def token(self):
        return self.headers.get("x-subject-token")

    @property
    def is_validation(self):
        return self.method == "GET" and urllib.parse.urlsplit(self.path).path.endswith("/auth/tokens")

    @property
    def is_about_project(self):
        return "/projects/" in self.path

    @property
    def is_login(self):
        return self.method == "POST" and urllib.parse.urlsplit(self.path).path.endswith("/auth/tokens")


class FakeKeystone:
    """Serves until stop(). Its behaviour can be changed at any time:

    tokens        {token: body}; an expired one is only returned with allow_expired
    projects      the ids of those that exist
    own_tokens    {token: when it expires}: the service's, by the monotonic clock
    odd           called with (handler, query) before anything else; True: it has answered
    own_lives     lifetime in seconds of the service's own tokens
    own_refused   refuse the service's credentials
    endpoints     the identity endpoints in the catalog, [(interface, region, url)]
    """

    def __init__(self, port=0, certificate=None, key=None, client_ca=None, prefix=""):
        self.lock = threading.Lock()
        self.tokens, self.own_tokens, self.queries, self.logins = {}, {}, [], []
        self.projects = set()
        self.connections = []
        self.odd = None
        self.own_lives, self.own_refused = 3600, False
        self.prefix = prefix
        self.certificate, self.key, self.client_ca = certificate, key, client_ca
        self.port = port
        self.server = None
        self.start()
        self.endpoints = [(interface, "RegionOne", self.url + "/v3") for interface in ("public", "internal", "admin")]
        self.running = self.most_running = 0

    @property
    def url(self):
        return f"{'https' if self.certificate else 'http'}://127.0.0.1:{self.port}{self.prefix}"

    def start(self):
        fake = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self):
                fake.serve(self)

            do_POST = do_GET

            def log_message(self, *arguments):
                pass

            def handle_one_request(self):
                try:
                    super().handle_one_request()
                except OSError:
                    self.close_connection = True

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 256

            def handle_error(self, request, address):
                pass  # a client that disconnects is normal

            def get_request(self):
                connection, address = super().get_request()
                with fake.lock:
                    fake.connections.append(connection)
                return connection, address

        self.server = Server(("127.0.0.1", self.port), Handler)
        self.port = self.server.server_port
        if self.certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self.certificate, self.key)
            if self.client_ca:
                context.verify_mode = ssl.CERT_REQUIRED
                context.load_verify_locations(self.client_ca)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True,
                                                     do_handshake_on_connect=False)
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self):
        """Stops listening and closes all connections; start() listens again on the same port."""
        if self.server is not None:
            self.server.shutdown()
            self.server.server_close()
            self.server = None
            with self.lock:
                connections, self.connections = self.connections, []
            for connection in connections:
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def add(self, token, **described):
        with self.lock:
            self.tokens[token] = token_body(**described)
        return token

    def remove(self, token):
        with self.lock:
            self.tokens.pop(token, None)

    def forget_own(self):
        """Invalidates the service's tokens."""
        with self.lock:
            self.own_tokens.clear()

    def validations(self, token=None):
        """The token validations, or those of one token, in order."""
        with self.lock:
            return [query for query in self.queries if query.is_validation and token in (None, query.token)]

    def login_count(self):
        with self.lock:
            return len(self.logins)

    def catalog(self):
        return [{"id": "s-identity", "type": "identity", "name": "keystone", "endpoints": [
            {"id": f"e-{interface}-{region}", "interface": interface, "region": region, "region_id": region, "url": url}
            for interface, region, url in self.endpoints]},
            {"id": "s-placement", "type": "placement", "name": "placement", "endpoints": []}]

    def serve(self, handler):
        query = Query(handler)
        length = int(handler.headers.get("content-length") or 0)
        body = handler.rfile.read(length) if length else b""
        with self.lock:
            self.queries.append(query)
            self.running += 1
            self.most_running = max(self.most_running, self.running)
        try:
            if self.odd is None or not self.odd(handler, query):
                self.answer_query(handler, query, body)
        finally:
            with self.lock:
                self.running -= 1

    def answer_query(self, handler, query, body):
        path = urllib.parse.urlsplit(query.path).path
        if not path.startswith(self.prefix):
            return self.answer_error(handler, 404, "no such place")
        path = path[len(self.prefix):]
        if query.is_login and path == "/v3/auth/tokens":
            return self.log_in(handler, body)
        if query.is_validation and path == "/v3/auth/tokens":
            return self.validate(handler, query)
        if query.is_about_project:
            return self.show_project(handler, query, urllib.parse.unquote(path.rpartition("/")[2]))
        version = {"id": "v3.14", "status": "stable", "updated": "2020-04-07T00:00:00Z",
                   "links": [{"rel": "self", "href": self.url + "/v3/"}]}
        if path in ("", "/"):
            return self.answer(handler, 300, {"versions": {"values": [version]}})
        if path in ("/v3", "/v3/"):
            return self.answer(handler, 200, {"version": version})
        return self.answer_error(handler, 404, "no such place")

    def log_in(self, handler, body):
        if self.own_refused:
            return self.answer_error(handler, 401, "The request you have made requires authentication.")
        with self.lock:
            own = f"own-token-{len(self.logins)}"
            self.logins.append(json.loads(body))
            self.own_tokens[own] = time.monotonic() + self.own_lives
        body = token_body("u-placement", "p-service", ("service",), self.own_lives, issued_at=stamp(0))
        body["user"] = OWN_USER
        body["catalog"] = self.catalog()
        self.answer(handler, 201, {"token": body}, ("X-Subject-Token", own))

    def validate(self, handler, query):
        flags = urllib.parse.parse_qs(urllib.parse.urlsplit(query.path).query, keep_blank_values=True)
        with self.lock:
            known = self.own_tokens.get(query.headers.get("x-auth-token"), 0) > time.monotonic()
            token = copy.deepcopy(self.tokens.get(query.token))
        if not known:
            return self.answer_error(handler, 401, "The request you have made requires authentication.")
        expired = token is not None and token.get("expires_at", "9") < stamp(0)
        if token is None or (expired and "allow_expired" not in flags):
            return self.answer_error(handler, 404, "Could not find token.")
        if "nocatalog" not in flags:
            token.setdefault("catalog", self.catalog())
        self.answer(handler, 200, {"token": token}, ("X-Subject-Token", query.token))

    def show_project(self, handler, query, project):
        with self.lock:
            known = self.own_tokens.get(query.headers.get("x-auth-token"), 0) > time.monotonic()
            exists = project in self.projects
        if not known:
            return self.answer_error(handler, 401, "The request you have made requires authentication.")
        if not exists:
            return self.answer_error(handler, 404, f"Could not find project: {project}.")
        self.answer(handler, 200, {"project": {"id": project, "name": "n-" + project, "enabled": True}})

    def answer_error(self, handler, status, message):
        self.answer(handler, status, {"error": {"code": status, "message": message, "title": "No"}})

    @staticmethod
    def answer(handler, status, body, *headers, kind="application/json"):
        text = body if isinstance(body, bytes) else json.dumps(body).encode()
        handler.send_response(status)
        handler.send_header("Content-Type", kind)
        handler.send_header("Content-Length", str(len(text)))
        for name, value in headers:
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(text)

    @staticmethod
    def cut(handler):
        """Closes the connection without sending anything more."""
        handler.close_connection = True
        try:
            handler.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
