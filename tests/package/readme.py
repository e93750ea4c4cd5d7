#!/usr/bin/python3
"""README.md to the letter, in a Debian root that has nothing but git: `./dev run` installs what is missing, builds and
serves; then each block of the page is run as it is printed, and its answer compared with the page's.

    tests/package/readme.py

What this machine has compiled already comes out of its compiler cache, if it has one: the cache compares each header with the
root's own, so a header that ./dev does not install is missed all the same. Nothing is installed for that in the root.

Of the page's other commands, `./dev package` is played by builder.py, and `./dev check` is what runs this. Needs root (or
sudo), and the network, but not while it plays: what apt needs is fetched before, so that the ports of the page are free.
The last line is `N passed, N failed`.
"""

import os
import re
import select
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "docs"), os.path.dirname(HERE)]
sys.dont_write_bytecode = True

import answers  # noqa: E402
import builder  # noqa: E402
import examples  # noqa: E402
import inside  # noqa: E402
import markdown  # noqa: E402
import packages  # noqa: E402
import root as roots  # noqa: E402
import servers  # noqa: E402

START_S = 800  # of ./dev run: it installs a compiler, and builds
BLOCK_S = 60


def named_packages(page):
    """Those that the page wants to be installed for its examples."""
    return re.findall(r"`([a-z0-9-]+)`", re.search(r"\(Debian: ([^)]*)\)", page.text).group(1))


def fetch():
    """What ./dev run and the page install, into the kept archives."""
    root = roots.Root([roots.bare()], os.path.join(packages.WORK, "readme"))
    builder.mount_archives(root)
    lists = subprocess.run(["sh", "-c", 'eval "$(sed -n \'/^to_build=/,/"$/p\' dev)"; echo $to_build'], cwd=roots.ROOT, check=True,
                           stdout=subprocess.PIPE, text=True).stdout.split()
    roots.download(root.path, "curl", *lists, *named_packages(markdown.Page("README.md")))
    builder.unmount_archives(root)
    root.remove()


class CompilerCache:
    """Lends this machine's ccache to a root, below /cache. `environment`: what lets a build there use it."""

    PLACE = "/cache"

    def __init__(self, root):
        self.root, self.environment, self.is_lent = root, roots.ENVIRONMENT, False
        program = shutil.which("ccache")
        if program is None:
            return
        libraries = re.findall(r"(/\S+) \(0x", subprocess.run(["ldd", program], stdout=subprocess.PIPE, text=True, check=True).stdout)
        loader, = (path for path in libraries if os.path.basename(path).startswith("ld-"))
        os.makedirs(root.at(self.PLACE, "files"))
        os.makedirs(root.at(self.PLACE, "lib"))
        for path in libraries:
            shutil.copy(path, root.at(self.PLACE, "lib"))
        shutil.copy(program, root.at(self.PLACE, "ccache"))
        root.write(f"{self.PLACE}/gcc", "#!/bin/sh\n"
                   f'exec {self.PLACE}/lib/{os.path.basename(loader)} --library-path {self.PLACE}/lib {self.PLACE}/ccache gcc "$@"\n', 0o755)
        files = subprocess.run([program, "--get-config", "cache_dir"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
        os.makedirs(files, exist_ok=True)
        subprocess.run(["mount", "--bind", files, root.at(self.PLACE, "files")], check=True)
        self.is_lent = True
        # the language of messages makes a difference
        others = {name: value for name, value in roots.ENVIRONMENT.items() if name != "LC_ALL"}
        language = {name: os.environ[name] for name in ("LANG", "LC_ALL", "LC_CTYPE", "LC_MESSAGES") if name in os.environ}
        self.environment = {**others, **language, "CC": f"{self.PLACE}/gcc", "CCACHE_DIR": f"{self.PLACE}/files", "CCACHE_BASEDIR": builder.TREE,
                            "CCACHE_NOHASHDIR": "1"}

    def take_back(self):
        if self.is_lent:
            subprocess.run(["umount", self.root.at(self.PLACE, "files")], check=True)


class Shell:
    """Runs the blocks one after the other, as somebody at a terminal in the root would."""

    def __init__(self, root):
        self.root, self.count = root, 0
        self.process = subprocess.Popen(["chroot", root.path, "/bin/sh"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, env=roots.ENVIRONMENT, text=True)

    def run(self, text):
        """(standard output, standard error)"""
        self.count += 1
        base = f"/root/block-{self.count}"
        self.root.write(base, text + "\n")
        self.process.stdin.write(f". {base} >{base}.out 2>{base}.err </dev/null; echo done\n")
        self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], BLOCK_S)
        if not ready or not self.process.stdout.readline():
            raise RuntimeError("the shell ended" if ready else f"no end in {BLOCK_S} s")
        return [open(self.root.at(base + end), encoding="utf-8").read() for end in (".out", ".err")]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Readme:
    def __init__(self, score, root, log):
        self.score, self.root, self.log = score, root, log
        self.page = markdown.Page("README.md")
        self.process = None
        self.cache = CompilerCache(root)

    def printed(self):
        with open(self.log.name, errors="replace") as file:
            return file.read()

    def start(self):
        """The commands that the page begins with: None, or what went wrong."""
        commands = re.findall(r"^ {4}(\./dev \w+)", self.page.text, re.M)
        self.score.case("README.md begins with what is tested", None if commands == ["./dev run", "./dev check", "./dev package"]
                        else commands)
        self.process = subprocess.Popen(["chroot", self.root.path, "/bin/sh", "-c", f"cd {builder.TREE} && exec {commands[0]}"],
                                        stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
                                        env=self.cache.environment)
        end = time.monotonic() + START_S
        while "berthd: ready" not in self.printed():
            if self.process.poll() is not None or time.monotonic() > end:
                return f"{commands[0]}: {self.process.poll()}: {self.printed()[-2000:]}"
            time.sleep(0.1)
        return None

    def play(self):
        blocks = [block for block in self.page.blocks if examples.is_test(block)]
        missing = [str(block) for block in blocks if block.text not in self.printed()]
        self.score.case("./dev run prints the commands of README.md", ", ".join(missing) or None)
        self.root.install(*named_packages(self.page))
        uuids = answers.Uuids({uuid for block in blocks for uuid in answers.UUID.findall(block.text)})
        shell = Shell(self.root)
        try:
            for block, answer in examples.steps(self.page):
                if examples.is_test(block):
                    problem, _ = examples.run_block(block, answer, shell, uuids, False)
                    self.score.case(f"README.md:{block.first}", problem if answer is not None else "has no answer")
        finally:
            shell.close()

    def end(self):
        self.process.send_signal(signal.SIGINT)
        status = self.process.wait(30)
        self.score.case("Ctrl-C ends it", None if status == 0 else f"ends with {status}")
        database = self.root.at(builder.TREE, "build/run/8778/berth.db")
        self.score.case("its database is where README.md says", None if os.path.exists(database) else "it is not")

    def close(self):
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.cache.take_back()


def play(score):
    servers.set_loopback_up()
    root = roots.Root([roots.bare()], os.path.join(packages.WORK, "readme"))
    builder.mount_archives(root)
    with open(os.path.join(packages.WORK, "readme.log"), "wb", 0) as log:
        readme = Readme(score, root, log)
        try:
            builder.copy_tree(root)
            began = time.monotonic()
            problem = readme.start()
            score.case("./dev run in a root with only git", problem, time.monotonic() - began)
            if not problem:
                readme.play()
                readme.end()
        finally:
            readme.close()
            builder.unmount_archives(root)
            root.remove()
    return score.end()


def main():
    inside.become_root()
    score = servers.Score()
    if sys.argv[1:] == ["--fetch"]:
        return fetch()
    if inside.arguments_inside(score) is not None:
        return play(score)
    os.makedirs(packages.WORK, exist_ok=True)
    try:
        roots.bare()
        packages.run_logged("readme-fetch.log", "unshare", "--mount", "--pid", "--fork", "--kill-child", sys.executable,
                            os.path.abspath(__file__), "--fetch")
    except (AssertionError, roots.Unprepared) as failure:
        score.case("a root to read README.md in is made", failure)
        return score.end()
    return inside.run_inside(__file__, score)


if __name__ == "__main__":
    sys.exit(main())
