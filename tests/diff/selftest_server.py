#!/usr/bin/python3
"""A stand-in for berthd: the Python service behind a small HTTP server, with berthd's command line.

--mutate KIND corrupts some of its answers; without it, it is a plain reference. --newest removes some of 8.0.0's bugs,
to validate how intended differences are handled. selftest.py uses both.
"""

import argparse
import json
import os
import signal
import socket
import sys
import threading

if os.environ.get("PYTHONHASHSEED") != "1":
    # Another order of sets than that of run.py's reference: results that depend on it must not count.
    os.environ["PYTHONHASHSEED"] = "1"
    os.execv(sys.executable, [sys.executable] + sys.argv)

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

# Before any import starts a thread: if another thread gets the signal, the handler does not run while the main thread
# waits.
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})

import reference  # noqa: E402
from exchange import Answer, Request  # noqa: E402


def read_request(stream):
    line = stream.readline().decode("latin-1").rstrip("\r\n")
    if not line:
        return None, None
    method, target, _ = line.split(" ", 2)
    headers, host, length = [], "127.0.0.1:80", None
    while True:
        line = stream.readline().decode("latin-1").rstrip("\r\n")
        if not line:
            break
        name, _, value = line.partition(":")
        value = value.strip(" ")
        if name.lower() == "host":
            host = value
        elif name.lower() == "content-length" and value.isdigit():
            length = int(value)
        else:
            headers.append((name, value))
    body = stream.read(length) if length is not None else None
    return Request(method, target, headers, body), host


def write_answer(connection, answer, method):
    lines = ["HTTP/1.1 %d X" % answer.status]
    lines += ["%s: %s" % pair for pair in answer.headers if pair[0] != "content-length"]
    if answer.status != 204:
        lines.append("content-length: %d" % len(answer.body))
    elif answer.header("content-length") is not None:
        lines.append("content-length: 0")
    body = b"" if method == "HEAD" or answer.status == 204 else answer.body
    connection.sendall("\r\n".join(lines + ["", ""]).encode("latin-1") + body)


# -- corruptions: each alters some answers -------------------------------------------------------------------


def _edit(answer, change):
    try:
        value = json.loads(answer.body)
    except ValueError:
        return answer
    if change(value) is False:
        return answer
    return Answer(answer.status, answer.headers, json.dumps(value).encode())


def _header(answer, name, change):
    return Answer(answer.status, [(k, change(v)) if k == name else (k, v) for k, v in answer.headers if change(v) or k != name],
                  answer.body)


def mutate(kind, request, answer, number):
    rare = ("allow", "location", "validator", "code")
    if kind is None or (number % 5 and kind not in rare):
        return answer
    path, candidates = request.path, request.path == "/allocation_candidates" and answer.status == 200
    if kind == "status" and answer.status == 404:
        return Answer(400, answer.headers, answer.body)
    if kind == "content-type":
        return _header(answer, "content-type", lambda v: v + "; charset=utf-8" if "json" in v else v)
    if kind == "vary":
        return _header(answer, "vary", lambda v: None)
    if kind == "location" and answer.header("location"):
        return _header(answer, "location", lambda v: v.replace("http://", ""))
    if kind == "version":
        return _header(answer, "openstack-api-version", lambda v: v.replace("1.39", "1.38"))
    if kind == "last-modified":
        return _header(answer, "last-modified", lambda v: None)
    if kind == "cache-control":
        return _header(answer, "cache-control", lambda v: None)
    if kind == "allow":
        return _header(answer, "allow", lambda v: v.replace("GET, ", ""))
    if kind == "request-id":
        return _header(answer, "x-openstack-request-id", lambda v: v.upper())
    if kind == "body-id" and answer.status >= 400:
        return _edit(answer, lambda v: v["errors"][0].update(request_id="req-0") if "errors" in v else False)
    if kind == "generation":
        return _edit(answer, lambda v: v.update(resource_provider_generation=v["resource_provider_generation"] + 1)
                     if isinstance(v, dict) and "resource_provider_generation" in v else False)
    if kind == "float-for-int" and path.endswith("/inventories") and answer.status == 200:
        return _edit(answer, lambda v: [i.update(total=float(i["total"])) for i in v["inventories"].values()])
    if kind == "detail" and answer.status >= 400:
        return _edit(answer, lambda v: v["errors"][0].update(detail=v["errors"][0]["detail"].replace("the", "teh"))
                     if "errors" in v else False)
    if kind == "code" and answer.status == 409:
        return _edit(answer, lambda v: v["errors"][0].update(code="placement.other") if "errors" in v else False)
    if kind == "validator" and answer.status == 400:
        return Answer(400, answer.headers, answer.body.replace(b"Failed validating 'type'", b"Failed validating 'enum'"))
    if kind == "candidate-lost" and candidates:
        return _edit(answer, lambda v: v["allocation_requests"].pop() and None if v["allocation_requests"] else False)
    if kind == "candidate-twice" and candidates:
        return _edit(answer, lambda v: v["allocation_requests"].append(v["allocation_requests"][0])
                     if v["allocation_requests"] else False)
    if kind == "amount" and candidates:
        def more(v):
            for found in v["allocation_requests"]:
                values = found["allocations"]
                for each in values if isinstance(values, list) else values.values():
                    for rc in each["resources"]:
                        each["resources"][rc] += 1
                        return None
            return False
        return _edit(answer, more)
    if kind == "mapping" and candidates:
        return _edit(answer, lambda v: [a["mappings"].update(other=[]) for a in v["allocation_requests"] if "mappings" in a])
    if kind == "summary" and candidates:
        return _edit(answer, lambda v: v["provider_summaries"].popitem() and None if v["provider_summaries"] else False)
    if kind == "summary-traits" and candidates:
        return _edit(answer, lambda v: [s.update(traits=s["traits"][::-1]) for s in v["provider_summaries"].values() if "traits" in s])
    if kind == "trait-lost" and path.endswith("/traits"):
        return _edit(answer, lambda v: v["traits"].pop() and None if v.get("traits") else False)
    if kind == "unicode":
        return Answer(answer.status, answer.headers, answer.body.replace(b"/", b"\\/"))
    if kind == "silent" and answer.status == 200:
        return None
    return answer


# The difference that the differential must find first for each.
KINDS = {
    "status": "status", "content-type": "header content-type", "vary": "header vary", "location": "header location",
    "version": "header openstack-api-version", "last-modified": "header last-modified",
    "cache-control": "header cache-control", "allow": "header allow", "request-id": "header x-openstack-request-id",
    "body-id": "form", "generation": "body", "float-for-int": "body", "detail": "detail", "code": "body",
    "validator": "detail", "candidate-lost": "candidates", "candidate-twice": "candidates", "amount": "candidates",
    "mapping": "candidates", "summary": "summaries", "summary-traits": "summaries", "trait-lost": "body",
    "unicode": "form", "silent": "status", "lost-write": "state|status|body|candidates|summaries",
}


def lost_write(database, ask):
    """The answer to a write, which is then undone."""
    import sqlite3

    before, file = sqlite3.connect(":memory:"), sqlite3.connect(database, timeout=10)
    file.backup(before)
    answer = ask()
    before.backup(file)
    before.close()
    file.close()
    return answer


# -- 8.0.0's bugs removed --------------------------------------------------------------------------------------


def emulate_newest(database):
    """Returns a function to call after each request. Patches the service in this process."""
    import copy
    import sqlite3

    from placement.objects import allocation
    from placement.objects import research_context

    research_context.RequestWideSearchContext.copy_arr_if_needed = lambda self, arr: copy.copy(arr)
    _mend_candidates()
    check = allocation._check_capacity_exceeded
    db = sqlite3.connect(database, isolation_level=None, timeout=10)

    def used_before():
        rows = db.execute("SELECT r.uuid, c.name, sum(a.used) FROM allocations a JOIN resource_providers r"
                          " ON r.id = resource_provider_id JOIN resource_classes c ON c.id = resource_class_id GROUP BY 1, 2")
        return {(uuid, rc): used for uuid, rc, used in rows}

    def check_growth(ctx, allocs):
        """Writes over capacity pass if no usage grows, compared with what is committed."""
        try:
            return check(ctx, allocs)
        except Exception as error:
            if type(error).__name__ != "InvalidAllocationCapacityExceeded":
                raise
            before, then = used_before(), {}
            from sqlalchemy import text

            rows = ctx.session.execute(text(
                "SELECT r.uuid, c.name, sum(a.used) FROM allocations a JOIN resource_providers r"
                " ON r.id = resource_provider_id JOIN resource_classes c ON c.id = resource_class_id GROUP BY 1, 2"))
            then = {(uuid, rc): used for uuid, rc, used in rows}
            for a in allocs:
                key = (a.resource_provider.uuid, a.resource_class)
                then[key] = then.get(key, 0) + a.used
            if any(then[k] > before.get(k, 0) for k in {(a.resource_provider.uuid, a.resource_class) for a in allocs}):
                raise
            return {a.resource_provider.uuid: a.resource_provider for a in allocs}

    allocation._check_capacity_exceeded = check_growth

    def after():
        db.execute("DELETE FROM consumers WHERE generation = 0 AND uuid NOT IN (SELECT consumer_id FROM allocations)")

    return after


def _mend_candidates():
    """Anchors count until the groups are joined; nested sharing providers are summarised; limit spreads."""
    from placement.objects import allocation_candidate as ac
    from placement.objects import research_context
    from placement.objects import trait
    from sqlalchemy import text

    def key(areq):
        return frozenset(areq.resource_requests), frozenset((k, frozenset(v)) for k, v in areq.mappings.items())

    ac.AllocationRequest.__eq__ = lambda a, b: (
        key(a) == key(b) and a.anchor_root_provider_uuid == b.anchor_root_provider_uuid)
    ac.AllocationRequest.__hash__ = lambda a: hash((key(a), a.anchor_root_provider_uuid))
    merge, build = ac._merge_candidates, ac._build_provider_summaries

    def merge_once(found, rw_ctx):
        areqs, summaries = merge(found, rw_ctx)
        return list({key(a): a for a in areqs}.values()), summaries

    def build_all(context, rw_ctx, root_ids, prov_traits):
        marks = ", ".join(str(i) for i in root_ids)
        rows = context.session.execute(text("SELECT root_provider_id FROM resource_providers WHERE id IN (%s)" % marks))
        roots = {row[0] for row in rows}
        build(context, rw_ctx, roots, trait.get_traits_by_provider_tree(context, roots))

    ac._merge_candidates, ac._build_provider_summaries = merge_once, build_all
    limit = research_context.RequestWideSearchContext.limit_results

    def spread(self, areqs, summaries):
        first, rest, seen = [], [], set()
        for areq in areqs:
            (rest if areq.anchor_root_provider_uuid in seen else first).append(areq)
            seen.add(areq.anchor_root_provider_uuid)
        return limit(self, first + rest, summaries)

    research_context.RequestWideSearchContext.limit_results = spread


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config-file")
    parser.add_argument("--listen")
    parser.add_argument("--mutate", choices=KINDS)
    parser.add_argument("--newest", action="store_true")
    args = parser.parse_args()
    host, _, port = args.listen.partition(":")
    threading.Thread(target=lambda: (signal.sigwait({signal.SIGTERM}), os._exit(0)), daemon=True).start()
    service = reference.Reference(args.config_file)
    with open(args.config_file) as text:
        database = next(line.split("sqlite:///")[1].strip() for line in text if "sqlite:///" in line)
    after = emulate_newest(database) if args.newest else lambda: None
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host, int(port)))
    listener.listen(16)
    print("berthd: ready (a stand-in)", flush=True)
    number = 0
    while True:
        connection, _ = listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        stream = connection.makefile("rb")
        while True:
            request, asked = read_request(stream)
            if request is None:
                break
            number += 1
            if args.mutate == "lost-write" and number % 10 == 0 and request.path.startswith("/allocations/"):
                answer = lost_write(database, lambda: service.ask(request, asked))
            else:
                answer = mutate(args.mutate, request, service.ask(request, asked), number)
                after()
            if answer is None:
                break
            write_answer(connection, answer, request.method)
        stream.close()
        connection.close()


if __name__ == "__main__":
    main()
