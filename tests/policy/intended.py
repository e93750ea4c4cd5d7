"""Intended differences from oslo.policy, with reasons: the only list of them.

For such a rule, berth may refuse where oslo.policy allows, denies, or fails; it never allows what oslo.policy does not
allow. Such a file may be refused by berth and read by oslo.policy.
"""

import re
from collections import namedtuple

# Entry.pattern: occurs in the text of a rule, or of one that it refers to. Verdicts may only differ to E: refused.
Entry = namedtuple("Entry", "name pattern why")

RULES = [
    Entry("remote-check", re.compile(r"(?<!\S)\(*https?:"),
          "no server is asked: a check that would is refused, also below a not"),
    Entry("odd-format", re.compile(r"%(?!%|\([^()\s]*\)s)"),
          "of Python's formats only %(key)s and %% are known: oslo.policy prints the whole target for %s, and raises "
          "an exception for most others, which is a 500"),
    Entry("odd-literal", re.compile(r"""(?x) (?<!\S)\(* (?: [^\s:]*["'\\] | [^\s:]*[\d.]*\.\d | [^\s:]*\d[.eExXoObBjJ_]
                                     | [^\s:]*[\[\]{}(),.~] | [^\s:]*[^\x00-\x7f] | [^\s:]*;
                                     | [^\s:]+\# ) [^\s:]* :"""),
          "before the colon Python's texts without escapes or prefix, whole numbers in decimal, True, False, None, and "
          "names joined by operators are known, not its tuples, lists, calls, comments and other forms of literals"),
]

# Files that berth refuses and oslo.policy reads: a word of berth's error, and why.
FILES = [
    ("must be text (in quotes) or a list",
     "a number or a truth value is no rule: oslo.policy takes 0, no and false for an empty rule, which allows "
     "everybody; of a mapping it takes the keys"),
    ("its list has an element that is neither text nor a list", "the same, inside of a list"),
    ("an exclamation mark that is meant as text must be in quotes",
     "to YAML an unquoted ! is a tag of nothing, and so to oslo.policy an empty rule, which allows everybody"),
    ("a tag", "nobody needs tags in policies"),
    ("an alias inside its own anchor", "oslo.policy would walk in circles"),
    ("must be a mapping from names to rules", "oslo.policy takes an empty list or text for an empty file"),
    ("found character that cannot start any token",
     "a tab before the first brace: oslo.policy tries a parser for JSON first; tabs inside of braces are fine"),
    ("invalid Unicode character escape code", "the same: a character beyond the 16th bit escaped as JSON does"),
    ("more than", "limits"),
    ("nested", "limits"),
]


# Files that berth reads and oslo.policy refuses: a word of oslo.policy's error, and why.
READ = [
    ("'\\t' that cannot start any token", "libyaml takes tabs between a name and its rule, and at the end of a line"),
]


def rule_differs(texts):
    """The name of the entry that explains the refusal of a rule with these texts, including those of the rules it
    refers to; None: there is none."""
    for entry in RULES:
        if any(entry.pattern.search(text) for text in texts):
            return entry.name
    return None


def file_differs(ours, theirs):
    """The same for a file that only one of the two refuses."""
    for words, _why in FILES if ours else READ:
        if words in (ours or theirs):
            return words
    return None
