"""docs/troubleshooting.md from a refused claim to its reason in the journal: the blocks of its section "Over capacity", up
to the one that reads the journal, as they are printed, under a real systemd (the container of systemd.py), and what the
page shows beside what came. Where no container can be booted, nothing is played, which is said, and counts as a failure
in CI."""

import os
import sys
import tempfile

import systemd

sys.path.append(os.path.join(systemd.ROOT, "tests/docs"))

import answers  # noqa: E402
import examples  # noqa: E402
import markdown  # noqa: E402

PAGE = "docs/troubleshooting.md"
SECTION = "Over capacity"
WALK = ["sh", "manual", "refusal"]
MARK = "@@ the journal @@"


def blocks():
    """(what is run before, the walk, what the page shows for it)"""
    page = markdown.Page(PAGE)
    section = next(section for section in page.sections(2) if section.title == SECTION)
    end = section.first + section.text.count("\n") + 1
    inside = [block for block in page.blocks if section.first < block.first <= end]
    at = next(number for number, block in enumerate(inside) if block.info == WALK)
    before = [block.text for block in inside[:at] if examples.is_test(block)]
    defined = [block.text for directive in page.directives() if directive.word == "define"
               for block in examples.definitions(directive.text)]
    return defined + before, inside[at].text, inside[at + 1].text


def play(score, box):
    box.systemctl("start", "berthd.socket", "berthd.service")
    before, walk, shown = blocks()
    script = "\n".join([*before, f"echo '{MARK}'", walk])
    done = box.run("env", "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "sh", "-c", script)
    _, found, came = done.stdout.partition(MARK + "\n")
    score.case(f"{PAGE}: a claim is refused", None if found and "status: 409" in came else f"{done} {box.journal()}")
    good = answers.same(shown, came, answers.Uuids(set(answers.UUID.findall("".join([*before, walk])))))
    score.case(f"{PAGE}: its reason is in the journal, as shown", None if good else f"{came}{done.stderr}{box.journal()}")


def run(score, program, quick):
    with tempfile.TemporaryDirectory(prefix="berth-refusal-", dir="/var/tmp") as directory:
        systemd.with_container(score, program, directory, lambda box: play(score, box))
