"""/healthcheck compared with the real oslo.middleware: the same settings, files and requests."""

import itertools
import json
import logging
import os

import webob
from oslo_config import cfg
from oslo_middleware import healthcheck
from oslo_middleware.healthcheck import opts

from admin import Case, fetch
from case import expect

logging.getLogger("oslo_middleware").setLevel(logging.ERROR)

ACCEPTS = [None, "*/*", "text/plain", "text/html", "application/json", "image/png", "", "text/*", "application/*;q=0.9",
           "application/json, text/html;q=0.5", "text/html;q=0.3, application/json;q=0.3", "text/plain;q=0, */*",
           "text/plain;version=1, application/json;q=0.1", "nonsense", "text/html, text/html;level=1;q=0.2"]


def reference(settings, port, method, accept):
    """(status, content type, body) of oslo.middleware."""
    conf = cfg.ConfigOpts()
    conf([], default_config_files=[])
    for group in (opts.HEALTHCHECK_OPTS, opts.DISABLE_BY_FILE_OPTS, opts.DISABLE_BY_FILES_OPTS):
        conf.register_opts(group, group="healthcheck")
    for name, value in settings.items():
        conf.set_override(name, value.split(",") if name in ("backends", "disable_by_file_paths") else value,
                          group="healthcheck")
    request = webob.Request.blank("/healthcheck", base_url=f"http://127.0.0.1:{port}", method=method)
    if accept is not None:
        request.headers["Accept"] = accept
    answer = request.get_response(healthcheck.Healthcheck(lambda environ, start: start("404 x", []) or [], conf))
    return answer.status_int, answer.headers.get("Content-Type"), answer.body.decode()


def ours(port, method, accept):
    headers = {} if accept is None else {"accept": accept}
    status, got, text = fetch(port, "/healthcheck", method, **headers)
    return status, got["content-type"], text


class Healthcheck(Case):
    def _compare(self, settings, count):
        lines = ["[healthcheck]", *(f"{name} = {value}" for name, value in settings.items())]
        with self.berthd(options=lines) as server:
            settings = {name: value.replace("PORT", str(server.port)) for name, value in settings.items()}
            for method, accept in itertools.product(("GET", "HEAD", "POST", "PUT"), ACCEPTS):
                theirs = reference(settings, server.port, method, accept)
                mine = ours(server.port, method, accept)
                # A 204 need not have a content type.
                expect(mine == theirs or (theirs[0] == 204 and mine[::2] == theirs[::2]),
                       f"{settings} {method} {accept}: {mine}, not {theirs}")
                count += 1
            return count

    def as_oslo_middleware(self):
        """Every backend, with the file present or not, in every form."""
        there = os.path.join(self.directory, "off <&'\"")
        open(there, "w").close()
        gone = os.path.join(self.directory, "gone")
        count = 0
        for path in (None, there, gone):
            file = {} if path is None else {"disable_by_file_path": path}
            count = self._compare({"backends": "disable_by_file", **file}, count)
            # Both know the port of the listener; oslo.middleware takes it from the request.
            count = self._compare({"backends": "disable_by_file,disable_by_files_ports", **file,
                                   "disable_by_file_paths": f"1:{there}"}, count)
        expect(count == 6 * 4 * len(ACCEPTS), count)

    def by_port(self):
        """disable_by_files_ports uses the port that the request came to."""
        there = os.path.join(self.directory, "off")
        server = self.berthd()
        with open(server.config_file, "a") as file:
            file.write(f"[healthcheck]\nbackends = disable_by_files_ports\n"
                       f"disable_by_file_paths = {server.port + 1}:/,{server.port}:{there}\n")
        with server.start():
            expect(ours(server.port, "GET", None)[::2] == (200, "OK"), "before")
            open(there, "w").close()
            settings = {"backends": "disable_by_files_ports", "disable_by_file_paths": f"{server.port}:{there}"}
            for accept in ACCEPTS:
                theirs = reference(settings, server.port, "GET", accept)
                expect(theirs[0] == 503 and ours(server.port, "GET", accept) == theirs, theirs)
            os.unlink(there)
            expect(ours(server.port, "GET", None)[::2] == (200, "OK"), "afterwards")

    def enabled_by_files(self):
        """A backend of newer releases than the installed one: all of its files must exist."""
        files = [os.path.join(self.directory, name) for name in ("first", "second")]
        with self.berthd(options=["[healthcheck]", "backends = enable_by_files",
                                  "enable_by_file_paths = " + ",".join(files)]) as server:
            for wanted in ((503, "FILE PATH MISSING"), (503, "FILE PATH MISSING"), (200, "OK")):
                expect(ours(server.port, "GET", None)[::2] == wanted, f"{wanted}: {ours(server.port, 'GET', None)}")
                if files:
                    open(files.pop(), "w").close()

    def in_detail(self):
        """Members that both have are equal; some of ours describe berth where oslo.middleware describes Python."""
        there = os.path.join(self.directory, "off")
        open(there, "w").close()
        settings = {"backends": "disable_by_file", "disable_by_file_path": there, "detailed": "true"}
        with self.berthd(options=["[healthcheck]", *(f"{n} = {v}" for n, v in settings.items())]) as server:
            settings["detailed"] = True
            theirs = json.loads(reference(settings, server.port, "GET", "application/json")[2])
            status, kind, text = ours(server.port, "GET", "application/json")
            mine = json.loads(text)
            expect(text == json.dumps(mine, indent=4, sort_keys=True), "not as json.dumps writes it")
            expect((status, kind) == (503, "application/json"), (status, kind))
            expect(mine["reasons"][:1] == theirs["reasons"], mine["reasons"])
            expect(set(mine["reasons"][1]) == {"class", "details", "reason"}, mine["reasons"])
            expect(mine["reasons"][1]["reason"] == "OK" and "database: reached" in mine["reasons"][1]["details"], mine)
            expect(mine["detailed"] is True and mine["platform"] == theirs["platform"], mine)
            expect(mine["server"].startswith("berthd ") and len(mine["now"]) == len(theirs["now"]), mine)
            expect(ours(server.port, "GET", None)[2] == "DISABLED BY FILE\nOK", "text")
            page = ours(server.port, "GET", "text/html")[2]
            other = reference(settings, server.port, "GET", "text/html")[2]
            row = other[other.index("<TR>\n<TD>Health"):other.index("</TR>\n</TBODY>")]
            expect(row in page and "<H2>Result of 2 checks:</H2>" in page, page)

    def warnings(self):
        """A backend that checks nothing is reported at startup."""
        with self.berthd(options=["[healthcheck]", "backends = enable_by_files,no_such,disable_by_file"]) as server:
            lines = [line for line in server.log().splitlines() if " WARNING " in line]
            expect(len(lines) == 3 and all(any(text in line for line in lines) for text in (
                "'no_such' is not known, and is ignored", "'enable_by_files' has no file to look for",
                "'disable_by_file' has no file to look for")), lines)

    def not_in_the_request_log(self):
        """Health checks are not logged as requests; other requests still are."""
        with self.berthd() as server:
            for _ in range(5):
                fetch(server.port, "/healthcheck")
                fetch(server.port, "/placement/healthcheck")
            fetch(server.port, "/")
            server.stop()
            lines = [line for line in server.log().splitlines() if "placement.requestlog" in line]
            expect(len(lines) == 1 and '"GET /"' in lines[0], lines)
