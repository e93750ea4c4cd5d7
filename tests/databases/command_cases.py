"""Cases of selftest.py: with_postgres.py."""

import os

from expectations import HERE, expect, expect_ended_with, expect_statuses, run_beside

WITH_POSTGRES = os.path.join(HERE, "with_postgres.py")


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
        done = run_beside(WITH_POSTGRES, "--database", "units", "--option", "work_mem=5MB", "--", "sh", "-c", script)
        expect((done.returncode, done.stdout) == (7, "units|berth\n0\n5MB\npostgres\n"), done)
        expect_statuses(WITH_POSTGRES)

    def standby_and_pool(self):
        """All that with_postgres.py can start."""
        script = ('for url in "$BERTH_TEST_STANDBY" "$BERTH_TEST_PGBOUNCER"; do'
                  ' psql -qAtc "SELECT pg_is_in_recovery(), current_user" "$(echo "$url" | sed s/+psycopg2//)"; done;'
                  ' psql -qAtc "SELECT sync_state FROM pg_stat_replication" "$(echo "$BERTH_TEST_POSTGRES_ADMIN" | sed s/+psycopg2//)";'
                  ' psql -qAtc "SELECT pg_promote()" "$(echo "$BERTH_TEST_STANDBY_ADMIN" | sed s/+psycopg2//)"')
        done = run_beside(WITH_POSTGRES, "--standby", "--synchronous", "--pgbouncer", "sh", "-c", script)
        expect(done.stdout == "t|berth\nf|berth\nsync\nt\n", done)

    def command_ended(self):
        """Signals reach the command. SIGKILL of the program ends both the command and the server."""
        expect_ended_with(WITH_POSTGRES, "POSTGRES")
