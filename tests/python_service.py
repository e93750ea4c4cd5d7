#!/usr/bin/python3
"""The Python service (Debian's python3-placement) on a loopback port, for tests.

    tests/python_service.py CONFIG_FILE PORT        prints a line when it is ready

With LOG in the environment its log goes to standard error in the format of deployments.
"""

import os
import socketserver
import sys
import wsgiref.simple_server

from oslo_config import cfg
from oslo_log import log
from placement import conf, db_api, deploy


class Server(socketserver.ThreadingMixIn, wsgiref.simple_server.WSGIServer):
    daemon_threads = True


class Handler(wsgiref.simple_server.WSGIRequestHandler):
    def log_message(self, *arguments):
        pass


def main():
    config_file, port = sys.argv[1:]
    config = cfg.ConfigOpts()
    conf.register_opts(config)
    config([], project="placement", default_config_files=[config_file])
    if "LOG" in os.environ:
        log.setup(config, "placement")
    db_api.configure(config)
    application = deploy.loadapp(config)
    with wsgiref.simple_server.make_server("127.0.0.1", int(port), application, Server, Handler) as server:
        print("python: ready", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
