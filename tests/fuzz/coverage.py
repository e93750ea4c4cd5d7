#!/usr/bin/python3
"""Replays the corpora of tests/fuzz/corpus with clang's coverage: they must reach 90 % of the lines of every parser
that has a harness.

    tests/fuzz/coverage.py [--build build-coverage] [HARNESS…]

The last line is `N passed, N failed`, one for each parser's file.
"""

import argparse
import glob
import json
import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LEAST_PERCENT = 90
INSTRUMENTED = ["-Dc_args=-fprofile-instr-generate -fcoverage-mapping", "-Dc_link_args=-fprofile-instr-generate"]

# The parsers of each harness.
PARSERS = {
    "baremetal": ["baremetal/api/nodes/action_bodies.c", "baremetal/api/input/arguments.c", "baremetal/api/input/body_checks.c",
                  "baremetal/api/input/ident.c", "baremetal/api/mask.c", "baremetal/api/negotiate.c"],
    "body_json": ["api/schema/body_schema.c", "api/schema/check.c", "api/schema/keywords.c", "api/schema/message.c",
                  "api/schema/patterns.c", "api/text/python_repr.c", "base/python_text.c"],
    "conf": ["conf/fill.c", "conf/fill_apis.c", "conf/resolve.c", "conf/suggest.c"],
    "headers": ["api/text/accept.c", "placement/api/fault.c", "api/text/html_text.c", "api/text/latin1.c", "placement/api/microversion.c",
                "api/text/version_header.c", "api/origin.c", "auth/identity.c", "auth/noauth.c"],
    "ini": ["conf/address_range.c", "conf/ini.c", "conf/interpolate.c", "conf/listen.c", "conf/value.c", "conf/whitespace.c"],
    "json_patch": ["baremetal/api/input/json_patch.c", "baremetal/api/input/schema_refusal.c"],
    "keystone": ["keystone/access_rules.c", "keystone/documents.c", "keystone/url.c", "keystone/token.c"],
    "log_format": ["log/format.c", "log/json.c", "log/keys.c", "log/render.c", "log/value.c"],
    "logging_ini": ["logging_ini/logging_config.c", "logging_ini/logging_handler.c", "logging_ini/python_ini.c",
                    "logging_ini/python_literal.c"],
    "mariadb_url": ["store/mariadb/session/failure.c", "store/mariadb/session/option_file.c", "store/mariadb/session/target.c", "store/mariadb/session/url.c",
                    "store/mariadb/session/url_parameters.c", "store/server/url_parts.c"],
    "nodes": ["baremetal/write/node_mirror_append.c", "baremetal/write/node_mirror_check.c", "baremetal/write/node_provider.c", "baremetal/write/node_write.c"],
    "policy": ["cli/policy_explain.c", "policy/check_text.c", "policy/evaluate.c", "policy/language.c",
               "policy/parser.c", "policy/scalar.c", "policy/set_build.c", "policy/set_notes.c", "policy/subject.c", "policy/yaml_text.c"],
    "postgres_url": ["store/postgres/session/target.c", "store/postgres/session/url.c", "store/server/url_parts.c"],
    "query": ["api/text/query_string.c", "api/text/python_int.c", "placement/api/candidates_checks.c",
              "placement/api/candidates_parameters.c", "placement/api/group_parameters.c", "api/text/name_table.c"],
    "stack_body": ["valet/api/stack/flavor.c", "valet/api/stack/stack_body.c", "valet/api/stack/stack_fingerprint.c", "valet/api/stack/stack_shape.c"],
    "stack_text": ["valet/api/stack/stack_text.c"],
    "store_texts": ["store/sqlite/instant.c", "store/log.c", "store/sqlite/url.c"],
    "target": ["api/routes.c", "api/text/uuid_like.c"],
    "valet": ["valet/api/body.c", "valet/api/body_schemas.c", "valet/api/path.c"],
    "waves": ["store/accesses.c", "store/waves.c"],
    "write": ["placement/api/claim_read.c", "placement/api/reshaper.c"],
}


def tool(name):
    """Debian's llvm package has it under its plain name, llvm-14 with the version as a suffix."""
    return shutil.which(name) or shutil.which(name + "-14") or sys.exit(f"{name} is missing (package llvm)")


def build(directory, harnesses):
    # meson runs what it compiles, to see whether it works: that leaves no profile behind.
    environment = dict(os.environ, CC="clang", LLVM_PROFILE_FILE=os.devnull)
    if not os.path.exists(os.path.join(directory, "build.ninja")):
        subprocess.run(["meson", "setup", directory, "--buildtype=debug", *INSTRUMENTED], check=True, cwd=ROOT,
                       env=environment, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", directory, "-j", str(os.cpu_count()), "--quiet",
                    *(f"tests/fuzz/replay_{name}" for name in harnesses)], check=True,
                   env=environment)


def lines_of(directory, name):
    """(reached, all) lines of each source file of ours, by its name from src/."""
    program = os.path.join(directory, "tests/fuzz/replay_" + name)
    raw, merged = (os.path.join(directory, name + ending) for ending in (".profraw", ".profdata"))
    subprocess.run([program, os.path.join(ROOT, "tests/fuzz/corpus", name)], check=True, stdout=subprocess.DEVNULL,
                   env=dict(os.environ, LLVM_PROFILE_FILE=raw))
    subprocess.run([tool("llvm-profdata"), "merge", "-o", merged, raw], check=True)
    exported = subprocess.run([tool("llvm-cov"), "export", "-summary-only", "-instr-profile=" + merged, program],
                          check=True, capture_output=True)
    source = os.path.join(ROOT, "src") + os.sep
    found = {}
    for file in json.loads(exported.stdout)["data"][0]["files"]:
        path = os.path.normpath(os.path.join(directory, file["filename"]))
        if path.startswith(source):
            found[path[len(source):]] = (file["summary"]["lines"]["covered"], file["summary"]["lines"]["count"])
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build-coverage", help="where to build")
    parser.add_argument("harnesses", nargs="*", metavar="HARNESS")
    options = parser.parse_args()
    there = sorted(os.path.basename(path)[len("fuzz_"):-2] for path in glob.glob(f"{ROOT}/tests/fuzz/fuzz_*.c"))
    directory = os.path.join(ROOT, options.build)
    passed = failed = 0
    wanted = options.harnesses or there
    build(directory, wanted)
    for name in wanted:
        lines = lines_of(directory, name)
        if name not in PARSERS:
            failed += 1
            print(f"FAILED {name}: no parsers are named for it")
        for path in PARSERS.get(name, ()):
            reached, count = lines.get(path, (0, 0))
            good = count > 0 and 100 * reached >= LEAST_PERCENT * count
            passed, failed = passed + good, failed + (not good)
            figures = f"{reached:4} of {count:4} lines {100 * reached / count:6.1f} %" if count else "not in the program"
            print(f"{'ok    ' if good else 'FAILED'} {name:12} {path:42} {figures}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
