"""berthd with its Bare Metal API enabled, for tests: with the same interface as real_ironic.Ironic."""

import os
import re
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE)]

import servers  # noqa: E402

FAKE_DELAY_MS = 20  # each transient state: long enough to be observed, short enough for tests


class Berth(servers.Berthd):
    """`port` and `url` are the Bare Metal API's, `placement_port` is Placement's. Both APIs show one inventory."""

    name = "berth"

    def __init__(self, program, fake_delay_s=None, options=None, arguments=()):
        delay_ms = FAKE_DELAY_MS if fake_delay_s is None else int(fake_delay_s * 1000)
        sections = {"baremetal": {"fake_delay_ms": delay_ms, "host": "127.0.0.1"}}
        for section, more in (options or {}).items():
            sections.setdefault(section, {}).update(more)
        lines = []
        for section, values in sections.items():
            lines += [f"[{section}]", *(f"{name} = {value}" for name, value in values.items())]
        self.arguments = arguments
        super().__init__(program, tempfile.mkdtemp(prefix="berth-baremetal-"), options=lines,
                         connection=servers.new_database())
        self.placement_port = self.port
        self.url = None

    def command(self):
        return [self.program, "--config-file", self.config_file, "--listen", f"127.0.0.1:{self.placement_port}",
                "--baremetal-listen", "127.0.0.1:0", *self.arguments]

    def start(self, seconds=60):
        try:
            super().start(seconds)
        except RuntimeError:
            self.kill()
            raise
        with open(os.path.join(self.directory, self.id + ".out"), errors="replace") as file:
            said = file.read()
        found = re.search(r"^berthd: ready .*\bbaremetal (http://127\.0\.0\.1:(\d+))", said, re.M)
        if not found:
            self.kill()
            raise RuntimeError(f"no bare metal API in: {said}")
        self.url, self.port = found.group(1), int(found.group(2))
        return self

    def halt(self):
        super().kill()

    def kill(self):
        self.halt()
        shutil.rmtree(self.directory, ignore_errors=True)

    def complaint(self):
        ended = self.process.poll()
        return None if ended is None else f"ended with {ended}: {self.log()[-2000:]}"


def add_arguments(parser):
    """--berthd or --reference: which service is tested."""
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--berthd", metavar="PROGRAM", help="ask this berthd")
    which.add_argument("--reference", action="store_true", help="ask the real service")


def server_of(arguments, **more):
    """The server, not yet started."""
    if arguments.reference:
        import real_ironic
        return real_ironic.Ironic(**more)
    return Berth(arguments.berthd, **more)
