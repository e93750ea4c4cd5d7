"""A strict reader of Prometheus' text format 0.0.4 and of OpenMetrics 1.0.0, as far as berth writes them: it refuses
everything doubtful."""

import math
import re

NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
LABEL_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
NUMBER = re.compile(r"(-?(?:\d+|\d+\.\d+|\d(?:\.\d+)?e[+-]\d\d+)|NaN|[+-]Inf)$")
ESCAPES = {"\\": "\\", '"': '"', "n": "\n"}
SUFFIXES = {"counter": [""], "gauge": [""], "histogram": ["_bucket", "_sum", "_count"]}


class Malformed(Exception):
    pass


def must(good, what, line):
    if not good:
        raise Malformed(f"{what}: {line!r}")


def read_labels(text, line):
    """Returns the labels of `{…}`, from after the brace, and the text after them."""
    labels = {}
    while not text.startswith("}"):
        name = LABEL_NAME.match(text)
        must(name, "no label name", line)
        text = text[name.end():]
        must(text.startswith('="'), "no value", line)
        text, value = text[2:], ""
        while not text.startswith('"'):
            must(text, "no end of a value", line)
            if text[0] == "\\":
                must(text[1:2] in ESCAPES, "unknown escape", line)
                value, text = value + ESCAPES[text[1]], text[2:]
            else:
                value, text = value + text[0], text[1:]
        text = text[1:]
        must(name.group() not in labels, "a label twice", line)
        labels[name.group()] = value
        if text.startswith(","):
            text = text[1:]
            must(not text.startswith("}"), "a comma at the end", line)
        else:
            must(text.startswith("}"), "no comma", line)
    must(labels, "empty braces", line)
    return labels, text[1:]


def read_sample(line):
    name = NAME.match(line)
    must(name, "no name", line)
    rest, labels = line[name.end():], {}
    if rest.startswith("{"):
        labels, rest = read_labels(rest[1:], line)
    must(rest.startswith(" "), "no blank before the value", line)
    must(NUMBER.match(rest[1:]), "no number as Go writes it", line)
    return name.group(), labels, float(rest[1:])


class Page:
    """The content of a scrape. `samples`: {name: {(labels, sorted): value}}; `types`, `helps`: by metric."""

    def __init__(self, text, openmetrics=False):
        self.samples, self.types, self.helps = {}, {}, {}
        self.openmetrics = openmetrics
        must(text.endswith("\n"), "no line break at the end", text[-20:])
        lines = text[:-1].split("\n")
        if openmetrics:
            must(lines.pop() == "# EOF", "no end", text[-20:])
        family = None
        for line in lines:
            if line.startswith("# HELP "):
                family = self._begin(line)
            elif line.startswith("# TYPE "):
                self._type(line, family)
            else:
                self._sample(line, family)
        for name, kind in self.types.items():
            if kind == "histogram":
                self._check_histogram(name)

    def _begin(self, line):
        _, _, name, help_text = line.split(" ", 3)
        must(name not in self.helps and help_text, "a metric twice, or no help", line)
        must("\\" not in help_text, "something escaped in the help", line)
        self.helps[name] = help_text
        return name

    def _type(self, line, family):
        _, _, name, kind = line.split(" ")
        must(name == family and name not in self.types and kind in SUFFIXES, "type", line)
        counts = name.endswith("_total") and name != "openstack_placement_resource_total"
        must(counts == (kind == "counter" and not self.openmetrics), "the name of a counter", line)
        self.types[name] = kind

    def _sample(self, line, family):
        name, labels, value = read_sample(line)
        kind = self.types.get(family)
        must(kind, "a sample without a type", line)
        suffixes = ["_total"] if kind == "counter" and self.openmetrics else SUFFIXES[kind]
        must(any(name == family + suffix for suffix in suffixes), "not of this metric", line)
        must(kind == "gauge" or value >= 0, "a negative count", line)
        key = tuple(sorted(labels.items()))
        series = self.samples.setdefault(name, {})
        must(key not in series, "a series twice", line)
        series[key] = value

    def _check_histogram(self, name):
        by_labels = {}
        for key, value in self.samples.get(name + "_bucket", {}).items():
            labels = dict(key)
            bound = labels.pop("le")
            must(not self.openmetrics or "." in bound or "e" in bound or bound == "+Inf", "an integer bound", bound)
            by_labels.setdefault(tuple(sorted(labels.items())), []).append((float(bound), value))
        must(set(by_labels) == set(self.samples.get(name + "_count", {})) == set(self.samples.get(name + "_sum", {})),
             "parts of a histogram are missing", name)
        for key, buckets in by_labels.items():
            bounds, values = zip(*buckets)
            must(list(bounds) == sorted(set(bounds)) and math.isinf(bounds[-1]), "bounds", name)
            must(list(values) == sorted(values), "buckets do not add up", name)
            must(values[-1] == self.samples[name + "_count"][key], "count is not the last bucket", name)

    def get(self, name, **labels):
        """The value of one series; 0 if it is missing."""
        return self.samples.get(name, {}).get(tuple(sorted(labels.items())), 0)

    def sum(self, name, **labels):
        """The sum of all series with these labels."""
        wanted = set(labels.items())
        return sum(value for key, value in self.samples.get(name, {}).items() if wanted <= set(key))
