"""The Python service (Debian's python3-placement), called in this process through its WSGI application.

No sockets: a request becomes a WSGI environ as uwsgi would create it. There is one application for each process,
because the service keeps its configuration and its database engine in globals. It runs without sync_on_startup: its own
migrations do not know the newest schema revision, which berth writes.
"""

import gc
import io
import logging
import sys
import urllib.parse

from exchange import Answer


def config_text(url, sync, own_options=None):
    """placement.conf for one of the two. `own_options`: those of the reference's database; it needs no log."""
    lines = ["[DEFAULT]", "use_stderr = false"] if own_options is not None else []
    lines += ["[api]", "auth_strategy = noauth2", "[placement_database]", "connection = " + url]
    lines += ["sync_on_startup = %s" % ("true" if sync else "false")]
    lines += own_options or []
    lines += ["[oslo_policy]", "enforce_scope = false"]  # as in 8.0.0
    return "\n".join(lines) + "\n"


def preload():
    """Imports slow modules before worker processes are forked."""
    import placement.conf  # noqa: F401
    import placement.db_api  # noqa: F401
    import placement.deploy  # noqa: F401


def _hasten():
    """Saves a third of the service's time without changing its behaviour."""
    import jsonschema
    from sqlalchemy import pool
    from sqlalchemy.dialects.sqlite import pysqlite

    # Its schemas are constants, but are checked against the metaschema at every request: once is enough.
    for validator in (jsonschema.Draft7Validator, jsonschema.Draft202012Validator):
        checked, check = {}, validator.check_schema

        def once(schema, *args, checked=checked, check=check, **named):
            if id(schema) not in checked:
                check(schema, *args, **named)
                checked[id(schema)] = schema

        validator.check_schema = staticmethod(once)
    # SQLAlchemy opens the file again for every transaction; a kept connection sees the same rows.
    pysqlite.SQLiteDialect_pysqlite.get_pool_class = classmethod(lambda cls, url: pool.QueuePool)
    gc.collect()
    gc.freeze()
    gc.set_threshold(50000, 20, 20)


class Reference:
    def __init__(self, config_file):
        from oslo_config import cfg
        from placement import conf, db_api, deploy

        # Every statement would be formatted for the log at INFO and below, which is not read.
        logging.disable(logging.CRITICAL)
        _hasten()
        config = cfg.ConfigOpts()
        conf.register_opts(config)
        config([], project="placement", default_config_files=[config_file])
        db_api.configure(config)
        self.application = deploy.loadapp(config)

    def ask(self, request, host):
        path, _, query = request.target.partition("?")
        body = request.body or b""
        environ = {
            "REQUEST_METHOD": request.method,
            "SCRIPT_NAME": "",
            "PATH_INFO": urllib.parse.unquote_to_bytes(path.encode("latin-1")).decode("latin-1"),
            "QUERY_STRING": query,
            "SERVER_NAME": host.split(":")[0],
            "SERVER_PORT": host.split(":")[1],
            "SERVER_PROTOCOL": "HTTP/1.1",
            "REMOTE_ADDR": "127.0.0.1",
            "HTTP_HOST": host,
            "wsgi.version": (1, 0),
            "wsgi.url_scheme": "http",
            "wsgi.input": io.BytesIO(body),
            "wsgi.errors": sys.stderr,
            "wsgi.multithread": False,
            "wsgi.multiprocess": False,
            "wsgi.run_once": False,
        }
        if request.body is not None:
            environ["CONTENT_LENGTH"] = str(len(body))
        for name, value in request.headers:
            key = name.upper().replace("-", "_")
            if key not in ("CONTENT_TYPE", "CONTENT_LENGTH"):
                key = "HTTP_" + key
            environ[key] = environ[key] + "," + value if key in environ else value
        started = []

        def start_response(status, headers, exc_info=None):
            started[:] = [status, headers]

        chunks = self.application(environ, start_response)
        try:
            answer = b"".join(chunks)
        finally:
            if hasattr(chunks, "close"):
                chunks.close()
        headers = [(k.lower(), v) for k, v in started[1]]
        if request.method == "HEAD":
            answer = b""
        return Answer(int(started[0].split()[0]), headers, answer)
