"""Invalid bodies and values: the API's own error, and nothing changed."""

import json
import time

from wire import connect, exchange, head, receive, with_body

PROVIDER = "aaaaaaaa-0000-4000-8000-00000000000a"
CONSUMER = "cccccccc-0000-4000-8000-00000000000c"
BASE = "/resource_providers/" + PROVIDER
MIB = 1 << 20

DEEP = 100000
# Invalid JSON, or of a wrong form in every API.
TEXTS = [
    ("empty", b""), ("blanks", b"   "), ("half an object", b'{"name": "x"'), ("half a string", b'{"name": "x'),
    ("trailing comma", b'{"name": "x",}'), ("single quotes", b"{'name': 'x'}"), ("comment", b'{"name": "x"} // y'),
    ("two values", b'{"name": "x"} {"name": "y"}'), ("NaN", b'{"name": NaN}'), ("infinity", b'{"name": -Infinity}'),
    ("1e999", b'{"name": 1e999}'), ("leading zero", b'{"name": 01}'), ("huge integer", b'{"name": ' + b"9" * 5000 + b"}"),
    ("deep lists", b"[" * DEEP), ("deep closed lists", b"[" * DEEP + b"]" * DEEP),
    ("deep objects", b'{"a":' * DEEP), ("bad UTF-8", b'{"name": "\xff\xfe"}'), ("overlong UTF-8", b'{"name": "\xc0\xaf"}'),
    ("UTF-8 surrogate", b'{"name": "\xed\xa0\x80"}'), ("lone surrogate", b'{"name": "\\ud800"}'),
    ("bad escape", b'{"name": "\\x41"}'), ("raw newline", b'{"name": "a\nb"}'), ("raw NUL", b'{"name": "a\0b"}'),
    ("NUL behind a number", b'{"resource_provider_generation": 0\0, "inventories": {}}'),
    ("BOM", b'\xef\xbb\xbf{"nam": "x"}'), ("UTF-16", '{"name": "x"}'.encode("utf-16")), ("gzip", b"\x1f\x8b\x08\0\0"),
    ("null", b"null"), ("true", b"true"), ("number", b"1"), ("string", b'"x"'), ("list", b"[]"),
    ("list of objects", b"[{}]"), ("unknown key", b'{"colour": "blue"}'), ("key of 1 MB", b'{"' + b"k" * MIB + b'": 1}'),
    ("100 000 keys", ("{" + ",".join(f'"k{i}": {i}' for i in range(100000)) + "}").encode()),
    ("100 000 elements", b"[" + b",".join([b"{}"] * 100000) + b"]"),
]
ROUTES = [
    ("POST", "/resource_providers"), ("PUT", BASE), ("POST", BASE + "/inventories"), ("PUT", BASE + "/inventories"),
    ("PUT", BASE + "/inventories/VCPU"), ("PUT", BASE + "/traits"), ("PUT", BASE + "/aggregates"),
    ("POST", "/resource_classes"), ("PUT", "/allocations/" + CONSUMER), ("POST", "/allocations"), ("POST", "/reshaper"),
]
ODD = [None, True, -1, 0.5, 2**31, 2**63, 2**64, 10**40, "", "x", "\0", "x" * 300, "a" * 70000, [], [[]], {}, {"a": {}}]


def claim(**changes):
    body = {"allocations": {PROVIDER: {"resources": {"VCPU": 1}}}, "project_id": "p", "user_id": "u",
            "consumer_generation": None, "consumer_type": "INSTANCE"}
    return {**body, **changes}


def inventory(**changes):
    return {"resource_provider_generation": 1, "inventories": {"VCPU": {"total": 8, **changes}}}


def values():
    """(api, body) with one odd value in an otherwise valid body."""
    for value in ODD:
        if not isinstance(value, str) or not 0 < len(value) <= 200:
            yield "POST", "/resource_providers", {"name": value}
        yield "POST", "/resource_providers", {"name": "odd", "uuid": value}
        if value is not None:
            yield "POST", "/resource_providers", {"name": "odd", "parent_provider_uuid": value}
        for key in ("total", "reserved", "min_unit", "max_unit", "step_size", "allocation_ratio"):
            if key == "allocation_ratio" and value in (0.5, 2**31, 2**63, 2**64) and value is not True:
                continue
            yield "PUT", BASE + "/inventories", inventory(**{key: value})
        yield "PUT", BASE + "/inventories", {"resource_provider_generation": value, "inventories": {}}
        yield "PUT", BASE + "/traits", {"resource_provider_generation": 1, "traits": value if value != [] else "x"}
        yield "PUT", BASE + "/aggregates", {"resource_provider_generation": 1, "aggregates": value if value != [] else 1}
        yield "PUT", "/allocations/" + CONSUMER, claim(allocations=value if value != {} else 1)
        yield "PUT", "/allocations/" + CONSUMER, claim(allocations={PROVIDER: {"resources": {"VCPU": value}}})
        yield "PUT", "/allocations/" + CONSUMER, claim(allocations={PROVIDER: value})
        yield "PUT", "/allocations/" + CONSUMER, claim(allocations={str(value): {"resources": {"VCPU": 1}}})
        if value is not None:
            yield "PUT", "/allocations/" + CONSUMER, claim(consumer_generation=value)
        if value != "x" and value != "\0":
            yield "PUT", "/allocations/" + CONSUMER, claim(consumer_type=value)
        yield "POST", "/allocations", {CONSUMER: value}
        yield "POST", "/reshaper", {"inventories": value, "allocations": {PROVIDER: 1}}


UUIDS = ["x", "%00", "g" * 36, "aaaaaaaa-0000-4000-8000-00000000000", "a" * 37, "a" * 5000, "%ff%fe",
         "aaaaaaaa-0000-4000-8000-0000000000%30%61x", "..", "'; DROP TABLE allocations; --".replace(" ", "%20")]


def run(report, server):
    before = server.state()
    for name, text in TEXTS:
        for method, path in ROUTES:
            answer = exchange(server, with_body(method, path, text))
            report(answer.status == 400 and answer.is_api(), f"bodies: {name}: {method} {path}", str(answer))
    for method, path, body in values():
        text = json.dumps(body).encode()
        answer = exchange(server, with_body(method, path, text))
        report(answer.status in (400, 409) and answer.is_api(), f"bodies: {method} {path} {text[:150]!r}", str(answer))
    for uuid in UUIDS:
        for part in ("", "/inventories", "/usages", "/traits"):
            answer = exchange(server, head("GET", f"/resource_providers/{uuid}{part}"))
            report(answer.status in (400, 404) and answer.is_api(), f"bodies: GET uuid {uuid[:50]}{part}", str(answer))
        answer = exchange(server, with_body("PUT", f"/allocations/{uuid}", json.dumps(claim()).encode()))
        report(answer.status in (400, 404) and answer.is_api(), f"bodies: PUT allocations {uuid[:50]}", str(answer))
    report(server.is_well(), "bodies: the server is well", server.tail())
    report(server.state() == before, "bodies: nothing changed", "the state differs")
    duplicates(report, server)
    huge(report, server)
    unwanted(report, server)


def duplicates(report, server):
    """Of duplicate keys the last one counts, as in the Python service: one value, never parts of two."""
    body = b'{"name": "first", "name": "twice", "uuid": "dddddddd-0000-4000-8000-00000000000d"}'
    answer = exchange(server, with_body("POST", "/resource_providers", body))
    report(answer.status == 200 and json.loads(answer.body)["name"] == "twice", "bodies: duplicate keys", str(answer))
    server.must("DELETE", "/resource_providers/dddddddd-0000-4000-8000-00000000000d")


def send_forever(sock, piece, total):
    """Sends until the server refuses more; returns how much it accepted."""
    sent = 0
    sock.settimeout(5)
    try:
        while sent < total:
            sock.sendall(piece)
            sent += len(piece)
    except OSError:
        pass
    return sent


def huge(report, server):
    """100 MB: refused at the limit, and never kept in memory."""
    rss = server.rss_mib()
    start = time.monotonic()
    for name, lines, piece in (
            ("declared", ("Content-Length: 104857600",), b" " * 65536),
            ("chunked", ("Transfer-Encoding: chunked",), b"10000\r\n" + b" " * 65536 + b"\r\n"),
            ("in tiny chunks", ("Transfer-Encoding: chunked",), b"1\r\n \r\n" * 8192)):
        with connect(server) as sock:
            sock.sendall(head("POST", "/resource_providers", "Content-Type: application/json", *lines))
            send_forever(sock, piece, 100 * MIB if "tiny" not in name else 30 * MIB)
            answer = receive(sock)
        # A client whose own bytes are still in flight sees a connection closed without an answer.
        report(answer.status == 0 or answer.status in (413, 400) and answer.is_api(), f"bodies: 100 MB {name}", str(answer))
        report(server.rss_mib() - rss < 60, f"bodies: memory of 100 MB {name}",
               f"{rss:.0f} MiB before, {server.rss_mib():.0f} now")
    answer = exchange(server, head("POST", "/resource_providers", "Content-Type: application/json",
                                   "Content-Length: 104857600", "Expect: 100-continue"))
    report(answer.status == 413 and answer.is_api(), "bodies: 100 MB announced with Expect", str(answer))
    report(time.monotonic() - start < 20, "bodies: 100 MB in time", f"{time.monotonic() - start:.1f} s")
    report(server.is_well(), "bodies: well after 100 MB", server.tail())


def unwanted(report, server):
    """Large bodies that are not wanted are read to their end, and what precedes them decides about the answer."""
    body = b" " * 100000
    with connect(server) as sock:
        for number in range(2):
            sock.sendall(with_body("GET", "/", body))
            answer = receive(sock)
            report(answer.status == 200 and b"versions" in answer.body, f"bodies: of a public page, {number}", str(answer))
        sock.sendall(head("GET", "/", "Content-Length: 100000") + body[:50000])
    for status, chunks, words in ((401, 10, b"not verify that you are authorized"), (413, 300, b"was too large")):
        with connect(server) as sock:
            request = head("POST", "/resource_providers", "Content-Type: application/json", "Transfer-Encoding: chunked")
            sock.sendall(request.replace(b"X-Auth-Token: admin\r\n", b""))
            sock.sendall(chunks * (b"10000\r\n" + b" " * 65536 + b"\r\n") + b"0\r\n\r\n")
            answer = receive(sock)
        report(answer.status == status and words in answer.body, f"bodies: without a token, {chunks} chunks", str(answer))
    report(server.is_well(), "bodies: well after unwanted ones", server.tail())
