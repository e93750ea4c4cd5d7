#!/usr/bin/python3
"""The output of real Python logging and oslo.log for format strings: the table of the unit test
tests/unit/log/test_format.c, which it includes as format_cases.h.

    tests/logging/format_cases.py            compares the header with Python's current output
    tests/logging/format_cases.py --write    writes it

The last line is `N passed, N failed`.
"""

import logging
import os
import sys
import time

os.environ["TZ"] = "XXX-5:30"
time.tzset()

from oslo_config import cfg  # noqa: E402
from oslo_context import context  # noqa: E402
from oslo_log import formatters, log  # noqa: E402

import made_header  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
HEADER = os.path.join(os.path.dirname(HERE), "unit", "log", "format_cases.h")

CREATED = 1795279448.037512  # 2026-11-21 22:54:08 at UTC+5:30
PROCESS, THREAD = 4321, 77
CONTEXTS = {
    "none": None,
    "sparse": {"request_id": "req-1"},
    "full": {"request_id": "req-1", "global_request_id": "req-2", "user_id": "u", "user_name": "un",
             "user_domain_id": "ud", "user_domain_name": "udn", "project_id": "p", "project_name": "pn",
             "project_domain_id": "pd", "project_domain_name": "pdn", "domain_id": "d", "domain_name": "dn",
             "system_scope": "all", "roles": ["admin", "reader"], "auth_token": "secret"},
}
DEFAULT = "%(asctime)s.%(msecs)03d %(process)d %(levelname)s %(name)s [-] %(instance)s%(message)s"
CONTEXT = ("%(asctime)s.%(msecs)03d %(process)d %(levelname)s %(name)s [%(global_request_id)s %(request_id)s "
           "%(user_identity)s] %(instance)s%(message)s")
IDENTITY = "%(user)s %(project)s %(domain)s %(system_scope)s %(user_domain)s %(project_domain)s"
SUFFIX = "%(funcName)s %(pathname)s:%(lineno)d"
DATE = "%Y-%m-%d %H:%M:%S"

# In every line.
EVERYWHERE = [
    DEFAULT,
    "%(message)s",
    "%(levelname)-8s|%(levelname)8s|%(levelname).3s|%(levelname)-6.2s|",
    "%(levelno)d %(levelno)5d %(levelno)-5d| %(levelno)05d %(levelno)+d %(levelno)s %(levelno)x %(levelno)X",
    "%(msecs)03d %(msecs)d %(msecs)s %(msecs)5.1f %(msecs)-8.2f| %(msecs)e %(msecs)g %(msecs)06d %(msecs).0f",
    "%(created)f %(created).3f %(created)d %(created)s %(created)15.2f",
    "%(name)s %(name)-25s| %(name)25s| %(name).9s|",
    "%(process)d %(process)s %(processName)s %(process)i %(process)u %(process)ld",
    "%(thread)d %(threadName)s %(threadName)-10s|",
    "%(pathname)s %(filename)s %(module)s %(lineno)d %(funcName)s %(lineno)4d %(lineno)-4d| %(funcName)20s",
    "%(isotime)s %(asctime)s",
    "100%% %(message)s %%(message)s",
    "%(color)s%(message)s%(instance)s%(resource)s|%(user_name)s|%(project_name)s|",
    "%(exc_info)s %(exc_text)s %(stack_info)s %(error_summary)s %(version)s",
    "%(message)40s|%(message)-40s|%(message).5s|",
    "[%(project)s]",
    "\u00e9 %(message)s \u2026",
    "no key at all",
    "",
]
# In lines with a request.
OF_REQUESTS = [
    CONTEXT,
    "%(request_id)s %(global_request_id)s %(user)s %(project)s %(domain)s %(user_domain)s %(project_domain)s",
    "%(user_name)s %(project_name)s %(domain_name)s %(user_domain_name)s %(project_domain_name)s %(project_id)s",
    "%(system_scope)s %(roles)s %(auth_token)s %(is_admin)s %(is_admin_project)s %(read_only)s %(show_deleted)s",
    "%(resource_uuid)s %(request_id)-8s| %(request_id)8s| %(user)3s|",
    "[%(user_identity)s] [%(user_identity)30s] [%(user_identity)-30s] [%(user_identity).3s]",
]
IDENTITIES = [
    IDENTITY,
    "%(user)s/%(user_name)s@%(user_domain_name)s",
    "%(user_identity)s %(roles)s %(is_admin)s %(is_admin_project)s %(resource_uuid)s %(read_only)s %(auth_token)s",
    "%(nothing)s %(message)s %(request_id)s %(global_request_id)s",
    "%(user)-4s|%(project)4s|%(domain)s%%",
    "",
]
DATES = [DATE, "%d/%b/%Y:%H:%M:%S %z", "%s", "", "%H:%M", "%%", "date"]
MESSAGES = ["hello", "d\u00e9j\u00e0 vu \u2026 and more"]
LEVELS = [logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR, logging.CRITICAL]

STRUCT = """struct format_case {
    enum log_form form;
    enum log_level level;
    const char *context;
    const char *format;
    const char *date;
    const char *suffix;
    const char *identity;
    const char *message;
    const char *expected;
};
"""


class Case:
    def __init__(self, formatted, context="none", level=logging.INFO, date=DATE, suffix=SUFFIX, identity=IDENTITY,
                 form="CONTEXT", message=MESSAGES[0]):
        self.formatted, self.context, self.level, self.date = formatted, context, level, date
        self.suffix, self.identity, self.form, self.message = suffix, identity, form, message


def cases():
    for formatted in EVERYWHERE:
        yield Case(formatted)
        yield Case(formatted, message=MESSAGES[1])
    for formatted in EVERYWHERE + OF_REQUESTS:
        yield Case(formatted, context="sparse")
        yield Case(formatted, context="full")
    for level in LEVELS:
        for context_name in CONTEXTS:
            yield Case(DEFAULT if context_name == "none" else CONTEXT, context=context_name, level=level)
    for identity in IDENTITIES:
        yield Case("[%(user_identity)s]", context="sparse", identity=identity)
        yield Case("[%(user_identity)s]", context="full", identity=identity)
        yield Case("[%(user_identity)s]", identity=identity)
    for date in DATES:
        yield Case("%(asctime)s|%(asctime)30s|", date=date)
    for suffix in ["", "at %(lineno)d", SUFFIX]:
        yield Case("%(message)s", level=logging.DEBUG, suffix=suffix)
        yield Case("%(message)s", level=logging.INFO, suffix=suffix)
        yield Case("%(message)s", context="full", level=logging.DEBUG, suffix=suffix)
    for formatted in ["%(message)s", "%(asctime)s %(name)s %(levelname)s: %(message)s", "%(levelname)-8s%(lineno)3d%%"]:
        for date in [DATE, "%H:%M:%S", ""]:
            yield Case(formatted, form="PLAIN", date=date)
    for context_name in CONTEXTS:
        yield Case("", form="JSON", context=context_name)
        yield Case("", form="JSON", context=context_name, level=logging.ERROR, date="%H:%M", message='a "b" \\ \n\u00e9')


def record_of(case):
    record = logging.LogRecord("placement.requestlog", case.level, "src/api/some_file.c", 7, case.message, (), None,
                               func="some_function")
    record.created = CREATED
    record.msecs = 37.0
    record.relativeCreated = 0.0
    record.thread, record.threadName, record.process = THREAD, "worker", PROCESS
    record.__dict__.update(log.KeywordArgumentAdapter(None, {"project": "unknown", "version": "unknown"}).process(
        "", {})[1]["extra"])
    record.context = None  # without the context of the thread, which the first one created becomes
    if CONTEXTS[case.context] is not None:
        record.context = context.RequestContext(overwrite=False, **CONTEXTS[case.context])
    return record


def formatted_by_python(case):
    conf = cfg.ConfigOpts()
    log.register_options(conf)
    conf([], project="x", default_config_files=[])
    for name, value in {"logging_context_format_string": case.formatted, "logging_debug_format_suffix": case.suffix,
                        "logging_default_format_string": case.formatted,
                        "logging_user_identity_format": case.identity}.items():
        conf.set_override(name, value)
    formatter = {
        "CONTEXT": lambda: formatters.ContextFormatter(project="placement", version="unknown", datefmt=case.date,
                                                       config=conf),
        "PLAIN": lambda: logging.Formatter(case.formatted, case.date),
        "JSON": lambda: formatters.JSONFormatter(datefmt=case.date),
    }[case.form]()
    if case.form == "JSON":
        formatter.hostname = "HOST"
    return formatter.format(record_of(case))


def literal(text):
    """A C string, split where a hexadecimal escape would include the following characters."""
    out = ""
    for byte in text.encode():
        char = chr(byte)
        if char in '"\\':
            out += "\\" + char
        elif char == "\n":
            out += "\\n"
        elif 0x20 <= byte < 0x7f:
            out += char
        else:
            out += "\\%03o" % byte
    return f'"{out}"'


def header():
    names = {DATE: "DATE", SUFFIX: "SUFFIX", IDENTITY: "IDENTITY", DEFAULT: "WITHOUT", CONTEXT: "WITH"}
    lines = ["/* Made by tests/logging/format_cases.py from real Python logging and oslo.log; not to be edited. */",
             "#ifndef BERTH_TESTS_UNIT_LOG_FORMAT_CASES_H", "#define BERTH_TESTS_UNIT_LOG_FORMAT_CASES_H", "", '#include "log/settings.h"', "", STRUCT,
             "/* clang-format off */",
             *("#define %s %s" % (name, literal(text)) for text, name in names.items()), "", "static const struct format_case CASES[] = {"]
    for case in cases():
        lines.append("    {LOG_FORM_%s, LOG_LEVEL_%s, %s, %s, %s, %s, %s, %s,\n     %s}," % (
            case.form, logging.getLevelName(case.level), literal(case.context),
            *(names.get(text) or literal(text) for text in (case.formatted, case.date, case.suffix, case.identity)),
            literal(case.message), literal(formatted_by_python(case))))
    return "\n".join(lines + ["};", "/* clang-format on */", "", "#endif", ""])


if __name__ == "__main__":
    sys.exit(made_header.main(HEADER, header()))
