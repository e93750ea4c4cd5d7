"""What is logged about refusals and empty answers: the same lines as the real Python service where it has them, and
berth's own."""

import os
import re
import time

import same_lines
import servers

HOST = "5c0f4a1e-7d51-4a8e-9a51-6d1f0a4be101"
SMALL = "5c0f4a1e-7d51-4a8e-9a51-6d1f0a4be102"
MISSING = "5c0f4a1e-7d51-4a8e-9a51-6d1f0a4be199"
CONSUMERS = [f"9f6d6c0e-2f0e-4b7a-8a1d-0000000000{number:02}" for number in range(20)]
ADMIN = {"x-auth-token": "admin", "openstack-api-version": "placement 1.39"}
JSON = {**ADMIN, "content-type": "application/json"}


def put_inventory(uuid, generation, **inventories):
    return ("PUT", f"/resource_providers/{uuid}/inventories", JSON,
            {"resource_provider_generation": generation, "inventories": inventories})


def claim(number, generation=None, **resources):
    return ("PUT", f"/allocations/{CONSUMERS[number]}", JSON, servers.claim_body(generation, {HOST: resources}))


def claims(*parts):
    return ("POST", "/allocations", JSON, {CONSUMERS[number]: servers.claim_body(None, {HOST: resources})
                                           for number, resources in parts})


PREPARE = [
    ("POST", "/resource_providers", JSON, {"name": "host", "uuid": HOST}),
    put_inventory(HOST, 0, VCPU={"total": 8, "allocation_ratio": 1.5, "max_unit": 10},
                  MEMORY_MB={"total": 4096, "min_unit": 64, "step_size": 64, "reserved": 512}),
    ("POST", "/resource_providers", JSON, {"name": "small", "uuid": SMALL}),
    put_inventory(SMALL, 0, VCPU={"total": 2}),
    claim(0, VCPU=3),
]

# Both services log warnings about these with the same text.
REFUSED = [
    claim(1, VCPU=10),
    claim(2, VCPU=11),
    claim(3, MEMORY_MB=65),
    claim(4, MEMORY_MB=32),
    claim(5, MEMORY_MB=4096),
    claim(0, 1, VCPU=10, MEMORY_MB=3648),  # its own allocations do not count
    claims((6, {"VCPU": 5}), (7, {"VCPU": 5})),
]

# Both answer with 404 and have no line: there is no text.
UNKNOWN = [("GET", "/nowhere", ADMIN, None), ("PUT", "/nowhere/at/all", JSON, {})]

# Both answer with an error, and log its text at DEBUG.
ERRORS = [
    ("GET", "/allocation_candidates?resources=CUSTOM_UNKNOWN:1", ADMIN, None),
    ("GET", "/resource_providers?member_of=", ADMIN, None),
    ("POST", "/resource_providers", JSON, {"name": "host", "uuid": HOST}),
    claim(0, 7, VCPU=1),
    ("DELETE", f"/resource_providers/{HOST}", ADMIN, None),
]

REASON = re.compile(r" WARNING (placement\.objects\.allocation) \[(None) (req-[0-9a-f-]{36}) (.*)\] (.*)$")
ERROR = re.compile(r" DEBUG placement\.wsgi_wrapper \[.*?\] (Placement API returning an error response: .*?)"
                   r"( \S+ \S+\.(py|c):\d+)?$")


def texts_of(path, pattern, count):
    """The pattern's last text group in each line; the Python service may write it after its answer."""
    end = time.monotonic() + 5
    while True:
        with open(path, errors="replace") as file:
            found = [match for match in map(pattern.search, file.read().splitlines()) if match]
        if len(found) >= count or time.monotonic() > end:
            return found
        time.sleep(0.02)


def compare(python, berth, count):
    if len(python) != count:
        return f"the Python service has {len(python)} lines, not {count}: {python}"
    for one, other in zip(python, berth):
        if one != other:
            return f"\n  python: {one}\n  berth:  {other}"
    return None if len(berth) == count else f"berth has {len(berth)} lines, not {count}: {berth}"


def beside_python(score, berthd, directory):
    pair = same_lines.Pair(berthd, directory)
    logs = ["python-reasons.log", "berth-reasons.log"]
    try:
        pair.play(PREPARE + REFUSED + UNKNOWN + ERRORS, logs, [["debug = true"], ["debug = true"]])
    finally:
        pair.stop()
    paths = [os.path.join(directory, log) for log in logs]
    warnings = [[(m.group(1), m.group(5)) for m in texts_of(path, REASON, len(REFUSED))] for path in paths]
    score.case("refused claims: the same warnings", compare(*warnings, len(REFUSED)))
    count = len(REFUSED) + len(ERRORS)
    errors = [[m.group(1) for m in texts_of(path, ERROR, count)] for path in paths]
    score.case("errors: the same texts at DEBUG", compare(*errors, count))


QUESTIONS = [  # query, parts of the remark, counts at DEBUG
    ("resources=VCPU:11", ["(capacity): found 0 providers with available 11 VCPU"],
     ["found 0 providers with available 11 VCPU"]),
    ("resources=VCPU:2,MEMORY_MB:8192", ["no provider has enough free capacity (capacity): ",
                                         "found 2 providers with available 2 VCPU, "
                                         "found 0 providers with available 8192 MEMORY_MB"],
     ["found 2 providers with available 2 VCPU", "found 0 providers with available 8192 MEMORY_MB"]),
    ("resources=DISK_GB:1", ["no provider has inventory of a requested resource class (no_inventory)"], []),
    ("resources=VCPU:1&required=HW_CPU_X86_AVX",
     ["(required_traits): found 2 providers with available 1 VCPU, "
      "found 0 providers after applying required traits filter (['HW_CPU_X86_AVX'])"], []),
    ("resources=VCPU:1&required=!CUSTOM_OLD", ["(forbidden_traits): ", "found 0 providers after applying forbidden "
                                               "traits filter (['CUSTOM_OLD'])"], []),
    (f"resources=VCPU:1&member_of=in:{MISSING},{HOST}",
     ["(member_of): ", f"found 0 providers after applying required aggregates filter (one of ['{MISSING}', '{HOST}'])"],
     []),
    ("resources=VCPU:1" + 9 * f"&member_of={MISSING}",
     ["(member_of): ", "found 0 providers after applying required aggregates filter (", f"['{MISSING}'] and 1 more)"], []),
    (f"resources=VCPU:1&in_tree={MISSING}", ["(in_tree)"], []),
    ("resources1=VCPU:2&resources2=MEMORY_MB:9000&group_policy=none",
     ["found 2 providers with available 2 VCPU in group 1, "
      "found 0 providers with available 9000 MEMORY_MB in group 2"], []),
]


def lines_with(path, words, wanted=True):
    end = time.monotonic() + 5
    while True:
        with open(path, errors="replace") as file:
            found = [line for line in file.read().splitlines() if words in line]
        if found or not wanted or time.monotonic() > end:
            return found
        time.sleep(0.02)


def question(client, log, query, parts, counts):
    status, answer = client.ask("GET", "/allocation_candidates?" + query)
    if status != 200 or answer["allocation_requests"]:
        return f"{status} {answer}"
    own = lines_with(log, f'candidates?{query}" status: 200')
    request = re.search(r"req-[0-9a-f-]{36}", own[0]).group(0) if own else "none"
    remarks = [line for line in lines_with(log, request) if " INFO berth.candidates [" in line]
    if len(remarks) != 1:
        return f"{len(remarks)} remarks for {request}"
    for part in ["No allocation candidates: ", *parts]:
        if part not in remarks[0]:
            return f"no {part!r} in {remarks[0]}"
    with open(log) as file:
        own = [line for line in file.read().splitlines() if request in line]
    if "berth.candidates" not in own[-2] or "status: 200" not in own[-1]:
        return f"the remark is not next to the request's line: {own}"
    debug = [line for line in own if " DEBUG placement.objects.research_context " in line]
    for number, count in enumerate(counts):
        if number >= len(debug) or count not in debug[number]:
            return f"no {count!r} as line {number} of {debug}"
    return None


def empty_answers(score, berthd, directory):
    server = servers.Berthd(berthd, directory, name="empty.db", options=[
        "[DEFAULT]", "debug = true", "log_file = " + os.path.join(directory, "empty.log")])
    log = os.path.join(directory, "empty.log")
    with server:
        client = server.client()
        for method, path, _, body in PREPARE:
            client.ask(method, path, body)
        for uuid, generation in ((HOST, 2), (SMALL, 1)):
            client.must(201, "PUT", "/traits/CUSTOM_OLD") if uuid == HOST else None
            client.must(200, "PUT", f"/resource_providers/{uuid}/traits",
                        {"resource_provider_generation": generation, "traits": ["CUSTOM_OLD"]})
        for query, parts, counts in QUESTIONS:
            score.case("no candidates: " + query, question(client, log, query, parts, counts))
        status, answer = client.ask("GET", "/allocation_candidates?resources=VCPU:2")
        counted = lines_with(log, "found 2 providers with available 2 VCPU")
        score.case("counts at DEBUG also with candidates",
                   None if status == 200 and answer["allocation_requests"] and counted else f"{status} {counted}")
        remarks = len(lines_with(log, "berth.candidates"))
        score.case("no remark where there are candidates", None if remarks == len(QUESTIONS) else str(remarks))
        names = ",".join(f"HW_CPU_X86_{name}" for name in ("AVX", "AVX2", "SSE", "SSE2", "SSE3", "SSE41", "SSE42", "MMX",
                                                           "BMI", "BMI2", "F16C"))
        client.ask("GET", f"/allocation_candidates?resources=VCPU:1&required=in:{names}")
        cut = lines_with(log, "'HW_CPU_X86_MMX', and 3 more])")
        score.case("lists of names are cut", None if cut else "not cut")


def denied(score, berthd, directory):
    log = os.path.join(directory, "denied.log")
    server = servers.Berthd(berthd, directory, name="denied.db", options=["[DEFAULT]", "debug = true", f"log_file = {log}"])
    with server:
        same_lines.ask(server.port, ("GET", "/traits", {"x-auth-token": "user:project", **{
            "openstack-api-version": "placement 1.39"}}, None))
        found = lines_with(log, " DEBUG placement.policy [")
        wanted = "Policy check for placement:traits:list failed with credentials {'user_id': 'user', "
        score.case("a denied policy", None if len(found) == 1 and wanted in found[0] and "'roles': [" in found[0]
                   else str(found))


def quiet(score, berthd, directory):
    """At WARNING: only reasons of refusals."""
    log = os.path.join(directory, "quiet.log")
    server = servers.Berthd(berthd, directory, name="quiet.db", options=[
        "[DEFAULT]", f"log_file = {log}", "default_log_levels = placement=WARN,berth=WARN"])
    with server:
        client = server.client()
        for method, path, _, body in PREPARE + REFUSED[:1]:
            client.ask(method, path, body)
        client.ask("GET", "/allocation_candidates?resources=VCPU:1000")
        found = lines_with(log, "Over capacity for VCPU on resource provider")
        with open(log) as file:
            remarks = [line for line in file.read().splitlines() if "candidates" in line]
        score.case("at WARNING: the refusal alone", None if len(found) == 1 and not remarks else str((found, remarks)))


def other_apis(score, berthd, directory):
    log = os.path.join(directory, "others.log")
    server = servers.Berthd(berthd, directory, name="others.db", options=["[DEFAULT]", f"log_file = {log}"],
                            baremetal_port=servers.free_port(), valet_port=servers.free_port())
    with server:
        same_lines.ask(server.baremetal_port, ("POST", "/v1/allocations", {
            "x-auth-token": "admin", "content-type": "application/json", "x-openstack-ironic-api-version": "1.58",
            "openstack-system-scope": "all"}, {"resource_class": "GOLD"}))
        same_lines.ask(server.valet_port, ("POST", "/v1/plans", {
            "x-auth-token": "user:b7d0e9b175294b649464caa3411adb3f", "content-type": "application/json"}, {
                "plan_name": "big", "stack_id": "big", "resources": {
                    "whale": {"name": "whale", "type": "OS::Nova::Server", "properties": {"flavor": "m1.xlarge"}}}}))
        found = lines_with(log, " ERROR berth.baremetal [")
        score.case("an allocation without a node", None if len(found) == 1 and
                   "no available nodes match the resource class GOLD" in found[0] else str(found))
        found = lines_with(log, " WARNING berth.valet.reasons [")
        score.case("a plan without a placement", None if len(found) == 1 and "req-" in found[0] and
                   "The stack has no placement: " in found[0] else str(found))


def play(score, berthd, directory):
    for group in (beside_python, empty_answers, denied, quiet, other_apis):
        group(score, berthd, directory)
