#!/usr/bin/python3
"""The front servers of docs/deployment.md, with its own snippets, in front of a running berthd: clients must see the
same with and without them, and during restarts of berthd.

    tests/proxies/run.py [--berthd PROGRAM] [nginx|apache|haproxy…]     last line: N passed, N failed
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path[:0] = [HERE, TESTS, os.path.join(TESTS, "running")]
sys.dont_write_bytecode = True

from certificates import Authority  # noqa: E402
from fronts import FRONTS, filled, snippet  # noqa: E402
from programs import Missing, Programs  # noqa: E402
from restart import Hammer  # noqa: E402
from servers import Score  # noqa: E402
from service_manager import Manager, tcp_socket, unix_socket  # noqa: E402

UNPACKED = os.path.join(os.path.dirname(TESTS), "build/proxies")
PREFIXES = {"root": [""], "prefix": ["/placement", "/placement-api"]}
METAL_PREFIXES = {"root": "", "prefix": "/baremetal"}
VERSION = "openstack-api-version: placement 1.39"
MIB = 1 << 20


class Site:
    """berthd configured as in the guide, on sockets that survive its restarts, and a second one on the same file."""

    def __init__(self, program, directory):
        self.directory = directory
        os.chmod(directory, 0o755)
        self.cert, self.key = Authority(directory).issue("front")
        self.both = os.path.join(directory, "both.pem")
        with open(self.both, "wb") as out:
            for path in (self.cert, self.key):
                with open(path, "rb") as file:
                    shutil.copyfileobj(file, out)
        self.path, self.metal_path = os.path.join(directory, "api.sock"), os.path.join(directory, "baremetal.sock")
        first, second, metal = tcp_socket(), tcp_socket(), tcp_socket()
        unix, metal_unix = unix_socket(self.path), unix_socket(self.metal_path)
        for path in (self.path, self.metal_path):
            os.chmod(path, 0o666)
        self.tcp, self.second, self.metal_tcp = (one.getsockname()[1] for one in (first, second, metal))
        places = {"127.0.0.1:8780": f"127.0.0.1:{self.tcp}", "/run/berth/api.sock": self.path,
                  "127.0.0.1:6386": f"127.0.0.1:{self.metal_tcp}", "/run/berth/baremetal.sock": self.metal_path}
        options = filled(snippet("ini", "berth"), places).splitlines()
        self.manager = Manager(program, directory, options, [("placement", first), ("placement", unix),
                                                             ("baremetal", metal), ("baremetal", metal_unix)])
        os.makedirs(directory + "/second")
        self.other = Manager(program, directory + "/second", options[:2], [("placement", second)],
                             database=self.manager.database)
        self.process = self.manager.start()
        self.spare = self.other.start()

    def restart(self):
        self.process, status = self.manager.restart(self.process)
        return status

    def log(self):
        time.sleep(0.3)  # lines are collected
        return "".join(process.log() for manager in (self.manager, self.other) for process in manager.processes)

    def end(self):
        self.manager.__exit__()
        self.other.__exit__()


class Answer:
    def __init__(self, text):
        while text.startswith(b"HTTP/1.1 100"):
            text = text.split(b"\r\n\r\n", 1)[1]
        head, _, self.body = text.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        self.status = int(lines[0].split()[1]) if lines[0].startswith("HTTP/") else 0
        self.headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}

    def json(self):
        return json.loads(self.body)


def ask(url, *arguments, data=None):
    command = ["curl", "-sS", "-k", "-i", "--http1.1", "--path-as-is", "-m", "60", "-H", "x-auth-token: admin", "-H",
               VERSION, *arguments]
    if data is not None:
        command += ["--data-binary", "@-", "-H", "content-type: application/json"]
    done = subprocess.run([*command, url], input=data, capture_output=True)
    return Answer(done.stdout)


def is_ok(answer, status=200):
    return None if answer.status == status else f"{answer.status} {answer.headers} {answer.body[:300]}"


def same_as_direct(site, base, path, *arguments):
    """None, or the difference from berth's own answer."""
    mine, direct = ask(base + path, *arguments), ask(f"http://127.0.0.1:{site.tcp}" + path, *arguments)

    def plain(answer):
        return answer.status, answer.body.replace(answer.headers.get("x-openstack-request-id", "-").encode(), b"ID")

    return None if plain(mine) == plain(direct) else f"{plain(mine)}"[:400] + " is not " + f"{plain(direct)}"[:400]


def addresses(base, name, score):
    for path in ("", "/"):
        answer = ask(base + path)
        problem = is_ok(answer) or (None if answer.json()["versions"][0]["links"][0]["href"] == "" else answer.body)
        score.case(f"{name}: GET {path or 'without a slash'}", problem)
    made = ask(base + "/resource_providers", data=json.dumps({"name": name + base[-12:]}).encode())
    location = made.headers.get("location", "")
    problem = is_ok(made) or (None if location == f"{base}/resource_providers/{made.json()['uuid']}" else location)
    score.case(f"{name}: Location", problem or is_ok(ask(location)))
    claimed = ask(base + "/resource_providers", *CLAIMS, data=json.dumps({"name": name + base[-12:] + "-evil"}).encode())
    location = claimed.headers.get("location", "")
    score.case(f"{name}: Location is not what the client claims", is_ok(claimed) or (
        None if location == f"{base}/resource_providers/{claimed.json()['uuid']}" else location))
    return made.json()["uuid"]


def bodies(base, name, score, uuid):
    traits = [f"CUSTOM_{'X' * 200}_{i}" for i in range(300)]
    if ask(base + "/traits/" + traits[-1]).status != 204:
        command = "".join(f'next\nurl = "{base}/traits/{trait}"\nrequest = PUT\nsilent\ninsecure\n'
                          f'header = "x-auth-token: admin"\nheader = "{VERSION}"\n' for trait in traits)
        subprocess.run(["curl", "-K", "-"], input=command.removeprefix("next\n").encode(), capture_output=True)
    text = json.dumps({"resource_provider_generation": 0, "traits": traits}).encode()
    answer = ask(f"{base}/resource_providers/{uuid}/traits", "-X", "PUT", "-H", "Expect: 100-continue", data=text)
    score.case(f"{name}: PUT of 60 KB with Expect", is_ok(answer) or (None if answer.json()["traits"] else "no traits"))
    large = json.dumps({"name": name + base[-12:] + "-large"}).encode()
    answer = ask(base + "/resource_providers", data=large + b" " * (15 * MIB))
    score.case(f"{name}: a body of 15 MiB", is_ok(answer))
    answer = ask(base + "/resource_providers", data=large + b" " * (17 * MIB))
    score.case(f"{name}: a body of 17 MiB is refused", is_ok(answer, 413))
    listed = ask(f"{base}/traits?name=in:" + ",".join(traits[:140]))
    score.case(f"{name}: a query of 30 KB", is_ok(listed) or (None if len(listed.json()["traits"]) == 140 else "less"))


def passed_on(site, base, name, score, uuid):
    for path in ("/traits/CUSTOM%2FA", "/resource_providers/%7Buuid%7D", "/traits?name=in:%41,B%2CC",
                 "/resource_providers?name=a%20b%2Fc%25", "/no/such/path", "/resource_providers//inventories"):
        score.case(f"{name}: {path} as without it", same_as_direct(site, base, path))
    asked = [each for each in site.log().splitlines() if "/no/such/path" in each and "] 127.0.0.1 " in each]
    score.case(f"{name}: the log has the client's address", None if len(asked) >= 2 else f"{asked}")
    first = ask(f"{base}/resource_providers/{uuid}/inventories")
    kept = {header: first.headers.get(header) for header in ("cache-control", "last-modified", "vary")}
    good = kept["cache-control"] == "no-cache" and kept["last-modified"] and "openstack-api-version" in (kept["vary"] or "")
    again = ask(f"{base}/resource_providers/{uuid}/inventories", "-H", f"If-Modified-Since: {kept['last-modified']}")
    score.case(f"{name}: headers for caches, and no 304", is_ok(again) or (None if good else f"{kept}"))
    score.case(f"{name}: version and request id", None if again.headers.get("openstack-api-version") == "placement 1.39"
               and again.headers.get("x-openstack-request-id", "").startswith("req-") else f"{again.headers}")
    score.case(f"{name}: an error keeps its body", same_as_direct(site, base, "/resource_providers?nonsense=1"))
    gone = ask(f"{base}/resource_providers/{uuid}", "-X", "DELETE")
    score.case(f"{name}: DELETE", is_ok(gone, 204))


CLAIMS = [part for claim in ("Forwarded: host=evil;proto=ftp;for=9.9.9.9", "X-Forwarded-Host: evil", "X-Forwarded-Port: 1",
                             "X-Forwarded-Prefix: /evil") for part in ("-H", claim)]
METAL_VERSION = ("-H", "x-openstack-ironic-api-version: 1.82")


def metal_links(base, name, score):
    """Every URL in answers begins with the address that the client used, whatever headers it sends."""
    root = ask(base + "/", *CLAIMS)
    problem = is_ok(root) or (None if root.json()["default_version"]["links"][0]["href"] == base + "/v1/" else root.body)
    score.case(f"{name}: the document of discovery", problem)
    resources = ask(base + "/v1", *METAL_VERSION, *CLAIMS)
    score.case(f"{name}: the links of /v1", is_ok(resources) or (
        None if resources.json()["nodes"][0]["href"] == base + "/v1/nodes/" else resources.body))
    made = [ask(base + "/v1/allocations", *METAL_VERSION, *CLAIMS,
                data=json.dumps({"resource_class": "large", "name": f"of.{kind}.{base[-9:].replace('/', '-').replace(':', '-')}"}).encode())
            for kind in ("one", "two")]
    uuid = made[0].json().get("uuid")
    location = made[0].headers.get("location", "")
    wanted = [f"{base}/v1/allocations/{uuid}", f"{base}/allocations/{uuid}"]
    problem = is_ok(made[0], 201) or (None if location == wanted[0] and
                                      [link["href"] for link in made[0].json()["links"]] == wanted else made[0].body)
    score.case(f"{name}: Location and links", problem or is_ok(ask(location, *METAL_VERSION)))
    listed = ask(base + "/v1/allocations/?limit=1&resource_class=large", *METAL_VERSION, *CLAIMS)
    following = listed.json().get("next", "")
    score.case(f"{name}: next", is_ok(listed) or is_ok(ask(following, *METAL_VERSION)) or (
        None if following.startswith(base + "/v1/allocations?") else following))
    return uuid


def metal_passed_on(site, base, name, score, uuid):
    version = ask(base + "/v1/nodes", "-H", "x-openstack-ironic-api-version: 1.999")
    score.case(f"{name}: a refused version with its range", is_ok(version, 406) or (
        None if version.headers.get("x-openstack-ironic-api-maximum-version") == "1.82" else f"{version.headers}"))
    patch = [{"op": "add", "path": "/extra/a~1b", "value": "x" * 900000}]
    patched = ask(f"{base}/v1/allocations/{uuid}", *METAL_VERSION, "-X", "PATCH", data=json.dumps(patch[:1]).encode())
    score.case(f"{name}: PATCH of 900 KB", is_ok(patched, 400))  # ~1 is no escape below 1.98
    patch[0]["path"] = "/extra/a"
    patched = ask(f"{base}/v1/allocations/{uuid}", *METAL_VERSION, "-X", "PATCH", data=json.dumps(patch).encode())
    score.case(f"{name}: PATCH", is_ok(patched) or (None if len(patched.json()["extra"]["a"]) == 900000 else "cut"))
    for size in (2, 15):
        large = [ask(base + "/v1/allocations", *METAL_VERSION, data=b" " * (size * MIB)) for _ in range(5)]
        bad = [problem for problem in (is_ok(each, 413) for each in large) if problem]
        score.case(f"{name}: bodies of {size} MiB are refused", f"{bad}" if bad else None)
    for path in ("/v1/allocations/a%2Fb", "/v1/nodes/no.such.node", "/v1/nodes?unknown=a%20b", "/no/such/path"):
        mine, direct = (ask(each + path, *METAL_VERSION) for each in (base, f"http://127.0.0.1:{site.metal_tcp}"))
        same = (mine.status, mine.body) == (direct.status, direct.body)
        score.case(f"{name}: {path} as without it", None if same else f"{mine.status} {mine.body} {direct.status} {direct.body}")
    gone = ask(f"{base}/v1/allocations/{uuid}", *METAL_VERSION, "-X", "DELETE")
    score.case(f"{name}: DELETE", is_ok(gone, 204))


def ironic_client(base, name, score):
    clean = {key: value for key, value in os.environ.items() if not key.startswith("OS_")}
    command = ["baremetal", "--insecure", "--os-auth-type", "none", "--os-endpoint", base]
    made = subprocess.run([*command, "node", "create", "--driver", "fake-hardware", "-f", "value", "-c", "provision_state"],
                          capture_output=True, text=True, env=clean, timeout=120)
    score.case(f"{name}: baremetal node create", None if made.stdout.strip() == "enroll" else made.stdout + made.stderr)


def openstack(base, name, score):
    """The real client: it creates an object and follows Location."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith("OS_")}
    command = ["openstack", "--insecure", "--os-auth-type", "admin_token", "--os-token", "admin", "--os-endpoint", base,
               "--os-placement-api-version", "1.39", "resource", "provider"]
    made = subprocess.run([*command, "create", "osc" + name + base[-12:], "-f", "json"], capture_output=True, text=True,
                          env=clean, timeout=60)
    listed = subprocess.run([*command, "list", "-f", "value", "-c", "name"], capture_output=True, text=True, env=clean,
                            timeout=60)
    good = made.returncode == 0 and "osc" + name + base[-12:] in listed.stdout.splitlines()
    score.case(f"{name}: openstack resource provider create, list", None if good else made.stderr + listed.stderr)


def under_load(site, front, name, prefix, score):
    began = time.monotonic()
    with Hammer(front.url, "--path-prefix", prefix, "--keep", "8", "--once", "8", "--idlers", "4") as hammer:
        time.sleep(1)
        statuses = []
        for _ in range(3):
            statuses.append(site.restart())
            time.sleep(0.7)
        result = hammer.end()
    bad = result["failures"] or any(statuses) or result["answered"] < 100
    score.case(f"{name}: 3 restarts behind it ({result['answered']} requests, longest {result['longest_ms']} ms)",
               f"{statuses} {result} {front.said()}"[:1500] if bad else None, time.monotonic() - began)


def health_check(site, front, name, score):
    """One of two stops for good: after a moment clients do not notice."""
    site.spare.signal(signal.SIGTERM)
    site.spare.wait()
    for sock in site.other.sockets:
        sock[1].close()
    site.other.sockets.clear()
    time.sleep(7)
    statuses = [ask(front.url + "/").status for _ in range(20)]
    score.case(f"{name}: the health check takes one out that is gone", None if statuses == [200] * 20 else f"{statuses}")


def run_front(program, programs, kind, score):
    with tempfile.TemporaryDirectory(prefix="berth-proxies-") as directory:
        site = Site(program, directory)
        try:
            for name, prefixes in PREFIXES.items():
                with kind(programs, site, name) as front:
                    for prefix in prefixes:
                        label = f"{kind.kind} {prefix or '/'}"
                        uuid = addresses(front.url + prefix, label, score)
                        bodies(front.url + prefix, label, score, uuid)
                        passed_on(site, front.url + prefix, label, score, uuid)
                        openstack(front.url + prefix, label, score)
                    metal = METAL_PREFIXES[name]
                    label = f"{kind.kind} bare metal {metal or '/'}"
                    uuid = metal_links(front.metal_url + metal, label, score)
                    metal_passed_on(site, front.metal_url + metal, label, score, uuid)
                    ironic_client(front.metal_url + metal, label, score)
                    under_load(site, front, f"{kind.kind} {name}", prefixes[-1], score)
                    if name == "root" and "second" in snippet(kind.kind, name):
                        health_check(site, front, f"{kind.kind} {name}", score)
        finally:
            site.end()


def main():
    kinds = {front.kind: front for front in FRONTS}
    parser = argparse.ArgumentParser()
    parser.add_argument("--berthd", default="build/berthd")
    parser.add_argument("kinds", nargs="*", metavar="KIND")
    options = parser.parse_args()
    if set(options.kinds) - set(kinds):
        parser.error("no such kind: " + ", ".join(sorted(set(options.kinds) - set(kinds))))
    score = Score()
    try:
        programs = Programs(UNPACKED)
    except Missing as missing:
        print(f"SKIPPED: {missing}", flush=True)
        score.case("the guide has every snippet", None if all(
            snippet(kind, name) for kind in kinds for name in PREFIXES) else "not all")
        if os.environ.get("CI"):
            score.case("front servers", str(missing))
        return score.end()
    for kind in options.kinds or kinds:
        try:
            run_front(options.berthd, programs, kinds[kind], score)
        except Exception as error:  # an aborted one has failed; the others still run
            traceback.print_exc()
            score.case(f"{kind} broke off", f"{type(error).__name__}: {error}")
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
