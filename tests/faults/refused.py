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

    def names_of_unreadable_rows(self):
        """Names and uuids of rows that a load leaves out are in use: requests for them get 409 and the reason."""
        with self.berthd() as server:
            client = server.client()
            client.make_provider(HOST, "host", VCPU=8)
            with contextlib.closing(sqlite3.connect(server.database, timeout=10)) as shell:
                shell.execute("INSERT INTO resource_providers (id, uuid, name, generation, root_provider_id) "
                              "VALUES (50, x'00', 'odd', 0, 50)")
                shell.execute("INSERT INTO consumers (id, uuid, project_id, user_id, generation) VALUES (60, ?, 77, 1, 1)",
                              (consumer(1),))
                shell.commit()
            for method, path, body, words in (
                    ("POST", "/resource_providers", {"name": "odd"}, "Conflicting resource provider name: odd already exists."),
                    ("PUT", f"/resource_providers/{HOST}", {"name": "odd"}, "Conflicting resource provider odd already exists.")):
                status, answer = client.ask(method, path, body)
                expect(status == 409 and words in str(answer), (method, status, answer))
            status, answer = client.claim(consumer(1), None, **{HOST: {"VCPU": 1}})
            expect(status == 409 and f"The consumer {consumer(1)} has a row in the database that this service cannot read." in
                   str(answer), (status, answer))
            client.must(200, "PUT", f"/resource_providers/{HOST}", {"name": "host"})
            with contextlib.closing(sqlite3.connect(server.database, timeout=10)) as shell:
                shell.execute("DELETE FROM resource_providers WHERE id = 50")
                shell.execute("DELETE FROM consumers WHERE id = 60")
                shell.commit()
            client.must(200, "POST", "/resource_providers", {"name": "odd"})
            status, answer = client.claim(consumer(1), None, **{HOST: {"VCPU": 1}})
            expect(status == 204, (status, answer))

    def a_class_refused(self):
        """A resource class that a trigger refuses is not in memory, either."""
        with self.berthd() as server:
            client = server.client()
            with contextlib.closing(sqlite3.connect(server.database, timeout=10)) as shell:
                shell.execute("CREATE TRIGGER berth_test BEFORE INSERT ON resource_classes WHEN NEW.name = 'CUSTOM_REFUSED' "
                              "BEGIN SELECT RAISE(ABORT, 'not this one'); END")
            status, answer = client.ask("PUT", "/resource_classes/CUSTOM_REFUSED")
            expect(status == 409, (status, answer))
            expect(client.ask("GET", "/resource_classes/CUSTOM_REFUSED")[0] == 404, "it is in memory")
            client.must(201, "PUT", "/resource_classes/CUSTOM_LET_PASS")
