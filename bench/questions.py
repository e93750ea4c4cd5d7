"""The requests of the bench: the cloud that each uses, and its bytes."""

import collections
import json
import os

import clouds

MICROVERSION = "1.36"  # as nova sends it

# slow: the Python service needs more than 100 ms; its cells are limited differently. writes: each cell starts on a
# fresh copy of the cloud.
Question = collections.namedtuple("Question", "name cloud make slow writes")

THREE = "resources=VCPU:1,MEMORY_MB:1024,DISK_GB:10"
PROJECT = "11111111111111111111111111111111"
USER = "22222222222222222222222222222222"
FRESH = "uuuuuuuu-uuuu-uuuu-uuuu-uuuuuuuuuuuu"  # load replaces it by a new uuid each time
SHARED_HOSTS = 10


def request(method, path, body=None):
    head = (f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Auth-Token: admin\r\n"
            f"Accept: application/json\r\nOpenStack-API-Version: placement {MICROVERSION}\r\n")
    if body is None:
        return (head + "\r\n").encode()
    text = json.dumps(body)
    return (head + f"Content-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n{text}"
            ).encode()


def get(path):
    return [request("GET", path)]


def flat_query(cloud, limit=None):
    query = (f"/allocation_candidates?{THREE}&member_of={clouds.aggregate_uuid(cloud, 'zone')}"
             "&required=HW_CPU_X86_AVX2")
    return get(query + (f"&limit={limit}" if limit else ""))


def nested_query(limit=None):
    query = ("/allocation_candidates?resources=DISK_GB:10&resources_C=VCPU:2,MEMORY_MB:4096"
             "&required_C=HW_CPU_X86_AVX2&resources_N=SRIOV_NET_VF:1&required_N=CUSTOM_PHYSNET0"
             "&group_policy=none&same_subtree=_C,_N")
    return get(query + (f"&limit={limit}" if limit else ""))


def wide_query(policy, limit=1000):
    tree = clouds.provider_uuid("wide", 0)
    groups = "&".join(f"resources{k}=CUSTOM_DEVICE:1&in_tree{k}={tree}"
                      for k in range(1, clouds.WIDE_DEVICES + 1))
    return get(f"/allocation_candidates?{groups}&group_policy={policy}&limit={limit}")


def pathological_query():
    """13 groups of 5 units for 12 devices of 8: there is no answer, and 12! combinations to try."""
    tree = clouds.provider_uuid("wide", 1)
    groups = "&".join(f"resources{k}=CUSTOM_DEVICE:5&in_tree{k}={tree}"
                      for k in range(1, clouds.NARROW_DEVICES + 2))
    return get(f"/allocation_candidates?{groups}&group_policy=none")


def consumer(allocations):
    return {"allocations": allocations, "project_id": PROJECT, "user_id": USER,
            "consumer_generation": None}


def claim_of(host, resources=None):
    return {clouds.provider_uuid("big1k", host): {
        "resources": resources or {"VCPU": 1, "MEMORY_MB": 1024, "DISK_GB": 10}}}


def claim(host, resources=None):
    return request("PUT", f"/allocations/{FRESH}", consumer(claim_of(host, resources)))


def post(hosts):
    """Three new consumers, each on its own host. The keys must differ before the uuids are inserted, so the text is
    assembled by hand."""
    text = "{" + ", ".join(f'"{FRESH}": {json.dumps(consumer(claim_of(h)))}' for h in hosts) + "}"
    head = request("POST", "/allocations", {}).split(b"Content-Length")[0]
    return head + f"Content-Length: {len(text)}\r\n\r\n{text}".encode()


QUESTIONS = {q.name: q for q in (
    Question("get_one", "flat1k", lambda: [
        request("GET", f"/resource_providers/{clouds.provider_uuid('flat1k', n)}")
        for n in range(1000)], False, False),
    Question("flat_10", "flat1k", lambda: flat_query("flat1k", 10), True, False),
    Question("flat_all", "flat1k", lambda: flat_query("flat1k"), True, False),
    Question("list_all", "flat1k", lambda: get(
        f"/resource_providers?{THREE}&required=HW_CPU_X86_AVX2"), True, False),
    Question("usages", "flat1k", lambda: get(
        f"/usages?project_id={clouds.project_id(0)}"), False, False),
    Question("nested_10", "nested1k", lambda: nested_query(10), True, False),
    Question("nested_all", "nested1k", nested_query, True, False),
    Question("sharing_10", "sharing1k", lambda: get(
        f"/allocation_candidates?{THREE}&required=HW_CPU_X86_AVX2&limit=10"), True, False),
    Question("claim", "big1k", lambda: [claim(n) for n in range(1000)], False, True),
    Question("claim_one", "big1k", lambda: [claim(0)], False, True),
    Question("post_shared", "big1k", lambda: [
        post([(n + k) % SHARED_HOSTS for k in (0, 3, 7)]) for n in range(SHARED_HOSTS)],
        False, True),
    Question("post_disjoint", "big1k", lambda: [
        post([(101 * n + k) % 999 for k in (0, 333, 666)]) for n in range(333)], False, True),
    Question("flat10k_10", "flat10k", lambda: flat_query("flat10k", 10), True, False),
    Question("flat1m_10", "flat1m", lambda: flat_query("flat1m", 10), True, False),
    Question("usages_1m", "flat1m", lambda: get(
        f"/usages?project_id={clouds.project_id(0)}"), False, False),
    Question("wide_isolate", "wide", lambda: wide_query("isolate"), True, False),
    Question("wide_none", "wide", lambda: wide_query("none"), True, False),
    Question("wide_get_one", "wide", lambda: get(
        f"/resource_providers/{clouds.provider_uuid('wide', 0)}"), False, False),
    Question("pathological", "wide", lambda: pathological_query(), True, False),
    # the last host has room for 160 of these
    Question("last_units", "big1k", lambda: [claim(1000, {"VCPU": 1})], False, True),
    Question("version", "empty", lambda: get("/"), False, False),
)}


def write_file(name, requests, work):
    """Replaces the file of that name as a whole: a client that was just started may be reading it."""
    path = os.path.join(work, f"{name}.requests")
    with open(path + ".new", "wb") as file:
        for text in requests:
            file.write(b"REQ %d\n%s" % (len(text), text))
    os.replace(path + ".new", path)
    return path


def question_file(name, work):
    return write_file(name, QUESTIONS[name].make(), work)
