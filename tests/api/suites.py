"""Reads a test file and converts it to plain gabbi.

A file of gabbits/ is gabbi YAML with a few additional words, which README.md describes. This module removes them:

- top level: `config`, `skip_reference`, `database`, `names`, `cloud`, `claims`
- in a test: `at`, `differs`, and the defaults of the headers
- anywhere in a string: <name>, the UUID of a provider, consumer, aggregate, project or user of this file;
  <each-NAME>, a UUID for each microversion that a test is run at; <version>, that microversion; <minor>, its second number
"""

import collections
import copy
import functools
import http.client
import json
import os
import re
import uuid

from gabbi import handlers as gabbi_handlers
from gabbi import httpclient
from gabbi import json_parser
from gabbi import suitemaker
from gabbi import utils
import unittest

import handlers

NEWEST = 39
REQUEST_SECONDS = 20
NAMESPACE = uuid.UUID('0d3b9f5e-7a0e-4f2b-9f57-6d1d3a1c9c01')
NAME = re.compile(r'<([a-z][a-z0-9_-]*)>')
VERSION = re.compile(r'^v1\.(\d+)$')
SETUP_HEADERS = {'x-auth-token': 'admin', 'content-type': 'application/json',
                 'openstack-api-version': 'placement 1.39'}

# Parsing a path costs more than a request.
json_parser.parse = functools.lru_cache(maxsize=None)(json_parser.parse)


class BadFile(Exception):
    """A test file contains something that this module does not know."""


def uuid_of(name):
    return str(uuid.uuid5(NAMESPACE, name))


def expand_versions(text):
    """'v1.0..v1.3 v1.10' -> [0, 1, 2, 3, 10]"""
    minors = []
    for part in str(text).split():
        ends = [VERSION.match(end) for end in part.split('..')]
        if not all(ends) or len(ends) > 2:
            raise BadFile('at: %r is not like v1.4 or v1.4..v1.12' % text)
        minors.extend(range(int(ends[0].group(1)), int(ends[-1].group(1)) + 1))
    return minors


class File:
    """One test file, parsed."""

    KEYS = {'config', 'skip_reference', 'database', 'names', 'cloud', 'claims', 'defaults', 'tests'}
    HANDLERS = handlers.HANDLERS
    VERSION_HEADER, VERSION = 'openstack-api-version', 'placement 1.%d'
    DEFAULT_HEADERS = {'x-auth-token': 'admin'}

    def __init__(self, path):
        self.path = path
        self.name = os.path.splitext(os.path.basename(path))[0]
        self.document = utils.load_yaml(yaml_file=path)
        surplus = set(self.document) - self.KEYS
        if surplus:
            raise BadFile('%s: unknown keys %s' % (self.name, sorted(surplus)))
        self.config = self.document.get('config', {})
        self.skip_reference = self.document.get('skip_reference', '')
        self.database = self.document.get('database', '')
        self.cloud = self.document.get('cloud') or {}
        self.claims = self.document.get('claims') or {}
        self.uuids = self._uuids()
        self.names_by_uuid = {value: name for name, value in self.uuids.items()}

    def _uuids(self):
        names = self.document.get('names') or []
        uuids = {}
        if isinstance(names, dict):
            uuids.update(names)
            names = []
        everything = list(names) + list(self.cloud) + list(self.claims)
        for provider in self.cloud.values():
            everything.extend((provider or {}).get('aggregates', []))
        for name in everything:
            uuids.setdefault(name, uuid_of(name))
        return uuids

    def replace(self, value, minor=None):
        """Replaces <names> by UUIDs, at any depth."""
        if isinstance(value, str):
            return NAME.sub(lambda match: self._replace_one(match.group(1), minor), value)
        if isinstance(value, list):
            return [self.replace(entry, minor) for entry in value]
        if isinstance(value, dict):
            return {self.replace(key, minor): self.replace(entry, minor) for key, entry in value.items()}
        return value

    def _replace_one(self, name, minor):
        if name in self.uuids:
            return self.uuids[name]
        if minor is not None and name == 'version':
            return '1.%d' % minor
        if minor is not None and name == 'minor':
            return str(minor)
        if minor is not None and name.startswith('each-'):
            return uuid_of('%s at 1.%d' % (name, minor))
        raise BadFile('%s: <%s> is not a name of this file' % (self.name, name))

    def tests(self, reference):
        """The tests in gabbi's form."""
        made = []
        for test in self.document['tests']:
            test = copy.deepcopy(test)
            differs = test.pop('differs', '')
            if differs and reference:
                test['skip'] = differs
            at = test.pop('at', None)
            if 'data' in test:
                headers = test.setdefault('request_headers', {})
                if 'content-type' not in headers:
                    headers['content-type'] = 'application/json'
                elif headers['content-type'] == 'none':
                    del headers['content-type']
            if at is None:
                made.append(self.replace(test))
                continue
            minors = expand_versions(at)
            for minor in minors:
                one = copy.deepcopy(test)
                headers = one.setdefault('request_headers', {})
                headers[self.VERSION_HEADER] = self.VERSION % minor
                if len(minors) > 1:
                    one['name'] += ' at 1.%d' % minor
                made.append(self.replace(one, minor))
        self._check_names(made)
        return made

    def _check_names(self, tests):
        counts = collections.Counter(test.get('name') for test in tests)
        for name, count in counts.items():
            if name is None or count > 1:
                raise BadFile('%s: test name %r is used %d times' % (self.name, name, count))

    def defaults(self):
        defaults = self.replace(copy.deepcopy(self.document.get('defaults') or {}))
        headers = defaults.setdefault('request_headers', {})
        for name, value in self.DEFAULT_HEADERS.items():
            headers.setdefault(name, value)
        for name in [name for name, value in headers.items() if value == 'none']:
            del headers[name]
        return defaults

    def suite(self, port, reference):
        objects = [handler() for handler in self.HANDLERS + gabbi_handlers.RESPONSE_HANDLERS]
        document = {'defaults': self.defaults(), 'tests': self.tests(reference)}
        suite = suitemaker.test_suite_from_dict(
            unittest.TestLoader(), self.name, document, os.path.dirname(self.path), '127.0.0.1', port, None, None,
            handlers=objects)
        client = httpclient.get_http()
        for test in suite:
            test.http = client
            test.names_by_uuid = self.names_by_uuid
            for name in [name for name, value in test.test_data['request_headers'].items() if value == 'none']:
                del test.test_data['request_headers'][name]
        return suite

    def build_cloud(self, port):
        """Creates the providers and claims that the file declares."""
        builder = CloudBuilder(self, port)
        try:
            builder.build()
        finally:
            builder.close()


class CloudBuilder:
    """Creates a declared cloud through the API at 1.39."""

    def __init__(self, file, port):
        self.file = file
        self.connection = http.client.HTTPConnection('127.0.0.1', port, timeout=30)
        self.known = set()

    def close(self):
        self.connection.close()

    def ask(self, method, path, body=None):
        text = None if body is None else json.dumps(body)
        headers = dict(SETUP_HEADERS)
        if text is None:
            del headers['content-type']
        self.connection.request(method, path, text, headers)
        response = self.connection.getresponse()
        data = response.read()
        if response.status >= 300:
            raise BadFile('%s: setting up: %s %s: %d %s' % (self.file.name, method, path, response.status, data))
        return json.loads(data) if data else None

    def build(self):
        for name, provider in self.file.cloud.items():
            self.create(name, provider or {})
        for consumer, allocations in self.file.claims.items():
            self.claim(consumer, allocations)

    def custom(self, kind, name):
        if name.startswith('CUSTOM_') and (kind, name) not in self.known:
            self.known.add((kind, name))
            self.ask('PUT', '/%s/%s' % (kind, name))

    def create(self, name, provider):
        unknown = set(provider) - {'parent', 'inventory', 'traits', 'aggregates'}
        if unknown:
            raise BadFile('%s: provider %s: unknown keys %s' % (self.file.name, name, sorted(unknown)))
        ids = self.file.uuids
        body = {'name': name, 'uuid': ids[name]}
        if 'parent' in provider:
            body['parent_provider_uuid'] = ids[provider['parent']]
        self.ask('POST', '/resource_providers', body)
        url = '/resource_providers/' + ids[name]
        generation = 0
        if provider.get('inventory'):
            inventories = {}
            for resource_class, record in provider['inventory'].items():
                self.custom('resource_classes', resource_class)
                inventories[resource_class] = record if isinstance(record, dict) else {'total': record}
            answer = self.ask('PUT', url + '/inventories',
                              {'resource_provider_generation': generation, 'inventories': inventories})
            generation = answer['resource_provider_generation']
        if provider.get('traits'):
            for trait in provider['traits']:
                self.custom('traits', trait)
            answer = self.ask('PUT', url + '/traits',
                              {'resource_provider_generation': generation, 'traits': provider['traits']})
            generation = answer['resource_provider_generation']
        if provider.get('aggregates'):
            self.ask('PUT', url + '/aggregates',
                     {'resource_provider_generation': generation,
                      'aggregates': [ids[aggregate] for aggregate in provider['aggregates']]})

    def claim(self, consumer, allocations):
        ids = self.file.uuids
        self.ask('PUT', '/allocations/' + ids[consumer], {
            'allocations': {ids[name]: {'resources': resources} for name, resources in allocations.items()},
            'project_id': uuid_of('project'), 'user_id': uuid_of('user'),
            'consumer_generation': None, 'consumer_type': 'INSTANCE'})
