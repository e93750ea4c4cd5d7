#!/usr/bin/python3
"""The rules that a compiler does not check: layers (read from HACKING.md), sizes, comments, headers,
banned functions, and that every route and option is tested and documented.

    tests/tidy.py [-v]        last line: N passed, N failed
"""

import glob
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LONG_LINES, MAX_LINES = 400, 700
# The last six: a thread with a low priority delays every thread that waits for a lock that it holds
# (api/services/slow_lane.c).
BANNED = ("sprintf", "vsprintf", "strcpy", "strcat", "strncpy", "gets", "system", "rand", "alloca",
          "pthread_setschedparam", "pthread_attr_setschedpolicy", "sched_setscheduler", "sched_setattr", "setpriority", "nice")
UNFINISHED = re.compile(r"\b(TO" + "DO|FIX" + r"ME)\b")
# Libraries that only one folder may include (HACKING.md, under the table).
ONLY_IN = {
    "sqlite3.h": "store/sqlite/",
    "libpq-fe.h": "store/postgres/",
    "mysql.h": "store/mariadb/",
    "mysql/mysql.h": "store/mariadb/",
    "mariadb/mysql.h": "store/mariadb/",
    "microhttpd.h": "http/",
    "gnutls/gnutls.h": "http/",
    "gnutls/abstract.h": "http/",
    "gnutls/x509.h": "http/",
    "systemd/sd-daemon.h": "daemon/",
    "systemd/sd-journal.h": "log/",
    "jansson.h": ("api/", "placement/", "baremetal/", "valet/", "policy/", "keystone/", "cli/"),
    "yaml.h": "policy/",
    "curl/curl.h": "keystone/",
    "nettle/sha2.h": ("valet/api/", "keystone/", "store/server/"),
}
SLEEPS = re.compile(r"\b(?:(?:usleep|nanosleep|clock_nanosleep|sleep|thrd_sleep|wait_sleep_us)(?=\()|poll(?=\(NULL)|select(?=\(0))")
MAY_SLEEP = {
    "tests/unit/await.h": "between two looks at a condition",
    "tests/unit/base/test_wait.c": "tests wait_sleep_us itself",
}
# Layers that are not folders, or whose behaviour the tests of whole programs cover.
WITHOUT_UNITS = {"main"}

passed = 0
problems = []
warnings = []


def check(good, where, what):
    global passed
    if good:
        passed += 1
    else:
        problems.append(f"{where}: {what}")


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def files(*patterns):
    found = set()
    for pattern in patterns:
        found.update(glob.glob(os.path.join(ROOT, pattern), recursive=True))
    return sorted(os.path.relpath(path, ROOT) for path in found if os.path.isfile(path))


def without_comments(text):
    """C text with comments and the insides of literals blanked; line numbers stay."""
    blank = lambda match: re.sub(r"[^\n]", " ", match.group())
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text, flags=re.S)


def layer_table():
    table = {}
    for line in read("HACKING.md").splitlines():
        row = re.match(r"\| ([\w/]+) \| ?([\w,./ ]*?) ?\|$", line)
        if row and row.group(1) != "layer":
            table[row.group(1)] = {name.strip() for name in row.group(2).split(",") if name.strip()}
    return table


def within(path, folders):
    """Whether the path is one of these, or inside one of them."""
    return any(path == folder or path.startswith(folder + "/") for folder in folders)


def layer_of(inside, table):
    """The row of the table that a file under src/ belongs to: the one that names the innermost folder."""
    if "/" not in inside:
        return "main"
    return max((row for row in table if within(inside, [row])), key=len, default=inside.split("/")[0])


def check_layers(sources, table):
    check(len(table) >= 10, "HACKING.md", "no table of layers found")
    taken = {layer: set() for layer in table}
    for path in sources:
        inside = path[len("src/"):]
        layer = layer_of(inside, table)
        if layer not in table:
            check(False, path, f"layer {layer} is not in HACKING.md's table")
            continue
        wrong = []
        for kind, name in re.findall(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', read(path), re.M):
            if kind == "<":
                if name in ONLY_IN and not inside.startswith(ONLY_IN[name]):
                    wrong.append(f"<{name}> belongs to {ONLY_IN[name]}")
                continue
            if not os.path.exists(os.path.join(ROOT, "src", name)):
                wrong.append(f'"{name}" is not named from src/')
            elif layer_of(name, table) != layer and not within(name, table[layer]):
                wrong.append(f'{layer} may not include "{name}"')
            elif layer_of(name, table) != layer:
                taken[layer].update(entry for entry in table[layer] if within(name, [entry]))
            elif "internal" in name and os.path.dirname(name) != os.path.dirname(inside):
                wrong.append(f'"{name}" is another folder\'s own')
        check(not wrong, path, "; ".join(wrong))
    for layer, entries in table.items():
        unused = sorted(entries - taken[layer])
        check(not unused, "HACKING.md", f"{layer} includes nothing of {', '.join(unused)}: take it out of the table")


DIALECTS = ("mariadb", "postgres")
FOLDERS_OF_DIALECTS = ("session", "log", "schema", "foreign", "report", "exchange")


def wrong_in_dialect(path, text):
    """The headers that a file of a dialect may not include: none of the other dialect's, and in a folder none of a later
    folder's. Files beside the folders may include all."""
    place = re.match(rf"src/store/({'|'.join(DIALECTS)})/(?:(\w+)/)?", path)
    if place is None:
        return []
    dialect, folder = place.groups()
    if folder is not None and folder not in FOLDERS_OF_DIALECTS:
        return [f"{folder}/ is not in FOLDERS_OF_DIALECTS of tests/tidy.py"]
    allowed = FOLDERS_OF_DIALECTS[:FOLDERS_OF_DIALECTS.index(folder) + 1] if folder else (*FOLDERS_OF_DIALECTS, "")
    return [f'{folder or dialect}/ may not include "{name}"'
            for name, other, inner in re.findall(r'^\s*#\s*include\s*"(store/(\w+)/(?:(\w+)/)?[^"]+)"', text, re.M)
            if other in DIALECTS and (other != dialect or inner not in allowed)]


def check_dialects(sources):
    """Within a dialect, the folders have an order."""
    for path in sources:
        wrong = wrong_in_dialect(path, read(path))
        check(not wrong, path, "; ".join(wrong))


def check_clocks(sources):
    """Only base/ reads clocks and waits for a time: tests move that of base/clock.h."""
    for path in sources:
        calls = set(re.findall(r"\b(clock_gettime|gettimeofday|time|nanosleep|clock_nanosleep|usleep|sleep|pthread_cond_timedwait"
                               r"|sem_timedwait)\(", without_comments(read(path))))
        check(path.startswith("src/base/") or not calls, path, f"takes its time from {', '.join(sorted(calls))}, not from base/")


def check_sleeps(paths):
    """Unit tests move the clock (fake_clock.h) or wait for a condition (await.h), never for a guess."""
    for path in paths:
        sleeps = sorted(set(re.findall(SLEEPS, without_comments(read(path)))))
        check(not sleeps or path in MAY_SLEEP, path, f"sleeps: {', '.join(sleeps)}")
        check(sleeps or path not in MAY_SLEEP, path, "does not sleep: take it out of MAY_SLEEP")


def check_globals(sources):
    """Variables at the top of a file, and static ones in functions, that are not constant are in HACKING.md's table."""
    documented = set(re.findall(r"^\| `(\w[\w/]*\.c)` \| .* \| .* \|$", read("HACKING.md"), re.M))
    found = set()
    for path in sources:
        code = without_comments(read(path)) if path.endswith(".c") else ""
        own = [words for words, end, rest in
               re.findall(r"^[ \t]*static (?!inline\b)([^;={(]*)([;={(])(.*)", code, re.M)
               if "const" not in words.split() and "const" not in (rest if end == "(" else "")
               and (end != "(" or words.split()[-1] == "_Atomic" or rest.startswith("*"))]
        if own or re.search(r"^(?!static\b|const\b|return\b)[a-z]\w* \w+ \w+ = ", code, re.M):
            found.add(path[len("src/"):])
    check(documented == found, "HACKING.md",
          f"globals: missing in the table: {sorted(found - documented)}; not in the code: {sorted(documented - found)}")


def uses(text):
    """The names in C text that may be functions or variables: not those of structs, enums and members."""
    return set(re.findall(r"(?<![\w.])(?<!->)(?<!struct )(?<!enum )(?<!union )([a-zA-Z]\w*)", text))


def circles(edges):
    """Sets of modules that depend on each other in a circle (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(module):
        index[module] = low[module] = len(index)
        stack.append(module)
        for other in edges.get(module, ()):
            if other not in index:
                visit(other)
            if other in stack:
                low[module] = min(low[module], low[other])
        if low[module] == index[module]:
            at = stack.index(module)
            found.append(sorted(stack[at:]))
            del stack[at:]

    for module in sorted(edges):
        if module not in index:
            visit(module)
    return [circle for circle in found if len(circle) > 1]


def check_circles(sources):
    """Inside a folder no two modules depend on each other, directly or through others. A module is x.c with x.h; it
    depends on those whose headers it includes and those whose functions and tables it uses, whatever header declares
    them. Headers without a .c of their own are shared, and are not modules."""
    sys.setrecursionlimit(10000)
    text = {path[len("src/"):]: without_comments(read(path)) for path in sources}
    modules = {path[:-2] for path in text if path.endswith(".c")}
    owner = {}
    for path, code in text.items():
        if path.endswith(".c"):
            for name in re.findall(r"^(?!static\b)[a-z][^;={}#]*?\b(\w+)\([^;{}]*\)\s*\{", code, re.M):
                owner.setdefault(name, path[:-2])
            for name in re.findall(r"^(?:const )?struct \w+ (\w+)(?:\[\w*\])* =", code, re.M):
                owner.setdefault(name, path[:-2])
    edges = {}
    for path, code in text.items():
        module, folder = path[:-2], os.path.dirname(path)
        if module not in modules:
            continue
        included = {name[:-2] for name in re.findall(r'^#include "([^"]+)"', read("src/" + path), re.M)}
        used = {owner[name] for name in uses(code) & owner.keys()} if path.endswith(".c") else set()
        edges.setdefault(module, set()).update(
            other for other in (included & modules) | used if os.path.dirname(other) == folder and other != module)
    for circle in circles(edges):
        check(False, "src/" + circle[0], "need each other: " + ", ".join(circle))
    check(len(edges) > 200, "src", "no modules found")


def check_shape(paths):
    for path in paths:
        lines = read(path).count("\n")
        if lines > LONG_LINES:
            warnings.append(f"{path}: {lines} lines")
        check(lines <= MAX_LINES, path, f"{lines} lines, more than {MAX_LINES}")


def check_c(paths):
    for path in paths:
        text = read(path)
        if path.endswith(".c"):
            check(text.startswith("/*"), path, "does not begin with a comment on what it is for")
        else:
            guard = re.sub(r"\W", "_", path.split("/", 1)[1]).upper()
            guard = re.search(r"^#ifndef (\w+)\n#define \1\n", text, re.M)
            check(guard and text.rstrip().endswith("#endif"), path, "has no include guard")
        if path.startswith("tests/"):
            continue
        called = [name for name in BANNED
                  if re.search(r"(?<![\w.>])" + name + r"\s*\(", without_comments(text))]
        check(not called, path, "calls " + ", ".join(called))


def check_text(paths):
    for path in paths:
        text = read(path)
        bad = [number for number, line in enumerate(text.split("\n"), 1) if line != line.rstrip()]
        check(not bad, path, f"trailing blanks in lines {bad[:5]}")
        check(text == "" or text.endswith("\n"), path, "no newline at the end")
        check(not UNFINISHED.search(text), path, "something is left to do")


# Former private words of the code, and what replaced them (HACKING.md, Glossary).
PRIVATE_WORDS = {
    r"doors?|doorways?": "API, its definition or its endpoint",
    r"settl(?:e|es|ed|ing)": "consequences, applied, at rest",
    r"sweeps?|sweeping": "a scan of foreign writes",
    r"shel(?:f|ves)": "a pool",
    r"debts?": "garbage",
    r"aparts": "anti-affinity",
    r"strangers?": "a foreign writer, a non-member, another consumer",
    r"judg(?:e|es|ed|ing|ement)": "check",
}


def check_words(paths):
    """No private word where the field has one: neither alone nor as a part of a name."""
    words = [(re.compile(rf"(?<![A-Za-z])(?:{pattern})(?![A-Za-z])", re.I), instead) for pattern, instead in PRIVATE_WORDS.items()]
    for path in paths:
        text = read(path)
        for pattern, instead in words:
            found = pattern.search(text)
            line = text.count("\n", 0, found.start()) + 1 if found else 0
            check(not found, f"{path}:{line}", f"{found.group(0)!r} is now {instead}" if found else "")


SAME_STATIC_MOST = 3


def check_static_names(paths):
    """Few files have a static function of the same name, so that the name in a debugger or a profiler identifies it."""
    owners = {}
    for path in paths:
        for name in re.findall(r"^static\s[^;={}()]*?\b(\w+)\(", read(path), re.M):
            owners.setdefault(name, set()).add(path)
    for name, where in sorted(owners.items()):
        check(len(where) <= SAME_STATIC_MOST, name, f"a static function in {len(where)} files: begin it with its file's name")


def check_headers(headers):
    """Each compiles alone."""
    flags = subprocess.run(["pkg-config", "--cflags", "libmicrohttpd", "jansson", "sqlite3", "libpq", "libmariadb", "libcurl", "nettle"],
                           capture_output=True, text=True, check=True).stdout.split()

    def compile_one(path):
        return path, subprocess.run(
            ["gcc", "-fsyntax-only", "-std=gnu17", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Isrc", "-Itests", "-Itests/unit",
             *flags, "-include", path, "-x", "c", "/dev/null"], cwd=ROOT, capture_output=True, text=True)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, done in pool.map(compile_one, headers):
            check(done.returncode == 0, path, "does not compile alone: " + done.stderr.strip()[:300])


def check_units(table):
    for path in files("tests/unit/**/*.c"):
        folder = os.path.dirname(path[len("tests/unit/"):])
        check(os.path.isdir(os.path.join(ROOT, "src", folder)), path, f"mirrors a missing folder: src/{folder}")
    for layer in sorted(set(table) - WITHOUT_UNITS):
        if files(f"src/{layer}/**/*.c"):
            check(files(f"tests/unit/{layer}/**/test_*.c"), f"src/{layer}", "has no unit tests")


def check_matrix():
    """Every planner has its row in the matrix of planners and rules."""
    matrix = "tests/unit/products/test_matrix.c"
    table = read(matrix).partition("/* ---- the table ---- */")[2].partition("static char letter")[0]
    known = set(re.findall(r"\b(?:plan_\w+|node_write_mirror)\b", table))
    declared = set()
    for path in files("src/*/write/*.h"):
        declared |= set(re.findall(r"^[a-z].*?\b(plan_\w+|node_write_mirror)\(", read(path), re.M))
    for name in sorted(declared ^ known):
        check(False, matrix, f"lacks {name}" if name in declared else f"has {name}, which is not a planner")
    check(len(declared) > 40, matrix, "is compared with headers in which no planners are found")


def routes():
    """[(method, path)] of src/placement/api/routes.c."""
    return re.findall(r'\.method = "(\w+)",\s*\.path = "([^"]+)"', read("src/placement/api/routes.c"))


def check_handlers():
    """Handlers are named as HACKING.md says: handle_WHOSE_RESOURCE_VERB, and the function that finishes a write like
    its handler or, if it finishes several, finish_WHOSE_WHAT."""
    verbs = re.search(r"VERB is one of ([a-z, ]+)\.", " ".join(read("HACKING.md").split()))
    verbs = set(verbs.group(1).split(", ")) if verbs else set()
    used = set()
    defined = handlers_by_file()
    for product in ("placement", "baremetal", "valet"):
        path = f"src/{product}/api/routes.c"
        table = read(path).partition("[] = {")[2]
        rows = re.findall(r"(?:READS\(|WRITES\(|\.handle = )(\w+)(?:,\s*(\w+)\))?", table)
        check(rows and len(rows) == table.count("{.method ="), path, "has handlers in a form that this check does not read")
        check_names_of_handlers(path, product, [handle for handle, _ in rows], verbs, used)
        ends = {}
        for handle, finish in rows:
            ends.setdefault(finish, set()).add(handle)
        for finish, handlers in ends.items():
            good = finish == "" or finish.replace("finish_", "handle_", 1) in handlers or (
                len(handlers) > 1 and finish.startswith(f"finish_{product}_") and finish.split("_")[-1] not in verbs)
            check(good, path, f"{finish} is not called as what it ends ({', '.join(sorted(handlers))})")
        for finish in ends.keys() - {"", f"finish_{product}_empty"}:
            check_place_of_finish(path, finish, ends[finish], defined)
    path = "src/api/admin/service.c"
    table = read(path).partition("PAGES[] = {")[2].partition("\n};")[0]
    pages = re.findall(r",\s*(\w+)\}", table)
    check(pages and len(pages) == len(re.findall(r'\{"/', table)), path, "has pages in a form that this check does not read")
    check_names_of_handlers(path, "admin", pages, verbs, used)
    check(used == verbs, "HACKING.md", f"names verbs that no handler has: {', '.join(sorted(verbs - used))}")


def handlers_by_file():
    """{path: the handlers and their finish functions, in the order of their definitions}"""
    found = {path: re.findall(r"^(?:void|enum api_step) ((?:handle|finish)_\w+)\(", read(path), re.M)
             for path in files("src/*/api/**/*.c")}
    return {path: names for path, names in found.items() if names}


def check_place_of_finish(path, finish, handlers, defined):
    """A finish function of one handler is defined directly after it, so that two cannot have each other's names. One
    of several handlers finishes no handler whose file has finish functions of its own."""
    homes = [(home, names) for home, names in defined.items() if finish in names]
    check(len(homes) == 1, path, f"{finish} is defined in {len(homes)} files")
    for home, names in homes:
        before = [name for name in names[:names.index(finish)] if name.startswith("handle_")]
        check(len(handlers) > 1 or before[-1:] == list(handlers), home, f"{finish} is not behind what it ends")
        for other, theirs in defined.items():
            strange = handlers & set(theirs) if other != home and any(name.startswith("finish_") for name in theirs) else ()
            check(not strange, path, f"{finish} ends {', '.join(sorted(strange))}, and {other} has such functions of its own")


def check_names_of_handlers(path, whose, handlers, verbs, used):
    for name in handlers:
        found = re.fullmatch(rf"handle_{whose}_[a-z_]+_([a-z]+)", name)
        check(found and found.group(1) in verbs, path, f"{name} is not handle_{whose}_RESOURCE_VERB (HACKING.md)")
        used.update(found.groups() if found else ())


def check_routes():
    gabbits = "\n".join(read(path) for path in files("tests/api/**/*.yaml", "tests/api/**/*.yml"))
    known = routes()
    check(known and len(known) == read("src/placement/api/routes.c").count("{.method ="), "src/placement/api/routes.c",
          "has routes in a form that this check does not read")
    asked = set()
    for method, url in re.findall(r"^\s*(GET|PUT|POST|DELETE):\s*(\S+)", gabbits, re.M):
        asked.add((method, re.sub(r"[?#].*", "", url).strip("'\"")))
    for method, path in sorted(set(known)):
        parts = re.split(r"\{\w+\}", path)
        pattern = re.compile("[^/]+".join(map(re.escape, parts)) + "$")
        check(any(method == m and pattern.match(url) for m, url in asked), "tests/api",
              f"nobody asks {method} {path}")


def check_named_tests():
    """The list of intended differences names a test for each difference that the differential cannot show."""
    for path in files("tests/diff/*.py"):
        for name in re.findall(r'\btest="(tests/[^"]+)"', read(path)):
            check(os.path.exists(os.path.join(ROOT, name)), path, f"names {name}, which does not exist")


def check_database_tests():
    """HACKING.md names every program of tests/databases/."""
    text = read("HACKING.md")
    programs = [path for path in files("tests/databases/*.py") if os.access(os.path.join(ROOT, path), os.X_OK)]
    check(len(programs) > 20, "tests/databases/", f"only {len(programs)} programs found")
    for path in programs:
        name = os.path.basename(path)
        check(re.search(rf"`{re.escape(name)}[` ]", text), path, "HACKING.md does not name it")


def check_differences():
    """The tests and the documentation have the same list."""
    lists = files("tests/diff/*.py", "tests/cli/intended.py", "tests/conf/intended.py")
    entries = set(re.findall(r'\bEntry\(\s*"([\w-]+)"', "".join(read(path) for path in lists)))
    documented = set(re.findall(r"^\| `([\w-]+)` \|", read("docs/differences.md"), re.M))
    check(entries, "tests/diff", "no intended differences found")
    for name in sorted(entries | documented):
        check(name in documented, "docs/differences.md", f"does not list {name}")
        check(name in entries, "docs/differences.md", f"lists {name}, which no test knows")


def check_fuzzers():
    listed, harnesses = read("tests/fuzz/meson.build"), files("tests/fuzz/fuzz_*.c")
    check(harnesses, "tests/fuzz", "no harnesses found")
    for path in harnesses:
        name = os.path.basename(path)[len("fuzz_"):-2]
        check(f"'{name}':" in listed, path, "is not in tests/fuzz/meson.build")
        check(files(f"tests/fuzz/corpus/{name}/*"), path, "has no corpus")


def check_options():
    """The page is generated (tests/conf/pages.py compares it); a missing row is reported here without a build."""
    rows = re.findall(r'^\s+ROW\(\w+, \w+, "(\w+)", "(\w+)"', read("src/conf/options.c"), re.M)
    check(rows, "src/conf/options.c", "no options found")
    sections = dict(re.findall(r"^## \[(\w+)\]\n(.*?)(?=^## |\Z)", read("docs/configuration.md"), re.M | re.S))
    for section, name in rows:
        check(f"**`{name}`**" in sections.get(section, ""), "docs/configuration.md",
              f"[{section}] {name} is not described: run tests/conf/pages.py --write")


def check_metrics():
    text = read("docs/monitoring.md")
    rows = re.findall(r'^\s+ROW\(\w+, (\w+), "(\w+)", "([^"]*)", ".+"\),$', read("src/api/admin/metric_table.c"), re.M)
    check(len(rows) > 40 and len(rows) == read("src/api/admin/metric_table.h").count("    METRIC_") - 1,
          "src/api/admin/metric_table.c", f"has metrics in a form that this check does not read ({len(rows)})")
    documented = re.findall(r"^\| `(\w+)` \| (\w+) \| ([\w ]*?) ?\|", text, re.M)
    for kind, name, labels in rows:
        check((name, kind.lower(), labels) in documented, "docs/monitoring.md",
              f"does not list {name}, {kind.lower()}, labels {labels!r}")
    names = {name for _, name, _ in rows}
    for name in set(re.findall(r"\b(?:berth|openstack_placement|process)_\w+", text)):
        known = re.sub(r"_(bucket|sum|count)$", "", name) in names or name in names
        check(known or name in ("openstack_placement_up", "openstack_placement_", "berth_baremetal_"), "docs/monitoring.md", f"lists {name}, which is unknown")


def check_uncovered():
    """Each function that tests/uncovered.md lists is still defined in its file: by its name, or by a macro that makes it
    from the part after the first underscore."""
    rows = re.findall(r"^\| `([\w/.]+)` \| `(\w+)` \|", read("tests/uncovered.md"), re.M)
    check(len(rows) > 100, "tests/uncovered.md", "no table found")
    check(len(rows) == len(set(rows)), "tests/uncovered.md", "a function is listed twice")
    for path, name in rows:
        code = read("src/" + path) if os.path.exists(os.path.join(ROOT, "src", path)) else ""
        made = name.split("_", 1)[-1]
        defined = re.search(rf"^(?=\w)[^;\n=]*\b{name}\(|^[A-Z_]+\({made}, \(", code, re.M)
        check(defined, "tests/uncovered.md", f"{path} has no function {name}: take out the row")


def main():
    table = layer_table()
    sources = files("src/**/*.[ch]")
    c_files = files("src/**/*.[ch]", "tests/**/*.[ch]", "bench/**/*.[ch]")
    programs = c_files + files("tests/**/*.py", "bench/**/*.py", "data/*.py", "dev", ".ci/run")
    units = files("packaging/**/*.service", "packaging/**/*.socket")
    texts = programs + units + files("*.md", "docs/**/*.md", "bench/*.md", "tests/**/*.md", "tests/**/*.yaml", "**/meson.build",
                             "meson_options.txt", ".clang-*")
    check_layers(sources, table)
    check_dialects(sources)
    check_clocks(sources)
    check_sleeps(files("tests/unit/**/*.[ch]"))
    check_globals(sources)
    check_circles(sources)
    check_shape(programs)
    check_c(c_files)
    check_text([path for path in texts if not path.startswith("build")])
    check_words(c_files)
    check_static_names([path for path in sources if path.endswith(".c")])
    check_headers([path for path in c_files if path.endswith(".h")])
    check_units(table)
    check_matrix()
    check_handlers()
    check_routes()
    check_named_tests()
    check_database_tests()
    check_differences()
    check_fuzzers()
    check_options()
    check_metrics()
    check_uncovered()
    for line in warnings if "-v" in sys.argv else warnings[:0]:
        print("long:", line)
    if warnings:
        print(f"{len(warnings)} files are longer than {LONG_LINES} lines (-v names them)")
    for line in problems:
        print("FAILED", line)
    print(f"{passed} passed, {len(problems)} failed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
