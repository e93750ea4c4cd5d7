"""Cases of selftest.py: with_postgres.py."""

import os
import signal
import subprocess

import processes
from expectations import expect
from processes import wait_until

WITH_POSTGRES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "with_postgres.py")


class Commands:
    """with_postgres.py"""

    def close(self):
        pass

    def command(self):
        """The command finds the server; its exit status is passed on."""
        script = ('psql -v ON_ERROR_STOP=1 -qAtc "CREATE TABLE t (n int)" -c "SELECT current_database(), current_user" &&'
                  ' psql -qAtc "SELECT count(*) FROM t" "$(echo "$BERTH_TEST_POSTGRES" | sed s/+psycopg2//)" &&'
                  ' psql -qAtc "SHOW work_mem" "$(echo "$BERTH_TEST_POSTGRES_SOCKET" | sed s/+psycopg2//)" &&'
                  ' psql -qAtc "SELECT current_user" "$(echo "$BERTH_TEST_POSTGRES_ADMIN" | sed s/+psycopg2//)" &&'
                  ' kill -0 $BERTH_TEST_POSTGRES_PID && grep -q ready "$BERTH_TEST_POSTGRES_LOG" && exit 7')
        done = self._run("--database", "units", "--option", "work_mem=5MB", "--", "sh", "-c", script)
        expect((done.returncode, done.stdout) == (7, "units|berth\n0\n5MB\npostgres\n"), done)
        done = self._run("sh", "-c", "kill -9 $$")
        expect(done.returncode == 137, done)
        done = self._run("/nonesuch")
        expect(done.returncode == 127 and "/nonesuch" in done.stderr, done)
        for wrong in ([], ["--option", "work_mem", "true"], ["--nonsense", "true"]):
            expect(self._run(*wrong).returncode == 2, wrong)

    def standby_and_pool(self):
        """All that with_postgres.py can start."""
        script = ('for url in "$BERTH_TEST_STANDBY" "$BERTH_TEST_PGBOUNCER"; do'
                  ' psql -qAtc "SELECT pg_is_in_recovery(), current_user" "$(echo "$url" | sed s/+psycopg2//)"; done;'
                  ' psql -qAtc "SELECT sync_state FROM pg_stat_replication" "$(echo "$BERTH_TEST_POSTGRES_ADMIN" | sed s/+psycopg2//)";'
                  ' psql -qAtc "SELECT pg_promote()" "$(echo "$BERTH_TEST_STANDBY_ADMIN" | sed s/+psycopg2//)"')
        done = self._run("--standby", "--synchronous", "--pgbouncer", "sh", "-c", script)
        expect(done.stdout == "t|berth\nf|berth\nsync\nt\n", done)

    def command_ended(self):
        """Signals reach the command. SIGKILL of the program ends both the command and the server."""
        for number, status in ((signal.SIGTERM, 143), (signal.SIGKILL, -9)):
            runner = subprocess.Popen([WITH_POSTGRES, "sh", "-c", "echo $$ $BERTH_TEST_POSTGRES_PID $BERTH_TEST_POSTGRES_LOG; exec sleep 60"],
                                      stdout=subprocess.PIPE, text=True)
            command, server, log = runner.stdout.readline().split()
            expect(not processes.has_ended(command) and not processes.has_ended(server), "nothing runs")
            runner.send_signal(number)
            expect(runner.wait(30) == status, runner.returncode)
            processes.await_end([command, server])
            wait_until(lambda: not os.path.exists(os.path.dirname(log)), f"{log} is left")
            runner.stdout.close()

    @staticmethod
    def _run(*words):
        return subprocess.run([WITH_POSTGRES, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
