"""Counts, for each route with its methods and each microversion, the tests that send such requests."""

import collections
import re
import urllib.parse

import suites

ROUTES = [
    ('/', 'GET'),
    ('/resource_classes', 'GET POST'),
    ('/resource_classes/{name}', 'GET PUT DELETE'),
    ('/resource_providers', 'GET POST'),
    ('/resource_providers/{uuid}', 'GET PUT DELETE'),
    ('/resource_providers/{uuid}/inventories', 'GET POST PUT DELETE'),
    ('/resource_providers/{uuid}/inventories/{resource_class}', 'GET PUT DELETE'),
    ('/resource_providers/{uuid}/usages', 'GET'),
    ('/resource_providers/{uuid}/aggregates', 'GET PUT'),
    ('/resource_providers/{uuid}/allocations', 'GET'),
    ('/resource_providers/{uuid}/traits', 'GET PUT DELETE'),
    ('/allocations', 'POST'),
    ('/allocations/{consumer_uuid}', 'GET PUT DELETE'),
    ('/allocation_candidates', 'GET'),
    ('/traits', 'GET'),
    ('/traits/{name}', 'GET PUT DELETE'),
    ('/usages', 'GET'),
    ('/reshaper', 'POST'),
]


def patterns():
    for route, methods in ROUTES:
        pattern = re.compile('^' + re.sub(r'\{\w+\}', '[^/]+', route) + '$')
        for method in methods.split():
            yield (route, method), pattern


def request_of(test, defaults):
    """(method, path, minor version); None for a version that does not exist."""
    method, url = test.get('method', 'GET'), test.get('url', '')
    for key in test:
        if key.isupper():
            method, url = key, test[key]
    path = urllib.parse.urlsplit(url).path or '/'
    headers = dict(defaults['request_headers'], **test.get('request_headers', {}))
    version = headers.get('openstack-api-version', 'placement 1.0')
    match = re.match(r'^placement 1\.(\d+)$', version)
    if version == 'placement latest':
        return method, path, suites.NEWEST
    return method, path, int(match.group(1)) if match else None


def print_table(files):
    """Prints the table; returns 1 if a route, a microversion, or a combination of them is never tested."""
    routes = list(patterns())
    counts = collections.Counter()
    others = 0
    for file in files:
        defaults = file.defaults()
        for test in file.tests(False):
            method, path, minor = request_of(test, defaults)
            for key, pattern in routes:
                if key[1] == method and pattern.match(path):
                    counts[key, minor] += 1
                    break
            else:
                others += 1
    poor = 0
    print('%-68s %6s  never asked at' % ('route', 'tests'))
    for key, _ in routes:
        missing = [minor for minor in range(suites.NEWEST + 1) if not counts[key, minor]]
        poor += len(missing)
        total = sum(count for (route, _), count in counts.items() if route == key)
        print('%-68s %6d  %s' % (' '.join(reversed(key)), total, ' '.join('1.%d' % minor for minor in missing)))
    print()
    for minor in range(suites.NEWEST + 1):
        total = sum(count for (_, version), count in counts.items() if version == minor)
        print('1.%-2d %6d' % (minor, total), end='\n' if minor % 5 == 4 else '   ')
    print('%d tests, %d of other paths and methods' % (sum(counts.values()) + others, others))
    return 1 if poor else 0
