"""What must be equal in two answers, and what may differ: hosts, times, request ids, uuids chosen by a server, and
orders that the reference does not define."""

import json
import re

import metal_client

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(\+00:00)?$")
HOST = re.compile(r"http://127\.0\.0\.1:\d+")
VERSION_HEADERS = tuple(f"x-openstack-ironic-api-{name}" for name in ("minimum-version", "maximum-version", "version"))
REQUEST_ID = re.compile(r"^req-" + UUID.pattern + "$")
REASON = re.compile(r"(?<=^Couldn't apply patch )(.*?)Reason: .*$", re.S)  # there upstream prints its Python objects
# Words from sets, in the order in which Python printed them.
SETS = (re.compile(r"(?<=^Nodes cannot be found: )(.*)$"), re.compile(r"(?<=requested traits )([\w, ]+)(?=\.)"),
        re.compile(r"(?<=Reserved words are: )(.*)$"), re.compile(r"(?<=Additional properties are not allowed \()(.*)(?= w)"),
        re.compile(r"(?<=Unexpected arguments: )(.*)$"), re.compile(r'(?<=Field\(s\) ")([^"]*)(?=" are not)'))


class Pairs:
    """Pairs of uuids that the two servers chose for the same object."""

    def __init__(self):
        self.theirs_of, self.ours_of = {}, {}

    def learn(self, reference, other, sent):
        """Learns pairs from two answers to one POST: uuids at the same place that differ and were not sent."""
        mine, theirs = UUID.findall(reference), UUID.findall(other)
        if len(mine) != len(theirs):
            return
        for one, two in zip(mine, theirs):
            if one != two and one not in sent and two not in sent and one not in self.theirs_of:
                self.theirs_of[one], self.ours_of[two] = two, one

    def to_other(self, text):
        return UUID.sub(lambda match: self.theirs_of.get(match.group(), match.group()), text)

    def to_reference(self, text):
        return UUID.sub(lambda match: self.ours_of.get(match.group(), match.group()), text)


def words(text):
    """The text of an error, with sets in a fixed order."""
    text = REASON.sub(r"\1Reason: …", HOST.sub("BASE", text))
    for pattern in SETS:
        text = pattern.sub(lambda match: ", ".join(sorted(match.group(1).split(", "))), text)
    return text


def plain(value, key=None):
    if isinstance(value, dict):
        return {name: plain(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, str):
        if TIME.match(value):
            return "TIME"
        return words(value) if key == "last_error" else HOST.sub("BASE", value)
    return value


class Normal:
    """An answer in the form in which it is compared."""

    def __init__(self, answer):
        self.status = answer.status
        self.fault = answer.fault if answer.status >= 400 else None
        self.headers = {}
        for name in ("content-type", "location", "allow", *VERSION_HEADERS):
            value = answer.headers.get(name)
            if value is not None and name == "allow":
                value = ", ".join(sorted(value.split(", ")))
            if value is not None:
                self.headers[name] = HOST.sub("BASE", value).partition(";")[0]
        self.has_id = bool(REQUEST_ID.match(answer.headers.get("openstack-request-id", "")))
        try:
            body = answer.json
        except ValueError:
            body = {"no JSON": answer.text}
        if self.fault is not None:
            self.fault = words(self.fault)
            body = None
        self.body = plain(body)

    def __repr__(self):
        said = self.fault if self.fault is not None else json.dumps(self.body, sort_keys=True)
        return f"{self.status} {self.headers} {said}"


def is_by_router(answer):
    """Errors of routing and version negotiation have another form; upstream sends neither version headers nor an id
    with them."""
    try:
        return "faultstring" not in json.loads(answer.json["error_message"])
    except (ValueError, KeyError, TypeError):
        return False


def differences(one, two, at=""):
    """[(path, of one, of two)] of two JSON values."""
    if isinstance(one, dict) and isinstance(two, dict):
        found = []
        for key in sorted(set(one) | set(two)):
            found += differences(one.get(key, "(absent)"), two.get(key, "(absent)"), f"{at}.{key}")
        return found
    if isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        return [difference for index, (a, b) in enumerate(zip(one, two)) for difference in differences(a, b, f"{at}[{index}]")]
    return [] if type(one) is type(two) and one == two else [(at or ".", one, two)]


def compare(reference, other):
    """[(what, value of the reference, value of the other)]: status, words, headers, body."""
    one, two = Normal(reference), Normal(other)
    found = []
    if one.status != two.status:
        found.append(("status", f"{one.status} {one.fault or ''}", f"{two.status} {two.fault or ''}"))
    elif one.fault != two.fault:
        found.append(("words", one.fault, two.fault))
    found += [("header " + name, one.headers.get(name), two.headers.get(name)) for name in sorted(set(one.headers) | set(two.headers))
              if one.headers.get(name) != two.headers.get(name)]
    if not two.has_id and (one.has_id or reference.status < 400):
        found.append(("header openstack-request-id", one.has_id, two.has_id))
    if one.status == two.status:
        found += [("body" + path, a, b) for path, a, b in differences(one.body, two.body)]
    return found


def fault_of(answer):
    return metal_client.fault_of(answer.text) or ""
