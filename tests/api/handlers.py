"""Response handlers of the API tests, for checks that gabbi's own assertions cannot express briefly.

Providers are written by the names that the file gives them (see suites.py), never by UUID.
"""

import collections
import json
import re

from gabbi import json_parser
from gabbi.handlers import base

# The first sentence of an error's detail, by its status.
OPENINGS = {
    400: 'The server could not comply with the request since it is either malformed or otherwise incorrect.',
    403: 'Access was denied to this resource.',
    404: 'The resource could not be found.',
    405: 'The method %s is not allowed for this resource. ',
    406: 'The resource could not be generated that was acceptable to your browser (content of type '
         'application/json. ',
    409: 'There was a conflict when trying to complete your request.',
    413: 'The body of your request was too large for this server.',
    415: 'The request media type %s is not supported by this server. ',
}
TITLES = {400: 'Bad Request', 403: 'Forbidden', 404: 'Not Found', 405: 'Method Not Allowed', 406: 'Not Acceptable',
          409: 'Conflict', 413: 'Request Entity Too Large', 415: 'Unsupported Media Type'}
REQUEST_ID = re.compile('^req-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$')

HTTP_DATE = re.compile('^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), [0-3][0-9] '
                       '(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) 20[0-9][0-9] [0-9]{2}:[0-9]{2}:[0-9]{2} GMT$')


# Set by the runner: requests go to the Python service, whose known bugs are tolerated.
REFERENCE = False


def name_of(test, uuid):
    return test.names_by_uuid.get(uuid, uuid)


def error_of(test):
    """(the rest of the detail after its first sentence, the other keys) of an error that is well-formed."""
    body = json.loads(test.output)
    test.assertEqual(['errors'], list(body))
    test.assertEqual(1, len(body['errors']))
    error = dict(body['errors'][0])
    status = int(test.response['status'])
    request_id = error.pop('request_id')
    test.assertRegex(request_id, REQUEST_ID)
    test.assertEqual(request_id, test.response['x-openstack-request-id'])
    test.assertEqual(status, error.pop('status'))
    test.assertEqual(TITLES[status], error.pop('title'))
    detail = error.pop('detail')
    opening = OPENINGS[status] + '\n\n '
    if status == 405:
        opening = opening % test.test_data['method'].upper()
    elif status == 415:
        opening = opening % test.test_data['request_headers'].get('content-type')
    test.assertEqual(opening, detail[:len(opening)])
    minor = int(test.response.get('openstack-api-version', 'placement 1.0').rpartition('.')[2])
    test.assertEqual(minor >= 23, 'code' in error)
    return detail[len(opening):].rstrip(), error


class ErrorHandler(base.ResponseHandler):
    """response_error: {detail: TEXT, code: CODE, …}: the whole error body.

    The status line, title, opening sentence and request id are implied. `detail` is the text after the opening
    sentence; with slashes around it it is a regular expression. `code`, by default placement.undefined_code, must be
    present from 1.23 on and absent before. Other keys are compared as they are.
    """

    test_key_suffix = 'error'
    test_key_value = {}

    def preprocess(self, test):
        expected = {key: test.replace_template(value) for key, value in test.test_data['response_error'].items()}
        rest, error = error_of(test)
        wanted = expected.pop('detail')
        if 'code' in error:
            expected.setdefault('code', 'placement.undefined_code')
        else:
            expected.pop('code', None)
        if len(wanted) > 1 and wanted[0] == wanted[-1] == '/':
            test.assertRegex(rest, re.compile('^(?:' + wanted[1:-1] + ')$', re.S))
        else:
            test.assertEqual(wanted, rest)
        test.assertEqual(expected, error)


class UnorderedHandler(base.ResponseHandler):
    """response_unordered: {JSONPATH: [VALUE, …]}: all matches of the path, in any order."""

    test_key_suffix = 'unordered'
    test_key_value = {}

    def action(self, test, item, value=None):
        matches = [match.value for match in json_parser.parse(item).find(test.response_data)]
        if len(matches) == 1 and isinstance(matches[0], list):
            matches = matches[0]

        def key(entry):
            return json.dumps(entry, sort_keys=True)
        test.assertEqual(sorted(test.replace_template(value), key=key), sorted(matches, key=key))


class AllowHandler(base.ResponseHandler):
    """response_allow: [METHOD, …]: the methods of the header allow, in any order."""

    test_key_suffix = 'allow'
    test_key_value = []

    def preprocess(self, test):
        test.assertEqual(sorted(test.test_data['response_allow']), sorted(test.response['allow'].split(', ')))


class RawHandler(base.ResponseHandler):
    """response_raw: [TEXT]: the whole body, byte for byte."""

    test_key_suffix = 'raw'
    test_key_value = []

    def action(self, test, item, value=None):
        test.assertEqual(test.replace_template(item), test.output or '')


class CandidatesHandler(base.ResponseHandler):
    """response_candidates: the allocation requests, in any order, each on a line:

        cn1 VCPU:1 MEMORY_MB:512 | ss1 DISK_GB:10 => :cn1,ss1 _NIC:nic1

    The mappings follow the arrow; they are compared if any line has them. `[none]` means that there is no
    candidate (and no summary). Each provider used must have a summary with each class used.
    """

    test_key_suffix = 'candidates'
    test_key_value = []

    def preprocess(self, test):
        lines = test.test_data['response_candidates']
        expected = [] if lines == ['none'] else [self._parse(line) for line in lines]
        with_mappings = any(mappings is not None for _, mappings in expected)
        got = []
        for request in test.response_data['allocation_requests']:
            got.append(self._canonical(test, request, with_mappings))
        if with_mappings:
            wanted = [(allocations, mappings) for allocations, mappings in expected]
        else:
            wanted = [(allocations, None) for allocations, _ in expected]
        missing = collections.Counter(wanted) - collections.Counter(got)
        surplus = collections.Counter(got) - collections.Counter(wanted)
        text = ''
        for title, entries in (('missing', missing), ('not expected', surplus)):
            for entry in sorted(entries.elements(), key=str):
                text += '\n%s: %s' % (title, self._line(entry))
        test.assertEqual('', text)
        self._check_summaries(test)

    @staticmethod
    def _parse(line):
        allocations, arrow, mappings = line.partition('=>')
        parsed = []
        for part in allocations.split('|'):
            name, *resources = part.split()
            parsed.append((name, tuple(sorted(tuple(resource.split(':')) for resource in resources))))
        groups = None
        if arrow:
            groups = []
            for group in mappings.split():
                suffix, names = group.split(':')
                groups.append((suffix, tuple(sorted(names.split(',')))))
            groups = tuple(sorted(groups))
        return tuple(sorted(parsed)), groups

    @staticmethod
    def _canonical(test, request, with_mappings):
        allocations = request['allocations']
        if isinstance(allocations, list):
            allocations = {entry['resource_provider']['uuid']: entry for entry in allocations}
            test.assertEqual(len(request['allocations']), len(allocations))
        providers = []
        for uuid, entry in allocations.items():
            resources = tuple(sorted((name, str(amount)) for name, amount in entry['resources'].items()))
            providers.append((name_of(test, uuid), resources))
        groups = None
        if with_mappings:
            groups = tuple(sorted((suffix, tuple(sorted(name_of(test, uuid) for uuid in uuids)))
                                  for suffix, uuids in request['mappings'].items()))
        return tuple(sorted(providers)), groups

    @staticmethod
    def _line(entry):
        allocations, mappings = entry
        text = ' | '.join(' '.join([name] + [':'.join(pair) for pair in resources])
                          for name, resources in allocations)
        if mappings is not None:
            text += ' => ' + ' '.join('%s:%s' % (suffix, ','.join(names)) for suffix, names in mappings)
        return text

    @staticmethod
    def _check_summaries(test):
        summaries = test.response_data['provider_summaries']
        if not test.response_data['allocation_requests']:
            test.assertEqual({}, summaries)
        for request in test.response_data['allocation_requests']:
            allocations = request['allocations']
            if isinstance(allocations, list):
                allocations = {entry['resource_provider']['uuid']: entry for entry in allocations}
            for uuid, entry in allocations.items():
                for name in entry['resources']:
                    test.assertIn(name, summaries[uuid]['resources'])


class SummariesHandler(base.ResponseHandler):
    """response_summaries: {PROVIDER: {resources: {CLASS: USED/CAPACITY}, traits: […], parent: P, root: P}}: all
    summaries, complete. Keys that the microversion lacks are omitted."""

    test_key_suffix = 'summaries'
    test_key_value = {}

    def preprocess(self, test):
        got = {}
        for uuid, summary in test.response_data['provider_summaries'].items():
            entry = {'resources': {}}
            summary = dict(summary)
            for name, figures in summary.pop('resources').items():
                test.assertEqual({'capacity', 'used'}, set(figures))
                test.assertIsInstance(figures['capacity'], int)
                entry['resources'][name] = '%d/%d' % (figures['used'], figures['capacity'])
            if 'traits' in summary:
                entry['traits'] = summary.pop('traits')
            for key, short in (('parent_provider_uuid', 'parent'), ('root_provider_uuid', 'root')):
                if key in summary:
                    entry[short] = name_of(test, summary.pop(key))
            test.assertEqual({}, summary)
            got[name_of(test, uuid)] = entry
        test.assertEqual(test.test_data['response_summaries'], got)


class SummarisedHandler(base.ResponseHandler):
    """response_summarised: [PROVIDER, …]: the providers that have a summary, in any order. [none]: there are no
    summaries."""

    test_key_suffix = 'summarised'
    test_key_value = []

    def preprocess(self, test):
        names = test.test_data['response_summarised']
        got = sorted(name_of(test, uuid) for uuid in test.response_data['provider_summaries'])
        test.assertEqual([] if names == ['none'] else sorted(names), got)


class ProvidersHandler(base.ResponseHandler):
    """response_providers: [PROVIDER, …]: the providers of a list, in any order. [none]: the list is empty."""

    test_key_suffix = 'providers'
    test_key_value = []

    def preprocess(self, test):
        names = test.test_data['response_providers']
        got = sorted(name_of(test, entry['uuid']) for entry in test.response_data['resource_providers'])
        test.assertEqual([] if names == ['none'] else sorted(names), got)


class LimitedHandler(base.ResponseHandler):
    """response_limited: {count: N, of: [LINE, …], roots: M}: N different candidates, all among the given ones, from
    M trees."""

    test_key_suffix = 'limited'
    test_key_value = {}

    def preprocess(self, test):
        expected = test.test_data['response_limited']
        allowed = [CandidatesHandler._parse(line)[0] for line in expected['of']]
        got = [CandidatesHandler._canonical(test, request, False)[0]
               for request in test.response_data['allocation_requests']]
        test.assertEqual(expected['count'], len(got))
        test.assertEqual(len(got), len(set(got)), 'a candidate is repeated')
        for entry in got:
            test.assertIn(entry, allowed)
        if 'roots' in expected:
            summaries = test.response_data['provider_summaries']
            roots = {name_of(test, summaries[uuid]['root_provider_uuid'])
                     for request in test.response_data['allocation_requests'] for uuid in request['allocations']}
            test.assertEqual(expected['roots'], len(roots))
        CandidatesHandler._check_summaries(test)


class ImpliedHandler(base.ResponseHandler):
    """Requirements for every answer, checked without being named in the file; `response_implied: [off]` disables
    them.

    The request id; the microversion, echoed, with vary on success; the cache headers of a 200 from 1.15 on and none
    before; application/json without parameters for every JSON body; the form of an error; no body and no type with a
    204. `response_implied: [reference lacks last-modified]` requires that header only from berth.
    """

    test_key_suffix = 'implied'
    test_key_value = []

    def __call__(self, test):
        words = test.test_data['response_implied']
        if words == ['off']:
            return
        lacks_last_modified = REFERENCE and words == ['reference lacks last-modified']
        response, status = test.response, int(test.response['status'])
        test.assertRegex(response.get('x-openstack-request-id', ''), REQUEST_ID)
        asked = test.test_data['request_headers'].get('openstack-api-version', 'placement 1.0')
        if asked == 'placement latest':
            asked = 'placement 1.39'
        test.assertEqual(asked, response.get('openstack-api-version'))
        minor = int(asked.rpartition('.')[2])
        if status < 400:
            test.assertEqual('openstack-api-version', response.get('vary'))
        if status == 200 and minor >= 15:
            test.assertEqual('no-cache', response.get('cache-control'))
            if not lacks_last_modified:
                test.assertRegex(response.get('last-modified', ''), HTTP_DATE)
        elif minor < 15 or status >= 300:
            test.assertNotIn('cache-control', response)
            test.assertNotIn('last-modified', response)
        if status == 204:
            test.assertNotIn('content-type', response)
            test.assertFalse(test.output)
        if test.output:
            test.assertEqual('application/json', response.get('content-type'))
        if status >= 400:
            error_of(test)


HANDLERS = [ImpliedHandler, ErrorHandler, UnorderedHandler, AllowHandler, RawHandler, CandidatesHandler, SummariesHandler, SummarisedHandler,
            ProvidersHandler, LimitedHandler]
