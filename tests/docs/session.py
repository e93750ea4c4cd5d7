"""A shell in which a page's blocks run one after the other, and its server."""

import os
import select
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import servers  # noqa: E402

ADDRESS = "127.0.0.1:8778"   # in the pages
METAL = "127.0.0.1:6385"     # the same for the Bare Metal API
VALET = "127.0.0.1:8090"     # and the Valet API
STATE = "/var/lib/berth"     # in the pages: the directory of the run
SECONDS = 180


class Session:
    def __init__(self, programs, server=servers.Berthd):
        self.programs = os.path.abspath(programs)
        self.kind = server
        self.directory = tempfile.mkdtemp(prefix="berth-docs-", dir="/var/tmp")
        self.server = None
        self.metal_port = servers.free_port()
        self.valet_port = servers.free_port()
        self.shell = None
        self.count = 0

    def __enter__(self):
        self.fresh_server([])
        environment = {"PATH": f"{self.programs}:{os.environ['PATH']}", "HOME": self.directory, "LC_ALL": "C.UTF-8",
                       "TZ": "UTC", "XDG_CACHE_HOME": self.directory}
        self.shell = subprocess.Popen(["/bin/sh"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=self.directory,
                                      stderr=subprocess.DEVNULL, env=environment, text=True)
        return self

    def __exit__(self, *exception):
        if self.shell:
            self.shell.kill()
            self.shell.wait()
            self.shell.stdin.close()
            self.shell.stdout.close()
        if self.server:
            self.server.kill()
        shutil.rmtree(self.directory, ignore_errors=True)

    def fresh_server(self, options):
        """With a new database; the ports stay, so that variables of the shell remain valid."""
        port = self.server.port if self.server else None
        if self.server:
            self.server.kill()
        for name in os.listdir(self.directory):
            if name.startswith("berth.db") or name.endswith(".log"):
                os.unlink(os.path.join(self.directory, name))
        arguments = {"name": "berth.db", "port": port, "options": options}
        if self.kind is servers.Berthd:
            self.server = servers.Berthd(os.path.join(self.programs, "berthd"), self.directory,
                                         baremetal_port=self.metal_port, valet_port=self.valet_port, **arguments)
        else:
            self.server = self.kind(self.directory, **arguments)
        self.server.start()
        link = os.path.join(self.directory, "berth.log")
        if os.path.lexists(link):
            os.unlink(link)
        os.symlink(self.server.id + ".log", link)

    def places(self):
        """What the pages contain, and what replaces it here."""
        return {ADDRESS: f"127.0.0.1:{self.server.port}", METAL: f"127.0.0.1:{self.metal_port}",
                VALET: f"127.0.0.1:{self.valet_port}", STATE: self.directory}

    def here(self, text):
        for shown, actual in self.places().items():
            text = text.replace(shown, actual)
        return text

    def there(self, text):
        for shown, actual in self.places().items():
            text = text.replace(actual, shown)
        return text

    def run(self, text):
        """(standard output, standard error) of a block. Raises RuntimeError if it does not end."""
        self.count += 1
        base = os.path.join(self.directory, f".block-{self.count}")
        with open(base, "w", encoding="utf-8") as file:
            file.write(self.here(text) + "\n")
        self.shell.stdin.write(f". {base} >{base}.out 2>{base}.err </dev/null; echo done\n")
        self.shell.stdin.flush()
        ready, _, _ = select.select([self.shell.stdout], [], [], SECONDS)
        if not ready or not self.shell.stdout.readline():
            raise RuntimeError("the shell ended" if ready else f"no end in {SECONDS} s")
        out, err = (open(base + end, encoding="utf-8", errors="replace").read() for end in (".out", ".err"))
        return self.there(out), self.there(err)
