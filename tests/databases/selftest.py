#!/usr/bin/python3
"""The database servers of the tests do what the tests rely on.

    tests/databases/selftest.py [CASE…]

The last line is `N passed, N failed`.
"""

import sys

from command_cases import Commands
from expectations import run_cases
from proxy_cases import Proxied
from server_cases import Alone, Replicated, Shared

if __name__ == "__main__":
    sys.exit(run_cases((Shared, Replicated, Alone, Commands, Proxied), sys.argv[1:]))
