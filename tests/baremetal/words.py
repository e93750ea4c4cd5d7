"""Test files of gabbits/: gabbi YAML with the additional words of tests/api (README.md there) and of this API
(README.md here)."""

import collections
import copy
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "api")]

from gabbi import json_parser  # noqa: E402
from gabbi.handlers import base  # noqa: E402

import metal_client  # noqa: E402
import handlers  # noqa: E402
import suites  # noqa: E402

PREFIX = "x-openstack-ironic-api-"
TITLES = {400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed", 406: "Not Acceptable"}
SETUP_SECONDS = 60

# Set by the runner: requests go to the real service, whose router sends less with its errors.
REFERENCE = False


class Implied(base.ResponseHandler):
    """Requirements for every answer, checked without being named in the file: the request id; below /v1 the range
    and the version used (errors of the router may omit them, and the real service's router omits the id, too);
    application/json for every body; neither body nor type with 202 and 204; the form of an error; with 405 the
    permitted methods (berth only). `response_implied: ['off']` disables them."""

    test_key_suffix = "implied"
    test_key_value = []

    def __call__(self, test):
        if test.test_data["response_implied"] == ["off"]:
            return
        response, status = test.response, int(test.response["status"])
        by_router = status >= 400 and self.check_error(test, status)
        if not (REFERENCE and by_router):
            test.assertRegex(response.get("openstack-request-id", ""), handlers.REQUEST_ID)
        if status == 405 and not REFERENCE:
            test.assertTrue(response.get("allow"))
        if status in (202, 204):
            test.assertFalse(test.output)
            test.assertNotIn("content-type", response)
        if test.output:
            test.assertEqual("application/json", response.get("content-type", "").partition(";")[0])
        if "/v1" not in test.url:
            return
        asked = test.test_data["request_headers"].get(PREFIX + "version") or "1.1"
        wanted = {"minimum-version": "1.1", "maximum-version": metal_client.NEWEST,
                  "version": metal_client.NEWEST if asked.lower() == "latest" else asked}
        for name, value in wanted.items():
            if not by_router or PREFIX + name in response:
                test.assertEqual(value, response.get(PREFIX + name), name)

    @staticmethod
    def check_error(test, status):
        """Whether the error came from routing."""
        body = json.loads(test.output)
        test.assertEqual(["error_message"], list(body))
        error = json.loads(body["error_message"])
        if "faultcode" in error:
            test.assertEqual({"faultcode", "faultstring", "debuginfo"}, set(error))
            test.assertEqual("Server" if status >= 500 else "Client", error["faultcode"])
            test.assertIsNone(error["debuginfo"])
            return False
        test.assertEqual({"code", "title", "description"}, set(error))
        test.assertEqual(status, error["code"])
        test.assertEqual(TITLES[status], error["title"])
        return True


class Faultstring(base.ResponseHandler):
    """faultstring: TEXT: the text of an error, in either form; with slashes around it a regular expression."""

    test_key_suffix = "faultstring"
    test_key_value = ""

    def __call__(self, test):
        wanted = test.test_data["response_faultstring"]
        if not wanted:
            return
        wanted, said = test.replace_template(wanted), metal_client.fault_of(test.output)
        test.assertIsNotNone(said, "no error")
        if len(wanted) > 1 and wanted[0] == wanted[-1] == "/":
            test.assertRegex(said, re.compile("^(?:" + wanted[1:-1] + ")$", re.S))
        else:
            test.assertEqual(wanted, said)


class Keys(base.ResponseHandler):
    """response_keys: {JSONPATH: [KEY, …]}: exactly these members, in any order, in each match."""

    test_key_suffix = "keys"
    test_key_value = {}

    def action(self, test, item, value=None):
        matches = json_parser.parse(item).find(test.response_data)
        test.assertTrue(matches, f"nothing at {item}")
        for match in matches:
            test.assertEqual(sorted(value), sorted(match.value))


class Absent(base.ResponseHandler):
    """response_absent: [JSONPATH, …]: no matches."""

    test_key_suffix = "absent"
    test_key_value = []

    def action(self, test, item, value=None):
        test.assertEqual([], [match.value for match in json_parser.parse(item).find(test.response_data)])


HANDLERS = [Implied, Faultstring, Keys, Absent, handlers.UnorderedHandler, handlers.AllowHandler, handlers.RawHandler]


class File(suites.File):
    KEYS = {"config", "reference_config", "skip_reference", "names", "nodes", "fake_delay_s", "defaults", "tests"}
    HANDLERS = HANDLERS
    VERSION_HEADER, VERSION = metal_client.VERSION_HEADER, "1.%d"
    DEFAULT_HEADERS = {metal_client.VERSION_HEADER: metal_client.NEWEST}

    def __init__(self, path):
        super().__init__(path)
        self.nodes = self.document.get("nodes") or {}
        for name in self.nodes:
            self.uuids[name] = suites.uuid_of(name)
        self.names_by_uuid = {value: name for name, value in self.uuids.items()}
        # api/run.py passes this to the server
        self.config = {"berth": self.document.get("config"), "ironic": self.document.get("reference_config"),
                       "fake_delay_s": self.document.get("fake_delay_s")}

    def tests(self, reference):
        """`cases` create one test each, `until` polls, `faultstring` is an abbreviation of its handler's key."""
        made = []
        for test in self.document["tests"]:
            cases = test.get("cases")
            for name, more in (cases.items() if cases else [(None, {})]):
                one = copy.deepcopy({key: value for key, value in test.items() if key != "cases"})
                one.update(copy.deepcopy(more or {}))
                if name is not None:
                    one["name"] = f"{test['name']}: {name}"
                if one.pop("until", False):
                    one["poll"] = {"count": 200, "delay": 0.05}
                if "faultstring" in one:
                    one["response_faultstring"] = one.pop("faultstring")
                made.append(one)
        self.document = {**self.document, "tests": made}
        return super().tests(reference)

    def build_cloud(self, port):
        conversation = metal_client.MetalClient(port, timeout=SETUP_SECONDS)
        try:
            for name, fields in self.nodes.items():
                fields = collections.ChainMap(self.replace(fields or {}), {"uuid": self.uuids[name], "name": name})
                conversation.make_node(**fields)
        finally:
            conversation.close()
