"""One request for each difference of intended.py that needs a certain text or header: plot_listed sends them."""


def _raw(method, path, body, minor=39):
    """With an unusual body, as bytes; the path may name {uuid}, a provider with inventory."""

    def make(generator):
        stocked = [p for p in generator.cloud.providers if p.inventory and not any(
            i.used for i in p.inventory.values())] or generator.cloud.providers
        provider = generator.rng.choice(stocked)
        rc = sorted(provider.inventory)[0] if provider.inventory else "VCPU"
        empty = [p for p in generator.cloud.providers if not p.inventory] or [provider]
        target = path.replace("{empty}", empty[0].uuid).replace("{uuid}", provider.uuid).replace("{rc}", rc).replace("{new}", generator.uuid())
        text = body
        if body is not None:
            text = body.replace(b"{generation}", b"%d" % provider.generation).replace(b"{uuid}", provider.uuid.encode())
            text = text.replace(b"{new}", generator.uuid().encode()).replace(b"{rc}", rc.encode())
        found = generator.request(method, target, minor, {} if body is not None else None, note="listed")
        return found.replaced(body=text)

    return make


def _with(make, *headers):
    def made(generator):
        found = make(generator)
        names = {h[0] for h in headers}
        return found.replaced(headers=[h for h in found.headers if h[0] not in names] + list(headers))

    return made


_RECORD = "/resource_providers/{uuid}/inventories/{rc}"
_CANDIDATES = "/allocation_candidates?"

# One request for each difference of intended.py that needs a certain text.
LISTED = [
    _with(_raw("GET", "/resource_providers", None), ("Content-Length", "many")),
    _raw("PUT", _RECORD, b'{"resource_provider_generation": {generation}, "total": 8, "allocation_ratio": NaN}'),
    _raw("PUT", _RECORD, b'{"resource_provider_generation": {generation}, "total": 8, "allocation_ratio": 1e400}'),
    _raw("PUT", _RECORD, b'{"resource_provider_generation": {generation}, "total": -Infinity}'),
    _raw("PUT", _RECORD, b'{"resource_provider_generation": 9223372036854775808, "total": 8}'),
    _raw("PUT", _RECORD, b'{"resource_provider_generation": {generation}, "total": 100000000000000000000}'),
    _raw("PUT", _RECORD, b'{"resource_provider_generation": {generation}, "total": 1e1, "allocation_ratio": 3}'),
    _raw("PUT", _RECORD, b'{"resource_provider_generation": {generation}.0, "total": 16.0, "reserved": 0.0}'),
    _raw("POST", "/resource_providers", b'{"name": "\\ud800", "uuid": "{new}"}'),
    _raw("POST", "/resource_providers", b"[" * 60000 + b"]" * 60000),
    _raw("POST", "/resource_providers", b'{"\\u0000": 1, "name": "nul key", "uuid": "{new}"}'),
    _raw("POST", "/resource_providers", b'{"name": "nul \\u0000 inside {new}", "uuid": "{new}"}'),
    _raw("POST", "/resource_providers", b"{'name': 1}"),
    _raw("POST", "/resource_providers", b"x" * (16 * 1024 * 1024 + 1)),
    _raw("PUT", "/resource_classes/CUSTOM_%22", None, 19),
    _raw("GET", "/resource_providers?name=%ff", None),
    _raw("GET", "/resource_providers/{empty}/inventories", None),
    _raw("PUT", "/resource_providers/{uuid}/inventories",
         b'{"resource_provider_generation": {generation}, "inventories": {"no class": {}}}'),
    _raw("POST", "/resource_providers/{uuid}/inventories", b'{"resource_class": "{rc}", "total": 4}'),
    _raw("PUT", "/allocations/{new}", b'{"allocations": []}', 1),
    _raw("PUT", "/allocations/{new}", b'{"allocations": {}, "project_id": "", "user_id": "u"}', 12),
    _raw("PUT", "/allocations/{new}", b'{"allocations": {"{uuid}": {"resources": {}}}, "project_id": "p", "user_id": "u"}', 12),
    _raw("POST", "/allocations", b"{}"),
    _raw("GET", _CANDIDATES + "resources=VCPU:1&limit=x&limit=1", None),
    _raw("GET", _CANDIDATES + "resources1=VCPU:1&resources2=VCPU:1&group_policy=nope&group_policy=none", None),
    _raw("GET", _CANDIDATES + "resources=VCPU:100000000000000000000", None),
    _raw("GET", "/resource_providers?resources=VCPU:100000000000000000000", None),
    _raw("GET", _CANDIDATES + "resources=VCPU:1&limit=1%0A", None),
    _raw("GET", _CANDIDATES + "resources_A%0A=VCPU:1", None),
    _raw("GET", "/usages?project_id=p&consumer_type=INSTANCE%0A", None),
    _raw("GET", "/resource_providers?uuid=0123456789abcdef0123456789abcdef", None),
    _raw("GET", "/resource_providers?in_tree=0123456789abcdef0123456789abcdef", None),
    _with(_raw("GET", "/resource_providers", None), ("X-Auth-Token", "u:p"), ("X-Roles", "service")),
    _with(_raw("GET", "/traits?associated=true", None), ("X-Auth-Token", "u"), ("X-Roles", "reader"),
          ("OpenStack-System-Scope", "all")),
]
