#!/usr/bin/python3
"""The test files of gabbits/ against a live bare metal API.

    tests/baremetal/api.py --berthd build/berthd [FILE…]    against berth
    tests/baremetal/api.py --reference [FILE…]              against the real service (Debian's python3-ironic)
    tests/baremetal/api.py --reference --apart [FILE…]      its conductor and API as two processes
    … --show FILE                                           prints every exchange

Every file gets a server of its own; two files run at a time. The last line is `N passed, N failed`.
"""

import argparse
import os
import socket
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "api")]
sys.dont_write_bytecode = True

import berth_baremetal  # noqa: E402
import run  # noqa: E402
import words  # noqa: E402

REQUEST_SECONDS = 60


class Server:
    """The interface that api/run.py expects of a server, for either side."""

    def __init__(self, arguments, config):
        more = {"fake_delay_s": config["fake_delay_s"], "options": config["ironic" if arguments.reference else "berth"]}
        if arguments.reference:
            more["apart"] = arguments.apart
        self.server = berth_baremetal.server_of(arguments, **more)
        self.complaint = ""

    def __enter__(self):
        self.server.start()
        self.port = self.server.port
        return self

    def __exit__(self, *exception):
        self.complaint = self.server.complaint()
        self.server.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    berth_baremetal.add_arguments(parser)
    parser.add_argument("--apart", action="store_true", help="the real service as two processes")
    parser.add_argument("--show", action="store_true", help="print every exchange")
    parser.add_argument("files", nargs="*", metavar="FILE", help="of gabbits/, with or without .yaml (default: all)")
    arguments = parser.parse_args()
    words.REFERENCE = arguments.reference
    socket.setdefaulttimeout(REQUEST_SECONDS)
    paths = run.named_files(os.path.join(HERE, "gabbits"), arguments.files, parser)
    return run.run_all(paths, arguments, read=words.File, serve=Server)


if __name__ == "__main__":
    sys.exit(main())
