#!/usr/bin/python3
"""Proves that the differential detects faults: compares the real service with itself, while some answers of one side
are altered. Each alteration must be found, and nothing else.

    tests/baremetal/selftest.py [--requests N]

The last line is `N passed, N failed`.
"""

import argparse
import json
import os
import random
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
sys.dont_write_bytecode = True

import differential  # noqa: E402
import real_ironic  # noqa: E402
import servers  # noqa: E402

SHARE = 0.3  # of the answers


def other_status(answer, _):
    answer.status = {200: 201, 201: 200, 202: 200, 204: 200, 400: 409, 404: 400, 409: 400, 405: 404, 406: 400, 500: 409}[answer.status]


def other_words(answer, _):
    message = json.loads(answer.json["error_message"])
    key = "faultstring" if "faultstring" in message else "description"
    message[key] = "Indeed: " + message[key]
    answer.text = json.dumps({"error_message": json.dumps(message)})


def member_gone(answer, chooser):
    def shorten(value):
        inside = [item for item in (value.values() if isinstance(value, dict) else value) if isinstance(item, (dict, list)) and item]
        if inside and chooser.random() < 0.7:
            return shorten(chooser.choice(inside))
        if isinstance(value, dict):
            del value[chooser.choice(sorted(value))]
        else:
            value.pop()
    body = answer.json
    shorten(body)
    answer.text = json.dumps(body)


def other_value(answer, chooser):
    body = answer.json

    def change(value):
        keys = sorted(value) if isinstance(value, dict) else list(range(len(value)))
        key = chooser.choice(keys)
        if isinstance(value[key], (dict, list)) and value[key]:
            return change(value[key])
        value[key] = "something else" if value[key] != "something else" else None
    change(body)
    answer.text = json.dumps(body)


def header_gone(answer, chooser):
    names = [name for name in ("location", "allow", "content-type", "openstack-request-id", "x-openstack-ironic-api-version",
                               "x-openstack-ironic-api-minimum-version") if name in answer.headers]
    if names:
        del answer.headers[chooser.choice(names)]
    return bool(names)


def other_header(answer, chooser):
    names = [name for name in ("location", "allow", "x-openstack-ironic-api-version", "content-type") if name in answer.headers]
    if names:
        answer.headers[chooser.choice(names)] += "x"
    return bool(names)


class Liar(differential.Walk):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.random = random.Random(self.seed)
        self.lies, self.missed, self.wrong, self.lie = 0, [], [], None

    def alter(self, answer):
        self.lie = None
        if self.random.random() >= SHARE:
            return
        lies = [other_status, header_gone, other_header]
        if answer.status >= 400 and answer.fault is not None:
            lies.append(other_words)
        elif answer.text and answer.json:
            lies += [member_gone, other_value] * 2
        lie = self.random.choice(lies)
        if lie(answer, self.random) is not False:
            self.lie = lie.__name__

    def fail(self, step, request, left):
        self.failures.append((step, request, left))

    def step(self, step, request):
        super().step(step, request)
        if self.lie and not self.failures:
            self.missed.append(f"{self.lie}: {request}")
        if self.failures and not self.lie:
            self.wrong.append(str(self.failures[0]))
        self.lies += bool(self.lie)
        self.failures.clear()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--requests", type=int, default=300)
    parser.add_argument("--seed", type=int, default=77)
    options = parser.parse_args()
    options.berthd, options.verbose = None, False
    score = servers.Score()
    with real_ironic.Ironic() as reference, real_ironic.Ironic() as other:
        liar = Liar(options, options.seed, reference, other)
        liar.play(options.requests)
    score.passed += liar.lies - len(liar.missed)
    for text in liar.missed:
        score.case("an altered answer", f"was not seen: {text}")
    score.case("all was asked", None if liar.asked == options.requests else f"{liar.asked} requests")
    score.case("nothing else was found", "; ".join(liar.wrong)[:3000] if liar.wrong else None)
    score.case("there was something to find", None if liar.lies > options.requests / 10 else f"{liar.lies} alterations")
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
