"""The intended differences: berth does not repeat the real service's bugs (the specification's quirks).

Every difference that a run finds must be explained by an entry here, and every entry must be used, or the run fails.
Entries with a `mark`, which names the test that covers them, need not be used. `undo` means that the reference accepted
what berth refuses: the allocation or node of that request is deleted there again.
"""

import json
import re

import compare
import generator

WRITES = "POST PUT PATCH DELETE"


class Case:
    def __init__(self, request, reference, other, found):
        self.request, self.reference, self.other, self.found = request, reference, other, found

    @property
    def statuses(self):
        return self.reference.status, self.other.status

    @property
    def is_malformed(self):
        try:
            json.loads(self.request.data or "{}", parse_constant=lambda name: 1 / 0)
            return False
        except (ValueError, ZeroDivisionError):
            return True


class Entry:
    def __init__(self, id, methods, path, reason, explains, mark=None, undo=False):
        self.id, self.methods, self.path, self.reason = id, methods, re.compile(path), reason
        self.explains, self.mark, self.undo = explains, mark, undo

    def covers(self, case, difference):
        return ((self.methods is None or case.request.method in self.methods.split())
                and bool(self.path.match(case.request.path)) and bool(self.explains(case, difference)))


def whole(condition):
    """Explains every difference of a case."""
    return lambda case, difference: condition(case)


def member(*paths):
    """Explains a member of the body, wherever it is."""
    return lambda case, difference: difference[0].startswith("body") and re.search(r"\.(%s)\b" % "|".join(paths), difference[0])


def is_quirk_500(case):
    """An uncaught Python exception; a refused backfill is 500 on both sides."""
    return case.reference.status == 500 and 400 <= case.other.status < 500 and "Cannot backfill" not in compare.fault_of(case.reference)


ENTRIES = [
    Entry("malformed-json", WRITES, ".*", "malformed JSON is 500 upstream, 400 here (1.5)",
          whole(lambda case: case.is_malformed and case.reference.status in (400, 500) and case.other.status == 400)),
    Entry("nan", WRITES, ".*", "NaN is no JSON (1.5)",
          whole(lambda case: "NaN" in (case.request.data or "") and case.other.status == 400), mark="checks.py"),
    Entry("list-fields", "GET", r"/(v1/)?nodes", "unknown fields, allocation_uuid and conductor in `fields` of the list are 500 upstream (8.3)",
          whole(lambda case: "fields=" in case.request.path and case.reference.status == 500 and case.other.status in (200, 400))),
    Entry("node-filters", "GET", r"/(v1/)?allocations", "with `node` upstream looks for other filters, and orders, in the node's columns (3.2)",
          whole(lambda case: "node=" in case.request.path and case.reference.status in (200, 500) and case.other.status == 200)),
    Entry("uncaught", WRITES + " GET", ".*", "other requests that end in a Python exception upstream are refused here (3.1, 3.4)", whole(is_quirk_500)),
    Entry("empty-name", "POST", "/v1/allocations", "an empty name is taken as a name upstream (3.1)",
          whole(lambda case: case.statuses == (201, 400) and case.request.body.get("name") == ""), undo=True,
          mark="gabbits/allocation_create.yaml"),
    Entry("next-filters", "GET", ".*", "`next` keeps the filters here (1.7)",
          lambda case, difference: difference[0] == "body.next" and "(absent)" not in difference[1:]),
    Entry("router-headers", None, ".*", "errors of the router carry the version headers and the id, too (1.3)",
          lambda case, difference: difference[0].startswith("header ") and difference[1] in (None, False) and difference[2]
          and (compare.is_by_router(case.reference) or case.statuses == (406, 406))),
    Entry("allow", None, ".*", "`Allow` names the methods of the path, upstream's those of the resource and what is below it (8.1)",
          lambda case, difference: difference[0] == "header allow" and case.statuses == (405, 405) and difference[2]),
    Entry("empty-version", None, ".*", "an empty version header counts as none (1.3)", whole(lambda case: case.request.version == "")),
    Entry("other-header", None, ".*", "OpenStack-API-Version is read, too (1.3)",
          whole(lambda case: "openstack-api-version" in case.request.headers)),
    Entry("internal-info", None, ".*", "driver_internal_info is always empty (8.2)", member("driver_internal_info")),
    Entry("other-resources", "GET", r"/(v1/?)?$", "what is not served is not listed (8.1, 9)",
          lambda case, difference: re.match(r"body\.(deploy_templates|events|heartbeat|lookup|links\[1\]\.href)$", difference[0])),
    Entry("root-words", WRITES, r"/(v1/?)?(\?.*)?$", "a method that a document does not have is refused by the router here (9)",
          lambda case, difference: difference[0] == "words" and difference[2] == ""),
    Entry("slash", None, ".*%2[Ff]", "a slash in an ident makes another path, whatever the body (1.2)",
          whole(lambda case: case.other.status == 404 and case.reference.status in (400, 404, 405))),
    Entry("printed-objects", None, ".*", "upstream prints its Python objects for the node's traits (5)",
          lambda case, difference: "TraitList(" in str(difference[1]) and "List of traits [" in str(difference[2])),
    Entry("order-of-interfaces", "GET", r"/v1/drivers", "sets have no order",
          lambda case, difference: difference[0].startswith("body") and "_interfaces[" in difference[0], mark="seldom"),
    Entry("shape-before-version", "PATCH", r"/(v1/)?allocations/", "21.4.4 looks at a patch's shape even before its version (3.4)",
          whole(lambda case: case.statuses == (400, 405)), mark="seldom"),
    Entry("description", "GET", r"/$", "the document of versions says who serves it (9)", member("description")),
    Entry("step-schema", "PUT", r".*/states/provision", "upstream prints the schema of a clean step (8.4)",
          lambda case, difference: difference[0] == "words" and "Failed validating" in difference[1], mark="seldom"),
    Entry("marker-null", "GET", r"/(v1/)?(allocations|nodes).*marker=.*sort_key=|/(v1/)?(allocations|nodes).*sort_key=.*marker=",
          "items whose key is null have their place in the order, also behind a marker (1.7)",
          lambda case, difference: difference[0].startswith("body."), mark="seldom"),
    Entry("row-number", "PUT", r".*/traits", "upstream names the row of the node that has too many traits (8.3)",
          lambda case, difference: difference[0] == "words" and re.search(r"for node \d+ as", difference[1]), mark="gabbits/node_traits.yaml"),
    Entry("rescue-password", None, ".*", "no password and no config drive is kept: nothing is deployed (8.4)",
          member("hashed_rescue_password", "rescue_password", "configdrive")),
    Entry("old-method-words", "PUT POST PATCH DELETE", r"/(v1/)?allocations", "405 of a method that there never was has no words (1.3.1)",
          lambda case, difference: difference[0] == "words" and case.statuses == (405, 405) and difference[2] == "", mark="seldom"),
    Entry("either-duplicate", "POST", r"/(v1/)?(nodes|allocations)", "of two values in use either may be reported (3.1)",
          lambda case, difference: difference[0] == "words" and case.statuses == (409, 409)
          and all("already exists" in words for words in difference[1:]), mark="allowed by the specification"),
    Entry("method-or-ident", None, r"/(v1/)?nodes/[^/]+/", "of a method that is not there and an ident that is none either may be reported (8.1)",
          whole(lambda case: case.statuses == (400, 405) and "Expected UUID or name" in compare.fault_of(case.reference)),
          mark="allowed by the specification"),
    Entry("no-steps", "PUT", r".*/states/provision", "a clean without steps is one (8.4)",
          whole(lambda case: case.statuses == (400, 202) and '"clean_steps" is required' in compare.fault_of(case.reference)),
          mark="gabbits/node_states.yaml"),
    Entry("old-names", "GET", r"/(v1/)?(nodes|ports)", "before 1.10 host names, and they alone, were names (1.2)",
          whole(lambda case: case.request.version in generator.OLD_NAMES and "Expected a logical name or UUID" in compare.fault_of(case.reference)),
          mark="not needed"),
    Entry("empty-list-fields", "GET", r"/(v1/)?(nodes|allocations)", "unknown fields are refused, also of an empty list (1.6)",
          whole(lambda case: "fields=" in case.request.path and case.statuses == (200, 400) and [] in case.reference.json.values()),
          mark="gabbits/node_corners.yaml"),
    Entry("lock-shown", "PATCH", r"/(v1/)?nodes/", "upstream's answer to PATCH shows the lock that the request itself held (8.6)",
          lambda case, difference: difference[0] == "body.reservation" and difference[2] is None),
    Entry("untouched", None, ".*", "what alters nothing leaves updated_at (3.4); upstream's lock sets it",
          lambda case, difference: difference[0].endswith("updated_at") and difference[1:] == ("TIME", None)),
    Entry("by-name-below", "GET", r"/v1/nodes/[^/]+/(ports|portgroups)", "the real service finds these by uuid only (8.1)",
          whole(lambda case: case.statuses == (404, 200)), mark="gabbits/others.yaml"),
    Entry("validate", "GET", r".*/validate", "nothing is deployed, so nothing is validated (8.3)",
          whole(lambda case: case.statuses == (500, 200)), mark="gabbits/others.yaml"),
]


def explained(case):
    """(entries that explain, differences that no entry explains)"""
    used, left = [], []
    for difference in case.found:
        entry = next((entry for entry in ENTRIES if entry.covers(case, difference)), None)
        if entry:
            used.append(entry)
        else:
            left.append(difference)
    return used, left
