"""/metrics: what is counted for known traffic, and that nothing else is exported."""

import http.client
import json
import os
import re
import signal
import socket
import time

from prometheus_client import parser as text_parser
from prometheus_client.openmetrics import parser as openmetrics_parser

import load
from admin import OPENMETRICS, Case, fetch
from case import CHILD, HOST, consumer, expect
from fake import FakeKeystone
from servers import rows

NONE = "berth_allocation_candidates_none_total"
REQUESTS = "berth_http_requests_total"
REFUSED = "berth_writer_refused_requests_total"
SHARING = "bbbbbbbb-0000-4000-8000-000000000003"
ALONE = "bbbbbbbb-0000-4000-8000-000000000004"
AGGREGATES = ["dddddddd-0000-4000-8000-00000000000%d" % number for number in (1, 2)]
SLOW_LANE_S = 90  # its threads run when the processor is otherwise idle: they may begin late, and notice late

# Each fails for one reason; `at`: a microversion other than the newest.
QUESTIONS = [
    ("unknown_resource_class", "resources=CUSTOM_NEVER:1"),
    ("unknown_trait", "resources=VCPU:1&required=CUSTOM_NEVER"),
    ("nothing_requested", "resources=VCPU:1&resources1=VCPU:1&forbidden=x"),
    ("no_inventory", "resources=PCI_DEVICE:1"),
    ("capacity", "resources=VCPU:17"),
    ("required_traits", "resources=VCPU:1&required=CUSTOM_NOBODY"),
    ("required_traits", "resources1=VCPU:1&required1=CUSTOM_CHILD"),
    ("forbidden_traits", "resources=VCPU:9&required=!CUSTOM_HOST"),
    ("member_of", "resources=VCPU:1&member_of=" + AGGREGATES[1]),
    ("forbidden_aggregates", "resources=VCPU:9&member_of=!" + AGGREGATES[0]),
    ("in_tree", "resources=VCPU:9&in_tree=" + ALONE),
    ("in_tree", "resources=VCPU:1&in_tree=dddddddd-0000-4000-8000-000000000009"),
    ("root_traits", "resources=VCPU:9&root_required=CUSTOM_CHILD"),
    ("sharing", f"resources1=VCPU:1&in_tree1={ALONE}&resources2=DISK_GB:10&group_policy=none"),
    ("one_tree", "resources1=VCPU:9&resources2=IPV4_ADDRESS:1&group_policy=none"),
    ("capacity_together", "resources1=VCPU:9&resources2=VCPU:9&group_policy=none"),
    ("group_policy", "resources1=VCPU:5&resources2=VCPU:5&in_tree1=%s&in_tree2=%s&group_policy=isolate" % (HOST, HOST)),
    ("one_provider_a_tree", "resources1=VCPU:9&resources2=SRIOV_NET_VF:1&group_policy=none"),
    ("same_subtree", "resources1=VCPU:9&resources2=DISK_GB:10&group_policy=none&same_subtree=1,2"),
]
AT = {"one_provider_a_tree": "1.28"}


def build(client):
    """A host with a child, a provider that shares its disk with the host, and a separate host."""
    client.make_provider(HOST, "host", VCPU=16)
    client.must(200, "POST", "/resource_providers", {"name": "child", "uuid": CHILD, "parent_provider_uuid": HOST})
    client.set_inventory(CHILD, 0, SRIOV_NET_VF=4)
    client.make_provider(SHARING, "sharing", DISK_GB=100)
    client.make_provider(ALONE, "alone", VCPU=8, IPV4_ADDRESS=4)
    for name in ("CUSTOM_HOST", "CUSTOM_CHILD", "CUSTOM_NOBODY"):
        client.must(201, "PUT", "/traits/" + name)
    for uuid, names in ((HOST, ["CUSTOM_HOST"]), (CHILD, ["CUSTOM_CHILD"]), (SHARING, ["MISC_SHARES_VIA_AGGREGATE"])):
        client.must(200, "PUT", f"/resource_providers/{uuid}/traits",
                    {"resource_provider_generation": 1, "traits": names})
    for uuid in (HOST, SHARING):
        client.must(200, "PUT", f"/resource_providers/{uuid}/aggregates",
                    {"resource_provider_generation": 2, "aggregates": AGGREGATES[:1]})


class Delta:
    """The changes between two scrapes, series by series."""

    def __init__(self, before, after):
        self.before, self.after = before, after

    def get(self, name, **labels):
        return self.after.get(name, **labels) - self.before.get(name, **labels)

    def changed(self, name):
        """{labels: change} of the metric's series that have changed."""
        found = {key: value - self.before.samples.get(name, {}).get(key, 0)
                 for key, value in self.after.samples.get(name, {}).items()}
        return {key: value for key, value in found.items() if value}


def key(**labels):
    return tuple(sorted(labels.items()))


class Metrics(Case):
    def requests(self):
        """Known traffic: each answer is counted once, by route, method, status and microversion."""
        with self.berthd() as server:
            client = server.client()
            build(client)
            before = server.scrape()
            for _ in range(7):
                client.must(200, "GET", f"/resource_providers/{HOST}")
            client.must(200, "GET", f"/resource_providers/{CHILD}", version="1.0")
            client.must(404, "GET", f"/resource_providers/{consumer(1)}")
            client.must(200, "GET", "/resource_providers?name=host")
            client.must(404, "GET", "/nowhere/at/all")
            client.must(404, "GET", "/%00%ff/\"quoted\"")
            client.must(405, "DELETE", "/resource_providers")
            client.must(400, "PUT", "/traits/lower_case")
            client.must(406, "GET", "/traits", version="1.99")
            fetch(server.port, "/resource_providers")  # 401
            fetch(server.port, "/")
            fetch(server.port, "/healthcheck")
            fetch(server.port, "/healthcheck", "HEAD")
            delta = Delta(before, server.scrape())
            show = {"api": "placement", "route": "/resource_providers/{uuid}", "method": "GET"}
            expect(delta.changed(REQUESTS) == {
                key(**show, status="200"): 8,
                key(**show, status="404"): 1,
                key(api="placement", route="/resource_providers", method="GET", status="200"): 1,
                key(api="placement", route="other", method="GET", status="404"): 2,
                key(api="placement", route="other", method="DELETE", status="405"): 1,
                key(api="placement", route="/traits/{name}", method="PUT", status="400"): 1,
                key(api="placement", route="other", method="GET", status="406"): 1,
                key(api="placement", route="other", method="GET", status="401"): 1,
                key(api="placement", route="/", method="GET", status="200"): 1,
                key(api="placement", route="/healthcheck", method="any", status="200"): 1,
                key(api="placement", route="/healthcheck", method="any", status="204"): 1,
            }, delta.changed(REQUESTS))
            expect(delta.changed("berth_http_requests_by_microversion_total") == {
                key(api="placement", microversion="1.39"): 13,
                key(api="placement", microversion="1.0"): 2,
                key(api="placement", microversion="none"): 4,
            }, delta.changed("berth_http_requests_by_microversion_total"))
            expect(delta.get("berth_http_request_duration_seconds_count", **show) == 9, "histogram")
            expect(0 < delta.get("berth_http_request_duration_seconds_sum", **show) < 9, "time")
            body = fetch(server.port, f"/resource_providers/{HOST}", x_auth_token="admin")[2]
            again = Delta(server.scrape(), server.scrape())
            expect(not again.changed(REQUESTS), "scrapes count themselves")
            expect(delta.get("berth_http_response_bytes_total", **show) >= 8 * len(body), "bytes")

    def candidates(self):
        """The number of candidates, and a failed query for each condition."""
        with self.berthd() as server:
            client = server.client()
            build(client)
            reasons = {dict(series)["reason"] for series in server.scrape().samples[NONE]}
            asked = {reason for reason, _ in QUESTIONS}
            expect(reasons == asked | {"limit", "abandoned", "not_known"}, reasons ^ asked)
            for reason, question in QUESTIONS:
                if reason == "nothing_requested":
                    continue  # the API refuses such a query before it is run
                before = server.scrape()
                status, answer = client.ask("GET", "/allocation_candidates?" + question, version=AT.get(reason))
                expect(status == 400 if reason.startswith("unknown") else answer["allocation_requests"] == [],
                       f"{question}: {status} {answer}")
                delta = Delta(before, server.scrape())
                expect(delta.changed(NONE) == {key(reason=reason): 1}, f"{question}: {delta.changed(NONE)}, not {reason}")
                expect(delta.get("berth_allocation_candidates_returned_count") == 1, question)
                expect(delta.get("berth_allocation_candidates_returned_bucket", le="0") == 1, question)
            before = server.scrape()
            for question, count in (("resources=VCPU:1", 2), ("resources=VCPU:9", 1), ("resources=VCPU:1&limit=1", 1)):
                answer = client.must(200, "GET", "/allocation_candidates?" + question)
                expect(len(answer["allocation_requests"]) == count, answer)
            delta = Delta(before, server.scrape())
            expect(not delta.changed(NONE), delta.changed(NONE))
            expect(delta.get("berth_allocation_candidates_returned_sum") == 4, "found")
            expect(delta.get("berth_allocation_candidates_returned_bucket", le="1") == 2, "found")

    def none_are_generated(self):
        """max_allocation_candidates = 0."""
        with self.berthd(options=["[placement]", "max_allocation_candidates = 0"]) as server:
            client = server.client()
            build(client)
            for question in ("resources=VCPU:1", "resources1=VCPU:1&resources2=SRIOV_NET_VF:1&group_policy=none"):
                answer = client.must(200, "GET", "/allocation_candidates?" + question)
                expect(answer["allocation_requests"] == [], answer)
            expect(server.scrape().get(NONE, reason="limit") == 2, "limit")

    def writer(self):
        """Batches, commits, refusals by reason, and the head of the log."""
        with self.berthd() as server:
            client = server.client()
            build(client)
            before = server.scrape()
            for number in range(5):
                expect(client.claim(consumer(number), None, **{HOST: {"VCPU": 1}})[0] == 204, number)
            expect(client.claim(consumer(1), None, **{HOST: {"VCPU": 1}})[0] == 409, "consumer generation")
            expect(client.claim(consumer(1), 7, **{HOST: {"VCPU": 1}})[0] == 409, "consumer generation")
            expect(client.claim(consumer(9), None, **{HOST: {"VCPU": 16}})[0] == 409, "capacity")
            expect(client.claim(consumer(9), None, **{HOST: {"DISK_GB": 1}})[0] == 409, "no such inventory")
            client.must(409, "PUT", f"/resource_providers/{HOST}/inventories",
                        {"resource_provider_generation": 99, "inventories": {}})
            client.must(409, "PUT", f"/resource_providers/{HOST}/traits",
                        {"resource_provider_generation": 99, "traits": []})
            client.must(409, "PUT", f"/resource_providers/{HOST}/aggregates",
                        {"resource_provider_generation": 99, "aggregates": []})
            client.must(409, "POST", "/reshaper", {"allocations": {}, "inventories": {
                HOST: {"resource_provider_generation": 99, "inventories": {}}}})
            client.must(409, "POST", "/resource_providers", {"name": "host"})
            client.must(409, "DELETE", f"/resource_providers/{HOST}")
            delta = Delta(before, server.scrape())
            expect(delta.changed(REFUSED) == {
                key(reason="consumer_generation"): 2, key(reason="capacity"): 2,
                key(reason="provider_generation"): 4, key(reason="other"): 2,
            }, delta.changed(REFUSED))
            expect(delta.get("berth_writer_commit_duration_seconds_count") == 5, "commits")
            expect(delta.get("berth_writer_batch_requests_sum") == 15, "requests in batches")
            expect(delta.get("berth_writer_batch_requests_bucket", le="1") == 15, "one client, one a batch")
            expect(delta.get("berth_database_log_head") == 5, "log")
            page = server.scrape()
            head = rows(server.database, "SELECT seq FROM berth_head")[0][0]
            expect(page.get("berth_database_log_head") == head, head)
            expect(page.get("berth_database_wal_bytes") > 0, "WAL")
            expect(page.get("berth_writer_silence_seconds") < 5, "the writer is silent")
            expect(page.get("berth_database_read_only") == 0, "read-only")

    def replica(self):
        """Counts of rows, the version, following another instance and a foreign writer."""
        with self.berthd() as server, self.berthd(sync=False) as other:
            client = server.client()
            build(client)
            for number in range(3):
                client.claim(consumer(number), None, **{HOST: {"VCPU": 1}, ALONE: {"VCPU": 1, "IPV4_ADDRESS": 1}})
            client.must(204, "DELETE", "/allocations/" + consumer(0))
            tables = ("resource_providers", "inventories", "consumers", "allocations", "resource_classes", "traits",
                      "placement_aggregates", "projects", "users", "consumer_types", "berth_nodes", "berth_node_allocations",
                      "berth_valet_groups", "berth_valet_members", "berth_valet_claims", "berth_valet_plans",
                      "berth_valet_placements")
            other.client().must(200, "GET", "/resource_providers")
            for each in (server, other):
                page = each.scrape()
                for table in tables:
                    count = rows(server.database, f"SELECT count(*) FROM {table}")[0][0]
                    expect(page.get("berth_replica_rows", table=table) == count,
                           (table, count, page.get("berth_replica_rows", table=table)))
                expect(page.get("berth_replica_age_seconds") == 0, "old")
                expect(page.get("berth_replica_memory_bytes") > 50000, "memory")
                expect(page.get("process_resident_memory_bytes") > page.get("berth_replica_memory_bytes"), "memory")
            expect(other.scrape().get("berth_writer_follows_total") > 0, "follows")
            expect(other.scrape().get("berth_writer_replanned_batches_total") == 0, "SQLite's batches are planned under its lock")
            page = server.scrape()
            loads, merges = page.get("berth_writer_loads_total"), page.get("berth_writer_merges_total")
            rows(server.database, "INSERT INTO traits (name) VALUES ('CUSTOM_BY_ANOTHER')")
            version = server.scrape().get("berth_replica_version")
            client.must(200, "GET", "/traits")
            page = server.scrape()
            expect(page.get("berth_writer_loads_total") == loads + 1, "loads")
            expect(page.get("berth_writer_merges_total") == merges + 1, "merges")
            expect(page.get("berth_replica_version") > version, "version")

    def over_capacity(self):
        """Providers over their capacity, whoever has exceeded it; the log names what another program has done."""
        with self.berthd() as server:
            client = server.client()
            build(client)
            client.claim(consumer(0), None, **{HOST: {"VCPU": 16}, ALONE: {"VCPU": 8, "IPV4_ADDRESS": 4}})

            def figure():
                count = server.scrape().get("berth_providers_over_capacity")
                expect(json.loads(server.page("/status")[2])["over_capacity"] == count, "the status differs")
                return count

            def lower(uuid, **inventory):
                generation = client.must(200, "GET", f"/resource_providers/{uuid}")["generation"]
                client.must(200, "PUT", f"/resource_providers/{uuid}/inventories/VCPU",
                            {"resource_provider_generation": generation, **inventory})

            expect(figure() == 0, "full is not over")
            lower(HOST, total=16, reserved=16)
            expect(figure() == 0, "reserved as a whole")
            lower(HOST, total=16, reserved=1)
            expect(figure() == 1, "reserved in part")
            lower(ALONE, total=8, allocation_ratio=0.5)
            expect(figure() == 2, "a lower ratio")
            lower(ALONE, total=8)
            lower(HOST, total=16)
            expect(figure() == 0, "raised again")
            expect("exceeds the capacity" not in server.log(), "what operators do is not reported")
            rows(server.database, "UPDATE inventories SET total = 3 WHERE total = 4")
            client.must(200, "GET", f"/resource_providers/{ALONE}")
            expect(figure() == 1, "another program")
            named = f"such as IPV4_ADDRESS of resource provider {ALONE} (alone): 4 of 3"
            expect(server.log().count(named) == 1, server.log()[-2000:])
            client.must(204, "DELETE", "/allocations/" + consumer(0))
            expect(figure() == 0, "released")

    def process(self):
        """The standard metrics of a process, and of the build."""
        began = time.time()
        with self.berthd() as server:
            page = server.scrape()
            expect(began - 1 < page.get("process_start_time_seconds") < time.time() + 1,
                   page.get("process_start_time_seconds") - began)
            status = open(f"/proc/{server.process.pid}/status").read()
            threads = int(re.search(r"^Threads:\s+(\d+)", status, re.M).group(1))
            expect(page.get("process_threads") == threads, (page.get("process_threads"), threads))
            resident = int(re.search(r"^VmRSS:\s+(\d+) kB", status, re.M).group(1)) * 1024
            expect(abs(page.get("process_resident_memory_bytes") - resident) < resident / 3, "memory")
            idle = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(10)]
            time.sleep(0.2)
            more = server.scrape()
            listener = f"http://127.0.0.1:{server.port}"
            expect(more.get("process_open_fds") - page.get("process_open_fds") == 10, "descriptors")
            expect(more.get("berth_http_connections_open", listener=listener) == 10, "connections")
            expect(more.get("berth_http_connections_accepted_total", listener=listener) >= 10, "connections")
            expect(more.get("berth_http_requests_in_flight", listener=listener) == 0, "in flight")
            idle[0].sendall(b"GET /")
            idle[1].sendall(b"GET / HTTP/1.1\r\n")
            time.sleep(0.2)
            expect(server.scrape().get("berth_http_requests_in_flight", listener=listener) == 1, "in flight")
            expect(more.get("process_max_fds") >= 256, "descriptors")
            expect(0 < page.get("process_cpu_seconds_total") <= more.get("process_cpu_seconds_total") < 60, "cpu")
            (labels, value), = more.samples["berth_build_info"].items()
            expect(value == 1 and dict(labels)["version"], labels)
            expect("berth_tls_certificate_expiry_timestamp_seconds" not in page.helps, "there is no certificate")
            for connection in idle:
                connection.close()

    def formats(self):
        """Both formats have the same content, according to our reader and to Prometheus' client library."""
        with self.berthd() as server:
            client = server.client()
            build(client)
            client.claim(consumer(1), None, **{HOST: {"VCPU": 1}})
            path = "/metrics?inventory=1&allocations=1"
            status, headers, text = server.page(path)
            expect(headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8", headers["content-type"])
            _, headers, other = server.page(path, accept=OPENMETRICS)
            expect(headers["content-type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8",
                   headers["content-type"])
            for accept in ("*/*", "text/plain", "application/json", "application/openmetrics-text;q=0.1, text/plain"):
                expect(server.page("/metrics", accept=accept)[1]["content-type"].startswith("text/plain"), accept)
            plain, open_one = server.scrape(path), server.scrape(path, accept=OPENMETRICS)
            expect(set(plain.samples) == set(open_one.samples), set(plain.samples) ^ set(open_one.samples))
            expect(sum(map(len, plain.samples.values())) == sum(map(len, open_one.samples.values())), "series")
            for families, page in ((text_parser.text_string_to_metric_families(text), plain),
                                   (openmetrics_parser.text_string_to_metric_families(other), open_one)):
                theirs = {(sample.name, tuple(sorted(sample.labels.items())))
                          for family in families for sample in family.samples}
                mine = {(name, labels) for name, series in page.samples.items() for labels in series}
                # integer bounds have another form in the other format; the library's are normalised
                expect(theirs == mine or {name for name, _ in theirs} == {name for name, _ in mine}, theirs ^ mine)

    def clients_make_no_series(self):
        """No request can create more series than the table of routes permits."""
        with self.berthd() as server:
            client = server.client()
            client.must(404, "GET", "/nowhere")
            known = len(server.scrape().samples)
            for number in range(300):
                method = ("GET", "BREW", "X" * 50, "get", "PROPFIND", "HEAD", "PATCH")[number % 7]
                path = f"/{'x' * (number % 40)}%{number % 256:02x}/{number}?a={number}"
                fetch(server.port, path, method, x_auth_token="admin", x_roles=f"role{number}",
                      openstack_api_version=f"placement 1.{number}")
                client.ask("GET", f"/resource_providers/{number}\"}}/usages")
            page = server.scrape()
            expect(len(page.samples) == known, "new metrics")
            routes = {dict(series)["route"] for series in page.samples[REQUESTS]}
            methods = {dict(series)["method"] for series in page.samples[REQUESTS]}
            expect(routes == {"other", "/resource_providers/{uuid}/usages"}, routes)
            expect(methods == {"GET", "HEAD", "PATCH", "other"}, methods)
            expect(len(page.samples[REQUESTS]) < 12, page.samples[REQUESTS])
            versions = {dict(series)["microversion"] for series in page.samples["berth_http_requests_by_microversion_total"]}
            expect(versions <= {"none"} | {f"1.{minor}" for minor in range(40)}, versions)

    def under_load(self):
        """Scrapes while eight clients write: each is well-formed, no counter decreases, nothing is lost."""
        with self.berthd() as server:
            load.fill(server.client(), 8)
            first = server.scrape()
            workers = [load.Worker(number, server.client(), number) for number in range(8)]
            threads = load.start(workers)
            last, scrapes, longest, end = first, 0, 0, time.monotonic() + 4
            while time.monotonic() < end:
                began = time.monotonic()
                page = server.scrape("/metrics?inventory=1" if scrapes % 10 == 0 else "/metrics",
                                     **({"accept": OPENMETRICS} if scrapes % 3 == 0 else {}))
                longest = max(longest, time.monotonic() - began)
                for name, series in last.samples.items():
                    if name.endswith(("_total", "_count", "_bucket")) and name != "openstack_placement_resource_total":
                        for labels, value in series.items():
                            now = page.samples[name].get(labels, value)
                            expect(now >= value, f"{name} {labels}: {value}, then {now}")
                last, scrapes = page, scrapes + 1
                expect(server.readiness()[0] == 200, "not ready under load")
                time.sleep(0.02)
            for worker in workers:
                worker.stopped = True
            for thread in threads:
                thread.join(30)
            expect(load.check_all(workers, server.client()) is None, "see above")
            delta = Delta(first, server.scrape())
            written = sum(worker.acknowledged for worker in workers)
            done = sum(value for labels, value in delta.changed(REQUESTS).items()
                       if dict(labels)["method"] != "GET" and dict(labels)["status"] in ("200", "201", "204"))
            expect(done == written, f"{done} writes counted of {written}")
            expect(longest < 5, f"a scrape took {longest:.1f} s")
            print(f"       {scrapes} scrapes beside {written} writes, the longest {longest * 1000:.0f} ms")

    def saturated(self):
        """All connections of the Placement listener are taken and its slow lane is busy: the admin listener still
        answers."""
        with self.berthd(options=["[berth]", "max_connections = 8", "header_deadline = 60"]) as server:
            client = server.client()
            for number in range(8):  # an endless search: every group may be on every child
                client.must(200, "POST", "/resource_providers", {"name": f"c{number}", "uuid": consumer(number),
                            **({"parent_provider_uuid": consumer(0)} if number else {})})
                client.set_inventory(consumer(number), 0, VCPU=12)
            client.close()
            question = "&".join(f"resources{n}=VCPU:2" for n in range(12)) + "&group_policy=none&limit=1000000"
            searches = []
            for _ in range(3):
                connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
                connection.request("GET", "/allocation_candidates?" + question, headers={
                    "x-auth-token": "admin", "openstack-api-version": "placement 1.39"})
                searches.append(connection)
            end = time.monotonic() + SLOW_LANE_S
            while (page := server.scrape()).sum("berth_slow_lane_jobs") < 3 or not page.get(
                    "berth_slow_lane_jobs", state="running"):
                expect(time.monotonic() < end, "the slow lane is idle")
                time.sleep(0.05)
            half = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(20)]
            for connection in half:
                try:
                    connection.sendall(b"GET / HTTP/1.1\r\nX: ")
                except OSError:
                    pass
            for _ in range(5):
                began = time.monotonic()
                page = server.scrape()
                expect(server.readiness()[0] == 200 and server.page("/healthz")[0] == 200, "not ready")
                server.scrape("/metrics?inventory=1")
                took = time.monotonic() - began
                expect(took < 5, f"three pages took {took:.1f} s")
            expect(page.sum("berth_slow_lane_jobs") >= 2 and page.get("berth_slow_lane_jobs_begun_total") >= 1, "slow lane")
            for connection in searches + half:
                connection.close()
            end = time.monotonic() + SLOW_LANE_S
            while server.scrape().get(NONE, reason="abandoned") < 2:  # the clients have disconnected
                expect(time.monotonic() < end, "searches continue without a client")
                time.sleep(0.1)

    def tokens(self):
        """With Keystone: results of token checks, the cache, queries, and Keystone being unavailable."""
        keystone = FakeKeystone()
        keystone.add("good"), keystone.add("other")
        options = {"www_authenticate_uri": keystone.url, "auth_url": keystone.url, "auth_type": "password",
                   "username": "placement", "password": "secret", "user_domain_name": "Default",
                   "project_name": "service", "project_domain_name": "Default", "http_request_max_retries": 0}
        lines = ["[keystone_authtoken]", *(f"{name} = {value}" for name, value in options.items())]
        with self.berthd(options=lines, strategy="keystone") as server:

            def ask(token):
                headers = {"x_auth_token": token} if token else {}
                return fetch(server.port, "/resource_classes", openstack_api_version="placement 1.39", **headers)[0]

            before = server.scrape()
            asked = [ask(token) for token in ("good", "good", "good", "bad", None, "other")]
            expect(asked == [200, 200, 200, 401, 401, 200], asked)
            delta = Delta(before, server.scrape())
            expect(delta.get("berth_authentications_total", result="accepted") == 4, "accepted")
            expect(delta.get("berth_authentications_total", result="refused") == 2, "refused")
            expect(delta.get("berth_token_lookups_total", result="hit") == 2, "hits")
            expect(delta.get("berth_keystone_queries_total") == len(keystone.validations()) == 3, "queries")
            expect(delta.get("berth_keystone_logins_total") == keystone.login_count() == 1, "logins")
            expect(delta.after.get("berth_tokens_cached") >= 2 and delta.after.get("berth_tokens_cached_bytes") > 0, "cache")
            expect(delta.after.get("berth_keystone_unavailable") == 0, "available")
            keystone.stop()
            expect(ask("new") == 503 and ask("good") == 200, "without Keystone")
            delta = Delta(delta.after, server.scrape())
            expect(delta.get("berth_authentications_total", result="unavailable") == 1, "unavailable")
            expect(delta.get("berth_keystone_queries_failed_total") == 1, "failed")
            expect(delta.after.get("berth_keystone_unavailable") == 1, "not unavailable")
            expect(fetch(server.port, "/healthcheck")[0] == 200 and server.readiness()[0] == 200, "health")

    def reloads(self):
        """Configurations and policies that were accepted on SIGHUP, and those that were refused."""
        policy = os.path.join(self.directory, "policy.yaml")
        with self.berthd(options=["[oslo_policy]", f"policy_file = {policy}"]) as server:

            def reload(path, text, *wanted):
                with open(path, "w") as file:
                    file.write(text)
                server.process.send_signal(signal.SIGHUP)
                end = time.monotonic() + 5
                while (got := figures(server.scrape())) != wanted:
                    expect(time.monotonic() < end, f"{got}, never {wanted}")
                    time.sleep(0.02)

            def figures(page):
                return (page.get("berth_config_reloads_total", result="taken"),
                        page.get("berth_config_reloads_total", result="refused"),
                        page.get("berth_policy_reloads_total"), page.get("berth_policy_reload_failures_total"),
                        page.get("berth_policy_stale"))

            expect(figures(server.scrape()) == (0, 0, 0, 0, 0), "at the start")
            reload(policy, "'placement:usages': '@'\n", 1, 0, 1, 0, 0)
            reload(policy, "'placement:usages': [\n", 2, 0, 1, 1, 1)
            reload(policy, "", 3, 0, 2, 1, 0)
            configuration = open(server.config_file).read()
            reload(server.config_file, "[berth]\nmax_body = much\n", 3, 1, 3, 1, 0)
            reload(server.config_file, configuration, 4, 1, 4, 1, 0)
