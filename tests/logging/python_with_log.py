#!/usr/bin/python3
"""The Python service with the log that its WSGI entry point sets up. SIGUSR1: only the log is set up again from the
configuration file.

    tests/logging/python_with_log.py CONFIG_FILE PORT        prints a line when it is ready
"""

import logging
import os
import signal
import sys
import threading
import wsgiref.simple_server

sys.path[:0] = [os.path.dirname(os.path.dirname(os.path.abspath(__file__)))]

from oslo_config import cfg  # noqa: E402
from oslo_log import log  # noqa: E402
from placement import conf, db_api, deploy, wsgi  # noqa: E402

import python_service  # noqa: E402


def read(config_file):
    config = cfg.ConfigOpts()
    conf.register_opts(config)
    wsgi._set_middleware_defaults()
    config([], project="placement", default_config_files=[config_file])
    return config


def set_up_log(config_file):
    for name in list(logging.root.manager.loggerDict):  # from the previous configuration
        logging.getLogger(name).setLevel(logging.NOTSET)
    config = read(config_file)
    wsgi.setup_logging(config)
    if config.log_options:
        config.log_opt_values(log.getLogger("placement.wsgi"), log.DEBUG)
    return config


def main():
    config_file, port = sys.argv[1:]
    asked = threading.Event()
    signal.signal(signal.SIGUSR1, lambda *_: asked.set())
    config = set_up_log(config_file)
    db_api.configure(config)
    application = deploy.loadapp(config)
    # The middleware gets no configuration and uses the global one, which would be empty.
    cfg.CONF.set_override("enable_proxy_headers_parsing", config.oslo_middleware.enable_proxy_headers_parsing,
                          group="oslo_middleware")
    server = wsgiref.simple_server.make_server("127.0.0.1", int(port), application, python_service.Server,
                                               python_service.Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print("python: ready", flush=True)
    while True:
        asked.wait()
        asked.clear()
        set_up_log(config_file)
        print("python: log is set up", flush=True)


if __name__ == "__main__":
    main()
