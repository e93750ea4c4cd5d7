"""Of a provider of which more is allocated than there is: all that the servers know about it, and who allocated the last of it.

The binary log of a MariaDB server tells the order in which transactions were committed, with their rows. Every transaction of
berth that changes anything inserts a row into berth_log, and no other program does. What was seen together in one snapshot was
committed one after the other, and the last of these transactions is the one that exceeded the capacity.

The Python service does so on MariaDB (python_over_capacity.py): this tells such a case from a fault of berth's. Every claim raises
the generation of the provider. If the last one raised it from where the one before had left it, and each of berth's before it did
so, too, it was not berth who kept anything from it: it has compared the right generation, and looked at an older usage. A node of a cluster
may roll back berth's transaction, its row of the log with it, and execute the rest of the text: if berth did not notice, that
would look like another program. So whoever asks must also know from which service those allocations were requested."""

import contextlib
import dataclasses
import glob
import os
import re
import subprocess
import threading

from mariadb import SYSTEM, pymysql

OVER_CAPACITY = """SELECT p.id, p.uuid, i.resource_class_id, i.total, sum(a.used) FROM allocations a
                   JOIN resource_providers p ON p.id = a.resource_provider_id
                   JOIN inventories i ON i.resource_provider_id = p.id AND i.resource_class_id = a.resource_class_id
                   GROUP BY p.id, p.uuid, i.resource_class_id, i.total HAVING sum(a.used) > i.total"""
HELD = """SELECT id, consumer_id, resource_class_id, used, created_at FROM allocations WHERE resource_provider_id = %s ORDER BY id"""
LOG_END = "SELECT number, hex(mark), hex(digest), written_at, length(entries) FROM berth_log ORDER BY number DESC LIMIT 5"
STATE = ("ready", "local_state_comment", "cluster_status", "cluster_size", "cluster_state_uuid", "cluster_conf_id", "last_committed")
ALLOCATION_COLUMNS = ("created_at", "updated_at", "id", "resource_provider_id", "consumer_id", "resource_class_id", "used")
PROVIDER_COLUMNS = ("created_at", "updated_at", "id", "uuid", "name", "generation", "root_provider_id", "parent_provider_id")
SHOWN_TRANSACTIONS = 12
LOGS = "mysql-bin.[0-9]*"


# ---- what a server has now ----


@dataclasses.dataclass(frozen=True)
class Finding:
    """provider: its id in the tables."""

    provider: int
    uuid: str
    resource_class: int
    total: int
    used: int
    held: tuple  # (id, consumer, class, amount, time) of each allocation of the provider
    generation: int

    def text(self):
        held = "; ".join(f"id {at}: {used} of class {resource_class} for {consumer} since {since}" for at, consumer, resource_class, used, since
                         in self.held)
        return (f"{self.used} of {self.total} of class {self.resource_class} of provider {self.provider} {self.uuid}, generation "
                f"{self.generation}: {held}")

    @property
    def consumers(self):
        return frozenset(consumer for _, consumer, resource_class, _, _ in self.held if resource_class == self.resource_class)

    @property
    def key(self):
        return self.uuid, self.resource_class, self.consumers


def look(node):
    """([Finding], the newest rows of the log), all of one snapshot."""
    with contextlib.closing(node.connect()) as connection, connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        cursor.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")
        cursor.execute(OVER_CAPACITY)
        rows = cursor.fetchall()
        found = []
        for provider, uuid, resource_class, total, used in rows:
            cursor.execute(HELD, (provider,))
            held = tuple(cursor.fetchall())
            cursor.execute("SELECT generation FROM resource_providers WHERE id = %s", (provider,))
            found.append(Finding(provider, uuid, resource_class, total, int(used), held, cursor.fetchall()[0][0]))
        cursor.execute(LOG_END)
        return found, list(cursor.fetchall())


def text_of_log(log):
    return "; ".join(f"row {number} {mark}, digest {digest}, of {written}, {length} bytes" for number, mark, digest, written, length in log)


def text_of(node):
    """What a Galera node says about itself, and which capacities are exceeded there."""
    if not node.is_awake():
        return f"{node.name} does not run"
    try:
        shown = dict(node.sql("SHOW GLOBAL STATUS LIKE 'wsrep%'", database=SYSTEM))
        found, log = look(node)
    except pymysql.MySQLError as problem:
        return f"{node.name}: {problem!r}"
    state = ", ".join(f"{name} {shown.get('wsrep_' + name)}" for name in STATE)
    exceeded = "".join(f"\n   {each.text()}" for each in found) or " nothing is over its capacity"
    return f"{node.name}: {state};{exceeded}\n   log: {text_of_log(log)}"


def texts_of(nodes):
    """The same of each, all of them asked at once."""
    texts = {}

    def ask(node):
        texts[node.name] = text_of(node)

    threads = [threading.Thread(target=ask, args=(node,)) for node in nodes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [texts[node.name] for node in nodes if node.name in texts]


# ---- what a server did ----


@dataclasses.dataclass
class Transaction:
    """number: of its row in berth_log; None: another program's."""

    name: str
    number: str = None
    made: set = dataclasses.field(default_factory=set)  # (id, amount) of each allocation that it has written
    begun: list = dataclasses.field(default_factory=list)  # (provider, consumer, class, amount)
    ended: list = dataclasses.field(default_factory=list)
    generations: dict = dataclasses.field(default_factory=dict)  # provider: (before, after)

    def is_about(self, provider):
        return provider in self.generations or any(each[0] == provider for each in self.begun + self.ended)

    def consumers_of(self, finding):
        """Those of the finding for whom it has allocated."""
        return tuple({consumer for provider, consumer, resource_class, _ in self.begun
                      if (provider, resource_class) == (finding.provider, finding.resource_class) and consumer in finding.consumers})

    def repeats(self, finding):
        """Whether it has allocated to one of them more than once."""
        return any(sum(begun[:3] == (finding.provider, consumer, finding.resource_class) for begun in self.begun) > 1
                   for consumer in self.consumers_of(finding))

    def text(self, provider):
        who = f"row {self.number} of berth's log" if self.number else "another program"
        changes = [f"{sign}{amount} for {consumer}" for sign, rows in (("+", self.begun), ("-", self.ended))
                   for of, consumer, _, amount in rows if of == provider]
        before, after = self.generations.get(provider, ("as before", "as before"))
        return f"{self.name}, {who}: generation {before} to {after}; {', '.join(changes) or 'no allocation'}"


def value_of(text):
    """A value as mariadb-binlog shows it; it adds the unsigned number to a negative one."""
    return text[1:-1] if text.startswith("'") else text.partition(" ")[0]


def row_of(values, columns):
    return {name: values.get(place) for place, name in enumerate(columns, 1)}


def note_change(transaction, action, table, before, after):
    """Of one row; before, after: {place of the column: value}."""
    if table == "berth_log" and action == "INSERT":
        transaction.number = after[1]
    elif table == "allocations":
        for rows, values in ((transaction.ended, before), (transaction.begun, after)):
            if values:
                row = row_of(values, ALLOCATION_COLUMNS)
                rows.append((int(row["resource_provider_id"]), row["consumer_id"], int(row["resource_class_id"]), int(row["used"])))
                if rows is transaction.begun:
                    transaction.made.add((int(row["id"]), int(row["used"])))
    elif table == "resource_providers" and action == "UPDATE":
        provider = int(after[3])
        first = transaction.generations.get(provider, (before[6],))[0]
        transaction.generations[provider] = first, after[6]


def transactions(lines):
    """Of the text that mariadb-binlog makes of a log."""
    transaction, change = None, None
    for line in lines:
        row = re.match(r"### (?:(INSERT) INTO|(UPDATE)|(DELETE) FROM) `[^`]*`\.`([^`]*)`", line)
        if change and (row or not line.startswith("###")):
            note_change(transaction, *change)
            change = None
        if begun := re.match(r"#(\d+ +[\d:]+) .*\bGTID ([\d-]+)", line):
            transaction = Transaction(f"{begun[2]} of {begun[1]}")
        elif row:
            change = (row[1] or row[2] or row[3], row[4], {}, {})
            values = change[3] if row[1] else change[2]
        elif change and line.rstrip() == "### SET":
            values = change[3]
        elif change and (cell := re.match(r"###   @(\d+)=(.*)", line)):
            values[int(cell[1])] = value_of(cell[2].rstrip())
        elif transaction and line.startswith("COMMIT"):
            yield transaction
            transaction = None


def history(node, newest=None):
    """The transactions of all its logs, or of so many, in their order. A server begins a new log when it is started."""
    logs = sorted(glob.glob(os.path.join(node.data, LOGS)))
    made = subprocess.run(["mariadb-binlog", "--base64-output=decode-rows", "--verbose", *logs[-(newest or 0):]], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, encoding="latin-1", check=False, timeout=120)
    return list(transactions(made.stdout.splitlines()))


@dataclasses.dataclass
class Verdict:
    is_foreign: bool  # a transaction without a row of the log exceeded the capacity, and berth gave it no cause
    consumers: tuple  # for whom it allocated
    text: str


UNKNOWN = Verdict(False, (), "no log has the transaction that exceeded the capacity")


def follows(done, provider):
    """Whether the last transaction has raised the provider's generation from where the others had left it."""
    steps = [transaction.generations.get(provider) for transaction in done]
    before = [step for step in steps[:-1] if step]
    return steps[-1] is not None and steps[-1][0] != steps[-1][1] and (not before or before[-1][1] == steps[-1][0])


def verdict_of(finding, done):
    """None: the transactions do not tell."""
    about = [transaction for transaction in done if transaction.is_about(finding.provider)]
    last = max((place for place, transaction in enumerate(about) if transaction.consumers_of(finding)), default=None)
    if last is None:
        return None
    shown = about[max(0, last - SHOWN_TRANSACTIONS):last + 3]
    silent = [each for each in about[:last + 1] if each.number and finding.provider not in each.generations
              and any(begun[0] == finding.provider for begun in each.begun)]
    lines = [("-> " if transaction is about[last] else "   ") + transaction.text(finding.provider) for transaction in shown]
    if silent:
        lines.append(f"berth has allocated without a new generation: {silent[-1].text(finding.provider)}")
    if about[last].repeats(finding):
        lines.append("that transaction has repeated a claim, as the Python service does after a conflict")
    is_foreign = not about[last].number and follows(about[:last + 1], finding.provider) and not silent
    return Verdict(is_foreign, about[last].consumers_of(finding), "\n".join(lines))


def is_complete(finding, done):
    """Whether these transactions have written all that is allocated."""
    made = set().union(*(transaction.made for transaction in done))
    return all((at, used) in made for at, _, resource_class, used, _ in finding.held if resource_class == finding.resource_class)


def judge(finding, nodes):
    """By the first node that tells: by what it executed since it was started, or else by all of its logs. Between two starts, it may
    have been given the tables as others had them, so that some transactions are in none of its logs; but what is allocated now
    must not have been among them."""
    for newest, node in [*((1, node) for node in nodes), *((None, node) for node in nodes)]:
        with contextlib.suppress(ValueError, OSError, subprocess.SubprocessError):
            done = history(node, newest)
            verdict = verdict_of(finding, done) if newest or is_complete(finding, done) else None
            if verdict:
                return dataclasses.replace(verdict, text=f"by the log of {getattr(node, 'name', 'the server')}:\n{verdict.text}")
    return UNKNOWN
