"""Requests that write more rows than permitted: refused as a whole, and accepted once the limit is raised by a
reload."""

import http.client
import re
import signal
import uuid

from server import HOME, Server, free_port, wait_for

MOST, PLANNED = 200, 4  # the rows of the last requests can only be counted by the writer


def uuid_of(number):
    return str(uuid.UUID(int=number))


LEAVES = 30  # rewriting their traits takes time when the tree moves
HOST, OTHER, TREE, THICK = (uuid_of(n) for n in range(1, 5))
BASE = "/resource_providers/" + HOST


def claims(count, first=1000):
    """New consumers of one class each: 16 rows for each of them, and those of the provider and of names."""
    return {uuid_of(first + n): {"allocations": {HOST: {"resources": {"VCPU": 1}}}, "project_id": "p", "user_id": "u",
                                 "consumer_generation": None, "consumer_type": "INSTANCE"} for n in range(count)}


def inventories(count):
    return {f"CUSTOM_{n}": {"total": 1} for n in range(count)}


def generation(server, provider=HOST):
    return server.must("GET", "/resource_providers/" + provider)["generation"]


def requests(server):
    """Each with the rows of its body alone, one more than permitted; the last PLANNED with those that the writer
    adds."""
    half = MOST // 2
    yield "POST", "/allocations", claims(half + 1)
    yield "POST", "/allocations", {uuid: {**claim, "allocations": {}, "consumer_generation": 1}
                                   for uuid, claim in claims(MOST + 1).items()}
    yield "POST", "/reshaper", {
        "inventories": {HOST: {"resource_provider_generation": generation(server),
                               "inventories": {"VCPU": {"total": 100000}}}}, "allocations": claims(half)}
    yield "PUT", BASE + "/inventories", {"resource_provider_generation": generation(server),
                                         "inventories": inventories(MOST + 1)}
    yield "PUT", BASE + "/traits", {"resource_provider_generation": generation(server),
                                    "traits": [f"CUSTOM_{n}" for n in range(MOST + 1)]}
    yield "PUT", BASE + "/aggregates", {"resource_provider_generation": generation(server),
                                        "aggregates": [uuid_of(5000 + n) for n in range(MOST + 1)]}
    yield "POST", "/allocations", claims(half)
    yield "PUT", BASE + "/aggregates", {"resource_provider_generation": generation(server),
                                        "aggregates": [uuid_of(5000 + n) for n in range(MOST)]}
    yield "PUT", "/resource_providers/" + THICK, {"name": "thick", "parent_provider_uuid": OTHER}
    yield "PUT", "/resource_providers/" + TREE, {"name": "tree", "parent_provider_uuid": OTHER}


def fill(server):
    for number, name in enumerate(("home", "other", "tree", "thick"), 1):
        server.must("POST", "/resource_providers", {"name": name, "uuid": uuid_of(number)})
    for number in range(MOST):
        server.must("POST", "/resource_providers", {"name": f"leaf {number}", "uuid": uuid_of(10000 + number),
                                                    "parent_provider_uuid": TREE})
        if number % 2 == 0:
            server.must("PUT", f"/traits/CUSTOM_{number}")
    server.must("PUT", BASE + "/inventories", {"resource_provider_generation": 0,
                                               "inventories": {"VCPU": {"total": 100000}}})
    traits = [f"CUSTOM_{number}" for number in range(0, MOST, 2)]
    for number in range(LEAVES):
        leaf = uuid_of(20000 + number)
        server.must("POST", "/resource_providers", {"name": f"thick {number}", "uuid": leaf, "parent_provider_uuid": THICK})
        server.must("PUT", f"/resource_providers/{leaf}/traits", {"resource_provider_generation": 0, "traits": traits})


def usual(report, berthd):
    """By default a host with 290 servers of three classes can be reshaped: one of the classes moves to a child."""
    classes = ("VCPU", "MEMORY_MB", "DISK_GB")
    stock = {name: {"total": 100000} for name in classes}

    def of(resources, generation):
        return {uuid_of(1000 + n): {"allocations": {provider: {"resources": given} for provider, given in resources.items()},
                                    "project_id": "p", "user_id": "u", "consumer_generation": generation,
                                    "consumer_type": "INSTANCE"} for n in range(290)}

    with Server(berthd, access_log="false") as server:
        server.must("POST", "/resource_providers", {"name": "home", "uuid": HOST})
        server.must("POST", "/resource_providers", {"name": "child", "uuid": OTHER, "parent_provider_uuid": HOST})
        server.must("PUT", BASE + "/inventories", {"resource_provider_generation": 0, "inventories": stock})
        servers = list(of({HOST: {name: 1 for name in classes}}, None).items())
        for i in range(0, len(servers), 145):
            server.must("POST", "/allocations", dict(servers[i:i + 145]))
        rest = {name: stock[name] for name in classes[1:]}
        answer = server.ask("POST", "/reshaper", {
            "inventories": {HOST: {"resource_provider_generation": generation(server), "inventories": rest},
                            OTHER: {"resource_provider_generation": 0, "inventories": {"VCPU": stock["VCPU"]}}},
            "allocations": of({HOST: {name: 1 for name in classes[1:]}, OTHER: {"VCPU": 1}}, 1)})
        report(answer[0] == 204, "writes: a reshape of a host with 290 servers", str(answer)[:300])
    report(not server.complaint, "writes: the server ends well", server.complaint)


def run(report, berthd):
    usual(report, berthd)
    admin = free_port()
    with Server(berthd, max_write_rows=MOST, access_log="false", admin_listen=f"{HOME}:{admin}") as server:
        fill(server)
        before = server.state()
        asked = list(requests(server))
        for method, path, body in asked:
            refused(report, server, method, path, body)
        planned = refused_by_writer(admin)
        report(planned == PLANNED, "writes: what the body alone shows is refused before the writer", f"{planned} by the writer")
        report(server.state() == before, "writes: nothing of them was written", "the state differs")
        report(server.ask("POST", "/allocations", claims((MOST - 10) // 16))[0] == 204, "writes: as many as are allowed", "")
        raise_limit(server)
        method, path, body = asked[-1]
        report(wait_for(lambda: server.ask(method, path, body)[0] == 200, 10), "writes: a reload raises the limit",
               server.tail())
        report(server.must("GET", "/resource_providers/" + uuid_of(10000))["root_provider_uuid"] == OTHER,
               "writes: the whole tree has moved", "")
        report(server.is_well(), "writes: the server is well", server.tail())
    report(not server.complaint, "writes: the server ends well", server.complaint)


def refused_by_writer(admin):
    connection = http.client.HTTPConnection(HOME, admin, timeout=10)
    connection.request("GET", "/metrics")
    text = connection.getresponse().read().decode()
    connection.close()
    return int(re.search(r'berth_writer_refused_requests_total\{reason="rows"\} (\d+)', text)[1])


def refused(report, server, method, path, body):
    status, answer = server.ask(method, path, body)
    error = answer["errors"][0] if status >= 400 else {}
    good = (status == 413 and error["title"] == "Request Entity Too Large" and
            error["code"] == "placement.write.too_many_rows" and
            f"one request may write {MOST} ([berth] max_write_rows)" in error["detail"])
    report(good, f"writes: {method} {path}", f"{status} {answer}")


def raise_limit(server):
    path = server.directory + "/placement.conf"
    with open(path) as file:
        text = file.read()
    with open(path, "w") as file:
        file.write(text.replace(f"max_write_rows = {MOST}", f"max_write_rows = {10 * MOST}"))
    server.process.send_signal(signal.SIGHUP)
