"""A request as raw as the generator made it, and an answer.

A target is the middle part of the request line, byte for byte (as latin-1 text): percent encodings, `;` and bytes that
are not UTF-8 reach both services unchanged.
"""

import re


class Request:
    """One HTTP request. `note` is the generator's purpose (op, marks); it is never sent."""

    __slots__ = ("method", "target", "headers", "body", "note", "version")

    def __init__(self, method, target, headers=(), body=None, note="", version=None):
        self.method = method
        self.target = target
        self.headers = list(headers)
        self.body = body
        self.note = note
        self.version = version  # (1, n) that the service will use, or None if the header is invalid

    def header(self, name):
        found = [v for k, v in self.headers if k.lower() == name.lower()]
        return ",".join(found) if found else None

    @property
    def path(self):
        return self.target.split("?", 1)[0]

    @property
    def query(self):
        return self.target.split("?", 1)[1] if "?" in self.target else ""

    def replaced(self, **changes):
        other = Request(self.method, self.target, self.headers, self.body, self.note, self.version)
        for name, value in changes.items():
            setattr(other, name, value)
        return other

    def text(self):
        """As a user would type it; long bodies are cut."""
        lines = ["%s %s" % (self.method, self.target)]
        lines += ["%s: %s" % pair for pair in self.headers]
        if self.body is not None:
            lines += ["", show(self.body)]
        return "\n".join(lines)


class Answer:
    __slots__ = ("status", "headers", "body")

    def __init__(self, status, headers, body):
        self.status = status  # 0: the connection was closed without an answer
        self.headers = headers  # list of (lower-case name, value)
        self.body = body

    def header(self, name):
        found = [v for k, v in self.headers if k == name]
        return ", ".join(found) if found else None

    def text(self):
        lines = [str(self.status)] + ["%s: %s" % pair for pair in self.headers]
        return "\n".join(lines + ["", show(self.body)])


def show(body, most=3000):
    text = body.decode("utf-8", "backslashreplace")
    return text if len(text) <= most else text[:most] + " … (%d bytes)" % len(body)


# (method, template) of every route, for counting.
ROUTES = {
    "/": "GET",
    "/resource_providers": "GET POST",
    "/resource_providers/{uuid}": "GET PUT DELETE",
    "/resource_providers/{uuid}/inventories": "GET POST PUT DELETE",
    "/resource_providers/{uuid}/inventories/{resource_class}": "GET PUT DELETE",
    "/resource_providers/{uuid}/usages": "GET",
    "/resource_providers/{uuid}/aggregates": "GET PUT",
    "/resource_providers/{uuid}/allocations": "GET",
    "/resource_providers/{uuid}/traits": "GET PUT DELETE",
    "/resource_classes": "GET POST",
    "/resource_classes/{name}": "GET PUT DELETE",
    "/traits": "GET",
    "/traits/{name}": "GET PUT DELETE",
    "/allocations": "POST",
    "/allocations/{consumer_uuid}": "GET PUT DELETE",
    "/allocation_candidates": "GET",
    "/usages": "GET",
    "/reshaper": "POST",
}
ALL_ROUTES = [(m, path) for path, methods in ROUTES.items() for m in methods.split()]
_PATTERNS = [(re.compile(re.sub(r"\{\w+\}", "[^/]+", path) + r"\Z"), path) for path in ROUTES]


def route_of(request):
    """The route's template, or None for paths without a route."""
    for pattern, path in _PATTERNS:
        if pattern.match(request.path):
            return path
    return None
