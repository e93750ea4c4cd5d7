"""Writes a C table of the lines of text files, which HEADER declares: embed_lines.py OUT HEADER NAME=FILE..."""

import sys

out, header, *tables = sys.argv[1:]
with open(out, "w", encoding="ascii") as c:
    c.write(f'/* Made by data/embed_lines.py. */\n#include "{header}"\n')
    for table in tables:
        name, path = table.split("=", 1)
        with open(path, encoding="ascii") as lines:
            names = [line.strip() for line in lines if line.strip()]
        if not all(part.replace("_", "").isalnum() for part in names):
            sys.exit(f"{path}: not a list of names")
        c.write(f"\nconst char *const {name}[] = {{\n")
        c.writelines(f'    "{line}",\n' for line in names)
        c.write(f"}};\nconst int {name}_count = {len(names)};\n")
