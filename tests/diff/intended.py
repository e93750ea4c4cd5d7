"""The differences that are wanted: berth follows the newest release and does not repeat 8.0.0's faults.

Every difference that a run finds must be explained by an entry here, or the run fails; every entry must be
hit, or the run fails, except those with a `mark`: what can only be seen on another database, under
concurrency, in a larger cloud, or in a release newer than 8.0.0. Such an entry names the test that shows it.

An entry explains single differences (see compare.py) of a case: the request, both answers, the model of the
cloud as it was before. Where the fault can be taken out of the reference, `again` says how to ask it once
more, and berth must then agree with that answer in full. `adopts` means that the two states now differ in the
rows of the named consumers and providers: the reference takes berth's.
"""

import json
import os
import re
import urllib.parse

import compare

MARKS = ("database", "concurrency", "size", "newer")


class Case:
    def __init__(self, request, reference, berth, cloud, found, question=None):
        self.request, self.reference, self.berth = request, reference, berth
        self.cloud, self.found = cloud, found
        self.question = question  # of GET /allocation_candidates: .right() is the second opinion's verdict
        self.leftovers = set()

    @property
    def statuses(self):
        return (self.reference.status, self.berth.status)

    @property
    def route(self):
        return (self.request.method, self.request.path)

    def detail(self, answer):
        value = compare.parse(answer)
        return value["errors"][0].get("detail", "") if compare.is_errors(value) else ""

    def is_candidates(self):
        return self.route == ("GET", "/allocation_candidates")

    def body(self):
        try:
            return json.loads(self.request.body)
        except (ValueError, TypeError, RecursionError):
            return None


class Entry:
    def __init__(self, id, methods, path, reason, explains=None, versions=(0, 39), mark=None, test=None,
                 again=None, adopts=False):
        self.id, self.methods, self.path = id, methods, re.compile(path + r"\Z")
        self.reason, self.explains, self.versions = reason, explains, versions
        self.mark, self.test, self.again, self.adopts = mark, test, again, adopts
        assert mark is None or (mark in MARKS and test)

    def covers(self, case, difference):
        if self.explains is None or (self.methods and case.request.method not in self.methods.split()):
            return False
        version = case.request.version
        if version and not self.versions[0] <= version[1] <= self.versions[1]:
            return False
        return bool(self.path.match(case.request.path)) and bool(self.explains(case, difference))


# -- conditions ---------------------------------------------------------------------------------------------


def _empty_204(case, difference):
    return difference[0] == "header content-length" and case.statuses == (204, 204) and difference[1:] == ("0", None)


def _bad_length(case, difference):
    length = case.request.header("Content-Length")
    return length is not None and not re.fullmatch(r"[0-9]*", length) and case.berth.status in (0, 400)


def _update_conflict(case, difference):
    if case.statuses != (409, 409) or difference[0] != "detail":
        return False
    details = case.detail(case.reference), case.detail(case.berth)
    return "Update conflict: " in details[0] and "Update conflict: " in details[1] and "INSERT" not in details[1]


def _parser_words(case, difference):
    if case.statuses != (400, 400) or difference[0] not in ("detail", "body"):
        return False
    return all(b"Malformed JSON: " in a.body for a in (case.reference, case.berth))


def _number_text(case):
    return re.search(rb"NaN|Infinity|[0-9][eE]\+?[0-9]{3}", case.request.body or b"") is not None


def _not_a_number(case, difference):
    return _number_text(case) and case.berth.status == 400 and b"Malformed JSON" in case.berth.body


def _huge_integer(case, difference):
    numbers = re.findall(rb"(?<![\w.\"-])-?[0-9]{19,}(?![\w.\"])", case.request.body or b"")
    return case.berth.status == 400 and any(not -(2**63) <= int(n) < 2**63 for n in numbers)


def _unstorable_text(case, difference):
    body = case.request.body or b""
    surrogate = re.search(rb"\\u[dD][89a-fA-F]", body) is not None
    deep = body.count(b"[") + body.count(b"{") > 900
    return case.statuses == (500, 400) and (surrogate or deep)


def _nul_key(case, difference):
    return case.berth.status == 400 and re.search(rb'\\u0000[^"]*"\s*:', case.request.body or b"") is not None


def _repeated(case, difference):
    from candidates import pairs_of

    for name, good in (("limit", r"[1-9][0-9]*"), ("group_policy", "none|isolate")):
        values = [v for k, v in pairs_of(case.request) if k == name]
        if len(values) > 1 and re.fullmatch(good, values[-1]) and not all(re.fullmatch(good, v) for v in values):
            return case.berth.status == 400 and name in case.detail(case.berth)
    return False


def _dashless(case, difference):
    from candidates import pairs_of

    loose = [v for k, v in pairs_of(case.request) if k in ("uuid", "in_tree") and re.fullmatch(r"[0-9a-fA-F]{32}", v)]
    return bool(loose) and case.statuses == (200, 400) and "is not a 'uuid'" in case.detail(case.berth)


def _stored_values(case, difference):
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


def _schema_words(case, difference):
    if case.statuses != (400, 400) or difference[0] != "detail":
        return False

    def old(text):
        return re.sub(r"should be non-empty|is too short|does not have enough properties", "is too small", text)

    return compare.detail_key(old(case.detail(case.reference))) == compare.detail_key(old(case.detail(case.berth)))


def claims_of(case):
    """[(consumer, {provider: {class: amount}})] that a write asks for; None if it cannot be read."""
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


def _over_capacity(case, difference):
    """8.0.0 refuses; what is asked is, for each provider and class, no more than was used before, or fits."""
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


def _leftover(case, difference):
    claims = claims_of(case)
    if not claims or not any(uuid in case.leftovers for uuid, _ in claims):
        return False
    refused = case.reference.status == 409 and "consumer generation conflict - expected 0" in case.detail(case.reference)
    unknown = case.berth.status == 409 and "expected null but got 0" in case.detail(case.berth)
    return refused or unknown


def _role_service(case, difference):
    roles = {r.strip().lower() for r in (case.request.header("X-Roles") or "").split(",")}
    return "service" in roles and "admin" not in roles and case.reference.status == 403 and (
        case.request.method == "GET")


def _as_admin(case):
    kept = [h for h in case.request.headers if h[0] != "X-Roles"]
    return case.request.replaced(headers=kept + [("X-Roles", "admin")])


def _system_reader(case, difference):
    roles = {r.strip().lower() for r in (case.request.header("X-Roles") or "").split(",")}
    return "reader" in roles and not roles & {"admin", "service"} and case.statuses == (200, 403) and (
        case.request.header("OpenStack-System-Scope") == "all")


def _beyond_sql(case, difference):
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
    """Beside other groups an unsuffixed one that sharing providers alone can serve."""
    groups, _ = _groups(case)
    sharing = {rc for p in case.cloud.providers if p.sharing for rc in p.inventory}
    return "" in groups and len(groups) > 1 and set(groups[""].resources) <= sharing


def _amounts_grow(case, difference):
    return case.is_candidates() and case.statuses == (200, 200) and may_grow(case) and case.question.right() == []


def _shared_only(case, difference):
    return case.is_candidates() and case.statuses == (200, 200) and not may_grow(case) and (
        may_lose_anchors(case) and case.question.right() == [])


def _nested_sharing(case, difference):
    return case.is_candidates() and case.statuses == (500, 200) and any(
        p.sharing and p.parent for p in case.cloud.providers) and case.question.right() == []


def _limit_spread(case, difference):
    return difference[0] == "limited choice"


def _too_large(case, difference):
    return case.berth.status in (413, 0) and len(case.request.body or b"") > 16 * 1024 * 1024


def _modified(case, difference):
    return difference[0] == "header last-modified" and difference[1] is None and case.statuses == (200, 200)


def _class_name_json(case, difference):
    return case.statuses == (400, 400) and re.search(r'["\\\\]', urllib.parse.unquote(case.request.path)) and (
        case.detail(case.reference).find("Malformed JSON") > 0)


def _odd_key(case, difference):
    body = case.body()
    return case.statuses == (500, 400) and isinstance(body, dict) and any(
        not re.fullmatch("[A-Z0-9_]+", key) for key in body.get("inventories", {}))


def _utf8_words(case, difference):
    return "codec can't decode" in case.detail(case.reference) and (
        difference[0] == "detail" and case.statuses == (400, 400) or case.statuses == (500, 400))


def _line_break(case, difference):
    """8.0.0 lets a line break follow where a pattern's end is; here such a text does not match."""
    sent = case.request.target.encode() + b" " + (case.request.body or b"")
    words = case.detail(case.berth)
    return case.berth.status == 400 and re.search(rb'%0[aA](?![^&=,/ ])|\\n"', sent) is not None and (
        "match" in words or "The trait is invalid" in words)


def _limit_summaries(case, difference):
    """Before 1.29 a limited answer tells the providers of its own candidates, no others."""
    value = compare.parse(case.berth)
    if difference[0] != "summaries" or "limit=" not in case.request.query or case.statuses != (200, 200):
        return False
    used = set()
    for candidate in value["allocation_requests"]:
        allocations = candidate["allocations"]
        used |= set(allocations) if isinstance(allocations, dict) else {
            a["resource_provider"]["uuid"] for a in allocations}
    return used == set(value["provider_summaries"])


READS = "GET"
WRITES = r"/allocations(/[^/]+)?|/reshaper"

ENTRIES = [
    Entry("empty-204", None, ".*", "a 204 has no Content-Length, as HTTP demands (placement.md, HTTP framing)", _empty_204),
    Entry("bad-content-length", None, ".*",
          "libmicrohttpd answers a malformed Content-Length itself (placement.md, HTTP framing)", _bad_length),
    Entry("update-conflict-text", "POST", r"/resource_providers/[^/]+/inventories",
          "upstream's text carries SQL, ours does not (placement.md, Errors)", _update_conflict),
    Entry("json-parser-words", "POST PUT", ".*",
          "behind 'Malformed JSON:' stand the words of the JSON library (placement.md, Order of checks)", _parser_words),
    Entry("not-a-number", "POST PUT", ".*", "NaN, Infinity and 1e400 are no JSON (placement.md, Validation texts)",
          _not_a_number, adopts=True),
    Entry("huge-integer", "POST PUT", ".*", "integers of 2^63 and more are 400 (placement.md, Validation texts)", _huge_integer,
          adopts=True),
    Entry("unstorable-text", "POST PUT", ".*",
          "lone surrogates and nesting beyond the limit are 400, 500 in the peer (placement.md, Validation texts)",
          _unstorable_text),
    Entry("nul-in-key", "POST PUT", ".*", r"\u0000 in a key is 400, the parser's limit (placement.md, Validation texts)", _nul_key),
    Entry("repeated-parameter", READS, "/allocation_candidates",
          "every limit and group_policy is validated, not the last alone (placement.md, Query strings)", _repeated),
    Entry("dashless-uuid", READS, "/resource_providers",
          "uuid= and in_tree= without dashes are 400 in the newest (placement.md, Query strings)", _dashless),
    Entry("stored-values", "POST PUT", r"/resource_providers/[^/]+/inventories(/[^/]+)?",
          "answers to writes print the stored values (placement.md, Resources)", _stored_values),
    Entry("schema-words", "POST PUT GET", ".*",
          "newer jsonschema words an empty value differently (placement.md, Validation texts; operators.md, What changed)",
          _schema_words),
    Entry("over-capacity", "PUT POST", WRITES,
          "over capacity is accepted if the use does not grow (placement.md, Generations; operators.md, What changed)",
          _over_capacity, adopts=True),
    Entry("leftover-consumer", "PUT POST", WRITES,
          "no consumer of generation 0 is left behind by a refused or empty write (placement.md, Generations)",
          _leftover, again=lambda case: case.request),
    Entry("role-service", READS, ".*", "the newest lets role service in (operators.md, Policy defaults)", _role_service,
          again=_as_admin),
    Entry("system-reader", READS, ".*", "the newest has no system readers (operators.md, Policy defaults)", _system_reader),
    Entry("amount-beyond-sql", READS, "/allocation_candidates|/resource_providers",
          "10^20 is a 500 on SQLite; here nothing fits (allocation-candidates.md, 14)", _beyond_sql),
    Entry("amounts-grow", READS, "/allocation_candidates",
          "upstream adds to one amount object more than once (allocation-candidates.md, Where upstream is wrong)", _amounts_grow),
    Entry("shared-only-anchor", READS, "/allocation_candidates",
          "upstream keeps one anchor for candidates of shares alone (allocation-candidates.md, Where upstream is wrong)",
          _shared_only),
    Entry("nested-sharing", READS, "/allocation_candidates",
          "a nested sharing provider gives 500 upstream (allocation-candidates.md, Where upstream is wrong)", _nested_sharing),
    Entry("limit-spread", READS, "/allocation_candidates",
          "with limit, one candidate of each root before a second of any (issue, The API; checked in candidates.py)",
          _limit_spread, versions=(16, 39)),
    Entry("body-too-large", None, ".*", "a body over [berth] max_body is 413 (placement.md, Body size)", _too_large),
    Entry("last-modified", "GET PUT", r"/resource_providers/[^/]+(/inventories)?",
          "Last-Modified is there from 1.15, also without inventory and on a first rename (documentation, 1.15; placement.md, "
          "Cache headers)", _modified, versions=(15, 39)),
    Entry("class-name-json", "PUT", r"/resource_classes/.*",
          "a class name with a quote or backslash is a bad name; upstream builds JSON from it (placement.md, Resources)", _class_name_json,
          versions=(7, 39)),
    Entry("odd-inventory-key", "PUT POST", r"/resource_providers/[^/]+/inventories|/reshaper",
          "a key that is no resource class, with malformed figures, is 400, 500 in the peer (placement.md, Resources)", _odd_key),
    Entry("utf8-words", READS, ".*", "a query that is not UTF-8 is 400 without Python's words (placement.md, Query strings)",
          _utf8_words),
    Entry("limit-summaries", READS, "/allocation_candidates",
          "before 1.29 a limited answer sums up the providers of its own candidates only (allocation-candidates.md, 11)",
          _limit_summaries, versions=(16, 28)),
    Entry("line-break", None, ".*",
          "a name, uuid, suffix or limit with a line break at its end is malformed (placement.md, Validation texts)", _line_break),
    # What this run cannot show.
    Entry("answer-too-large", READS, "/allocation_candidates",
          "an answer of more than 256 MiB is refused with 400, not built (placement.md, Body size)",
          mark="size", test="tests/hostile/pathological.py"),
    Entry("float-ratio", None, ".*", "MariaDB's SQL counts 10 x 0.7 as 6; here 7 everywhere (allocation-candidates.md, 15)",
          mark="database", test="tests/unit/model/test_capacity.c"),
    Entry("usages-on-postgresql", READS, "/usages", "a 500 from 1.38 on PostgreSQL (allocation-candidates.md, Where upstream is wrong)",
          versions=(38, 39), mark="database", test="tests/api/gabbits/usages.yaml"),
    Entry("over-allocation", "PUT POST", WRITES,
          "under contention MariaDB gave more than there is, SQLite answered 500 (allocation-candidates.md, Where upstream is wrong)",
          mark="concurrency", test="tests/unit/write/test_contention.c"),
    Entry("no-foreign-conflict", "PUT POST", WRITES,
          "a client that sends no provider generation never sees a conflict by another's write (issue, The API)",
          mark="concurrency", test="tests/unit/write/test_contention.c"),
    Entry("missing-consumer", READS, "/allocations/.*|/usages|/resource_providers/.*",
          "an allocation without a consumer row is invisible, not repaired (operators.md, What changed)",
          mark="newer", test="tests/unit/store/test_faults.c"),
    Entry("candidate-options", READS, "/allocation_candidates",
          "max_allocation_candidates and the generation strategy (operators.md, What changed)",
          mark="newer", test="tests/api/gabbits/candidates-limit-breadth-first.yaml"),
    Entry("wide-trees", READS, "/allocation_candidates",
          "optimize_for_wide_provider_trees forgets `used` in the joined check (allocation-candidates.md, Where upstream is wrong)",
          mark="newer", test="tests/unit/query/test_ac.c"),
    Entry("reshape-role", "POST", "/reshaper", "with enforce_new_defaults only role service may reshape (operators.md, Policy defaults)",
          mark="newer", test="tests/api/gabbits/policy-defaults.yaml"),
    Entry("scope-types", None, ".*", "with enforce_scope system and domain tokens get 403 (operators.md, Policy defaults)",
          mark="newer", test="tests/api/gabbits/policy-defaults.yaml"),
]


def explain(case):
    """The entries that explain all differences of the case; None if one difference has no entry."""
    used = []
    for difference in case.found:
        entry = next((e for e in ENTRIES if e.covers(case, difference)), None)
        if entry is None:
            return None
        if entry not in used:
            used.append(entry)
    return used
