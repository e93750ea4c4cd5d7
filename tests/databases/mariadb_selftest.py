#!/usr/bin/python3
"""The MariaDB servers of the tests, the Galera cluster and HAProxy do what the tests rely on.

    tests/databases/mariadb_selftest.py [CASE…]

The last line is `N passed, N failed`.
"""

import sys

from expectations import run_cases
from galera_cases import Balanced, Clustered
from mariadb_cases import Alone, Commands, Shared

if __name__ == "__main__":
    sys.exit(run_cases((Shared, Alone, Commands, Clustered, Balanced), sys.argv[1:]))
