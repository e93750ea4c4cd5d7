#!/bin/sh
# Replays the corpora of tests/fuzz/corpus with clang's coverage and prints, for every parser, how many of
# its lines they reach; fails below 90 %.
#
#     tests/fuzz/coverage.sh [BUILD]       BUILD: where to build, build-cov by default
set -eu
cd "$(dirname "$0")/../.."
build=${1:-build-cov}

# What each harness is there for: its parsers' files.
parsers() {
    case $1 in
    body_json) echo api/body_schema.c api/schema_check.c api/schema_message.c api/schema_patterns.c api/python_repr.c ;;
    headers) echo api/accept.c api/latin1.c api/microversion.c api/origin.c auth/identity.c auth/noauth.c ;;
    ini) echo conf/ini.c conf/interpolate.c conf/listen.c conf/value.c conf/whitespace.c ;;
    query) echo api/query_string.c api/python_int.c api/placement/candidates_parameters.c \
        api/placement/group_parameters.c api/name_table.c ;;
    store_texts) echo store/sqlite/instant.c store/sqlite/log.c store/sqlite/url.c ;;
    target) echo api/routes.c api/uuid_like.c ;;
    write) echo api/placement/claim_read.c api/placement/reshaper.c ;;
    esac
}

tool() {
    command -v "$1" || command -v "$1-14" || { echo "coverage.sh: $1 is missing (package llvm)" >&2; exit 1; }
}
profdata=$(tool llvm-profdata)
cov=$(tool llvm-cov)

if [ ! -f "$build/build.ninja" ]; then
    CC=clang meson setup "$build" --buildtype=debug \
        -Dc_args='-fprofile-instr-generate -fcoverage-mapping' \
        -Dc_link_args='-fprofile-instr-generate' >/dev/null
fi
status=0
for harness in tests/fuzz/fuzz_*.c; do
    name=$(basename "$harness" .c)
    name=${name#fuzz_}
    files=$(parsers "$name")
    [ -n "$files" ] || { echo "coverage.sh: no parsers are named for $name" >&2; status=1; continue; }
    ninja -C "$build" --quiet >&2 "tests/fuzz/replay_$name"
    LLVM_PROFILE_FILE=$build/$name.profraw "$build/tests/fuzz/replay_$name" "tests/fuzz/corpus/$name" >/dev/null
    "$profdata" merge -o "$build/$name.profdata" "$build/$name.profraw"
    "$cov" export -summary-only -instr-profile="$build/$name.profdata" "$build/tests/fuzz/replay_$name" \
        >"$build/$name.json"
    python3 - "$build/$name.json" "$name" $files <<'END' || status=1
import json
import os
import sys

files = {os.path.normpath(file["filename"]): file["summary"]["lines"]
         for file in json.load(open(sys.argv[1]))["data"][0]["files"]}
low = False
for wanted in sys.argv[3:]:
    lines = next((lines for name, lines in files.items() if name.endswith("/src/" + wanted)), None)
    bad = lines is None or lines["percent"] < 90
    figures = f"{lines['covered']:4} of {lines['count']:4} lines {lines['percent']:6.1f} %" if lines else "not found"
    print(f"{sys.argv[2]:12} {wanted:42} {figures}{'  BELOW 90 %' if bad else ''}")
    low = low or bad
sys.exit(1 if low else 0)
END
done
exit $status
