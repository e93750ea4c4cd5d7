#!/usr/bin/python3
"""Values that a database may hold otherwise than memory, through the APIs, on a server.

    tests/databases/values.py --build build [--mariadb CHARSET]

Lone surrogates and U+0000, characters of four bytes, the longest texts, texts that differ in case or trailing blanks only,
ratios with more digits than a float has, integers around 2^31, spellings of UUIDs. The Placement API's answers must be those of
the Python service on the same server, except where that one fails or WANTED names a difference. Nodes, their allocations and
Valet's groups must be answered as berthd answers them from SQLite, except for what the database cannot hold: U+0000 in PostgreSQL,
characters of four bytes in utf8mb3. After a restart all answers are the same, and an instance on the Python service's own database answers what it answers.
"""

import argparse
import concurrent.futures
import contextlib
import http.client
import json
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import servers  # noqa: E402
from mariadb import server_class  # noqa: E402
from postgres import Postgres  # noqa: E402
from processes import wait_until  # noqa: E402

# Strings as in JSON, so that each can be sent as it is.
TEXTS = ['"a"', '"A"', '"a "', '"a  "', '" a"', r'"\ud83d\ude00"', '"\U0001F600x"', r'"\ud83d"', r'"\udc00 x"',
         r'"\ud83d\ude00\ud83d"', r'"a\u0000b"', r'"\u0000"', '"\u00e9"', r'"e\u0301"', r'"\u0001\t\n"', r'"\ufffe\uffff"',
         r'"\\\\u0000"', '"\'; x"', '"%s %%"', '"{1,2}"', '"NULL"', '""']
LONG = ['"' + letter * length + '"' for letter, lengths in (("n", (200, 201, 255, 256)), ("\U0001F600", (200, 255)))
        for length in lengths]
RATIOS = ["16.1", "1e-7", "3.4e38", "3.40282346e+38", "3.5e38", "1e308", "0.1", "0.30000000000000004", "1.0000000000000002",
          "123456789.123456789", "1e-45", "5e-324", "0", "-1", "16", "1e400", "1e16", "123456789012345680", '"16.1"']
NUMBERS = ["0", "1", "2147483647", "2147483648", "-1", "4294967296", "9223372036854775807", "1.0", "1.5", "1e3", "true", '"1"']
NAMES = ["CUSTOM_" + "A" * 248, "CUSTOM_" + "A" * 249, "CUSTOM_a", "CUSTOM_\u00c4", "CUSTOM_A ", "CUSTOM_A"]
UUIDS = ["ABCDEF00-0000-4000-8000-000000000001", "abcdef00-0000-4000-8000-000000000001", "abcdef00000040008000000000000002",
         "{abcdef00-0000-4000-8000-000000000003}", "urn:uuid:abcdef00-0000-4000-8000-000000000004",
         "abcdef00-0000-4000-8000-000000000005 "]
HOST = "00000000-0000-4000-8000-000000000001"
# docs/differences.md: (method, path, statuses of berth and of the Python service)
WANTED = [("GET", r"/resource_providers\?uuid=", 400, 200),
          ("PUT", r"/allocations/.*", 400, 409)]  # an amount above 2^63: refused by its value, or for lack of capacity
# The same on MariaDB: berthd stores no text in part.
WANTED_ON_MARIADB = [("PUT", r"/resource_providers/.*/aggregates", 400, 200)]
FOUR_BYTES = re.compile(r"[\U00010000-\U0010ffff]|\\ud83d\\ude00")


def uuid_of(number):
    return f"{number:08x}-0000-4000-8000-000000000000"


def quoted(text):
    return "".join(f"%{byte:02X}" for byte in text.encode())


def placement_requests():
    """[(method, path, body or None)]; GENERATION in a body is the newest of HOST."""
    number = iter(range(2, 10000))
    yield "POST", "/resource_providers", f'{{"name": "host", "uuid": "{HOST}"}}'
    for name in TEXTS + LONG:
        yield "POST", "/resource_providers", f'{{"name": {name}, "uuid": "{uuid_of(next(number))}"}}'
    for name in ("a", "a ", "A", "\U0001F600"):
        yield "GET", f"/resource_providers?name={quoted(name)}", None
    for name in ("%ED%A0%BD", "%FF", "a%00b"):
        yield "GET", f"/resource_providers?name={name}", None
    inventories = f"/resource_providers/{HOST}/inventories"
    for member, values in (("allocation_ratio", RATIOS), *((name, NUMBERS) for name in (
            "reserved", "min_unit", "max_unit", "step_size"))):
        for value in values:
            yield "PUT", inventories, ('{"resource_provider_generation": GENERATION, "inventories": {"DISK_GB": '
                                       f'{{"total": 2147483647, "{member}": {value}}}}}}}')
            yield "GET", inventories, None
    yield "PUT", inventories, ('{"resource_provider_generation": GENERATION, "inventories": {"MEMORY_MB": {"total": 2147483647, '
                               '"allocation_ratio": 3.4e38}, "VCPU": {"total": 2147483647, "allocation_ratio": 16.1}}}')

    def claim(amount="1", project='"p"', user='"u"', kind='"INSTANCE"', consumer=None):
        path = "/allocations/" + (consumer or uuid_of(next(number)))
        yield "PUT", path, (f'{{"allocations": {{"{HOST}": {{"resources": {{"MEMORY_MB": {amount}}}}}}}, "project_id": {project}, '
                            f'"user_id": {user}, "consumer_generation": null, "consumer_type": {kind}}}')
        yield "GET", path, None

    for amount in NUMBERS + ["9223372036854775808"]:
        yield from claim(amount)
    for text in TEXTS + LONG:
        yield from claim(project=text)
        yield from claim(user=text)
    for kind in ['"' + "A" * 255 + '"', '"' + "A" * 256 + '"', '"a"', r'"A\u0000"', '"A "', '""']:
        yield from claim(kind=kind)
    for name in NAMES:
        yield "PUT", f"/resource_classes/{quoted(name)}", None
        yield "PUT", f"/traits/{quoted(name)}", None
    yield "GET", "/traits?name=startswith:CUSTOM", None
    for spelling in UUIDS:
        yield "POST", "/resource_providers", json.dumps({"name": "of " + spelling, "uuid": spelling})
        yield "GET", f"/resource_providers?uuid={quoted(spelling)}", None
        yield from claim(consumer=quoted(spelling))
        yield "PUT", f"/resource_providers/{HOST}/aggregates", json.dumps({"aggregates": [spelling]}).replace(
            "{", '{"resource_provider_generation": GENERATION, ')
    yield "GET", f"/resource_providers/{HOST}/aggregates", None
    for sent in range(2, 2 + len(TEXTS + LONG)):
        yield "GET", f"/resource_providers/{uuid_of(sent)}", None


def metal_requests():
    number = iter(range(2, 10000))
    for text in TEXTS + LONG:
        for member in ("name", "resource_class", "owner", "description", "lessee", "shard"):
            yield "POST", "/v1/nodes", f'{{"driver": "fake-hardware", "uuid": "{uuid_of(next(number))}", "{member}": {text}}}'
        for member in ("extra", "properties", "driver_info"):
            yield "POST", "/v1/nodes", (f'{{"driver": "fake-hardware", "uuid": "{uuid_of(next(number))}", '
                                        f'"{member}": {{"k": {text}, {text}: 1}}}}')
        for member in (f'"name": {text}', f'"extra": {{{text}: {text}}}', f'"traits": [{text}]'):
            yield "POST", "/v1/allocations", f'{{"uuid": "{uuid_of(next(number))}", "resource_class": "gold", {member}}}'
    for value in RATIOS + ["12345678901234567890123", "-0", "-0.0", "1E5", "0.10"]:
        yield "POST", "/v1/nodes", f'{{"driver": "fake-hardware", "uuid": "{uuid_of(next(number))}", "extra": {{"v": {value}}}}}'
    for sent in range(2, next(number)):
        yield "GET", f"/v1/nodes/{uuid_of(sent)}", None
        yield "GET", f"/v1/allocations/{uuid_of(sent)}", None


def valet_requests():
    for text in TEXTS + LONG:
        yield "POST", "/v1/groups", f'{{"name": {text}, "type": "exclusivity", "description": {text}}}'
    yield "GET", "/v1/groups", None


def comparable(value):
    """Without what differs between any two servers, and of an error of Placement only its status and code."""
    if isinstance(value, dict):
        if "errors" in value:
            return [(one["status"], one.get("code")) for one in value["errors"]]
        if list(value) == ["traits"]:
            return {"traits": sorted(value["traits"])}
        return {name: comparable(one) for name, one in value.items()
                if not name.endswith("_at") and name not in ("links", "request_id", "conductor")}
    return [comparable(one) for one in value] if isinstance(value, list) else value


class Asker:
    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def ask(self, method, path, body):
        headers = {"x-auth-token": "admin", "openstack-api-version": "placement 1.39", "x-openstack-ironic-api-version": "1.82"}
        if body is not None:
            headers["content-type"] = "application/json"
        self.connection.request(method, path, None if body is None else body.encode("utf-8", "surrogatepass"), headers)
        answer = self.connection.getresponse()
        text = answer.read()
        with contextlib.suppress(ValueError):
            return answer.status, comparable(json.loads(text) if text else None)
        return answer.status, text.decode("utf-8", "replace")

    def all(self, requests):
        answers = []
        for method, path, body in requests:
            if body is not None and "GENERATION" in body:
                generation = self.ask("GET", f"/resource_providers/{HOST}", None)[1]["generation"]
                body = body.replace("GENERATION", str(generation))
            answers.append(self.ask(method, path, body))
        return answers


def is_wanted(request, ours, theirs):
    method, path, _ = request
    if theirs[0] == 500:  # the Python service fails: a value that the database cannot hold is the client's error
        return ours[0] in (200, 400)
    return any(method == wanted[0] and re.match(wanted[1], path) and (ours[0], theirs[0]) == wanted[2:] for wanted in WANTED)


def without_generations(answer):
    if isinstance(answer, dict):
        return {name: without_generations(one) for name, one in answer.items() if not name.endswith("generation")}
    return answer


class OnMariadb:
    """What is wanted there. Once a write is answered differently, its object and the generations of others differ as well."""

    def __init__(self, charset):
        self.holds_four_bytes = charset == "utf8mb4"
        self.objects = set()

    def is_wanted(self, request, ours, theirs):
        method, path, body = request
        if method == "GET":
            return self._is_wanted_read(path, ours, theirs)
        if ours[0] == theirs[0] == 200:
            return without_generations(ours[1]) == without_generations(theirs[1])
        wanted = self._is_wanted_write(request, ours, theirs)
        if wanted:
            self.objects.add(json.loads(body)["uuid"] if path == "/resource_providers" else path.rpartition("/")[2])
        return wanted

    def _is_wanted_write(self, request, ours, theirs):
        method, path, body = request
        if theirs[0] == 500:
            return ours[0] in (204, 400)
        if body and not self.holds_four_bytes and FOUR_BYTES.search(body):
            return ours[0] == 400
        return is_wanted(request, ours, theirs) or any(
            method == wanted[0] and re.match(wanted[1], path) and (ours[0], theirs[0]) == wanted[2:] for wanted in WANTED_ON_MARIADB)

    def _is_wanted_read(self, path, ours, theirs):
        if path.rpartition("/")[2] in self.objects:
            return True
        if "?name=" in path or "?uuid=" in path:  # theirs finds what only looks alike, too
            return is_wanted(("GET", path, None), ours, theirs) or (
                ours[0] == theirs[0] == 200 and all(one in theirs[1]["resource_providers"] for one in ours[1]["resource_providers"]))
        same = without_generations(ours[1]) == without_generations(theirs[1])
        # a consumer by a UUID in capitals
        return ours[0] == theirs[0] == 200 and (same or (path.startswith("/allocations/%41") and ours[1] == {"allocations": {}}))


def is_nul(request, ours):
    return request[2] is not None and r"\u0000" in request[2].replace(r"\\", "") and ours[0] == 400


def differences(requests, ours, theirs, is_allowed):
    found = [f"{' '.join(request[:2])} {(request[2] or '')[:200]}: {str(one)[:300]}, not {str(other)[:300]}"
             for request, one, other in zip(requests, ours, theirs) if one != other and not is_allowed(request, one, other)]
    return None if not found else f"{len(found)} of {len(requests)}: " + "; ".join(found[:3])


def same(request, ours, theirs):
    return False


class Values:
    def __init__(self, server, build, stack, charset=None):
        self.server, self.berthd, self.stack = server, os.path.join(build, "berthd"), stack
        self.parameters = {"charset": charset} if charset == "utf8mb4" else {}  # otherwise the Python service sends utf8mb3
        self.is_wanted = OnMariadb(charset).is_wanted if charset else is_wanted
        self.is_own_wanted = same if charset else lambda request, ours, _: is_nul(request, ours)

    def directory(self):
        return self.stack.enter_context(tempfile.TemporaryDirectory(prefix="berth-values-"))

    def berth(self, url):
        ports = {"baremetal_port": servers.free_port(), "valet_port": servers.free_port()}
        options = ["[baremetal]", "host = here", "fake_delay_ms = 0"]
        return self.stack.enter_context(servers.Berthd(self.berthd, self.directory(), connection=url, options=options, **ports))

    def compare(self, score):
        for name in ("ours", "theirs"):
            self.server.create_database(name)
        berth, embedded = self.berth(self.server.url("ours")), self.berth(None)
        theirs = self.server.url("theirs", **self.parameters)
        python = self.stack.enter_context(servers.PythonService(self.directory(), connection=theirs))

        requests = list(placement_requests())
        ours, theirs = Asker(berth.port).all(requests), Asker(python.port).all(requests)
        score.case("Placement answers as the Python service", differences(requests, ours, theirs, self.is_wanted))
        accepted = [one[0] for one in ours].count(204)
        score.case("values are accepted", None if accepted > 35 else f"only {accepted}")

        gets = [request for request in requests if request[0] == "GET"]
        theirs = Asker(python.port).all(gets)
        on_theirs = Asker(self.berth(self.server.url("theirs")).port).all(gets)
        score.case("and so on the Python service's database", differences(gets, on_theirs, theirs, self.is_wanted))

        others = {"nodes": (metal_requests, "baremetal_port"), "groups": (valet_requests, "valet_port")}
        for name, (make, port) in others.items():
            written = [request for request in make() if request[0] == "POST"]
            ours, theirs = (Asker(getattr(one, port)).all(written) for one in (berth, embedded))
            ours, theirs = ([(status, None) if status == 201 else (status, body) for status, body in answers]
                            for answers in (ours, theirs))
            score.case(f"{name}: as on SQLite", differences(written, ours, theirs, self.is_own_wanted))
            accepted = [one[0] for one in ours].count(201)
            score.case(f"{name}: values are accepted", None if accepted > 5 else f"only {accepted}")
        score.case("names that the database takes for one another, at once", self.alike_at_once(berth))
        for what, problem in self.alike_in_one_request(berth, python):
            score.case(f"two new names in one request that the database takes for one another: {what}", problem)
        score.case("nobody else writes", self.written_by_others(berth))
        self.restart(score, berth, gets, others)

    @staticmethod
    def alike_at_once(berth):
        """Claims of projects that differ in case only, in the same batches: on a server that takes them for one, too."""
        def claim(number):
            owner = f"{'Alike' if number % 2 else 'ALIKE'}{number // 8}"
            body = (f'{{"allocations": {{"{HOST}": {{"resources": {{"MEMORY_MB": 1}}}}}}, "project_id": "{owner}", '
                    f'"user_id": "{owner.swapcase()}", "consumer_generation": null, "consumer_type": "INSTANCE"}}')
            return Asker(berth.port).ask("PUT", f"/allocations/{uuid_of(0x10000 + number)}", body)

        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            refused = [answer for answer in pool.map(claim, range(96)) if answer[0] != 204]
        return None if not refused else f"{len(refused)} of 96: {refused[0]}"

    def alike_in_one_request(self, berth, python):
        """The first name is stored, and also used where the request has the other one. On PostgreSQL, these are two names."""
        host, *consumers = (uuid_of(0x20000 + number) for number in range(11))

        def claims(*owners):
            return {consumer: {"allocations": {host: {"resources": {"MEMORY_MB": 1}}}, "project_id": project, "user_id": user,
                               "consumer_generation": None, "consumer_type": "INSTANCE"}
                    for consumer, (project, user) in zip(reversed(consumers), owners)}

        def post(*owners):
            return lambda _: ("POST", "/allocations", claims(*owners))

        def reshape(generation):
            inventories = {"MEMORY_MB": {"total": 99}}
            return "POST", "/reshaper", {"allocations": claims(("reshaped", "reshaper"), ("Reshaped", "RESHAPER")), "inventories": {
                host: {"resource_provider_generation": generation, "inventories": inventories}}}

        shared = "abcdefab-0000-4000-8000-000000000000"
        makers = {
            "projects": post(("Twofold", "12"), ("twofold", "12")),
            "users": post(("12", "twofold"), ("12", "Twofold")),
            "trailing blanks and accents": post(("blank ", "h\u00f6st"), ("blank", "host")),
            "both, many times": post(*((f"{letter}any{number}", f"{letter.swapcase()}any{number}")
                                       for number in range(5) for letter in "mM")),
            "names that will be stored": post(*((f"old{number}", "old") for number in range(5))),
            "many of stored ones": post(*((f"{letter}ld{number}", f"{letter}LD") for number in range(5) for letter in "Oo")),
            "a reshape": reshape,
            "aggregates": lambda generation: ("PUT", f"/resource_providers/{host}/aggregates", {
                "aggregates": [shared, shared.upper()], "resource_provider_generation": generation}),
        }
        askers = Asker(berth.port), Asker(python.port)
        for asker in askers:
            asker.ask("POST", "/resource_providers", json.dumps({"name": host, "uuid": host}))
            asker.ask("PUT", f"/resource_providers/{host}/inventories", json.dumps({
                "resource_provider_generation": 0, "inventories": {"MEMORY_MB": {"total": 99}}}))
        for what, make in makers.items():
            found = []
            for asker in askers:
                generation = asker.ask("GET", f"/resource_providers/{host}", None)[1]["generation"]
                method, path, body = make(generation)
                status = asker.ask(method, path, json.dumps(body))[0]
                allocations = [asker.ask("GET", f"/allocations/{one}", None)[1] for one in consumers]
                names = [(one["project_id"], one["user_id"]) for one in allocations if one["allocations"]]
                if what == "aggregates":  # the Python service chooses one of them
                    aggregates = asker.ask("GET", f"/resource_providers/{host}/aggregates", None)[1]["aggregates"]
                    names = sorted(one.lower() for one in aggregates if one.lower() == shared)
                found.append((status, names))
                for consumer in consumers:
                    asker.ask("DELETE", f"/allocations/{consumer}", None)
            yield what, None if self.is_wanted_in_one_request(what, *found) else repr(found)

    def is_wanted_in_one_request(self, what, ours, theirs):
        counts = {"both, many times": (10, 5), "names that will be stored": (5, 5), "many of stored ones": (10, 5), "aggregates": (2, 1)}
        # On PostgreSQL, and where the database takes each two names for one another; aggregates are shown in one spelling here.
        on_postgres, on_mariadb = counts.get(what, (2, 1))
        distinct = on_mariadb if self.is_own_wanted is same or what == "aggregates" else on_postgres
        return ours == theirs and ours[0] in (200, 204) and len(set(ours[1])) == distinct

    @staticmethod
    def written_by_others(berth):
        """What the observer has found; None: nothing, in looks at all that was written."""
        Asker(berth.port).all([("GET", "/resource_providers", None)])
        return next((line[-300:] for line in berth.log().splitlines() if "another program has written" in line), None)

    def restart(self, score, berth, gets, others):
        reads = {"Placement": (gets, "port"), **{name: ([request for request in make() if request[0] == "GET"], port)
                                                 for name, (make, port) in others.items()}}
        metal = Asker(berth.baremetal_port)
        wait_until(lambda: all(one["state"] != "allocating"
                               for one in metal.ask("GET", "/v1/allocations", None)[1]["allocations"]),
                   "allocations are not decided", 60)
        before = {name: Asker(getattr(berth, port)).all(requests) for name, (requests, port) in reads.items()}
        berth.kill()
        berth.start()
        for name, (requests, port) in reads.items():
            after = Asker(getattr(berth, port)).all(requests)
            score.case(f"{name}: the same after a restart", differences(requests, after, before[name], same))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", metavar="DIRECTORY", default="build")
    parser.add_argument("--mariadb", metavar="CHARSET", help="on MariaDB, in a database with that character set")
    arguments = parser.parse_args()
    score = servers.Score()
    charset = arguments.mariadb
    server = server_class()(charset=charset, collation=charset + "_general_ci") if charset else Postgres()
    with server, contextlib.ExitStack() as stack:
        Values(server, arguments.build, stack, charset).compare(score)
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
