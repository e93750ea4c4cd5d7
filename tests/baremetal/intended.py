"""Intended differences between berth's answers and the real service's functions: (reason, condition over the
request, berth's answer and the other). A difference that none of these explains is a bug."""

import json
import re

import reference

LEADING_ZERO = re.compile(r"/0\d")
DASHED = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def is_other_uuid(text):
    """A UUID, but not in the form of 36 characters."""
    return reference.is_uuid_like(text) and not DASHED.fullmatch(text)


def lower_uuids(value):
    """Members that are UUIDs, as they are stored."""
    if not isinstance(value, dict):
        return value
    return {name: member.lower() if name.endswith("uuid") and reference.is_uuid_like(member) else member
            for name, member in value.items()}


def same_words(ours, theirs):
    """The same answer except for words of newer releases of the validator, and for the schema that it prints."""
    if "text" not in ours or "text" not in theirs or ours["status"] != theirs["status"]:
        return False
    mine = ours["text"].split("  Failed validating ")[0]
    other = theirs["text"].split("\n\nFailed validating ")[0]
    if "..." in mine:
        before, behind = mine.split("...", 1)
        return other.startswith(before) and other.endswith(behind.lstrip("'\""))
    return mine.replace(" should be non-empty", " is too short") == other


def unordered(text):
    """Names that the other service reports in the order of a set."""
    found = re.fullmatch(r"(.*(?:arguments: |\(s\) \"))(.*?)(\" are not valid)?", text or "", re.S)
    return (found[1], sorted(found[2].split(", ")), found[3]) if found else text


def is_crash(job, ours, theirs):
    return "crash" in theirs and ours.get("status") == 400


def refuses_uuid(job, ours, theirs):
    return "Expected UUID" in ours.get("text", "") and (
        any(is_other_uuid(text) for text in job["body"].values()) if job["ask"] in ("allocation", "node") else
        is_other_uuid(theirs["value"]))


def refuses_empty_name(job, ours, theirs):
    if job["ask"] == "patch":
        return "with invalid name '" in ours.get("text", "") and any(
            op.get("path") == "/name" and not op.get("value") for op in job["patch"])
    return job["ask"] == "allocation" and job["body"].get("name") == "" and "with invalid name ''" in ours.get("text", "")


def is_line_break(job, ours, theirs):
    """Python's $ also matches before a final line break."""
    return ("value" in theirs and ("\\n" in json.dumps(job) or "%0A" in json.dumps(job))) or ours.get("text", "").endswith("\n'")


def reads_index(job, ours, theirs):
    return job["ask"] == "patch" and any(LEADING_ZERO.search(op["path"]) for op in job["patch"])


def knows_no_letters(job, ours, theirs):
    return job["ask"] == "patch" and not all(str(op.get("path")).isascii() for op in job["patch"] if isinstance(op, dict))


def empty_header(job, ours, theirs):
    return job["ask"] == "negotiate" and job["own"] == "" and ours == {"value": 1}


def no_steps(job, ours, theirs):
    return job["ask"] == "provision" and job["body"].get("clean_steps") == [] and job["body"]["target"] == "clean" and \
        theirs.get("text", "").startswith('"clean_steps" is required')


def keeps_its_own(job, ours, theirs):
    """Clients cannot set what the driver finds out."""
    return job["ask"] == "node" and {"boot_mode", "console_enabled", "secure_boot"} & set(job["body"]) and \
        "Additional properties are not allowed" in ours.get("text", "")


TABLE = [
    ("what the other answers with 500 is 400", is_crash),
    ("UUIDs have 36 characters", refuses_uuid),
    ("an empty name, or one that is no text, is refused", refuses_empty_name),
    ("a line break ends no name", is_line_break),
    ("boot_mode, console_enabled, secure_boot are the driver's", keeps_its_own),
    ("indexes have no leading zero", reads_index),
    ("characters outside ASCII are letters in a path", knows_no_letters),
    ("no header and an empty one are the same", empty_header),
    ("a clean without steps is one", no_steps),
]

# Verbs that the other's machine also permits in these states; the specification omits them.
UNDEPLOYED_FROM = ("rescue failed", "unrescue failed", "rescue wait", "wait call-back")


def why(job, ours, theirs):
    for reason, holds in TABLE:
        try:
            if holds(job, ours, theirs):
                return reason
        except (AttributeError, KeyError, TypeError):
            continue
    return None
