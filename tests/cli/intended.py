"""Intended differences from the Python tools 8.0.0 (docs/differences.md describes them for readers).

An entry takes a case and the two results, and returns the Python tool's result as berth's should be; it changes nothing
where it does not apply. Every entry must be used by some case.
"""

import re

NEWEST = "a082b8bb98d0"
SECOND_NEWEST = "422ece571366"


class Entry:
    def __init__(self, id, reason, adapt):
        self.id, self.reason, self.adapt, self.used = id, reason, adapt, 0

    def apply(self, case, python, berth):
        changed = self.adapt(case, dict(python), berth) or python
        if changed != python:
            self.used += 1
        return changed


def newest_revision(case, python, berth):
    """A synchronised database is at the newest release's revision, or stamped `head` with it."""
    if case.words[-1:] in (["sync"], ["head"], ["heads"]) and python["code"] == 0 and isinstance(python["content"], dict):
        python["content"] = {**python["content"], "alembic_version": [{"version_num": NEWEST}]}
        return python


def no_owner_without_consumer(case, python, berth):
    """Project and user of incomplete consumers are created with the first consumer that needs them."""
    if "online_data_migrations" in case.words and isinstance(python["content"], dict):
        content = dict(python["content"])
        made = [row for row in content.get("projects", []) if row["external_id"].startswith("00000000-")]
        used = any(row["project_id"] == made[0]["id"] for row in content["consumers"]) if made else True
        if not used:
            for table in ("projects", "users"):
                content[table] = [row for row in content[table] if not row["external_id"].startswith("00000000-")]
            python["content"] = content
            return python


def no_traceback(case, python, berth):
    """An error is one line on standard error, not a traceback, nor the address of a function."""
    out = re.sub(r"^Error:\nTraceback.*\Z", "", python["out"], flags=re.S | re.M)
    python["out"] = re.sub(r"<function (\w+) at 0x[0-9a-f]+>", r"\1", out)
    return python


def configuration_is_unexpected(case, python, berth):
    """placement-status: 1 would mean a warning although nothing could be checked."""
    if case.tool == "placement-status" and python["code"] == 1 and "Traceback" in python["err"]:
        python["code"] = 255
        return python


def json_as_promised(case, python, berth):
    """--json prints JSON; upstream's tool prints its table nevertheless."""
    if "--json" in case.words and python["code"] in (0, 1, 2) and python["out"].startswith("+--"):
        python["out"] = berth["out"] if berth["out"].startswith('{"name": "Upgrade Check Results"') else python["out"]
        return python


def version_is_printed(case, python, berth):
    """placement-status has --version, too, and each program prints its own version."""
    if "--version" in case.words:
        python.update(code=0, out=berth["out"] if re.fullmatch(r"\d+\.\d+\.\d+\n", berth["out"]) else "")
        return python


def help_in_own_words(case, python, berth):
    """Help and usage have berth's own wording; they name every command and switch."""
    if "usage:" in python["out"] and (not case.words or case.words[-1] in ("-h", "--help", "db")):
        names = set(re.findall(r"(?<![\w-])--[a-z_-]+|\bonline_data_migrations\b|\bstamp\b|\bcheck\b", python["out"]))
        missing = sorted(name for name in names if name not in berth["out"] and name != "--log_config")
        python["out"] = berth["out"] if not missing else f"{missing} are missing"
        return python


def help_without_configuration(case, python, berth):
    """A command line without a command prints its help, whether there is a configuration or not."""
    if case.words in ([], ["db"]) and "RequiredOptError" in python["err"] and case.tool == "placement-manage":
        python.update(code=1 if not case.words else 0, out=berth["out"] if "usage:" in berth["out"] else "")
        return python


def stops_before_writing(case, python, berth):
    """Refusals change nothing: no empty file, no table of revisions."""
    if python["code"] != 0 and berth["content"] in (None, {}) or case.words[-1:] == ["version"]:
        if python["content"] in (None, {}) or set(python["content"]) == {"alembic_version"}:
            python["content"] = berth["content"]
            return python


def only_check(case, python, berth):
    """`upgrade` has one command; upstream's accepts any word."""
    if case.words[:1] == ["upgrade"] and "bogus" in case.words:
        python.update(code=2, out="")
        return python


def stamps_are_checked(case, python, berth):
    """A stamp on a database whose own revision is unknown works; upstream's fails to read it."""
    if "stamp" in case.words and "0123456789ab" in str(python["content"]) and berth["code"] == 0 and python["code"] == 1:
        python.update(code=0, content=berth["content"])
        return python


def refusals_leave_no_step(case, python, berth):
    """A sync is one transaction: if it is refused half-way, the database is unchanged, and not at an older revision."""
    if "sync" in case.words and python["code"] == 1 and "/" in case.database:
        content = dict(python["content"])
        if case.database.endswith("/without-revision"):
            del content["alembic_version"]
        elif not case.database.endswith("/unknown-revision"):
            content["alembic_version"] = [{"version_num": case.database.split("/")[0]}]
        python["content"] = content
        return python


def count_beyond_the_database(case, python, berth):
    """A number beyond the database's range is bad input; upstream's migrations fail."""
    if case.words[-1:] == ["9" * 20]:
        python.update(code=127, out="Must supply a positive value for max_count\n")
        return python


ENTRIES = [
    Entry("tool-newest-revision", "the newest release has one revision more", newest_revision),
    Entry("tool-no-traceback", "one line says what is wrong", no_traceback),
    Entry("tool-status-255", "a missing configuration is no warning", configuration_is_unexpected),
    Entry("tool-json", "the help of --json promises JSON", json_as_promised),
    Entry("tool-version", "each program has its own version", version_is_printed),
    Entry("tool-help", "own words; nothing is left out", help_in_own_words),
    Entry("tool-help-always", "help needs no configuration", help_without_configuration),
    Entry("tool-owner-on-demand", "no project or user that nobody needs", no_owner_without_consumer),
    Entry("tool-no-trace", "who only looks, or is refused, changes nothing", stops_before_writing),
    Entry("tool-only-check", "a misspelt command is an error", only_check),
    Entry("tool-stamp-unknown", "a stamp is how an unknown revision is left", stamps_are_checked),
    Entry("tool-one-transaction", "nothing half done", refusals_leave_no_step),
    Entry("tool-count-limit", "bad input is reported as such", count_beyond_the_database),
]
