"""Finds the differences in a pair of answers, after removing what may differ: ids, dates, orders of sets.

`differences` returns a list of (what, reference's, berth's); the empty list means agreement. `what` is one of status,
header NAME, body, detail, order-free text, candidates, limit, form. The candidates of GET /allocation_candidates are
compared in `candidates.py`.
"""

import html
import json
import re

REQUEST_ID = re.compile(r"req-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\Z")
HEADERS = ("content-type", "location", "openstack-api-version", "vary", "cache-control", "allow", "www-authenticate")
DATE = re.compile(r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\Z")
# Texts in which names are in the order of a Python set or of a dict of the validator.
SET_ORDERED = re.compile(
    r"No such trait|No such resource|not found in|bad group\(s\)|orphaned|Unable to allocate inventory|"
    r"traits keys|root_required|does not exist|in use|do not match any of the regexes|does not match any of the regexes|"
    r"were unexpected|Invalid resource class|Invalid trait|missing|Multiple values"
)
# Lists whose order the reference leaves to the database or to a set. Traits of a provider summary are not among them:
# they are in the order of trait ids.
FREE_LISTS = {"resource_providers": "uuid", "resource_classes": "name", "traits": None, "aggregates": None}


def differences(request, reference, berth):
    found = []
    if reference.status != berth.status:
        return [("status", reference.status, berth.status)]
    found += _headers(request, reference, berth)
    found += _form(request, berth)
    if request.method == "HEAD":
        return found
    mine, other = parse(reference), parse(berth)
    if mine is None or other is None:
        if mine is not other or text_key(reference.body) != text_key(berth.body):
            found.append(("body", text_key(reference.body), text_key(berth.body)))
        return found
    errors = is_errors(mine), is_errors(other)
    if errors == (True, True):
        return found + _errors(mine, other)
    if not same_json(free(mine, request), free(other, request)):
        found.append(("body", mine, other))
    return found


def is_json(answer):
    return (answer.header("content-type") or "").split(";")[0] == "application/json"


def parse(answer):
    """The body's JSON; None if there is none."""
    if not is_json(answer) or not answer.body:
        return None
    try:
        return json.loads(answer.body)
    except ValueError:
        return None


def is_errors(value):
    return isinstance(value, dict) and isinstance(value.get("errors"), list)


def _headers(request, reference, berth):
    found = []
    for name in HEADERS:
        mine, other = reference.header(name), berth.header(name)
        if name == "content-type" and request.method == "HEAD":
            continue
        if mine != other:
            found.append(("header " + name, mine, other))
    dates = reference.header("last-modified"), berth.header("last-modified")
    if (dates[0] is None) != (dates[1] is None) or (dates[1] and not DATE.match(dates[1])):
        found.append(("header last-modified", *dates))
    return found


def _form(request, berth):
    """Requirements for every answer of berth by itself."""
    found = []
    identity = berth.header("x-openstack-request-id") or ""
    if not REQUEST_ID.match(identity):
        found.append(("header x-openstack-request-id", "req-UUID", identity))
    sent = request.header("X-Openstack-Request-Id")
    if sent and sent == identity:
        found.append(("header x-openstack-request-id", "an id of its own", identity))
    if is_json(berth):
        if any(byte > 127 for byte in berth.body) or b"\\/" in berth.body:
            found.append(("form", "ASCII, / as it is", berth.body[:200]))
        value = parse(berth)
        if value is None and berth.body:
            found.append(("form", "JSON", berth.body[:200]))
        if is_errors(value):
            ids = [e.get("request_id") for e in value["errors"] if isinstance(e, dict)]
            if ids != [identity]:
                found.append(("form", "request_id as in the header", ids))
    if berth.status == 204 and berth.body:
        found.append(("form", "204 without a body", berth.body[:200]))
    return found


# -- JSON ------------------------------------------------------------------------------------------------


def same_json(a, b):
    """Equality that distinguishes 1 from 1.0 and from true."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same_json(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(same_json(x, y) for x, y in zip(a, b))
    return a == b


def free(value, request):
    """A copy with lists of undefined order sorted."""
    if not isinstance(value, dict):
        return value
    # PUT aggregates answers in the order of its request.
    keep = {"aggregates"} if request.method == "PUT" else set()
    result = dict(value)
    for name, key in FREE_LISTS.items():
        if name in keep or not isinstance(result.get(name), list):
            continue
        try:
            result[name] = sorted(result[name], key=(lambda e: e[key]) if key else None)
        except (TypeError, KeyError):
            pass
    if isinstance(result.get("resource_classes"), list):
        result["resource_classes"] = [
            dict(c, links=sorted(c.get("links", []), key=str)) for c in result["resource_classes"]
        ]
    return result


def list_order_differs(reference, berth):
    """True if only the order of such a list differs: counted and printed, but not a failure."""
    mine, other = parse(reference), parse(berth)
    if not isinstance(mine, dict) or not isinstance(other, dict):
        return False
    return any(isinstance(mine.get(n), list) and mine.get(n) != other.get(n) for n in FREE_LISTS)


# -- error texts -------------------------------------------------------------------------------------------


def _errors(mine, other):
    found = []
    if len(mine["errors"]) != len(other["errors"]) or mine.keys() != other.keys():
        return [("body", mine, other)]
    for a, b in zip(mine["errors"], other["errors"]):
        a, b = dict(a), dict(b)
        for error in (a, b):
            error["request_id"] = "request_id" in error
        details = a.pop("detail", None), b.pop("detail", None)
        if not same_json(a, b):
            found.append(("body", a, b))
        keys = detail_key(details[0]), detail_key(details[1])
        if keys != keys[1:] + keys[:1]:
            found.append(("detail", keys[0], keys[1]))
    return found


_FAILED = re.compile(r"\s*Failed validating '(\w+)' in (schema\S*)(.*?)\s*On instance(.*)\Z", re.S)


def detail_key(text):
    """The part of a detail that must agree: the words; of a validation error the message, validator and both paths."""
    if not isinstance(text, str):
        return text
    text = re.sub(r"req-[0-9a-f-]{36}", "req-ID", text)
    text = re.sub(r"0x[0-9a-f]{6,}", "0xADDRESS", text)
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+", "TIME", text)
    found = _FAILED.search(text)
    if found:
        schema = found.group(2).rstrip(":")
        instance = re.split(r":\s{2,}|:?\s*\Z", found.group(4), maxsplit=1)[0]
        return (order_free(text[: found.start()]), found.group(1), schema, instance)
    return order_free(text.rstrip())


def order_free(text):
    text = re.sub(r"\s+", " ", text).strip()
    if SET_ORDERED.search(text):
        return tuple(sorted(re.findall(r"[^\s,\[\](){}']+|[(){}\[\]]", text)))
    return text


def text_key(body):
    """The words of HTML and plain texts, unescaped."""
    text = html.unescape(body.decode("utf-8", "backslashreplace"))
    return detail_key(text.strip())  # which itself reduces several blanks to one, where they have no meaning
