#!/usr/bin/python3
"""A real Keystone (Debian's python3-keystone) on a loopback port, for tests: fernet tokens, SQLite, one region.

    tests/keystone/keystone_server.py CONFIG_FILE PORT        prints a line when it is ready

If the configured database does not exist, it is created, with keys and the bootstrap's user admin. Keystone is served
at the root and below /identity, as in deployments.
"""

import os
import re
import sqlite3
import sys
import wsgiref.simple_server

PREFIX = "/identity"


class Server(wsgiref.simple_server.WSGIServer):
    """Requests are handled one by one: threads that end leave Keystone's SQLite locked."""

    request_queue_size = 128


class Handler(wsgiref.simple_server.WSGIRequestHandler):
    protocol_version = "HTTP/1.0"  # wsgiref does not frame other versions

    def log_message(self, *arguments):
        pass


def manage(config_file, *arguments):
    """Runs keystone-manage in a child: importing its modules, which takes most of its time, happens only once."""
    from keystone.cmd import cli
    child = os.fork()
    if child == 0:
        status = 1
        try:
            sys.argv = ["keystone-manage", "--config-file", config_file, *arguments]
            cli.main(argv=sys.argv)
            status = 0
        except SystemExit as end:
            status = end.code or 0
        finally:
            os._exit(status)
    if os.waitpid(child, 0)[1] != 0:
        sys.exit("keystone-manage " + arguments[0] + " failed, see its log")


def prepare(config_file, port):
    with open(config_file) as file:
        database = re.search(r"^connection = sqlite:///(.*)$", file.read(), re.M).group(1)
    if os.path.exists(database):
        return
    who = str(os.getuid()), str(os.getgid())
    url = f"http://127.0.0.1:{port}/v3"
    manage(config_file, "db_sync")
    with sqlite3.connect(database) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    manage(config_file, "fernet_setup", "--keystone-user", who[0], "--keystone-group", who[1])
    manage(config_file, "credential_setup", "--keystone-user", who[0], "--keystone-group", who[1])
    manage(config_file, "bootstrap", "--bootstrap-password", "admin", "--bootstrap-admin-url", url,
           "--bootstrap-internal-url", url, "--bootstrap-public-url", url, "--bootstrap-region-id", "RegionOne")


def mounted(application):
    def serve(environ, start_response):
        path = environ.get("PATH_INFO", "")
        if path == PREFIX or path.startswith(PREFIX + "/"):
            environ["SCRIPT_NAME"] = environ.get("SCRIPT_NAME", "") + PREFIX
            environ["PATH_INFO"] = path[len(PREFIX):]
        return application(environ, start_response)
    return serve


def main():
    config_file, port = sys.argv[1], int(sys.argv[2])
    prepare(config_file, port)
    os.environ["OS_KEYSTONE_CONFIG_FILES"] = config_file
    sys.argv[1:] = []
    from keystone.server.wsgi import initialize_public_application
    application = mounted(initialize_public_application())
    with wsgiref.simple_server.make_server("127.0.0.1", port, application, Server, Handler) as server:
        print("keystone: ready", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
