#!/usr/bin/python3
"""The admin listener and /healthcheck: compares pages with known events.

    tests/admin/run.py --berthd build/berthd [CASE…]

The last line is `N passed, N failed`.
"""

import sys

import admin  # noqa: F401  (finds the folders of the other modules)
import case
from healthcheck import Healthcheck
from health import Health
from inventory import Inventory
from metrics import Metrics

if __name__ == "__main__":
    sys.exit(case.main(__doc__, Health, Healthcheck, Metrics, Inventory))
