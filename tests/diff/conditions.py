"""The conditions of intended.py's entries: when a difference is an intended one.

Each takes the case and one of its differences, and is as narrow as the difference: it depends on the request, on both
answers, and if necessary on the model of the cloud before the request.
"""

import re
import urllib.parse

import compare


def empty_204(case, difference):
    return difference[0] == "header content-length" and case.statuses == (204, 204) and difference[1:] == ("0", None)


def bad_length(case, difference):
    length = case.request.header("Content-Length")
    return length is not None and not re.fullmatch(r"[0-9]*", length) and case.berth.status in (0, 400)


def update_conflict(case, difference):
    if case.statuses != (409, 409) or difference[0] != "detail":
        return False
    details = case.detail(case.reference), case.detail(case.berth)
    return "Update conflict: " in details[0] and "Update conflict: " in details[1] and "INSERT" not in details[1]


def parser_words(case, difference):
    if case.statuses != (400, 400) or difference[0] not in ("detail", "body"):
        return False
    return all(b"Malformed JSON: " in a.body for a in (case.reference, case.berth))


def _number_text(case):
    return re.search(rb"NaN|Infinity|[0-9][eE]\+?[0-9]{3}", case.request.body or b"") is not None


def not_a_number(case, difference):
    return _number_text(case) and case.berth.status == 400 and b"Malformed JSON" in case.berth.body


def huge_integer(case, difference):
    numbers = re.findall(rb"(?<![\w.\"-])-?[0-9]{19,}(?![\w.\"])", case.request.body or b"")
    return case.berth.status == 400 and any(not -(2**63) <= int(n) < 2**63 for n in numbers)


def unstorable_text(case, difference):
    body = case.request.body or b""
    surrogate = re.search(rb"\\u[dD][89a-fA-F]", body) is not None
    deep = body.count(b"[") + body.count(b"{") > 900
    return case.statuses == (500, 400) and (surrogate or deep)


def nul_key(case, difference):
    return case.berth.status == 400 and re.search(rb'\\u0000[^"]*"\s*:', case.request.body or b"") is not None


def repeated(case, difference):
    from candidates import pairs_of

    for name, good in (("limit", r"[1-9][0-9]*"), ("group_policy", "none|isolate")):
        values = [v for k, v in pairs_of(case.request) if k == name]
        if len(values) > 1 and re.fullmatch(good, values[-1]) and not all(re.fullmatch(good, v) for v in values):
            return case.berth.status == 400 and name in case.detail(case.berth)
    return False


def dashless(case, difference):
    from candidates import pairs_of

    loose = [v for k, v in pairs_of(case.request) if k in ("uuid", "in_tree") and re.fullmatch(r"[0-9a-fA-F]{32}", v)]
    return bool(loose) and case.statuses == (200, 400) and "is not a 'uuid'" in case.detail(case.berth)


def stored_values(case, difference):
    """The same numbers, written as stored: integers without a point, the ratio with one."""
    if difference[0] != "body" or case.statuses not in ((200, 200), (201, 201)):
        return False
    mine, other = compare.parse(case.reference), compare.parse(case.berth)
    return mine == other and _written_as_stored(other)


def _written_as_stored(value):
    if isinstance(value, dict):
        return all(
            isinstance(v, float) if k == "allocation_ratio" else _written_as_stored(v) for k, v in value.items())
    return isinstance(value, (int, str)) and not isinstance(value, bool)


def schema_words(case, difference):
    if case.statuses != (400, 400) or difference[0] != "detail":
        return False

    def old(text):
        return re.sub(r"should be non-empty|is too short|does not have enough properties", "is too small", text)

    return compare.detail_key(old(case.detail(case.reference))) == compare.detail_key(old(case.detail(case.berth)))


def claims_of(case):
    """[(consumer, {provider: {class: amount}})] in a write; None if it cannot be parsed."""
    body, path = case.body(), case.request.path
    try:
        if path.startswith("/allocations/"):
            uuid = path.rsplit("/", 1)[1].lower()
            if "-" not in uuid:
                uuid = "-".join((uuid[:8], uuid[8:12], uuid[12:16], uuid[16:20], uuid[20:]))
            consumers = {uuid: body}
        else:
            consumers = body["allocations"] if path == "/reshaper" else body
        found = []
        for uuid, value in consumers.items():
            allocations = value["allocations"]
            if isinstance(allocations, list):
                allocations = {a["resource_provider"]["uuid"]: a for a in allocations}
            found.append((uuid, {p: a["resources"] for p, a in allocations.items()}))
        return found
    except (TypeError, KeyError, AttributeError):
        return None


def over_capacity(case, difference):
    """8.0.0 refuses; the new amount for each provider and class is no more than before, or fits."""
    if case.statuses != (409, 204) or "Unable to allocate inventory" not in case.detail(case.reference):
        return False
    claims = claims_of(case)
    if not claims:
        return False
    now, capacity = {}, {}
    for p in case.cloud.providers:
        for rc, i in p.inventory.items():
            now[p.uuid, rc], capacity[p.uuid, rc] = i.used, i.capacity
    if case.request.path == "/reshaper":
        for uuid, value in case.body()["inventories"].items():
            for rc, i in value["inventories"].items():
                capacity[uuid, rc] = (i["total"] - i.get("reserved", 0)) * i.get("allocation_ratio", 1.0)
    then, named = dict(now), set()
    for consumer, wanted in claims:
        known = case.cloud.consumers.get(consumer)
        for p, rc, used in known.allocations if known else ():
            then[p, rc] -= used
        for p, amounts in wanted.items():
            for rc, amount in amounts.items():
                then[p, rc] = then.get((p, rc), 0) + amount
                named.add((p, rc))
    exceeded = [k for k in named if then[k] > capacity.get(k, 0)]
    return bool(exceeded) and all(then[k] <= now.get(k, 0) for k in exceeded)


def leftover(case, difference):
    claims = claims_of(case)
    if not claims or not any(uuid in case.leftovers for uuid, _ in claims):
        return False
    refused = case.reference.status == 409 and "consumer generation conflict - expected 0" in case.detail(case.reference)
    unknown = case.berth.status == 409 and "expected null but got 0" in case.detail(case.berth)
    return refused or unknown


def role_service(case, difference):
    roles = {r.strip().lower() for r in (case.request.header("X-Roles") or "").split(",")}
    return "service" in roles and "admin" not in roles and case.reference.status == 403 and (
        case.request.method == "GET")


def as_admin(case):
    kept = [h for h in case.request.headers if h[0] != "X-Roles"]
    return case.request.replaced(headers=kept + [("X-Roles", "admin")])


def system_reader(case, difference):
    roles = {r.strip().lower() for r in (case.request.header("X-Roles") or "").split(",")}
    return "reader" in roles and not roles & {"admin", "service"} and case.statuses == (200, 403) and (
        case.request.header("OpenStack-System-Scope") == "all")


def beyond_sql(case, difference):
    if case.statuses != (500, 200):
        return False
    value = compare.parse(case.berth)
    amounts = [int(n) for n in re.findall(r":(?:%20|\+|%2B)?([0-9]{19,})", case.request.query)]
    nothing = value in ({"resource_providers": []}, {"allocation_requests": [], "provider_summaries": {}})
    return nothing and any(n >= 2**63 for n in amounts)


def _groups(case):
    from candidates import parse

    try:
        return parse(case.request, case.request.version[1])
    except (ValueError, TypeError):
        return {}, {}


def may_grow(case):
    """A class in two groups without group_policy=none."""
    groups, wide = _groups(case)
    classes = [rc for g in groups.values() for rc in g.resources]
    return len(classes) > len(set(classes)) and wide["group_policy"] != "none"


def may_lose_anchors(case):
    """An unsuffixed group beside other groups that sharing providers alone can serve."""
    groups, _ = _groups(case)
    sharing = {rc for p in case.cloud.providers if p.sharing for rc in p.inventory}
    return "" in groups and len(groups) > 1 and set(groups[""].resources) <= sharing


def _is_right(case):
    """The second opinion agrees with berth; a limited answer with fewer summaries has an entry of its own."""
    wrong = case.question.right()
    return wrong is not None and all(limit_summaries(case, difference) for difference in wrong)


def amounts_grow(case, difference):
    return case.is_candidates() and case.statuses == (200, 200) and may_grow(case) and _is_right(case)


def shared_only(case, difference):
    return case.is_candidates() and case.statuses == (200, 200) and not may_grow(case) and (
        may_lose_anchors(case) and _is_right(case))


def nested_sharing(case, difference):
    return case.is_candidates() and case.statuses == (500, 200) and any(
        p.sharing and p.parent for p in case.cloud.providers) and _is_right(case)


def limit_spread(case, difference):
    return difference[0] == "limited choice"


def too_large(case, difference):
    return case.berth.status in (413, 0) and len(case.request.body or b"") > 16 * 1024 * 1024


def modified(case, difference):
    return difference[0] == "header last-modified" and difference[1] is None and case.statuses == (200, 200)


def class_name_json(case, difference):
    return case.statuses == (400, 400) and re.search(r'["\\\\]', urllib.parse.unquote(case.request.path)) and (
        case.detail(case.reference).find("Malformed JSON") > 0)


def odd_key(case, difference):
    body = case.body()
    return case.statuses == (500, 400) and isinstance(body, dict) and any(
        not re.fullmatch("[A-Z0-9_]+", key) for key in body.get("inventories", {}))


def utf8_words(case, difference):
    return "codec can't decode" in case.detail(case.reference) and (
        difference[0] == "detail" and case.statuses == (400, 400) or case.statuses == (500, 400))


def has_line_break(request):
    """A key or value ending with a line break: only 8.0.0 accepts it."""
    return "%0A" in request.target.upper()


def line_break(case, difference):
    """8.0.0 lets a line break follow the end of a pattern; in berth such a text does not match."""
    sent = case.request.target.encode() + b" " + (case.request.body or b"")
    words = case.detail(case.berth)
    return case.berth.status == 400 and re.search(rb'%0[aA](?![^&=,/ ])|\\n"', sent) is not None and (
        "match" in words or "The trait is invalid" in words)


def limit_summaries(case, difference):
    """Before 1.29 a limited answer has only the providers of its own candidates."""
    value = compare.parse(case.berth)
    if difference[0] != "summaries" or "limit=" not in case.request.query or case.berth.status != 200:
        return False
    if case.request.version[1] >= 29:
        return False
    used = set()
    for candidate in value["allocation_requests"]:
        allocations = candidate["allocations"]
        used |= set(allocations) if isinstance(allocations, dict) else {
            a["resource_provider"]["uuid"] for a in allocations}
    return used == set(value["provider_summaries"])


def _database_says(case, text):
    return case.on_postgres and case.reference.status == 500 and text.encode() in case.reference.body


def usages_on_postgresql(case, difference):
    return _database_says(case, "must appear in the GROUP BY clause") and case.berth.status == 200


def nul_on_postgresql(case, difference):
    return _database_says(case, "cannot contain NUL") and case.berth.status == 400


def trait_name_as_id(case, difference):
    return _database_says(case, "invalid input syntax for type integer") and case.berth.status == 200 and _is_right(case)


def trait_order(case, difference):
    def in_order(summaries):
        return {uuid: {**summary, "traits": sorted(summary.get("traits", []))} for uuid, summary in summaries.items() if summary}

    return case.on_postgres and difference[0] == "summaries" and in_order(difference[1]) == in_order(difference[2])


def alike_on_mariadb(case, difference):
    """The reference found what differs in case or trailing blanks only."""
    sent = case.request.target.encode() + b"\n" + (case.request.body or b"")
    nothing = case.berth.body in (b'{"allocations": {}}', b'{"resource_providers": []}')
    refused = case.berth.status == 409 and (b"conflicts with data in the database that this service does not know" in case.berth.body or
                                            b"consumer generation conflict" in case.berth.body)
    return case.on_mariadb and case.reference.status < 300 and re.search(rb'%20(?=[/?&\n])| "|[A-F]', sent) is not None and (
        case.berth.status == 404 or nothing or refused)


def float_amount_on_mariadb(case, difference):
    return case.on_mariadb and case.statuses == (500, 204) and b"'decimal.Decimal' and 'float'" in case.reference.body
