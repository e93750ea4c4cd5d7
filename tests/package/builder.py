"""Builds the packages as docs/install.md describes, in a Debian root with nothing but git: `./dev package` must
install everything else, and help must not install anything.

    builder.py DIRECTORY

The packages go to DIRECTORY. Needs root, a mount namespace of its own, the kept root of root.bare(), and the network.
Downloads of apt are kept for the next run.
"""

import os
import shutil
import subprocess
import sys

import packages
import root as roots

TREE = "/root/berth"
APT = {"archives": "var/cache/apt/archives", "lists": "var/lib/apt/lists"}
HELP = ("./dev", "./dev help package", "./dev check --help", "./dev bench --help", "./dev diff --help", "./dev run --help",
        "./dev package --help")


def mount_archives(root):
    """What apt fetches is kept for the next time."""
    for name, place in APT.items():
        kept = os.path.join(roots.KEPT, "builder-" + name)
        os.makedirs(kept, exist_ok=True)
        subprocess.run(["mount", "--bind", kept, root.at(place)], check=True)


def unmount_archives(root):
    for place in APT.values():
        subprocess.run(["umount", root.at(place)], check=True)


def copy_tree(root):
    """As cloned, with the uncommitted changes."""
    for name in packages.tree_files():
        target = os.path.join(os.fsencode(root.at(TREE)), name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy2(os.path.join(os.fsencode(roots.ROOT), name), target)
    root.run("git", "init", "--quiet", TREE)


def run_in_tree(root, command, check=True):
    """Prints the command's output."""
    done = root.run("sh", "-c", f"cd {TREE} && {command}", check=check)
    print(f"$ {command}\n{done.stdout}", flush=True)
    return done


def ask_for_help(root):
    """Not even Python is installed."""
    installed = root.run("dpkg-query", "--show").stdout
    if "python3" in installed:
        raise AssertionError("the root is not bare")
    for command in HELP:
        text = run_in_tree(root, command).stdout
        if not text.startswith("usage: ./dev "):
            raise AssertionError(f"{command}: {text}")
    done = run_in_tree(root, "./dev check --list", check=False)
    if done.returncode != 1 or "needs Python" not in done.stdout:
        raise AssertionError(f"./dev check --list: {done.returncode} {done.stdout}")
    if root.run("dpkg-query", "--show").stdout != installed:
        raise AssertionError("help has installed something")


def main():
    out = sys.argv[1]
    root = roots.Root([roots.bare()], os.path.join(packages.WORK, "builder"))
    mount_archives(root)
    copy_tree(root)
    ask_for_help(root)
    run_in_tree(root, "./dev package")
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(root.at(TREE, "build/package"), out)
    unmount_archives(root)
    root.remove()


if __name__ == "__main__":
    main()
