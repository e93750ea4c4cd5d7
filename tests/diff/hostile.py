"""Invalid requests: broken texts, wrong types, odd spellings, missing tokens."""

import copy
import json

from exchange import Request

HUGE = (2147483647, 2147483648, 2**63 - 1, 2**63, 2**64, 10**20, -1, -(2**63), 0)
ODD = (True, False, None, 4.0, 4.5, 1e3, "4", "", [], {}, [1], {"a": 1}, "\u00e9\u4e16", "x" * 300, "a b")
TOKEN = ("X-Auth-Token", "admin")


def request(generator):
    """A request built from scratch, not from a valid one."""
    rng = generator.rng
    minor = generator.minor()
    make = lambda method, target, body=None: generator.request(method, target, minor, body, note="hostile")  # noqa: E731
    provider = generator.provider()
    uuid = provider.uuid if provider else generator.uuid()
    roll = rng.randrange(-1, 12)
    if roll <= 0:
        method = rng.choice(("HEAD", "OPTIONS", "PATCH", "PUT", "DELETE", "POST", "TRACE", "BREW"))
        path = rng.choice(("/", "/resource_providers", "/traits", "/usages", "/allocation_candidates", "/reshaper",
                           "/resource_providers/%s/usages" % uuid, "/allocations", "/resource_classes/VCPU"))
        return make(method, path)
    if roll == 1:
        return make("GET", rng.choice((
            "/resource_providers/", "//resource_providers", "/nothing", "/resource_providers/%s/" % uuid,
            "/resource_providers/%s/nothing" % uuid, "/allocations", "/traits/", "/%72esource_providers",
            "/resource_providers/" + uuid.upper(), "/resource_providers/" + uuid.replace("-", ""),
            "/resource_providers/%s%%2Finventories" % uuid, "/resource_providers/%%%02x" % rng.randrange(32, 127),
            "/traits/caf%C3%A9", "/traits/%ff", "/resource_classes/A%20B", "/./traits", "/traits/..", "/usages/")))
    if roll == 2:
        found = make("GET", "/resource_providers")
        kind = rng.randrange(11)
        headers = [h for h in found.headers if h[0] != "X-Auth-Token"]
        headers += {
            0: [], 1: [("X-Auth-Token", "")], 2: [("X-Auth-Token", "somebody:else")], 3: [("X-Auth-Token", "admin:p")],
            4: [TOKEN, ("X-Roles", "")], 5: [("X-Auth-Token", "u"), ("X-Roles", "Member, ADMIN")],
            6: [("X-Auth-Token", "u:p"), ("X-Roles", "reader")], 7: [("X-Auth-Token", ":x")],
            8: [TOKEN, ("OpenStack-System-Scope", "all")], 9: [("X-Auth-Token", "u:p"), ("X-Roles", "service")],
            10: [("X-Auth-Token", "u"), ("X-Roles", "reader"), ("OpenStack-System-Scope", "all")],
        }[kind]
        target = rng.choice(("/", "/resource_providers", "/usages?project_id=p", "/traits", "/nothing",
                             "/allocation_candidates?resources=VCPU:1"))
        return found.replaced(headers=headers, target=target)
    if roll == 3:
        value = rng.choice(("placement 1.40", "placement 0.9", "placement 2.0", "placement 1.2.3", "placement pony",
                            "placement LATEST", "placement", "placement 1", "placement 1.", "compute 2.1", "",
                            "compute 2.1, placement 1.5", "placement 1.5, placement 1.30", "placement  1.6",
                            "Placement 1.6", "placement 1.06", "placement -1.0", "placement 1.99999999999999999999",
                            "compute 2.1,placement latest", "placement 1.٣".encode().decode("latin-1")))
        good = {"compute 2.1": (1, 0), "compute 2.1, placement 1.5": (1, 5), "placement 1.5, placement 1.30": (1, 30)}
        return Request("GET", rng.choice(("/", "/resource_providers", "/nothing", "/traits")),
                       [TOKEN, ("OpenStack-API-Version", value)], None, "hostile version", good.get(value))
    if roll in (4, 5, 6):
        return make("GET", rng.choice(candidate_queries(generator, uuid)))
    if roll == 7:
        return make("GET", rng.choice((
            "/resource_providers?name=", "/resource_providers?uuid=nope", "/resource_providers?uuid=" + uuid.replace("-", ""),
            "/resource_providers?in_tree=%20" + uuid, "/resource_providers?in_tree=" + uuid.replace("-", ""),
            "/resource_providers?bogus=1", "/resource_providers?name=a&name=b", "/resource_providers?&&",
            "/resource_providers?resources=", "/resource_providers?resources=VCPU", "/resource_providers?resources=VCPU:0",
            "/resource_providers?resources=VCPU:-1", "/resource_providers?resources=NOPE:1", "/resource_providers?required=",
            "/resource_providers?required=NOPE", "/resource_providers?member_of=nope", "/resource_providers?member_of=in:",
            "/resource_providers?required=!CUSTOM_T0,CUSTOM_T0", "/resource_providers?name=%ff", "/resource_providers?%ff=1",
            "/resource_providers?name=caf%C3%A9", "/resource_providers?required=CUSTOM_T0%20", "/resource_providers?name",
            "/resource_providers?name=a;uuid=" + uuid, "/resource_providers?member_of=%s,%s" % (uuid, uuid),
            "/resource_providers?required=in:CUSTOM_T0,!CUSTOM_T1", "/resource_providers?required=!!CUSTOM_T0",
            "/resource_providers?uuid=" + uuid.upper(), "/resource_providers?name=a+b%2Bc", "/resource_providers?resources=VCPU:1,VCPU:2")))
    if roll == 8:
        return make("GET", rng.choice((
            "/usages", "/usages?project_id=", "/usages?project_id=a&project_id=b", "/usages?user_id=a",
            "/usages?project_id=a&bogus=1", "/usages?project_id=" + "p" * 256, "/usages?project_id=a&consumer_type=lower",
            "/usages?project_id=a&consumer_type=ALL", "/usages?project_id=a&consumer_type=allx",
            "/traits?name=nope", "/traits?name=", "/traits?name=bogus:a", "/traits?associated=maybe",
            "/traits?bogus=a", "/traits?name=in:", "/traits?name=startswith:", "/traits?name=startswith:a%25",
            "/traits?associated=TRUE", "/resource_classes?bogus=1", "/resource_classes/vcpu",
            "/allocations/nope", "/allocations/" + uuid.upper(), "/resource_providers/nope/inventories",
            "/resource_providers/%s/inventories/NOPE" % uuid, "/resource_providers/%s/inventories/vcpu" % uuid)))
    if roll == 9:
        return make("PUT", rng.choice((
            "/traits/custom_lower", "/traits/CUSTOM_", "/traits/CUSTOM_" + "A" * 249, "/traits/CUSTOM_" + "A" * 248,
            "/resource_classes/VCPU", "/resource_classes/CUSTOM_", "/resource_classes/CUSTOM_%22", "/traits/CUSTOM_A-B",
            "/resource_classes/CUSTOM_" + "B" * 249, "/resource_classes/CUSTOM_%5C", "/traits/CUSTOM_%0A", "/allocations/nope")))
    if roll == 10:
        target, body = rng.choice((
            ("/resource_providers", {"name": "n" * 201}), ("/resource_providers", {"name": ""}),
            ("/resource_providers", {"name": "x", "uuid": "nope"}), ("/resource_providers", {}),
            ("/resource_providers", {"name": "caf\u00e9 \"'<b>/" + generator.fresh("n"), "uuid": generator.uuid()}),
            ("/resource_providers", {"name": generator.fresh("p"), "uuid": uuid, "parent_provider_uuid": uuid}),
            ("/resource_providers", {"name": generator.fresh("p"), "uuid": generator.uuid(), "parent_provider_uuid": "x"}),
            ("/resource_classes", {"name": "VCPU"}), ("/resource_classes", {"name": "CUSTOM_" + "C" * 249}),
            ("/resource_classes", {"name": 5}), ("/resource_classes", {}), ("/allocations", {}),
            ("/allocations", {"nope": {}}), ("/reshaper", {}), ("/reshaper", {"inventories": {}, "allocations": {}}),
            ("/resource_providers/%s/inventories" % uuid, {"resource_class": "NOPE", "total": 1}),
            ("/resource_providers/%s/inventories" % uuid, {"resource_class": "VCPU", "total": 1, "reserved": 1}),
            ("/resource_providers/%s/inventories" % uuid, {"resource_class": "vcpu", "total": 1})))
        return make("POST", target, body)
    found = make("POST", "/resource_providers", {"name": generator.fresh("big"), "uuid": generator.uuid()})
    return found.replaced(body=rng.choice((
        b"", b"{", b"[]", b"null", b"5", b"\"x\"", b"{'name': 1}", b"{\"name\": \"\xff\"}", b"{\"name\": NaN}",
        b"\xef\xbb\xbf{\"name\": \"x\"}", b"{\"name\": \"a\", \"name\": \"b\", \"x\": 1}", b"{\"name\": \"\\ud800\"}",
        b"{\"name\": 1e400}", b"{\"name\": \"a\"} x", b"[" * 3000 + b"]" * 3000, b"{\"name\": \"\\u0000\", \"z\": 1}",
        b"{\"\\u0000\": 1}", b"{\"name\": \"x\",}", b"  ", b"{\"name\": 123456789012345678901234567890}")))


def candidate_queries(generator, uuid):
    other = generator.uuid()
    tail = (
        "", "resources=", "resources=VCPU", "resources=VCPU:", "resources=VCPU:0", "resources=VCPU:-1", "resources=VCPU:x",
        "resources=VCPU:1.0", "resources=VCPU:1,", "resources=NOPE:1", "resources=VCPU:100000000000000000000",
        "resources=VCPU:2147483648", "resources=VCPU:%201", "resources=VCPU:1%20", "resources=%20VCPU:1", "resources=VCPU:%2B1",
        "resources=VCPU:01", "resources=VCPU:1_0", "resources=VCPU:%D9%A1", "resources=VCPU:1&resources=MEMORY_MB:64",
        "resources=VCPU:1,VCPU:2", "resources=VCPU:1&limit=0", "resources=VCPU:1&limit=x", "resources=VCPU:1&limit=-1",
        "resources=VCPU:1&limit=1&limit=x", "resources=VCPU:1&limit=x&limit=1", "resources=VCPU:1&limit=99999999999999999999999",
        "resources=VCPU:1&bogus=1", "resources=VCPU:1&required=", "resources=VCPU:1&required=NOPE", "resources=VCPU:1&required=!",
        "resources=VCPU:1&required=CUSTOM_T0,!CUSTOM_T0", "resources=VCPU:1&required=in:CUSTOM_T0&required=!CUSTOM_T0",
        "resources=VCPU:1&required=in:", "resources=VCPU:1&required=in:CUSTOM_T0,!CUSTOM_T1", "resources=VCPU:1&required=CUSTOM_T0%20",
        "resources=VCPU:1&required=CUSTOM_T0,in:CUSTOM_T1", "resources=VCPU:1&member_of=", "resources=VCPU:1&member_of=nope",
        "resources=VCPU:1&member_of=in:", "resources=VCPU:1&member_of=%20" + uuid, "resources=VCPU:1&member_of=!!" + other,
        "resources=VCPU:1&member_of=%s,%s" % (uuid, other), "resources=VCPU:1&member_of=" + other.upper(),
        "resources=VCPU:1&in_tree=nope", "resources=VCPU:1&in_tree=" + other, "resources=VCPU:1&in_tree=%s%%20" % uuid,
        "resources=VCPU:1&in_tree=" + uuid.upper(), "resources=VCPU:1&in_tree=%s&in_tree=%s" % (uuid, other),
        "resources0=VCPU:1", "resources01=VCPU:1", "resources1=VCPU:1&resources2=VCPU:1", "required1=CUSTOM_T0",
        "resources1=VCPU:1&required2=CUSTOM_T0", "resources=VCPU:1&group_policy=nope", "resources=VCPU:1&group_policy=",
        "resources1=VCPU:1&resources2=VCPU:1&group_policy=none&group_policy=nope", "resources1=VCPU:1&group_policy=%20none",
        "resources_a.b=VCPU:1", "resources_%s=VCPU:1" % ("x" * 64), "resources%s=VCPU:1" % ("x" * 65), "resources-=VCPU:1",
        "resources1=VCPU:1&same_subtree=2", "resources1=VCPU:1&same_subtree=", "resources1=VCPU:1&same_subtree=1,",
        "resources1=VCPU:1&required2=CUSTOM_T0&group_policy=none", "resources1=VCPU:1&same_subtree=1%20&group_policy=none",
        "required1=CUSTOM_T0&same_subtree=1", "resources1=VCPU:1&required2=!CUSTOM_T0&same_subtree=1,2&group_policy=none",
        "resources1=VCPU:1&in_tree2=%s&same_subtree=1,2&group_policy=none" % uuid, "resources=VCPU:1&same_subtree=1",
        "resources=VCPU:1&root_required=", "resources=VCPU:1&root_required=NOPE", "resources=VCPU:1&root_required=in:CUSTOM_T0",
        "resources=VCPU:1&root_required=CUSTOM_T0&root_required=CUSTOM_T1", "resources=VCPU:1&root_required=CUSTOM_T0,!CUSTOM_T0",
        "resources1=NOPE:1&resources2=VCPU:1&group_policy=none", "resources1=VCPU:99999&resources2=NOPE:1&group_policy=none",
        "resources1=VCPU:99999&required1=NOPE&group_policy=none", "resources1=VCPU:1&member_of1=%s&resources2=NOPE:1&group_policy=none" % other,
        "resources=VCPU:1&required=NOPE&root_required=NOPE2", "&resources=VCPU:1&&", "resources=VCPU:1;required=CUSTOM_T0",
        "resources=VCPU:1&required=NOPE,NOPE2", "resources=VCPU:1&%ff=1", "resources=VCPU:%ff", "RESOURCES=VCPU:1",
        "resources=VCPU:1&resources1=VCPU:1&member_of1=!in:%s,%s" % (uuid, other), "resources=VCPU:1&required=!CUSTOM_T0&required=!CUSTOM_T1",
    )
    return ["/allocation_candidates?" + query for query in tail]


def damage_body(rng, found):
    """Puts one error at a random place of a valid body."""
    body = json.loads(found.body)
    spots = []

    def walk(value):
        if isinstance(value, dict):
            spots.extend((value, key) for key in value)
            for each in value.values():
                walk(each)
        elif isinstance(value, list):
            spots.extend((value, index) for index in range(len(value)))
            for each in value:
                walk(each)

    walk(body)
    note = found.note + " damaged body"
    if not spots or rng.random() < 0.05:
        return found.replaced(body=json.dumps(rng.choice(ODD)).encode(), note=note)
    holder, key = rng.choice(spots)
    kind = rng.randrange(7)
    if kind == 0:
        del holder[key]
    elif kind == 1:
        holder[key] = rng.choice(ODD)
    elif kind == 2 and isinstance(holder[key], int):
        holder[key] = rng.choice(HUGE)
    elif kind == 3 and isinstance(holder, dict):
        holder[rng.choice(("bogus", "", "generation", "name", "caf\u00e9"))] = rng.choice(ODD)
    elif kind == 4 and isinstance(holder, dict) and isinstance(key, str):
        holder[rng.choice((key.lower(), key.upper(), key + "x", key[:-1]))] = holder.pop(key)
    elif kind == 5 and isinstance(holder, list):
        holder.append(copy.deepcopy(holder[key]))
    elif isinstance(holder[key], int) and not isinstance(holder[key], bool):
        holder[key] = rng.choice((float(holder[key]), holder[key] + 0.5, str(holder[key]), not holder[key]))
    elif isinstance(holder[key], str):
        holder[key] = rng.choice((holder[key] + " ", holder[key].replace("-", ""), holder[key].upper(), "", 7))
    else:
        holder[key] = rng.choice(ODD)
    text = json.dumps(body)
    if rng.random() < 0.05:
        text = text.replace(": 1", rng.choice((": NaN", ": Infinity", ": 1e400", ": 1E2", ": 01", ": -0")), 1)
    return found.replaced(body=text.encode(), note=note)


def damage_request(rng, found):
    """A valid request in an invalid envelope."""
    headers = list(found.headers)
    drop = lambda name: [h for h in headers if h[0] != name]  # noqa: E731
    kind = rng.randrange(9)
    note = found.note + " damaged envelope"
    if kind == 0 and found.body is not None:
        wrong = rng.choice(("text/plain", "application/json; charset=utf-8", "APPLICATION/JSON", "application/jsonx", "",
                            "application/x-www-form-urlencoded", "application/json;", "json"))
        return found.replaced(headers=drop("Content-Type") + [("Content-Type", wrong)], note=note)
    if kind == 1 and found.body is not None:
        return found.replaced(headers=drop("Content-Type"), note=note)
    if kind == 2:
        accept = rng.choice(("text/html", "text/plain", "application/xml", "application/*", "text/html, */*;q=0.1", "nope",
                             "application/json;q=0", "", "image/png", "application/json, text/html"))
        return found.replaced(headers=drop("Accept") + [("Accept", accept)], note=note)
    if kind == 3:
        return found.replaced(headers=drop("X-Auth-Token"), note=note)
    if kind == 4:
        return found.replaced(headers=drop("X-Auth-Token") + [("X-Auth-Token", "nobody")], note=note)
    if kind == 5:
        return found.replaced(headers=headers + [("X-Openstack-Request-Id", rng.choice((
            "req-11111111-1111-4111-8111-111111111111", "nonsense", "req-nope")))], note=note)
    if kind == 6 and found.body is not None:
        body = found.body
        cut = rng.randrange(len(body) + 1)
        body = rng.choice((body[:cut], body[:cut] + b"\x00" + body[cut:], body[:cut] + b"\xff" + body[cut:], body + b"}",
                           b" \n" + body + b"\n\t", body + body, b""))
        return found.replaced(body=body, note=note)
    if kind == 7 and found.body is None and found.method in ("GET", "DELETE"):
        return found.replaced(body=b"", note=note)
    return found.replaced(target=found.path + rng.choice(("/", "%20", "?", "?&", "?bogus=1", "%2F")), note=note)


def damage_query(rng, found):
    pairs = found.query.split("&")
    note = found.note + " damaged query"
    spot = rng.randrange(len(pairs))
    pair = pairs[spot]
    kind = rng.randrange(7)
    if kind == 0:
        pairs.insert(spot, pair)
    elif kind == 1:
        pairs[spot] = pair.split("=")[0] + "="
    elif kind == 2:
        pairs[spot] = pair + rng.choice(("%20", ",", "x", "%00", "%ff", ":1"))
    elif kind == 3:
        pairs[spot] = pair.replace("=", "=" + rng.choice(("%20", "!", "in:", "!in:", ",")), 1)
    elif kind == 4:
        pairs[spot] = pair.replace("=", "%3D", 1) if rng.random() < 0.3 else "".join("%%%02x" % ord(c) if c.isalpha() and rng.random() < 0.2 and ord(c) < 128 else c for c in pair)
    elif kind == 5:
        pairs.insert(spot, "")
    else:
        pairs[spot] = pair.replace(":", rng.choice(("::", "", "%3A")), 1)
    return found.replaced(target=found.path + "?" + rng.choice("&&&;").join(pairs), note=note)
