#!/usr/bin/python3
"""Policies in operation: a live berthd whose files change, and the tool berth.

    tests/policy/run.py --build build [CASE…]        last line: N passed, N failed
"""

import argparse
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import traceback

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests"))
from servers import Berthd, Score  # noqa: E402

IN_FORCE_S = 1.0
OLD_S = 5  # files of that age are read at the first check
ALLOWED, DENIED = 200, 403


class Place:
    """A directory with a configuration and policy files."""

    def __init__(self, build, directory, *more):
        self.build, self.directory = build, directory
        self.config = self.write("placement.conf", "[placement_database]\nconnection = sqlite://\n" + "\n".join(more))

    def path(self, name):
        return os.path.join(self.directory, name)

    def write(self, name, text):
        """Replaces the file in one step, as editors and configuration tools do."""
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name + ".new"), "w", encoding="utf-8") as file:
            file.write(text)
        os.rename(self.path(name + ".new"), self.path(name))
        return self.path(name)

    def berth(self, *arguments, stdin="", where="behind"):
        switches = ["--config-file", self.config]
        command = [os.path.join(self.build, "berth")]
        command += ["policy", *arguments, *switches] if where == "behind" else [*switches, "policy", *arguments]
        done = subprocess.run(command, input=stdin, capture_output=True, text=True, cwd=self.directory,
                              env={"PATH": os.environ["PATH"], "HOME": self.directory,
                                   **{key: value for key, value in os.environ.items() if "SAN_OPTIONS" in key}})
        return done.returncode, done.stdout, done.stderr

    def token(self, *roles, **scope):
        scope = scope or {"project": {"id": "p1", "domain": {"id": "default"}}}
        body = {"token": {"user": {"id": "u1", "name": "\U0001f600", "domain": {"id": "default", "name": "Default"}},
                          "roles": [{"id": "r" + role, "name": role} for role in roles], "methods": ["password"], **scope}}
        return self.write("token.json", json.dumps(body))


def must(condition, what):
    if not condition:
        raise AssertionError(what)


class Live:
    def __init__(self, place, *options):
        self.place = place
        self.server = Berthd(os.path.join(place.build, "berthd"), place.directory, options=options)
        self.server.start()

    def ask(self, path="/traits", roles="admin", method="GET", **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=10)
        connection.request(method, path, headers={"x-auth-token": "u1:p1", "x-roles": roles,
                                                  "openstack-api-version": "placement 1.39", **headers})
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, body

    def wait(self, wanted, *arguments, **more):
        """Waits until the answer is this; returns how long that took."""
        began = time.monotonic()
        while True:
            status, body = self.ask(*arguments, **more)
            took = time.monotonic() - began
            if status == wanted:
                return took
            must(took < 10, f"still {status} {body} after {took:.1f} s")
            time.sleep(0.01)

    def stays(self, wanted, seconds, *arguments, **more):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            status, body = self.ask(*arguments, **more)
            must(status == wanted, f"{status} {body}, not {wanted}")
            time.sleep(0.02)

    def lines(self, words):
        return [line for line in self.server.log().splitlines() if words in line]

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        if exception[0] is None:
            must(self.server.stop() == 0, "berthd ended badly: " + self.server.log()[-1000:])
        self.server.kill()


# A live service.


def override_and_back(place):
    """A file that is created, changed, or removed takes effect within a second each time."""
    with Live(place) as live:
        must(live.ask()[0] == ALLOWED and live.ask(roles="x")[0] == DENIED, "not the defaults")
        for text, admin, other in (('"placement:traits:list": role:x', DENIED, ALLOWED),
                                   ('"placement:traits:list": "role:x or role:admin"', ALLOWED, ALLOWED),
                                   ('"placement:traits:list": "!"', DENIED, DENIED)):
            place.write("policy.yaml", text)
            for roles, wanted in (("admin", admin), ("x", other)):
                took = live.wait(wanted, roles=roles)
                must(took < IN_FORCE_S, f"in force after {took:.2f} s")
        place.write("policy.yaml", "{}")
        took = live.wait(ALLOWED)
        must(took < IN_FORCE_S and live.ask(roles="x")[0] == DENIED, "the default is not back")


def file_gone(place):
    """Its rules stay in force until SIGHUP: nobody gets more permissions because a file is being replaced or its
    disk is unavailable."""
    place.write("policy.yaml", '"placement:traits:list": role:x')
    with Live(place) as live:
        os.unlink(place.path("policy.yaml"))
        live.stays(DENIED, 1.8)
        must(len(live.lines("policy.yaml is missing")) == 1, live.server.log())
        live.server.process.send_signal(signal.SIGHUP)
        live.wait(ALLOWED)


def words_of_a_refusal(place):
    place.write("policy.yaml", '"placement:traits:list": "!"')
    with Live(place) as live:
        status, body = live.ask()
        error = json.loads(body)["errors"][0]
        must(status == 403 and error["detail"].strip().endswith("Policy does not allow placement:traits:list to be performed.")
             and error["code"] == "placement.undefined_code", body)


def directories_win(place):
    place.write("policy.yaml", '"placement:traits:list": role:x')
    with Live(place) as live:
        must(live.ask(roles="x")[0] == ALLOWED and live.ask(roles="y")[0] == DENIED, "policy.yaml is not read")
        place.write("policy.d/20.yaml", '"placement:traits:list": role:y')
        must(live.wait(ALLOWED, roles="y") < IN_FORCE_S, "too late")
        place.write("policy.d/10.json", '{"placement:traits:list": "role:z", "placement:resource_classes:list": "role:z"}')
        must(live.wait(ALLOWED, "/resource_classes", roles="z") < IN_FORCE_S, "too late")
        must(live.ask(roles="y")[0] == ALLOWED and live.ask(roles="z")[0] == DENIED, "the earlier file wins")
        os.unlink(place.path("policy.d/20.yaml"))
        must(live.wait(ALLOWED, roles="z") < IN_FORCE_S, "too late")


def broken_file_keeps_the_old(place):
    place.write("policy.yaml", '"placement:traits:list": role:x')
    with Live(place) as live:
        for broken in ('"placement:traits:list": [', '"placement:traits:list": yes', "\x00", "- role:admin"):
            place.write("policy.yaml", broken)
            live.stays(ALLOWED, 0.8, roles="x")
        must(len(live.lines("policies stay as they were")) == 4, live.server.log())
        place.write("policy.yaml", '"placement:traits:list": role:y')
        must(live.wait(ALLOWED, roles="y") < IN_FORCE_S, "too late")


def hangup_reads_again(place):
    with Live(place) as live:
        place.write("policy.yaml", '"placement:traits:list": role:x')
        live.server.process.send_signal(signal.SIGHUP)
        live.wait(ALLOWED, roles="x")
        before = len(live.lines("policies: the defaults, changed by"))
        live.server.process.send_signal(signal.SIGHUP)
        end = time.monotonic() + 5
        while len(live.lines("policies: the defaults, changed by")) == before:
            must(time.monotonic() < end, "SIGHUP does not read again")
            time.sleep(0.02)


def requests_beside_reloads(place):
    """Every answer uses one policy: of two rules that always differ exactly one allows."""
    rules = ['"placement:traits:list": role:x\n"placement:resource_classes:list": role:y\n',
             '"placement:traits:list": role:y\n"placement:resource_classes:list": role:x\n']
    place.write("policy.yaml", rules[0])
    with Live(place) as live:
        for turn in range(6):
            place.write("policy.yaml", rules[(turn + 1) % 2])
            live.wait(ALLOWED, roles="xy"[(turn + 1) % 2])
            must(live.ask("/resource_classes", roles="yx"[(turn + 1) % 2])[0] == ALLOWED, "of two policies")


def targets(place):
    """project_id is the caller's own, but in GET /usages that of the query."""
    place.write("policy.yaml", '"placement:traits:list": project_id:%(project_id)s and user_id:%(user_id)s\n'
                               '"placement:usages": project_id:%(project_id)s\n'
                               '"placement:resource_classes:list": user_domain_id:%(user_domain_id)s\n')
    with Live(place) as live:
        must(live.ask(roles="x")[0] == ALLOWED, "not the own project")
        must(live.ask("/usages?project_id=p1", roles="x")[0] == ALLOWED, "not the project that is asked about")
        must(live.ask("/usages?project_id=p2", roles="x")[0] == DENIED, "any project")
        must(live.ask("/resource_classes", roles="x")[0] == DENIED, "a missing key")
    place.write("policy.yaml", '"placement:usages": user_id:%(user_id)s\n')
    with Live(place) as live:
        must(live.ask("/usages?project_id=p1", roles="admin")[0] == DENIED, "the caller's user_id")


def scopes(place):
    with Live(place, "[oslo_policy]", "enforce_scope = true", "[api]") as live:
        status, body = live.ask(**{"openstack-system-scope": "all"})
        must(status == 403 and "placement:traits:list" in json.loads(body)["errors"][0]["detail"], body)
        must(live.ask()[0] == ALLOWED, "a token of a project")


def wrong_at_the_start(place):
    for text, words in (("a: [", "policy.yaml:2: "), ("a: 5", "policy.yaml:1: rule a: must be text"),
                        ("x" * (1 << 20) + "x", "is larger than 1048576 bytes")):
        place.write("policy.yaml", text)
        done = subprocess.run([os.path.join(place.build, "berthd"), "--config-file",
                               place.write("berthd.conf", "[api]\nauth_strategy = noauth2\n[placement_database]\n"
                                           "connection = sqlite://\n[berth]\nlisten = 127.0.0.1:0\n")],
                              capture_output=True, text=True, timeout=30)
        last = done.stderr.splitlines()[-1]
        must(done.returncode == 1 and last.startswith("berthd: ") and words in last, done.stderr)


def json_alone(place):
    place.write("policy.json", '{"placement:traits:list": [["role:x"], ["role:y", "user_id:u1"]]}')
    with Live(place) as live:
        must(live.ask(roles="x")[0] == ALLOWED and live.ask(roles="y")[0] == ALLOWED and live.ask()[0] == DENIED, "policy.json")


# The tool.


def tool_check(place):
    place.write("policy.yaml", '"placement:usages": "role:reader and project_id:%(project_id)s"\nx: http://server/\n')
    token = place.token("reader", "member")
    for where in ("before", "behind"):
        code, out, err = place.berth("check", "--token-file", token, "placement:usages", where=where)
        must((code, err) == (0, "") and out.startswith("passed: placement:usages") and "project_id:%(project_id)s" in out, out + err)
    code, out, _ = place.berth("check", "--token-file", token, "placement:usages", "--target", "project_id=p2")
    must(code == 1 and out.startswith("failed: placement:usages") and '(wanted: "p2"; there: "p1")' in out, out)
    must("role:reader" not in out, "names what did not decide: " + out)
    code, out, _ = place.berth("check", "--token-file", token, "placement:usages", "placement:traits:list", "x", "nothing")
    must(code == 1 and re.findall(r"^(passed|failed): (\S+)", out, re.M) ==
         [("passed", "placement:usages"), ("failed", "placement:traits:list"), ("failed", "x"), ("failed", "nothing")], out)
    code, out, _ = place.berth("check", "--token-file", place.token("admin"), "--service", "placement")
    must(code == 1 and len(out.splitlines()) == 33 and out.count("passed: ") == 32, out)
    code, out, _ = place.berth("check", "--token-file", place.token("admin"), "--service", "baremetal")
    must(code == 1 and len(out.splitlines()) == 61 and "failed: show_password" in out, out)
    code, both, _ = place.berth("check", "--token-file", place.token("admin"))
    must(code == 1 and len(both.splitlines()) == 33 + 61 + 18 and out in both, both)
    code, out, _ = place.berth("check", "--token-file", place.token("admin"), "--service", "valet")
    must(code == 0 and len(out.splitlines()) == 18 == out.count("passed: valet:") and both.endswith(out), out)
    code, out, _ = place.berth("check", "--token-file", place.token("reader"), "--service", "valet")
    must(code == 1 and re.findall(r"^failed: valet:(\S+)", out, re.M) == [
        "group:list", "group:show", "group:create", "group:update", "group:delete", "group:members", "plan:migrate",
        "all_projects"], out)
    code, out, _ = place.berth("check", "--token-file", "-", "placement:usages", stdin=open(place.token("reader")).read())
    must(code == 0, out)
    # The target of GET /usages is a project without a user; that of other requests is the caller.
    place.write("policy.yaml", '"placement:usages": user_id:%(user_id)s\n"placement:traits:list": user_id:%(user_id)s\n')
    code, out, _ = place.berth("check", "--token-file", token, "placement:usages", "placement:traits:list")
    must(code == 1 and re.findall(r"^(passed|failed): (\S+)", out, re.M) ==
         [("failed", "placement:usages"), ("passed", "placement:traits:list")], out)
    must("(the target has no user_id)" in out, out)


def tool_check_of_baremetal(place):
    """A name belongs to the service that its prefix names, or to each service that knows it."""
    place = Place(place.build, place.directory, "[oslo_policy]", "enforce_new_defaults = true")
    token = place.token("reader", "member")
    for target, wanted in (((), 1), (("--target", "node.owner=p1"), 0), (("--target", "node.lessee=p1"), 0),
                           (("--target", "node.owner=p2"), 1)):
        code, out, _ = place.berth("check", "--token-file", token, "baremetal:node:get", *target)
        must(code == wanted and out.startswith(("passed", "failed")[wanted] + ": baremetal:node:get\n"), out)
    code, out, _ = place.berth("check", "--token-file", place.token("administrator"), "admin_api")
    must(code == 1 and re.findall(r"^(passed|failed): (.*)", out, re.M) ==
         [("failed", "admin_api  (of placement)"), ("passed", "admin_api  (of baremetal)")], out)
    # Only there are project names a credential.
    place.write("policy.yaml", 'ours: project_name:ops\n"placement:usages": rule:ours\n"baremetal:node:get": rule:ours\n')
    ops = {"project": {"id": "p1", "name": "ops", "domain": {"id": "default"}}}
    code, out, _ = place.berth("check", "--token-file", place.token("reader", **ops), "placement:usages", "baremetal:node:get")
    must(code == 1 and re.findall(r"^(passed|failed): (\S+)", out, re.M) ==
         [("failed", "placement:usages"), ("passed", "baremetal:node:get")], out)


def tool_scopes(place):
    place = Place(place.build, place.directory, "[oslo_policy]", "enforce_scope = true")
    code, out, _ = place.berth("check", "placement:traits:list", "--token-file", place.token("admin", system={"all": True}))
    must(code == 1 and "scope" in out, out)
    code, out, _ = place.berth("check", "placement:traits:list", "--token-file", place.token("admin", domain={"id": "d"}))
    must(code == 1 and "scope" in out, out)
    code, out, _ = place.berth("check", "placement:traits:list", "--token-file", place.token("admin"))
    must(code == 0, out)


def tool_bad_input(place):
    token = place.token("admin")
    for text, words in (("", "not valid JSON"), ("[]", "has no token"), ("{}", "has no token"), ('{"token": 5}', "has no token"),
                        ('{"token": {"user": {}}}', "no user"), ('{"token": {"user": {"id": 5}}}', "no user"),
                        ('{"token": {"user": {"id": "u"}, "roles": {}}}', "not a list"),
                        ('{"token": {"user": {"id": "u"}, "roles": [{}]}}', "no name"), ("[" * 100000, "not valid JSON")):
        code, out, err = place.berth("check", "a", "--token-file", place.write("bad.json", text))
        must(code == 2 and out == "" and words in err and err.count("\n") == 1, out + err)
    for arguments in ((), ("nothing",), ("check", "a"), ("list", "a"), ("list", "--nothing"), ("check", "--token-file"),
                      ("check", "a", "--token-file", token, "--target", "a"), ("list", "--policy-file", "nowhere"),
                      ("check", "a", "--token-file", "nowhere"), ("list", "--config-file", "nowhere")):
        code, out, err = place.berth(*arguments)
        must(code == 2 and out == "" and err.startswith("berth policy: "), f"{arguments}: {code} {out} {err}")
    place.write("policy.yaml", "a: [")
    for action, wanted in (("list", 2), ("validate", 1), ("check", 2)):
        code, out, err = place.berth(action, "--token-file", token)
        must(code == wanted and out == "" and "policy.yaml:2: " in err and err.count("\n") == 1, f"{action}: {code} {out} {err}")
    must(place.berth("sample")[0] == 0 and place.berth("--help")[0] == 0, "needs no files")


def tool_list(place):
    place.write("policy.yaml", '"placement:usages": role:x\nmine: role:y\n"placement:reshaper:reshape": rule:service_api\n')
    place.write("policy.d/a.yaml", '"rule:admin_api": role:z\n')
    code, out, err = place.berth("list")
    lines = out.splitlines()
    names = [line.lstrip("# ").split('": ')[0] for line in lines]
    must(code == 0 and err == "" and names == sorted(names), out)
    for line in ('"placement:usages": "role:x"  # %s:1' % place.path("policy.yaml"),
                 '"mine": "role:y"  # %s:2; not a rule of the service' % place.path("policy.yaml"),
                 '"placement:reshaper:reshape": "rule:service_api"  # %s:3; the same as the default' % place.path("policy.yaml"),
                 '"service_api": "role:z"  # %s:1, by its deprecated name' % place.path("policy.d/a.yaml"),
                 '# "admin_api": "role:admin"  # default of placement',
                 '# "admin_api": "(role:admin or role:administrator)"  # default of baremetal',
                 '"baremetal:node:delete": "((role:admin and system_scope:all) or rule:is_admin)"  # default; with the '
                 'deprecated "rule:is_admin"'):
        must(line in lines, line + " is not in:\n" + out)
    code, alone, _ = place.berth("list", "--service", "placement")
    must(code == 0 and '"admin_api": "role:admin"  # default' in alone.splitlines() and "baremetal:" not in alone, alone)
    code, redundant, _ = place.berth("list", "--redundant")
    must(code == 0 and redundant.splitlines() == [line for line in lines if "the same as" in line], redundant)
    # The output is a policy file with the same meaning.
    for name in ("policy.yaml", "policy.d/a.yaml"):
        os.unlink(place.path(name))
    place.write("policy.yaml", out)
    again = place.berth("list")[1]
    strip = lambda text: [line.split("  # ")[0] for line in text.splitlines()]
    must(strip(again) == strip(out), again)


def tool_sample(place):
    for arguments, count in ((("--service", "placement"), 41), (("--service", "baremetal"), 110), (("--service", "valet"), 18),
                             ((), 41 + 110 - 2 + 18)):
        code, sample, _ = place.berth("sample", *arguments)
        must(code == 0 and all(line == "" or line[0] == "#" for line in sample.splitlines()), sample)
        rules = "\n".join(line[1:] for line in sample.splitlines() if line.startswith('#"'))
        place.write("policy.yaml", rules)
        code, out, _ = place.berth("list", "--redundant", *arguments)
        must(code == 0 and len(out.splitlines()) == len(rules.splitlines()) == count, out)


def tool_validate(place):
    must(place.berth("validate") == (0, "", ""), "the defaults are odd")
    place.write("policy.yaml", '"placement:usages": role:x\n')
    must(place.berth("validate") == (0, "", ""), "a good file is odd")
    place.write("policy.yaml", 'demo: project_name:demo\n"baremetal:node:get": rule:demo or rule:is_admin\nadmin_api: role:x\n')
    must(place.berth("validate")[0] == 1, "the old name of other rules does not matter")
    place.write("policy.yaml", '"baremetal:port:create": "!"\n')
    must(place.berth("validate") == (0, "rules in policy files whose operations berth does not serve: baremetal:port:create\n", ""),
         "an operation that is not served")
    place.write("policy.yaml", '"placement:usage": role:x\na: and and\nb: rule:c\n')
    code, out, err = place.berth("validate")
    must(code == 1 and err == "" and len(out.splitlines()) == 3 and all(f":{i}: " in out for i in (1, 2, 3)), out)


def documentation(place):
    """docs/policies.md contains the current table; its example is a policy file."""
    text = open(os.path.join(ROOT, "docs/policies.md"), encoding="utf-8").read()
    written = re.search(r"<!-- berth policy reference -->\n(.*)<!-- end -->", text, re.S).group(1)
    must(written == place.berth("reference")[1], "docs/policies.md is not what berth policy reference prints")
    place.write("policy.yaml", re.search(r"```yaml\n(.*?)```", text, re.S).group(1))
    must(place.berth("validate") == (0, "", ""), "the example is odd")
    code, out, _ = place.berth("check", "--token-file", place.token("observer"), "--service", "placement")
    must(re.findall(r"^passed: (\S+)", out, re.M) == ["placement:resource_providers:list", "placement:usages"], out)


CASES = [override_and_back, file_gone, words_of_a_refusal, directories_win, broken_file_keeps_the_old, hangup_reads_again,
         requests_beside_reloads, targets, scopes, wrong_at_the_start, json_alone, tool_check, tool_check_of_baremetal, tool_scopes, tool_bad_input,
         tool_list, tool_sample, tool_validate, documentation]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build")
    parser.add_argument("cases", nargs="*", metavar="CASE")
    options = parser.parse_args()
    score = Score()
    for case in CASES:
        if options.cases and case.__name__ not in options.cases:
            continue
        problem = None
        with tempfile.TemporaryDirectory(prefix="berth-policy-") as directory:
            try:
                case(Place(os.path.abspath(options.build), directory))
            except Exception:
                problem = traceback.format_exc(limit=-2)
        score.case(case.__name__, problem)
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
