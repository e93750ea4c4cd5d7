"""Compares the answer on a page with the real one, and formats an answer for a page.

What differs between any two runs is made equal first: request ids, dates, the time and process of log lines, ports. A
uuid that no command of the page names was chosen by the server: it may be any, but must be the same each time. In a
page "…" stands for omitted text: the rest of a JSON array or object, lines, or a part of a line. JSON may be formatted
in any way, and its members may be in any order."""

import json
import re

MORE = "…"
UUID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
STATUS = re.compile(r"^[1-5]\d\d$")
WIDTH = 108

# The Python service prints the schema and the value as well (docs/differences.md).
SCHEMA_PRINTED = re.compile(r"(Failed validating '\w+' in schema[^:\n]*):[^\n]*?(  On instance[^:\n]*):[^\n]*")
ALWAYS_NEW = [
    (re.compile(r"req-" + UUID.pattern[2:-2]), "req-ID"),
    (re.compile(r"[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT"), "DATE"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00"), "TIME"),
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} \d+ "), "TIME PROCESS "),
]


def normal(text):
    for pattern, word in ALWAYS_NEW:
        text = pattern.sub(word, text)
    return text


class Uuids:
    """Maps each uuid of the page to one of this run."""

    def __init__(self, named):
        self.named = named
        self.actual_of = {}
        self.shown_of = {}

    def same(self, shown, actual):
        if shown == actual:
            return True
        if shown in self.named or actual in self.named:
            return False
        return self.actual_of.setdefault(shown, actual) == actual and \
            self.shown_of.setdefault(actual, shown) == shown

    def to_actual(self, text):
        return UUID.sub(lambda match: self.actual_of.get(match.group(), match.group()), text)

    def to_shown(self, text):
        return UUID.sub(lambda match: self.shown_of.get(match.group(), match.group()), text)


def same_text(shown, actual, uuids):
    """One line or string; "…" in the shown one stands for anything."""
    parts = [re.escape(part) for part in UUID.split(shown)]
    pattern = f"({UUID.pattern})".join(parts).replace(re.escape(MORE), ".*?")
    match = re.fullmatch(pattern, actual, re.S)
    return bool(match) and all(uuids.same(one, other) for one, other in zip(UUID.findall(shown), match.groups()))


def same_json(shown, actual, uuids):
    if isinstance(shown, dict) and isinstance(actual, dict):
        rest = dict(actual)
        for key, value in shown.items():
            if key == MORE:
                continue
            found = next((other for other in rest if same_text(key, other, uuids)), None)
            if found is None or not same_json(value, rest.pop(found), uuids):
                return False
        return not rest or MORE in shown
    if isinstance(shown, list) and isinstance(actual, list):
        if shown and shown[-1] == MORE:
            shown, actual = shown[:-1], actual[:len(shown) - 1]
        return len(shown) == len(actual) and all(same_json(*pair, uuids) for pair in zip(shown, actual))
    if isinstance(shown, str) and isinstance(actual, str):
        return same_text(shown, actual, uuids)
    return type(shown) is type(actual) and shown == actual


def parts(text):
    """JSON objects and arrays, and the lines between them as strings; empty lines do not count."""
    found, decoder, rest = [], json.JSONDecoder(), text.replace("\r", "").lstrip("\n")
    while rest:
        end = rest.find("\n") if "\n" in rest else len(rest)
        part = rest[:end]
        if rest[0] in "{[":
            try:
                part, end = decoder.raw_decode(rest)
            except ValueError:
                pass
        found.append(part.rstrip() if isinstance(part, str) else part)
        rest = rest[end:].lstrip("\n")
    return found


def same_parts(shown, actual, uuids):
    if not shown:
        return not actual
    if shown[0] == MORE:
        return any(same_parts(shown[1:], actual[i:], uuids) for i in range(len(actual) + 1))
    return bool(actual) and same_json(shown[0], actual[0], uuids) and same_parts(shown[1:], actual[1:], uuids)


def split_http(text):
    """(status line, header lines, body) of one HTTP answer."""
    head, _, body = text.replace("\r", "").partition("\n\n")
    lines = head.split("\n")
    return lines[0], lines[1:], body


def same_http(shown, actual, uuids):
    first, headers, body = split_http(shown)
    other_first, other_headers, other_body = split_http(actual)
    left = list(other_headers)
    for line in headers:
        found = next((other for other in left if same_text(line, other, uuids)), None)
        if line != MORE and found is None:
            return False
        if found is not None:
            left.remove(found)
    return same_text(first, other_first, uuids) and (not left or MORE in headers) and \
        same_body(body, other_body, uuids)


def sorted_lists(value):
    if isinstance(value, dict):
        return {key: sorted_lists(item) for key, item in value.items()}
    if isinstance(value, list):
        return sorted((sorted_lists(item) for item in value), key=lambda item: json.dumps(item, sort_keys=True))
    return " + ".join(sorted(value.split(" + "))) if isinstance(value, str) else value


def same_body(shown, actual, uuids):
    return same_parts(parts(shown), parts(actual), uuids)


def same(shown, out, uuids, any_order=False):
    """Whether a page's answer matches the output of a command. With any_order lists and lines may be in another
    order."""
    shown, out = normal(shown), normal(out)
    if any_order:
        out = SCHEMA_PRINTED.sub(r"\1\2", out)
        return same_parts(sorted_lists(parts(shown)), sorted_lists(parts(out)), uuids)
    if shown.startswith("HTTP/") and out.startswith("HTTP/"):
        return same_http(shown, out, uuids)
    return same_body(shown, out, uuids)


def lay_out_json(value, indent=0, used=0):
    """Formats JSON in as few lines as fit; `used` is the width of the text before it in its line."""
    line = json.dumps(value, ensure_ascii=False)
    if len(line) + used <= WIDTH or not isinstance(value, (dict, list)) or not value:
        return line
    inner = " " * (indent + 2)
    if isinstance(value, dict):
        parts = []
        for key, item in value.items():
            name = json.dumps(key, ensure_ascii=False) + ": "
            parts.append(inner + name + lay_out_json(item, indent + 2, indent + 3 + len(name)))
        return "{\n" + ",\n".join(parts) + "\n" + " " * indent + "}"
    parts = [inner + lay_out_json(item, indent + 2, indent + 3) for item in value]
    return "[\n" + ",\n".join(parts) + "\n" + " " * indent + "]"


def lay_out_parts(found):
    return "\n".join(part if isinstance(part, str) else lay_out_json(part) for part in found)


def lay_out(out):
    """(kind, text) of an answer block."""
    if out.startswith("HTTP/"):
        first, headers, body = split_http(out)
        body = lay_out_parts(parts(body))
        return "http", "\n".join([first, *headers] + (["", body] if body else []))
    found = parts(out)
    return "text" if all(isinstance(part, str) for part in found) else "json", lay_out_parts(found)
