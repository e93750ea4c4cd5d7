#!/usr/bin/python3
"""When real Python logging rotates files and how it names them: the table of the unit test
tests/unit/log/test_rotate.c, which it includes as rotation_cases.h.

    tests/logging/rotation_cases.py            compares the header with Python's current output
    tests/logging/rotation_cases.py --write    writes it

The last line is `N passed, N failed`.
"""

import calendar
import logging.handlers
import os
import sys
import tempfile
import time
import types

import made_header

HERE = os.path.dirname(os.path.abspath(__file__))
HEADER = os.path.join(os.path.dirname(HERE), "unit", "log", "rotation_cases.h")
ZONE = "CET-1CEST,M3.5.0,M10.5.0/3"  # summer of 2026: 29 March 01:00 to 25 October 01:00 UTC
os.environ["TZ"] = ZONE
time.tzset()

WHENS = [("S", "SECONDS"), ("M", "MINUTES"), ("H", "HOURS"), ("D", "DAYS"), ("MIDNIGHT", "MIDNIGHT")]
WHENS += [(f"W{day}", "WEEKDAY") for day in (0, 3, 6)]
MOMENTS = ["2026-11-21 16:00:00", "2026-11-21 23:00:00", "2026-11-22 22:59:59", "2026-03-28 12:00:00",
           "2026-03-29 00:30:00", "2026-03-29 01:30:00", "2026-10-24 12:00:00", "2026-10-24 22:30:00",
           "2026-10-25 00:30:00", "2026-10-25 01:30:00", "2026-12-31 23:30:00"]


def at(text):
    return calendar.timegm(time.strptime(text, "%Y-%m-%d %H:%M:%S"))


def played(when, interval, begin, late):
    """(when the file begun at `begin` is due, its name if that happens `late` too late, the next due time)."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "log")
        open(path, "w").close()
        os.utime(path, (begin, begin))
        handler = logging.handlers.TimedRotatingFileHandler(path, when, interval, delay=True)
        due = handler.rolloverAt
        clock = types.SimpleNamespace(time=lambda: due + late, localtime=time.localtime, strftime=time.strftime,
                                      gmtime=time.gmtime)
        real, logging.handlers.time = logging.handlers.time, clock
        try:
            handler.doRollover()
        finally:
            logging.handlers.time = real
        (name,) = os.listdir(directory)
        return due, name[len("log."):], handler.rolloverAt


def header():
    lines = ["/* Made by tests/logging/rotation_cases.py from real Python logging; not to be edited. */",
             "#ifndef BERTH_TESTS_UNIT_LOG_ROTATION_CASES_H",
             "#define BERTH_TESTS_UNIT_LOG_ROTATION_CASES_H", "", '#include "log/settings.h"', "",
             f'static const char ZONE[] = "{ZONE}";', "",
             "/* A file begun at begin_s is due at due_s; rotated late_s later it has the suffix, and the next is",
             " * due at next_s. */",
             "struct rotation_case {", "    enum log_rotation when;", "    unsigned interval;", "    unsigned weekday;",
             "    int64_t begin_s;", "    int64_t due_s;", "    int64_t late_s;", "    const char *suffix;",
             "    int64_t next_s;", "};", "", "/* clang-format off */",
             "static const struct rotation_case CASES[] = {"]
    for name, kind in WHENS:
        for interval in (1, 3):
            for moment in MOMENTS:
                for late in (0, 5000):
                    begin = at(moment)
                    due, suffix, after = played(name, interval, begin, late)
                    weekday = int(name[1]) if kind == "WEEKDAY" else 0
                    lines.append(f'    {{LOG_ROTATION_{kind}, {interval}, {weekday}, {begin}, {due}, {late}, "{suffix}", '
                                 f"{after}}},")
    return "\n".join(lines + ["};", "/* clang-format on */", "", "#endif", ""])


if __name__ == "__main__":
    sys.exit(made_header.main(HEADER, header()))
