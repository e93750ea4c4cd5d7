#!/usr/bin/python3
"""Run the API tests against a live server.

    run.py --berthd build/berthd [FILE…]     against berth
    run.py --reference [FILE…]               against the Python service (Debian's python3-placement)
    run.py --coverage                        which routes and microversions the tests ask

Every file gets a server of its own with a fresh database; two files run at a time. The last line is
`N passed, N failed`; the exit code is 1 if anything failed.
"""

import argparse
import concurrent.futures
import glob
import io
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True

import coverage_table  # noqa: E402
import handlers  # noqa: E402
import suites  # noqa: E402

sys.path.insert(0, os.path.dirname(HERE))
import servers  # noqa: E402

# If a server does not answer, its test fails instead of blocking the run.
socket.setdefaulttimeout(suites.REQUEST_SECONDS)

START_SECONDS = 60
STOP_SECONDS = 20


class Server:
    """One server process with its configuration and database in a directory of its own."""

    def __init__(self, arguments, config):
        self.arguments = arguments
        self.directory = tempfile.mkdtemp(prefix='berth-api-')
        self.config_file = os.path.join(self.directory, 'placement.conf')
        sections = {
            'placement_database': {'connection': servers.new_database() or 'sqlite:///%s/placement.db' % self.directory,
                                   'sync_on_startup': 'true'},
            'api': {'auth_strategy': 'noauth2'},
            # not the machine's
            'oslo_policy': {'policy_file': self.directory + '/policy.yaml', 'policy_dirs': self.directory + '/policy.d'},
        }
        for section, options in config.items():
            sections.setdefault(section, {}).update(options)
        with open(self.config_file, 'w') as stream:
            for section, options in sections.items():
                stream.write('[%s]\n' % section)
                for name, value in options.items():
                    value = str(value).lower() if isinstance(value, bool) else value
                    stream.write('%s = %s\n' % (name, value))
        self.process = None
        self.port = None

    def __enter__(self):
        self.port = servers.free_port()
        if self.arguments.reference:
            command = ['/usr/bin/python3', '-B', os.path.join(HERE, 'reference.py'), self.directory, str(self.port)]
            word = b'reference: ready'
        else:
            command = [self.arguments.berthd, '--config-file', self.config_file, '--listen',
                       '127.0.0.1:%d' % self.port]
            word = b'berthd: ready'
        self.output = open(os.path.join(self.directory, 'output'), 'wb')
        self.log = open(os.path.join(self.directory, 'log'), 'wb')
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.output, stderr=self.log)
        try:
            self._wait(word)
        except BaseException:
            self.__exit__()
            raise
        return self

    def _wait(self, word):
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            ended = self.process.poll() is not None
            with open(self.output.name, 'rb') as stream:
                if any(line.startswith(word) for line in stream):
                    return
            if ended:
                raise RuntimeError('the server ended: ' + self.tail())
            time.sleep(0.005)
        raise RuntimeError('the server was not ready after %d s' % START_SECONDS)

    def tail(self):
        self.log.flush()
        with open(self.log.name, 'rb') as stream:
            return stream.read()[-2000:].decode(errors='replace')

    def __exit__(self, *exception):
        """Stops it; the result says whether it had ended earlier, or ended with an error."""
        self.complaint = ''
        if self.process.poll() is not None:
            self.complaint = 'the server ended while it was asked: ' + self.tail()
        else:
            self.process.send_signal(signal.SIGTERM)
            try:
                status = self.process.wait(STOP_SECONDS)
                if status != 0:
                    self.complaint = 'the server ended with status %d: %s' % (status, self.tail())
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                self.complaint = 'the server did not end after SIGTERM'
        self.output.close()
        self.log.close()
        shutil.rmtree(self.directory, ignore_errors=True)


class Result(unittest.TestResult):
    """Counts, and collects the failures."""

    def __init__(self, show):
        super().__init__()
        self.passed = 0
        self.failed = []
        self.out = io.StringIO()
        self.show = show

    def addSuccess(self, test):
        self.passed += 1

    def addFailure(self, test, error):
        self.failed.append((test.test_data['name'], self._text(test, error)))

    addError = addFailure

    def stopTest(self, test):
        super().stopTest(test)
        if self.show and hasattr(test, 'response'):
            self.out.write('--- %s\n%s\n' % (test.test_data['name'], self._exchange(test)))

    @staticmethod
    def _exchange(test):
        data = test.test_data
        headers = {name: value for name, value in test.response.items()
                   if name not in ('date', 'server', 'reason', 'x-openstack-request-id')}
        return '%s %s %s\n  %s\n  %s' % (data['method'], getattr(test, 'url', ''), data['request_headers'], headers,
                                         (test.output or '')[:3000])

    def _text(self, test, error):
        text = '%s: %s' % (error[0].__name__, error[1])
        if hasattr(test, 'response'):
            text += '\n' + self._exchange(test)
        for uuid, name in test.names_by_uuid.items():
            text = text.replace(uuid, '<%s>' % name)
        return text


def other_database(file):
    """Why a file for some kinds of database is not run on this one; '' if it is."""
    return '' if not file.database or servers.database_kind() in file.database.split() else 'for %s' % file.database


def run_file(path, arguments, read=suites.File, serve=Server):
    """One file; returns (report, passed, failed, skipped)."""
    start = time.monotonic()
    try:
        file = read(path)
    except Exception as error:
        return 'FAILED %s: the file\n%s: %s' % (path, type(error).__name__, error), 0, 1, 0
    reason = (arguments.reference and file.skip_reference) or other_database(file)
    if reason:
        skipped = len(file.tests(True))
        return '%s: 0 passed, 0 failed, %d skipped (%s)' % (file.name, skipped, reason), 0, 0, skipped
    result = Result(arguments.show)
    try:
        with serve(arguments, file.config) as server:
            file.build_cloud(server.port)
            suite = file.suite(server.port, arguments.reference)
            suite.run(result)
        if server.complaint:
            result.failed.append(('the server', server.complaint))
    except Exception as error:
        result.failed.append(('the file', '%s: %s' % (type(error).__name__, error)))
    skipped = len(result.skipped)
    report = result.out.getvalue()
    report += ''.join('FAILED %s: %s\n%s\n\n' % (file.name, name, text) for name, text in result.failed)
    report += '%s: %d passed, %d failed, %d skipped in %.1f s' % (
        file.name, result.passed, len(result.failed), skipped, time.monotonic() - start)
    return report, result.passed, len(result.failed), skipped


def named_files(folder, names, parser):
    """The paths of the test files, all or those named."""
    paths = sorted(glob.glob(os.path.join(folder, '*.yaml')))
    if names:
        wanted = {os.path.splitext(os.path.basename(name))[0] for name in names}
        paths = [path for path in paths if os.path.splitext(os.path.basename(path))[0] in wanted]
        if len(paths) != len(wanted):
            parser.error('no such test file')
    return paths


def run_all(paths, arguments, **more):
    """Runs two files at a time; returns the exit status."""
    start = time.monotonic()
    passed = failed = skipped = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for future in [pool.submit(run_file, path, arguments, **more) for path in paths]:
            report, more_passed, more_failed, more_skipped = future.result()
            print(report, flush=True)
            passed, failed, skipped = passed + more_passed, failed + more_failed, skipped + more_skipped
    print('%d files, %d skipped, %.1f s' % (len(paths), skipped, time.monotonic() - start))
    print('%d passed, %d failed' % (passed, failed))
    return 1 if failed or not passed + skipped else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--berthd', metavar='PROGRAM', help='test this berthd')
    parser.add_argument('--reference', action='store_true', help='test the Python service')
    parser.add_argument('--coverage', action='store_true', help='count what is asked; fails where nothing is')
    parser.add_argument('--show', action='store_true', help='print every exchange')
    parser.add_argument('files', nargs='*', metavar='FILE', help='of gabbits/, with or without .yaml (default: all)')
    arguments = parser.parse_args()
    paths = named_files(os.path.join(HERE, 'gabbits'), arguments.files, parser)
    if arguments.coverage:
        return coverage_table.print_table([suites.File(path) for path in paths])
    if bool(arguments.berthd) == arguments.reference:
        parser.error('one of --berthd, --reference, --coverage is needed')
    handlers.REFERENCE = arguments.reference
    return run_all(paths, arguments)


if __name__ == '__main__':
    sys.exit(main())
