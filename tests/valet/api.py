#!/usr/bin/python3
"""The test files of gabbits/ against a live Valet API.

    tests/valet/api.py --berthd build/berthd [--show] [FILE…]      --show prints every exchange

Every file gets a server of its own; two files run at a time. The last line is `N passed, N failed`.
"""

import argparse
import os
import shutil
import socket
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE), os.path.join(os.path.dirname(HERE), "api")]
sys.dont_write_bytecode = True

import run  # noqa: E402
import servers  # noqa: E402
import words  # noqa: E402

REQUEST_SECONDS = 30


class Server(servers.Berthd):
    """The interface that api/run.py expects of a server: its port is the Valet API's, and also knows Placement's."""

    def __init__(self, arguments, config):
        lines = []
        for section, options in config.items():
            lines += [f"[{section}]", *(f"{name} = {value}" for name, value in options.items())]
        super().__init__(arguments.berthd, tempfile.mkdtemp(prefix="berth-valet-"), options=lines,
                         valet_port=servers.free_port(), connection=servers.new_database())
        self.placement_port, self.complaint = self.port, ""

    def command(self):
        self.port = self.placement_port
        command = super().command()
        self.port = words.Port(self.valet_port, self.placement_port)
        return command

    def __exit__(self, *exception):
        if self.process.poll() is not None or self.stop() != 0:
            self.complaint = f"ended with {self.process.returncode}: {self.log()[-2000:]}"
        self.kill()
        shutil.rmtree(self.directory, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--berthd", metavar="PROGRAM", required=True)
    parser.add_argument("--show", action="store_true", help="print every exchange")
    parser.add_argument("files", nargs="*", metavar="FILE", help="of gabbits/, with or without .yaml (default: all)")
    arguments = parser.parse_args()
    arguments.reference = False
    socket.setdefaulttimeout(REQUEST_SECONDS)
    paths = run.named_files(os.path.join(HERE, "gabbits"), arguments.files, parser)
    return run.run_all(paths, arguments, read=words.File, serve=Server)


if __name__ == "__main__":
    sys.exit(main())
