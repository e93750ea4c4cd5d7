"""The intended differences: berth follows the newest release and does not repeat bugs of 8.0.0.

Every difference that a run finds must be explained by an entry here, and every entry must be used, or the run fails.
Entries with a `mark` need not be used: they can only be seen on another database, under concurrency, in a larger cloud,
or in a release newer than 8.0.0. Such an entry names the test that covers it. Those marked `postgresql` must be used by a
run with --postgres, those marked `mariadb` by one with --mariadb, those marked `sqlite` by one without either.

An entry explains single differences (see compare.py) of a case: the request, both answers, the model of the cloud
before it. Where the bug can be removed from the reference, `again` says how to repeat the request, and berth must then
agree with that answer completely. `adopts` means that the two states now differ in the rows of the named consumers and
providers, or in any (ALL): the reference takes berth's.
"""

import json
import re

import compare
import conditions

ALL = "all"
MARKS = ("database", "sqlite", "postgresql", "mariadb", "concurrency", "size", "newer")


class Case:
    def __init__(self, request, reference, berth, cloud, found, question=None):
        self.request, self.reference, self.berth = request, reference, berth
        self.cloud, self.found = cloud, found
        self.question = question  # for GET /allocation_candidates: .right() is the verdict of the second opinion
        self.leftovers = set()

    @property
    def statuses(self):
        return (self.reference.status, self.berth.status)

    @property
    def on_postgres(self):
        return self.cloud.db.kind == "postgresql"

    @property
    def on_mariadb(self):
        return self.cloud.db.kind == "mariadb"

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


READS = "GET"
WRITES = r"/allocations(/[^/]+)?|/reshaper"

ENTRIES = [
    Entry("empty-204", None, ".*", "a 204 has no Content-Length, as HTTP demands (placement.md, HTTP framing)", conditions.empty_204),
    Entry("bad-content-length", None, ".*",
          "libmicrohttpd answers a malformed Content-Length itself (placement.md, HTTP framing)", conditions.bad_length),
    Entry("update-conflict-text", "POST", r"/resource_providers/[^/]+/inventories",
          "upstream's text carries SQL, ours does not (placement.md, Errors)", conditions.update_conflict),
    Entry("json-parser-words", "POST PUT", ".*",
          "behind 'Malformed JSON:' stand the words of the JSON library (placement.md, Order of checks)", conditions.parser_words),
    Entry("not-a-number", "POST PUT", ".*", "NaN, Infinity and 1e400 are no JSON (placement.md, Validation texts)",
          conditions.not_a_number, adopts=True),
    Entry("huge-integer", "POST PUT", ".*", "integers of 2^63 and more are 400 (placement.md, Validation texts)", conditions.huge_integer,
          adopts=True),
    Entry("unstorable-text", "POST PUT", ".*",
          "lone surrogates and nesting beyond the limit are 400, 500 in the Python service (placement.md, Validation texts)",
          conditions.unstorable_text),
    Entry("nul-in-key", "POST PUT", ".*", r"\u0000 in a key is 400, the parser's limit (placement.md, Validation texts)", conditions.nul_key),
    Entry("repeated-parameter", READS, "/allocation_candidates",
          "every limit and group_policy is validated, not the last alone (placement.md, Query strings)", conditions.repeated),
    Entry("dashless-uuid", READS, "/resource_providers",
          "uuid= and in_tree= without dashes are 400 in the newest (placement.md, Query strings)", conditions.dashless),
    Entry("stored-values", "POST PUT", r"/resource_providers/[^/]+/inventories(/[^/]+)?",
          "answers to writes print the stored values (placement.md, Resources)", conditions.stored_values),
    Entry("schema-words", "POST PUT GET", ".*",
          "newer jsonschema words an empty value differently (placement.md, Validation texts; operators.md, What changed)",
          conditions.schema_words),
    Entry("over-capacity", "PUT POST", WRITES,
          "over capacity is accepted if the use does not grow (placement.md, Generations; operators.md, What changed)",
          conditions.over_capacity, adopts=True),
    Entry("leftover-consumer", "PUT POST", WRITES,
          "no consumer of generation 0 is left behind by a refused or empty write (placement.md, Generations)",
          conditions.leftover, again=lambda case: case.request),
    Entry("role-service", READS, ".*", "the newest lets role service in (operators.md, Policy defaults)", conditions.role_service,
          again=conditions.as_admin),
    Entry("system-reader", READS, ".*", "the newest has no system readers (operators.md, Policy defaults)", conditions.system_reader),
    Entry("amount-beyond-sql", READS, "/allocation_candidates|/resource_providers",
          "10^20 is a 500 on SQLite; here nothing fits (allocation-candidates.md, 14)", conditions.beyond_sql, mark="sqlite",
          test="tests/diff/run.py"),
    Entry("amounts-grow", READS, "/allocation_candidates",
          "upstream adds to one amount object more than once (allocation-candidates.md, Where upstream is wrong)", conditions.amounts_grow),
    Entry("shared-only-anchor", READS, "/allocation_candidates",
          "upstream keeps one anchor for candidates of shares alone (allocation-candidates.md, Where upstream is wrong)",
          conditions.shared_only),
    Entry("nested-sharing", READS, "/allocation_candidates",
          "a nested sharing provider gives 500 upstream (allocation-candidates.md, Where upstream is wrong)", conditions.nested_sharing),
    Entry("limit-spread", READS, "/allocation_candidates",
          "with limit, one candidate of each root before a second of any (issue, The API; checked in candidates.py)",
          conditions.limit_spread, versions=(16, 39)),
    Entry("body-too-large", None, ".*", "a body over [berth] max_body is 413 (placement.md, Body size)", conditions.too_large),
    Entry("last-modified", "GET PUT", r"/resource_providers/[^/]+(/inventories)?",
          "Last-Modified is there from 1.15, also without inventory and on a first rename (documentation, 1.15; placement.md, "
          "Cache headers)", conditions.modified, versions=(15, 39)),
    Entry("class-name-json", "PUT", r"/resource_classes/.*",
          "a class name with a quote or backslash is a bad name; upstream builds JSON from it (placement.md, Resources)", conditions.class_name_json,
          versions=(7, 39)),
    Entry("odd-inventory-key", "PUT POST", r"/resource_providers/[^/]+/inventories|/reshaper",
          "a key that is no resource class, with malformed figures, is 400, 500 in the Python service (placement.md, Resources)", conditions.odd_key),
    Entry("utf8-words", READS, ".*", "a query that is not UTF-8 is 400 without Python's words (placement.md, Query strings)",
          conditions.utf8_words),
    Entry("limit-summaries", READS, "/allocation_candidates",
          "before 1.29 a limited answer sums up the providers of its own candidates only (allocation-candidates.md, 11)",
          conditions.limit_summaries, versions=(16, 28)),
    Entry("line-break", None, ".*",
          "a name, uuid, suffix or limit with a line break at its end is malformed (placement.md, Validation texts)", conditions.line_break),
    # Differences that this run cannot show.
    Entry("answer-too-large", READS, "/allocation_candidates",
          "an answer of more than 256 MiB is refused with 400, not built (placement.md, Body size)",
          mark="size", test="tests/hostile/pathological.py"),
    Entry("float-ratio", None, ".*", "MariaDB's SQL counts 10 x 0.7 as 6; here 7 everywhere (allocation-candidates.md, 15)",
          mark="database", test="tests/unit/model/test_capacity.c"),
    Entry("usages-on-postgresql", READS, "/usages", "a 500 from 1.38 on PostgreSQL (allocation-candidates.md, Where upstream is wrong)",
          conditions.usages_on_postgresql, versions=(38, 39), mark="postgresql", test="tests/diff/run.py"),
    Entry("nul-on-postgresql", "POST PUT GET", ".*", r"\u0000 in a text is 400, 500 in the Python service on PostgreSQL (differences.md, Bodies)",
          conditions.nul_on_postgresql, mark="postgresql", test="tests/diff/run.py"),
    Entry("alike-on-mariadb", None, ".*",
          "MariaDB takes texts that differ in case or trailing blanks for equal; reads do not (differences.md, Bodies)",
          conditions.alike_on_mariadb, mark="mariadb", test="tests/diff/run.py", adopts=ALL),
    Entry("float-amount-on-mariadb", "PUT POST", WRITES, "an amount such as 1.0 is a 500 on MariaDB (differences.md, Bodies)",
          conditions.float_amount_on_mariadb, mark="mariadb", test="tests/diff/run.py", adopts=True),
    Entry("trait-name-as-id", READS, "/allocation_candidates",
          "a 500 on PostgreSQL if MISC_SHARES_VIA_AGGREGATE is forbidden (differences.md, Allocation candidates)",
          conditions.trait_name_as_id, mark="postgresql", test="tests/diff/run.py"),
    Entry("trait-order", READS, "/allocation_candidates",
          "the traits of summaries are in any order on PostgreSQL (differences.md, Allocation candidates)",
          conditions.trait_order, mark="postgresql", test="tests/diff/run.py"),
    Entry("over-allocation", "PUT POST", WRITES,
          "under contention MariaDB gave more than there is, SQLite answered 500 (allocation-candidates.md, Where upstream is wrong)",
          mark="concurrency", test="tests/databases/python_over_capacity.py"),
    Entry("no-foreign-conflict", "PUT POST", WRITES,
          "a client that sends no provider generation never sees a conflict by another's write (issue, The API)",
          mark="concurrency", test="tests/unit/engine/test_contention.c"),
    Entry("missing-consumer", READS, "/allocations/.*|/usages|/resource_providers/.*",
          "a consumer of allocations that has no row gets one (troubleshooting.md, Allocations without a consumer)",
          mark="newer", test="tests/databases/orphans.py"),
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
