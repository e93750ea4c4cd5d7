#!/usr/bin/python3
"""A build without the stores of servers, or without one of them, says so.

    tests/databases/not_built.py BUILD [POSTGRES | MARIADB]…      those that the build lacks

The last line is `N passed, N failed`.
"""

import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

import servers  # noqa: E402

SCHEMES = {"postgresql": "POSTGRES", "postgresql+psycopg2": "POSTGRES", "mysql": "MARIADB", "mysql+pymysql": "MARIADB",
           "mariadb+pymysql": "MARIADB"}
LACKS = "the database connection {}:// is not supported in this build"
COMMANDS = {"berthd": ([], 1), "placement-manage": (["db", "sync"], 1), "placement-status": (["upgrade", "check"], 255)}  # words, exit status


def run(program, words, scheme):
    """(exit status, what it printed)"""
    with tempfile.NamedTemporaryFile("w", suffix=".conf") as file:
        file.write(f"[placement_database]\nconnection = {scheme}://u:p@127.0.0.1:1/d\n[api]\nauth_strategy = noauth2\n")
        file.flush()
        done = subprocess.run([program, "--config-file", file.name, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=30, check=False)
    return done.returncode, done.stdout


def main():
    build, *lacking = sys.argv[1:]
    score = servers.Score()
    for name, (words, fails) in COMMANDS.items():
        for scheme, store in SCHEMES.items():
            if store in lacking:
                status, said = run(os.path.join(build, name), words, scheme)
                wrong = None if status == fails and LACKS.format(scheme) in said else f"{status}: {said[-500:]}"
                score.case(f"{name} without {store}: {scheme}", wrong)
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
