"""The database refuses one request for a reason that is unknown in memory: the others of its batch go on."""

import contextlib
import sqlite3
import threading

import case
from case import HOST, consumer, expect

WRITERS, TURNS = 8, 30


class Refused(case.Case):
    def one_request_refused(self):
        """A trigger refuses one name: its writers get 409 each time, other clients 204, and no outage is reported."""
        with self.berthd() as server:
            server.client().make_provider(HOST, "host", VCPU=WRITERS)
            with contextlib.closing(sqlite3.connect(server.database, timeout=10)) as shell:
                shell.execute("CREATE TRIGGER berth_test BEFORE INSERT ON traits WHEN NEW.name = 'CUSTOM_REFUSED' "
                              "BEGIN SELECT RAISE(ABORT, 'not this one'); END")
            server.client().must(201, "PUT", "/traits/CUSTOM_LET_PASS")
            answers, refusals = [], []
            done = threading.Event()

            def innocent(number):
                client = server.client()
                for _ in range(TURNS):
                    answers.append(client.claim(consumer(number), None, **{HOST: {"VCPU": 1}}))
                    answers.append(client.ask("DELETE", f"/allocations/{consumer(number)}"))

            def culprit():
                client = server.client()
                while not done.is_set():
                    refusals.append(client.ask("PUT", "/traits/CUSTOM_REFUSED"))

            threads = [threading.Thread(target=innocent, args=(n,)) for n in range(WRITERS)]
            bad = threading.Thread(target=culprit)
            bad.start()
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(60)
            done.set()
            bad.join(60)
            statuses = {status for status, _ in answers}
            expect(len(answers) == WRITERS * 2 * TURNS and statuses == {204}, statuses)
            expect(len(refusals) > 3 and {status for status, _ in refusals} == {409}, refusals[-1:])
            expect(server.client().ask("GET", "/traits/CUSTOM_REFUSED")[0] == 404, "it is in memory")
            expect("answered 503" not in server.log(), server.log()[-2000:])
