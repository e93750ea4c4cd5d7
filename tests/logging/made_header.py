"""A C header that a script of this folder generates and a unit test includes."""

import sys


def main(path, text):
    """With --write writes the header; else compares it with the generated text. Returns the exit status."""
    if "--write" in sys.argv:
        with open(path, "w") as file:
            file.write(text)
        return 0
    with open(path) as file:
        same = file.read() == text
    if not same:
        print(f"FAILED {path} differs from Python's output: write it again")
    print(f"{int(same)} passed, {int(not same)} failed")
    return 0 if same else 1
