"""Malformed HTTP, one connection each: the API's own error, or a closed connection."""

import random
import socket

from wire import connect, exchange, head, receive, with_body

CLOSED = 0
BAD = {400, CLOSED}
ANY_ERROR = set(range(400, 506)) | {CLOSED}
OURS = {403, 404, 405, 406, 415}  # the library never answers with these: they come from the API, in its form
HOME = "/resource_providers"
OK = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


def chunked(body, *lines, target="/resource_providers"):
    return head("POST", target, "Content-Type: application/json", "Transfer-Encoding: chunked", *lines) + body


# name, bytes, the correct statuses; ANY_ERROR where HTTP permits several.
REQUESTS = [
    ("nothing but newlines", b"\r\n\r\n\r\n" + OK, {200, *BAD}),
    ("TLS hello", bytes.fromhex("16030100a5010000a10303") + bytes(range(120)), ANY_ERROR),
    ("HTTP/2 preface", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", ANY_ERROR),
    ("random bytes", bytes((i * 73 + 41) & 255 for i in range(4000)) + b"\r\n\r\n", ANY_ERROR),
    ("method only", b"GET\r\n\r\n", ANY_ERROR),
    ("no version", b"GET /\r\n\r\n", ANY_ERROR),
    ("version 9.9", head(version="HTTP/9.9"), ANY_ERROR),
    ("version of letters", head(version="HTTP/x.y"), ANY_ERROR),
    ("another protocol", head(version="RTSP/1.0"), ANY_ERROR),
    ("HTTP/1.0", head(version="HTTP/1.0"), {200}),
    ("two blanks", b"GET  /  HTTP/1.1\r\nHost: a\r\n\r\n", {200} | ANY_ERROR),
    ("lower-case method", head("get"), ANY_ERROR),
    ("unknown method", head("BREW", HOME), {405}),
    ("NUL in the method", head("G\0T"), ANY_ERROR),
    ("long method", head("A" * 5000), ANY_ERROR),
    ("NUL in the target", head("GET", "/resource_providers?name=a\0b"), {200} | ANY_ERROR),
    ("tab in the target", head("GET", "/resource_providers?name=a\tb"), {200} | ANY_ERROR),
    ("blank in the target", head("GET", "/resource_providers?name=a b"), {200} | ANY_ERROR),
    ("bytes above 127 in the target", head("GET", "/resource_providers?name=\xff\xfe"), {400}),
    ("target of 1 MB", head("GET", "/" + "a" * 1000000), {404, 414, *BAD}),
    ("absolute target", head("GET", "http://localhost/"), {200}),
    ("absolute target with a path", head("GET", "HTTP://other.example:81/resource_providers?name=x"), {200}),
    ("absolute target with TLS", head("GET", "https://other.example/resource_providers?name=x"), {200}),
    ("absolute target without a path", head("GET", "http://other.example"), {200}),
    ("absolute target of another scheme", head("GET", "ftp://other.example/resource_providers"), {404}),
    ("asterisk", head("OPTIONS", "*"), ANY_ERROR),
    ("CONNECT", head("CONNECT", "localhost:80"), ANY_ERROR),
    ("empty target", b"GET  HTTP/1.1\r\nHost: a\r\n\r\n", {200} | ANY_ERROR),
    ("fragment", head("GET", "/resource_providers#a"), {200} | ANY_ERROR),
    ("dots", head("GET", "/../../etc/passwd"), {404}),
    ("percent without digits", head("GET", "/resource_providers/%zz"), {400, 404}),
    ("percent at the end", head("GET", "/resource_providers/%"), {400, 404}),
    ("percent NUL", head("GET", "/resource_providers/%00"), {400, 404}),
    ("percent NUL in the query", head("GET", "/resource_providers?name=%00"), {200, 400}),
    ("percent newline", head("GET", "/traits/CUSTOM_A%0d%0aX-Evil:%201"), {400, 404}),
    ("percent newline in a Location", head("PUT", "/traits/CUSTOM_A%0d%0aX-Evil:%201"), {400}),
    ("newline's escape in Forwarded headers", head("PUT", "/traits/HW%0aX", "X-Forwarded-Host: a%0d%0aX-Evil: b",
                                                   "X-Forwarded-Prefix: /a%0d%0aX-Evil: b"), {400}),
    ("overlong UTF-8", head("GET", "/resource_providers/%c0%af%c0%af"), {400, 404}),
    ("UTF-8 surrogate", head("GET", "/resource_providers?name=%ed%a0%80"), {200, 400}),
    ("UTF-8 cut short", head("GET", "/resource_providers?name=%e2%82"), {200, 400}),
    ("no Host", b"GET / HTTP/1.1\r\n\r\n", {200} | BAD),
    ("two Hosts", head("GET", "/", "Host: other"), {200} | BAD),
    ("Host with a newline's escape", head(host="Host: a%0d%0ab"), {200} | BAD),
    ("Host of 60 KB", head(host="Host: " + "a" * 60000), {200, 431, *BAD}),
    ("bare LF", b"GET / HTTP/1.1\nHost: localhost\n\n", {400}),
    ("bare CR in a header", head("GET", HOME, "X-A: b\rContent-Length: 9"), {400}),
    ("bare LF in a header", head("GET", HOME, "X-A: b\nX-C: d"), {400}),
    ("bare CR", b"GET / HTTP/1.1\rHost: localhost\r\r", {None} | ANY_ERROR),
    ("header without colon", head("GET", "/", "Nonsense"), {200} | BAD),
    ("header without name", head("GET", "/", ": value"), {200} | BAD),
    ("blank before the colon", head("GET", "/", "X-A : b"), {400}),
    ("folded header", head("GET", "/", "X-A: b\r\n c"), {400}),
    ("NUL in a header", head("GET", "/", "X-A: a\0b"), {400}),
    ("header of 1 MB", head("GET", "/", "X-A: " + "a" * 1000000), {431, 413, *BAD}),
    ("10 000 headers", head("GET", "/", *(f"X-{i}: {i}" for i in range(10000))), {431, 413, *BAD}),
    ("version header of 10 KB", head("GET", HOME, "OpenStack-API-Version: " + "placement 1." * 900), {400, 406}),
    ("version header with bytes", head("GET", HOME, "OpenStack-API-Version: placement \xff\xfe"), {400, 406}),
    ("huge version", head("GET", HOME, "OpenStack-API-Version: placement 1." + "9" * 400), {400, 406}),
    ("token with bytes", b"GET /resource_providers HTTP/1.1\r\nHost: a\r\nX-Auth-Token: \xff\xfe\r\n\r\n",
     {401, 403, 200}),
    ("request id with bytes", head("GET", HOME, "X-Openstack-Request-Id: req-\xff\0\x01"), {200} | BAD),
    ("length of letters", head("POST", HOME, "Content-Type: application/json", "Content-Length: abc"), BAD),
    ("negative length", head("POST", HOME, "Content-Type: application/json", "Content-Length: -1"), BAD),
    ("length with a sign", head("POST", HOME, "Content-Type: application/json", "Content-Length: +2") + b"{}", BAD),
    ("length beyond 64 bits", head("POST", HOME, "Content-Type: application/json", "Content-Length: " + "9" * 30),
     {413, *BAD}),
    ("length in hex", head("POST", HOME, "Content-Type: application/json", "Content-Length: 0x2") + b"{}", BAD),
    ("two lengths", with_body("POST", HOME, b"{}", "Content-Length: 40"), BAD),
    ("two equal lengths", with_body("POST", HOME, b"{}", "Content-Length: 2"), BAD),
    ("list of lengths", head("POST", HOME, "Content-Type: application/json", "Content-Length: 2, 2") + b"{}", BAD),
    ("length and chunks", chunked(b"2\r\n{}\r\n0\r\n\r\n", "Content-Length: 2"), BAD),
    ("chunks and length, the other way", head("POST", HOME, "Content-Length: 2", "Content-Type: application/json",
                                              "Transfer-Encoding: chunked") + b"2\r\n{}\r\n0\r\n\r\n", BAD),
    ("unknown coding", head("POST", HOME, "Content-Type: application/json", "Transfer-Encoding: gzip") + b"{}",
     {501, *BAD}),
    ("chunked twice", chunked(b"2\r\n{}\r\n0\r\n\r\n", "Transfer-Encoding: chunked"), {501, *BAD}),
    ("chunked, identity", head("POST", HOME, "Content-Type: application/json",
                               "Transfer-Encoding: chunked, identity") + b"2\r\n{}\r\n0\r\n\r\n", {501, *BAD}),
    ("coding with a control character", head("POST", HOME, "Content-Type: application/json",
                                             "Transfer-Encoding: \x0bchunked") + b"2\r\n{}\r\n0\r\n\r\n", {501, *BAD}),
    ("chunk size of letters", chunked(b"zz\r\n{}\r\n0\r\n\r\n"), BAD),
    ("negative chunk", chunked(b"-2\r\n{}\r\n0\r\n\r\n"), BAD),
    ("chunk beyond 64 bits", chunked(b"FFFFFFFFFFFFFFFFFF\r\n{}\r\n0\r\n\r\n"), {413, *BAD}),
    ("chunk of 2^63", chunked(b"7FFFFFFFFFFFFFFF\r\n{}\r\n0\r\n\r\n"), {None, 413, *BAD}),
    ("chunk shorter than said", chunked(b"2\r\n{}x\r\n0\r\n\r\n"), BAD),
    ("chunk with bare LF", chunked(b"2\n{}\n0\n\n"), BAD),
    ("chunk extension", chunked(b"2;a=b\r\n{}\r\n0\r\n\r\n"), BAD),
    # The library answers this one itself, when its memory for the connection is full.
    ("long chunk extension", chunked(b"2;" + b"a" * 300000 + b"\r\n{}\r\n0\r\n\r\n"), {413, 500, *BAD}),
    ("trailers", chunked(b"2\r\n{}\r\n0\r\nX-A: b\r\nContent-Length: 5\r\n\r\n"), BAD),
    ("unknown expectation", with_body("POST", HOME, b"{}", "Expect: the impossible"), {417, *BAD}),
    ("upgrade", head("GET", "/", "Connection: Upgrade", "Upgrade: h2c"), {200, *BAD}),
    ("body of GET", with_body("GET", HOME, b"{}"), {200, 400}),
    ("no type", head("POST", HOME, "Content-Length: 2") + b"{}", {400, 415}),
    ("another type", head("POST", HOME, "Content-Length: 2", "Content-Type: text/xml") + b"{}", {415}),
    ("type of bytes", head("POST", HOME, "Content-Length: 2", "Content-Type: \xff\xff") + b"{}", {400, 415}),
    ("10 000 query parameters", head("GET", HOME + "?" + "&".join(f"a{i}=1" for i in range(10000))),
     {414, 431, *BAD}),
    ("1 000 query parameters", head("GET", HOME + "?" + "&".join(f"a{i}=1" for i in range(1000))), {400}),
    ("60 KB of path", head("GET", "/" + "a" * 60000), {404}),
    ("60 KB of segments", head("GET", "/a" * 30000), {404}),
    ("60 KB of escapes", head("GET", HOME + "?name=" + "%41" * 20000), {200, 400}),
    ("1 000 groups", head("GET", "/allocation_candidates?group_policy=none&" + "&".join(
        f"resources{i}=VCPU:1" for i in range(1000))), {200}),
]


def run(report, server):
    before = server.state()
    growing(report, server)
    # three times, since each may affect the next
    for seed in range(3):
        requests = list(REQUESTS)
        if seed > 0:
            random.Random(seed).shuffle(requests)
        for name, data, right in requests:
            answer = exchange(server, data)
            good = answer.status in right and (answer.status not in OURS or answer.is_api())
            good = good and b"x-evil" not in answer.headers.lower()
            report(good, "malformed: " + name, f"{answer}, wanted {sorted(str(status) for status in right)}")
    report(server.is_well(), "malformed: the server is well", server.tail())
    report(server.state() == before, "malformed: nothing changed", "the state differs")
    smuggle(report, server)
    pipelined(report, server)
    half_closed(report, server)


def smuggle(report, server):
    """Bytes after a body whose end is ambiguous are never taken for a request."""
    uuid = "5b5b5b5b-0000-4000-8000-000000000001"
    inner = with_body("PUT", "/traits/CUSTOM_SMUGGLED", b"")
    for name, data in (
            ("length and chunks", chunked(b"0\r\n\r\n" + inner, f"Content-Length: {5 + len(inner)}")),
            ("two lengths", with_body("POST", HOME, b"{}" + inner, f"Content-Length: {2 + len(inner)}", length=2)),
            ("bad chunk", chunked(b"zz\r\n\r\n" + inner)),
            ("too large", with_body("POST", HOME, inner, length=200000000))):
        exchange(server, data)
        report(server.ask("GET", "/traits/CUSTOM_SMUGGLED")[0] == 404, "malformed: smuggling by " + name,
               "the inner request was served")
    report(server.ask("GET", "/resource_providers/" + uuid)[0] == 404, "malformed: nothing smuggled", "")


def growing(report, server):
    """Targets that do not fit in the space that the previous request has left, on a server without large requests
    before."""
    sizes = (50000, 55000, 60000)
    with connect(server) as sock:
        for size in sizes:
            sock.sendall(head("GET", "/" + "a" * size))
            report(receive(sock).status == 404, f"malformed: a longer target, {size}", server.tail())


def pipelined(report, server):
    """200 requests in one write are answered one after the other."""
    with connect(server) as sock:
        sock.sendall(b"".join(head("GET", f"/resource_providers?name=n{i}") for i in range(200)))
        sock.settimeout(5)
        data = b""
        try:
            while data.count(b"HTTP/1.1 200 ") < 200:
                got = sock.recv(65536)
                if not got:
                    break
                data += got
        except socket.timeout:
            pass
        count = data.count(b"HTTP/1.1 200 ")
    report(count == 200, "malformed: 200 pipelined requests", f"{count} answers")
    with connect(server) as sock:
        sock.sendall(head("GET", "/traits/CUSTOM_NONE") + b"garbage\r\n\r\n" + head())
        first, second = receive(sock), receive(sock)
        report(first.status == 404 and second.status in ANY_ERROR, "malformed: garbage behind a request",
               f"{first}, {second}")


def half_closed(report, server):
    """A client that has closed its sending side still gets its answer."""
    answer = exchange(server, head(), shutdown=True)
    report(answer.status == 200, "malformed: half-closed after a request", str(answer))
    for name, data in (("in the request line", b"GET / HT"), ("in the headers", b"GET / HTTP/1.1\r\nHost: a\r\nX-"),
                       ("in the body", with_body("POST", HOME, b'{"name": "hal', length=1000)),
                       ("in a chunk", chunked(b"20\r\n{\"na"))):
        answer = exchange(server, data, shutdown=True)
        report(answer.status in BAD, "malformed: half-closed " + name, str(answer))
