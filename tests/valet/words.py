"""Test files of gabbits/: gabbi YAML with the words of tests/api (README.md there), and the requirements for every
answer of this API."""

import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "api")]

from gabbi.handlers import base  # noqa: E402

import handlers  # noqa: E402
import suites  # noqa: E402

MALFORMED = "The server could not comply with the request since it is either malformed or otherwise incorrect."
FAULTS = {  # Valet spec, section 3: title, type, message
    400: ("Bad Request", "HTTPBadRequest", MALFORMED),
    404: ("Not Found", "HTTPNotFound", "The resource could not be found."),
    405: ("Method Not Allowed", "HTTPMethodNotAllowed", MALFORMED),
    409: ("Conflict", "HTTPConflict", "There was a conflict when trying to complete your request."),
    413: ("Request Entity Too Large", "HTTPRequestEntityTooLarge", "The body of your request was too large for this server."),
    500: ("Internal Server Error", "HTTPInternalServerError",
          "The server has either erred or is incapable of performing the requested operation."),
    503: ("Service Unavailable", "HTTPServiceUnavailable",
          "The server is currently unavailable. Please try again at a later time."),
}
RANDOM_UUID = "^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$"
REFUSAL = "This request needs a valid token of a project, with a role that allows it.\n"


class Port(int):
    """The Valet API's port, which knows Placement's port of the same server."""

    def __new__(cls, port, placement):
        made = super().__new__(cls, port)
        made.placement = placement
        return made


def fault_in(status, headers, text):
    """The error in an answer's form; None: there is none. Header names are in lower case."""
    kind = headers.get("content-type")
    if not handlers.REQUEST_ID.match(headers.get("x-openstack-request-id", "")):
        return "no request id"
    if status == 204:
        return "a 204 with a body or type" if text or kind else None
    if status == 401:
        return None if (kind, text) == ("text/plain", REFUSAL) else f"a 401 as {kind} {text}"
    if status == 405 and not headers.get("allow"):
        return "a 405 without Allow"
    if kind != "application/json":
        return f"the type is {kind}"
    if status < 400:
        return None
    body, (title, type_, message) = json.loads(text), FAULTS[status]
    explanation = body.get("explanation")
    wanted = {"title": title, "explanation": explanation, "code": status,
              "error": {"message": message, "traceback": None, "type": type_}}
    return None if body == wanted and isinstance(explanation, str) and explanation else f"{body}, not {wanted}"


class Implied(base.ResponseHandler):
    """fault_in(), checked without being named in the file; `response_implied: ['off']` disables it."""

    test_key_suffix = "implied"
    test_key_value = []

    def __call__(self, test):
        if test.test_data["response_implied"] == ["off"]:
            return
        status, text = int(test.response["status"]), test.output or ""
        if test.test_data["method"].upper() == "HEAD":
            test.assertFalse(text)
            return
        test.assertIsNone(fault_in(status, test.response, text if isinstance(text, str) else text.decode()))


class Explanation(base.ResponseHandler):
    """response_explanation: [TEXT]: the exact text of an error."""

    test_key_suffix = "explanation"
    test_key_value = []

    def action(self, test, item, value=None):
        test.assertEqual(test.replace_template(item), json.loads(test.output)["explanation"])


class Whole(base.ResponseHandler):
    """response_whole: the whole body, as JSON; lists in order. An id of NEW stands for any random UUID."""

    test_key_suffix = "whole"
    test_key_value = {}

    def preprocess(self, test):
        wanted = test.test_data["response_whole"]
        if not wanted:
            return
        body, wanted = json.loads(test.output), json.loads(test.replace_template(json.dumps(wanted)))
        if wanted.get("id") == "NEW":
            test.assertRegex(body["id"], RANDOM_UUID)
            wanted["id"] = body["id"]
        test.assertEqual(wanted, body)


class File(suites.File):
    HANDLERS = [Implied, Explanation, Whole, handlers.AllowHandler]
    VERSION_HEADER, VERSION = "x-not-a-version", "%d"

    def build_cloud(self, port):
        super().build_cloud(port.placement)
