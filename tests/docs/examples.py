"""Runs the blocks of a page that are marked as tests, in order, against a server of its own."""

import re

import answers
import markdown
import session

SHOWN = 3000
# Of curl later than 7.76, which EL 9 has: its manual says "Added in" for each.
TOO_NEW = re.compile(r"--json\b|--url-query\b|--variable\b|--expand-|%header\{|%\{header_json\}|%\{onerror\}")


def is_test(block):
    return isinstance(block, markdown.Block) and block.info[:2] == ["sh", "test"]


def is_answer(block):
    return block.info[-1:] == ["answer"]


def definitions(path):
    """What other pages need of this one before their own blocks: those marked `sh test define`."""
    return [block for block in markdown.Page(path).blocks if block.info == ["sh", "test", "define"]]


def steps(page):
    """Directives and blocks in the page's order; an answer belongs to the test before it: [(what, answer or None)]"""
    found = []
    for item in sorted(page.blocks + page.directives(), key=lambda one: one.first):
        if isinstance(item, markdown.Block) and is_answer(item):
            if not found or found[-1][1] is not None or not is_test(found[-1][0]):
                raise ValueError(f"{page.path}: the answer of line {item.first} follows no test")
            found[-1] = (found[-1][0], item)
        elif isinstance(item, markdown.Directive) or is_test(item):
            found.append((item, None))
        else:
            found.append((markdown.Block([], "", item.first, item.last), None))  # a block between a test and its answer is an error
    return found


def problem_of(answer, out, err, uuids, any_order):
    if answer is None:
        bad = [line for line in out.split("\n") if answers.STATUS.match(line) and line[0] != "2"]
        return f"{bad}, {err}: {out[-SHOWN:]}" if bad or err else None
    if answers.same(answer.text, out + err, uuids, any_order):
        return None
    return "came instead:\n" + answers.lay_out(uuids.to_shown(out + err))[1][:SHOWN]


def run_directive(directive, shell):
    if directive.word == "server":
        shell.fresh_server([line.strip() for line in directive.text.split("\n") if line.strip() != "fresh"])
        return
    for block in definitions(directive.text):
        _, err = shell.run(block.text)
        if err:
            raise RuntimeError(f"{directive.text}, {block}: {err}")


def run_block(block, answer, shell, uuids, any_order):
    """(problem or None, output)"""
    out, err = shell.run(uuids.to_actual(block.text))
    return problem_of(answer, out, err, uuids, any_order), out + err


def run_page(page, programs, report, rewrite=False, **server):
    """Calls report(name, problem or None) for each test. With `rewrite`, wrong answers are corrected in the file."""
    for block in page.blocks:
        if block.info[:1] == ["sh"] and block.info[1:2] not in (["test"], ["manual"]):
            report(f"{page.path}:{block.first}", "says neither `sh test` nor `sh manual`")
        if block.info[:1] == ["sh"] and "curl" in block.text and TOO_NEW.search(block.text):
            report(f"{page.path}:{block.first}", f"{TOO_NEW.search(block.text).group()}: too new for the curl of EL 9")
    named = {uuid for block in page.blocks if is_test(block) for uuid in answers.UUID.findall(block.text)}
    uuids, changes = answers.Uuids(named), []
    with session.Session(programs, **server) as shell:
        for item, answer in steps(page):
            where = f"{page.path}:{item.first}"
            try:
                if isinstance(item, markdown.Directive):
                    run_directive(item, shell)
                if not is_test(item):
                    continue
                problem, wrote = run_block(item, answer, shell, uuids, bool(server))
            except RuntimeError as error:
                report(where, str(error))
                return
            if problem and rewrite and answer is not None:
                changes.append((answer, *answers.lay_out(uuids.to_shown(wrote))))
                problem = None
            report(where, problem)
    if changes:
        write_answers(page, changes)


def write_answers(page, changes):
    lines = list(page.lines)
    for block, kind, text in reversed(changes):
        lines[block.first - 1:block.last] = [f"```{kind} answer", *text.split("\n"), "```"]
    with open(f"{markdown.ROOT}/{page.path}", "w", encoding="utf-8") as file:
        file.write("\n".join(lines))
