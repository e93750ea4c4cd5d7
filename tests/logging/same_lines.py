"""Sends the same requests to the Python service and to berth, with the same options of the log: the lines about them
must be equal once times, processes and places in the source are masked."""

import http.client
import json
import os
import re
import signal
import time

import servers

LOCAL = re.compile(r"req-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
GLOBAL = "req-11111111-2222-1333-4444-555555555555"  # not a version 4 UUID, so it is not masked
HOST = "5c0f4a1e-7d51-4a8e-9a51-6d1f0a4be101"
V = {"openstack-api-version": "placement 1.39"}
ADMIN = {"x-auth-token": "admin", **V}
JSON = {"content-type": "application/json"}

# method, path, headers, body
REQUESTS = [
    ("GET", "/", {}, None),
    ("GET", "", {}, None),
    ("GET", "/resource_providers", {}, None),  # 401
    ("GET", "/resource_providers?name=abc", ADMIN, None),
    ("GET", "/resource_providers?name=a%20b&member_of=", ADMIN, None),
    ("GET", "/traits?name=in:HW_CPU_X86_AVX,HW_CPU_X86_AVX2", {"x-auth-token": "user:project", **V}, None),
    ("GET", "/resource_classes", {"x-auth-token": "admin:project"}, None),  # the oldest version
    ("GET", "/usages?project_id=p", {"x-auth-token": "u1:p1", "x-roles": "reader,member", **V}, None),
    ("GET", "/resource_classes", {**ADMIN, "openstack-system-scope": "all"}, None),
    ("GET", "/resource_classes", {**ADMIN, "x-roles": "admin", "openstack-system-scope": "all"}, None),
    ("GET", "/resource_classes", {**ADMIN, "x-openstack-request-id": GLOBAL}, None),
    ("GET", "/resource_classes", {**ADMIN, "x-openstack-request-id": "something else"}, None),
    ("GET", "/resource_classes", {**ADMIN, "openstack-api-version": "placement 9.9"}, None),  # 406
    ("GET", "/resource_classes", {**ADMIN, "openstack-api-version": "placement latest"}, None),
    ("GET", "/nowhere/at/all", ADMIN, None),  # 404
    ("DELETE", "/resource_providers", ADMIN, None),  # 405
    ("POST", "/resource_providers", {**ADMIN, **JSON}, {"name": "host", "uuid": HOST}),
    ("POST", "/resource_providers", {**ADMIN, **JSON}, {"name": "host", "uuid": HOST}),  # 409
    ("PUT", f"/resource_providers/{HOST}/inventories", {**ADMIN, **JSON},
     {"resource_provider_generation": 0, "inventories": {"VCPU": {"total": 8}}}),
    ("PUT", f"/resource_providers/{HOST}/inventories", {**ADMIN, **JSON},
     {"resource_provider_generation": 1, "inventories": {"CUSTOM_NONE": {"total": 8}}}),  # 400
    ("GET", "/allocation_candidates?resources=VCPU:1", ADMIN, None),
    ("PUT", "/traits/CUSTOM_LOGGED", ADMIN, None),  # 201
    ("PUT", "/traits/CUSTOM_LOGGED", ADMIN, None),  # 204
    ("GET", f"/resource_providers/{HOST}/usages", ADMIN, None),
    ("DELETE", "/traits/CUSTOM_LOGGED", ADMIN, None),
    ("DELETE", f"/resource_providers/{HOST}", ADMIN, None),
    ("OPTIONS", "/resource_classes", {"origin": "http://x", "access-control-request-method": "GET"}, None),
    ("GET", "/resource_classes", {**ADMIN, "x-forwarded-for": "192.0.2.9, 192.0.2.10"}, None),
    ("HEAD", "/resource_classes", ADMIN, None),
]

FORM = "%(asctime)s.%(msecs)03d %(process)d %(levelname)s %(name)s "
CONFIGURATIONS = {
    "default": [],
    "debug": ["debug = true"],
    "warnings only": ["default_log_levels = placement=WARN"],
    "placement at debug": ["default_log_levels = amqp=WARN,placement=DEBUG"],
    "only the end": ["debug = true", "default_log_levels = placement.requestlog=INFO,placement=WARN"],
    "custom format": ["logging_context_format_string = " + FORM + "[%(request_id)s %(user_identity)s] %(message)s"],
    "all keys": ["logging_context_format_string = %(levelname)-8s|%(name)30s|%(user)s|%(user_name)s|%(project)s|"
                 "%(project_id)s|%(project_name)s|%(domain)s|%(domain_name)s|%(user_domain)s|%(project_domain)s|"
                 "%(system_scope)s|%(roles)s|%(auth_token)s|%(is_admin)s|%(is_admin_project)s|%(resource_uuid)s|"
                 "%(request_id)s|%(global_request_id)s|%(resource)s%(instance)s%(color)s|%(message)s"],
    "identity": ["logging_user_identity_format = %(user)s@%(project)s (%(system_scope)s) %(roles)s %(nothing)s"],
    "old identity": ["logging_user_identity_format = %(user)s %(project)s %(domain)s %(user_domain)s "
                     "%(project_domain)s"],
    "debug suffix": ["debug = true", "logging_debug_format_suffix = {{%(levelname)s %(name)s}}"],
    "no debug suffix": ["debug = true", "logging_debug_format_suffix ="],
    "dates": ["log_date_format = %d/%b/%Y:%H:%M:%S %z"],
    "no dates": ["log_date_format =", "logging_context_format_string = %(asctime)s %(message)s"],
    "json": ["use_json = true", "debug = true"],
    "json and dates": ["use_json = true", "log_date_format = %H:%M"],
    "widths": ["logging_context_format_string = %(user_identity)-40s|%(message)80s|%(message).30s|%(user)5.2s|"],
}


def ask(port, request):
    """The answer's local request id."""
    method, path, headers, body = request
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        answer.read()
        return answer.getheader("x-openstack-request-id")
    finally:
        connection.close()


def masked_json(line):
    fields = json.loads(line)
    for name in ("created", "msecs", "relative_created", "thread", "lineno", "process"):
        if isinstance(fields.get(name), (int, float)):
            fields[name] = "NUMBER"
    for name in ("pathname", "filename", "module", "funcname", "thread_name"):
        fields[name] = "PLACE"
    return json.dumps(fields)


def masked(line):
    if line.startswith("{"):
        line = masked_json(line)
    line = LOCAL.sub("req-LOCAL", line)
    line = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(,\d{3})?(\.\d{3})?", "TIME", line)
    line = re.sub(r"\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}\.\d{3}", "TIME", line)
    line = re.sub(r'"asctime": "\d\d:\d\d"', '"asctime": "TIME"', line)
    line = re.sub(r"TIME \d+ ", "TIME PROCESS ", line)
    return re.sub(r" \w+ \S+\.(py|c):\d+$", " PLACE", line)


def lines_of(path, ids):
    """Lines about requests, in the order of the requests as far as lines have their ids, because threads log
    independently."""
    def order(line):
        found = [ids.index(word) for word in LOCAL.findall(line) if word in ids]
        return (found[0], "Starting" not in line, "") if found else (len(ids), False, masked(line))

    with open(path, errors="replace") as file:
        return [masked(line) for line in sorted(file.read().splitlines(), key=order)
                if "status: " in line or "Starting request: " in line]


class Pair:
    """Both services; the Python service stays running through all configurations, because it starts slowly."""

    def __init__(self, berthd, directory):
        self.berthd, self.directory = berthd, directory
        self.python = PythonWithLog(directory, name="python.db")
        self.write(self.python, "python.log", [])
        self.python.start()

    def write(self, server, log, options):
        lines = ["[cors]", "allowed_origin = http://x", "[api]", "auth_strategy = noauth2", "[placement_database]",
                 f"connection = sqlite:///{server.database}", "sync_on_startup = true",
                 "[oslo_policy]", "enforce_scope = false", "[oslo_middleware]", "enable_proxy_headers_parsing = true", "[DEFAULT]",
                 f"log_file = {os.path.join(self.directory, log)}", *options]
        with open(server.config_file, "w") as file:
            file.write("\n".join(lines) + "\n")

    def configure_python(self, log, options):
        self.write(self.python, log, options)
        out = os.path.join(self.directory, self.python.id + ".out")
        before = open(out).read().count("log is set up")
        self.python.process.send_signal(signal.SIGUSR1)
        end = time.monotonic() + 60
        while open(out).read().count("log is set up") == before:
            if time.monotonic() > end:
                raise AssertionError("the Python service does not set up its log: " + self.python.log()[-2000:])
            time.sleep(0.01)

    def lines(self, number, options, requests):
        """[Python's lines, berth's lines]."""
        logs = [f"{name}-{number}.log" for name in ("python", "berth")]
        return self.play(requests, logs, [options, options])

    def lines_of_configuration(self, form, logs, requests):
        """The same where log_config_append names the log."""
        return self.play(requests, logs, [["log_config_append = " + form.format(name)] for name in ("python", "berth")])

    def play(self, requests, logs, options):
        ids = []
        berth = servers.Berthd(self.berthd, self.directory, name=os.path.basename(logs[1]) + ".db")
        self.write(berth, logs[1], options[1])
        self.configure_python(logs[0], options[0])
        with berth:
            for request in requests:
                for server in (self.python, berth):
                    ids.append(ask(server.port, request))
            berth.stop()
        python, berth = [os.path.join(self.directory, log) for log in logs]
        expected = lines_of(berth, ids)
        end = time.monotonic() + 60  # the Python service may write its last line after the answer
        while len(lines_of(python, ids)) < len(expected) and time.monotonic() < end:
            time.sleep(0.02)
        return [lines_of(python, ids), expected]

    def stop(self):
        self.python.kill()


class PythonWithLog(servers.PythonService):
    def command(self):
        here = os.path.dirname(os.path.abspath(__file__))
        return ["/usr/bin/python3", "-B", os.path.join(here, "python_with_log.py"), self.config_file, str(self.port)]


def difference(python, berth):
    if len(python) != len(berth):
        return f"{len(python)} lines of the Python service, {len(berth)} of berth: {python[:3]} {berth[:3]}"
    for one, other in zip(python, berth):
        if one != other:
            return f"\n  python: {one}\n  berth:  {other}"
    return None


def play(score, berthd, directory):
    pair = Pair(berthd, directory)
    try:
        for number, (name, options) in enumerate(CONFIGURATIONS.items()):
            python, berth = pair.lines(number, options, REQUESTS)
            enough = name == "warnings only" or len(python) >= len(REQUESTS)
            score.case(f"same lines: {name}", difference(python, berth) if enough else f"only {len(python)} lines")
    finally:
        pair.stop()
