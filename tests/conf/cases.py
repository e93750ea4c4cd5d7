"""Configurations for both readers: files, directories, variables and switches, drawn from a seed.

Most cases consist of what oslo.config and berth should read alike. A case with a `trick` has one intended difference
(intended.py), and nothing else unusual.
"""

import os

WORDS = ("true", "False", "ON", "off", "yes", "No", "1", "0", "2", "-1", "007", " 5 ", "1_000", "_1", "1__0", "+3", "3.5", ".5",
         "1e3", "5.", "0x10", "-", "", " ", "None", "none", "DAYS", "Days", "size", "SIZE", "keystone", "noauth2", "Keystone",
         "a,b", " a , b ,, ", ",", ",,x", "\"quoted\"", "'quoted'", "\"half", "'a','b'", "\"", "''", "a\\,b", "x=y", "x:y", "# x",
         "; x", "[x]", "tr\u00fce", "\u65e5\u672c", "\u00a0x\u00a0", "\u2003", "it's", "it\"s", "tab\there", "MAC", "encrypt",
         "application/json", "messaging://", "sqlite:////x.db?a=b&c=d%25", "http://h:5000/v3", "[::1]:11211,h:1", "LOG_LOCAL0",
         "%(asctime)s %(message)s", "a\\$b", "$$", "$", "$$$", "${", "${}", "$5", "a$-b", "\\", "\\\\$x$$", "{a: b}", "*", "~")
KEYS = ("foo", "Debug", "max-age", "a b", "listen", "\u00e9", "workers", "name]", "use_syslog_", "x.y")
SWITCHED = ("debug", "log_config_append", "log_date_format", "log_dir", "log_file", "syslog_log_facility", "use_journal",
            "use_json", "use_syslog", "watch_log_file")
# Options whose values oslo.log interprets later, and berth at once: see the tricks.
LOG_TEXTS = {
    "default_log_levels": ("a=DEBUG", "placement=INFO, b.c=WARN,", "", "a=5"),
    "syslog_log_facility": ("LOG_LOCAL0", "local1", "user"),
    "log_rotate_interval": ("1", "6", " 3 "),
    "rate_limit_except_level": ("ERROR", "", "CRITICAL"),
    "log_date_format": ("%Y", "%H:%M:%S %d"),
    "logging_context_format_string": ("%(message)s", "x %(name)s\n  %(message)s", "$$"),
    "logging_default_format_string": ("%(message)s", "'%(levelname)s'", ""),
    "logging_debug_format_suffix": ("%(funcName)s", "x"),
    "logging_exception_prefix": ("%(name)s", "x y"),
    "logging_user_identity_format": ("%(user)s", "a,b"),
}
SECTIONS = ("cache", "oslo_concurrency", "default", "Foo Bar", "database", "\u00dcber", "nova", "a]b", "database:x")
BROKEN = ("no assignment at all", "[x", "[]", "= 1", ": 1", "  indented", "\tindented", "[x] # comment", "[]x", "]", "[", "\\",
          "=")


class Case:
    def __init__(self, name, trick=None):
        self.name, self.trick = name, trick
        self.files = {}  # path: bytes
        self.environment, self.arguments = {}, []

    def write(self, directory):
        for path, text in self.files.items():
            path = os.path.join(directory, path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(text)

    def line(self, directory):
        """For conf_dump."""
        words = [f"{name}={value}" for name, value in self.environment.items()]
        words += ["--", *(word.replace("@", directory) for word in self.arguments)]
        return "\t".join("".join(chr(b) if 32 < b < 127 and b != 37 else f"%{b:02X}" for b in word.encode())
                         for word in words)


class Generator:
    """`rows`: {(section, name): row} of the options that both know."""

    def __init__(self, rows, random):
        self.rows, self.random = rows, random
        # naming a section moves the plugin's options: see the tricks
        self.names = sorted(set(rows) - {("keystone_authtoken", "auth_section")})
        self.switches = {"--debug": None, "--nodebug": None, "--use-json": None, "--nouse-json": None, "--log-file": "f",
                         "--log-dir": "d", "--log-date-format": "%Y", "--syslog-log-facility": "LOG_USER",
                         "--log-config-append": "c", "--nowatch-log-file": None, "--use-journal": None}

    def case(self, number):
        case = Case(f"#{number}")
        kinds = [self.plain] * 5 + [self.several_files, self.variables, self.switched, self.broken, self.searched]
        self.random.choice(kinds)(case)
        return case

    # The parts of a case.

    def plain(self, case):
        self.put(case, "a.conf", self.assignments(self.random.randint(1, 8)))

    def several_files(self, case):
        for name in self.random.sample(["a.conf", "b.conf", "c.conf", "10.conf"], self.random.randint(2, 3)):
            self.put(case, name, self.assignments(self.random.randint(1, 5)))
        if self.random.random() < 0.7:
            for name in ("d/2.conf", "d/10.conf", "d/.x.conf", "d/x.conf.bak", "d/B.conf")[:self.random.randint(1, 5)]:
                case.files[name] = self.text(self.assignments(2))
            case.arguments.insert(self.random.randint(0, len(case.arguments) // 2) * 2, "--config-dir")
            case.arguments.insert(case.arguments.index("--config-dir") + 1, "@/d")

    def variables(self, case):
        self.put(case, "a.conf", self.assignments(self.random.randint(0, 4)))
        for _ in range(self.random.randint(1, 4)):
            section, name = self.option()
            if self.rows[section, name]["type"] != "multi" and name not in SWITCHED:  # see the tricks
                case.environment[f"OS_{section}__{name}".upper()] = self.value(section, name)
        if self.random.random() < 0.2:
            case.environment["OS_FOO__BAR"] = "x"

    def switched(self, case):
        for switch in self.random.sample(sorted(self.switches), 2):
            case.arguments.append(switch)
            if self.switches[switch] is not None:
                case.arguments.append(self.switches[switch])
        self.put(case, "a.conf", [item for item in self.assignments(4)
                                  if item[0] != "DEFAULT"])  # files and switches: see the tricks

    def broken(self, case):
        lines = self.lines(self.assignments(self.random.randint(1, 5)))
        lines.insert(self.random.randint(0, len(lines)), self.random.choice(BROKEN))
        if self.random.random() < 0.3:
            lines[self.random.randrange(len(lines))] = self.noise()
        self.put_text(case, "a.conf", "\n".join(lines))

    def searched(self, case):
        """Without --config-file: in the home directory, which is searched before /etc."""
        case.files[self.random.choice([".placement/placement.conf", "placement.conf"])] = self.text(self.assignments(3))
        case.files["placement.conf.d/x.conf"] = self.text(self.assignments(2))
        case.files[".placement/placement.conf.d/.keep"] = b""
        if self.random.random() < 0.5:
            case.files["e/placement.conf"] = self.text(self.assignments(2))
            case.environment["OS_PLACEMENT_CONFIG_DIR"] = self.random.choice([" @/e ", "@/e", " "])
        if self.random.random() < 0.3:
            self.put(case, "a.conf", self.assignments(2))

    # Its parts.

    def option(self):
        return self.random.choice(self.names)

    def assignments(self, n):
        """[(section, key, value)], usually including the connection."""
        found = [] if self.random.random() < 0.05 else [("placement_database", "connection", "x")]
        for _ in range(n):
            section, name = self.option()
            roll = self.random.random()
            old = self.rows[section, name]["old"]
            if old and roll < 0.4:
                section, key = self.random.choice(old)
                found.append((section, key, self.value(section, name)))
            elif roll < 0.9:
                found.append((section, name, self.value(section, name)))
            else:
                found.append((self.random.choice(SECTIONS + (section,)), self.random.choice(KEYS + (name.upper(),)),
                              self.random.choice(WORDS)))
        self.random.shuffle(found)
        return found

    def value(self, section, name):
        """A value for a row or an old name: mostly a valid one."""
        row = self.rows.get((section, name), {"type": "string", "choices": None})
        if name in LOG_TEXTS:
            return self.random.choice(LOG_TEXTS[name])
        if name == "connection":
            return self.random.choice(("sqlite:////x.db?a=b&c=d%25", "a\\$b$$", "mysql+pymysql://u:p@h/placement?charset=utf8"))
        roll = self.random.random()
        if roll < (0.3 if row["type"] in ("string", "list", "multi") else 0.08):
            return self.reference(section)
        if roll < (0.5 if row["type"] in ("string", "list", "multi") and not row["choices"] else 0.15):
            return self.random.choice(WORDS)
        if row["choices"]:
            return self.random.choice(row["choices"]).swapcase() if roll < 0.3 else self.random.choice(row["choices"])
        if row["type"] == "boolean":
            return self.random.choice(("true", "FALSE", "1", "off"))
        if row["type"] == "integer":
            return str(self.random.randint(0, 5000))
        if row["type"] == "float":
            return self.random.choice(("1", "2.5", "1e-3", "1E5", "12345678.9", " .25"))
        if row["type"] == "list":
            return self.random.choice((",", ", ", " ,")).join(self.random.choice(("a", "b c", "", "it's", "\u00e9"))
                                                              for _ in range(self.random.randint(0, 4)))
        return self.random.choice(("text", "/a/path", "two words", "a\n  b", "\n  x\n  y", "x\n\t# no comment"))

    def reference(self, section):
        other, name = self.option()
        if self.random.random() < 0.75:  # one that can be resolved
            near = [key for key in self.names if key[0] in (section, "DEFAULT")]
            if self.random.random() < 0.5:
                name = self.random.choice(near)[1]
                return self.random.choice((f"${name}", f"a ${{{name}}} b", f"${{{name}}}${{{name}}}", f"$$${name}"))
            return "x" if other == "DEFAULT" else self.random.choice((f"${other}.{name}", f"${{{other}.{name}}}, x"))
        forms = [f"${name}", f"${{{name}}}", f"pre-${name}-post", f"${other}.{name}", f"${{{other}.{name}}},${{{name}}}",
                 f"$${name}", f"\\${name}", f"$\\${name}", "$nothing", f"${other}", f"${{{other.upper()}.{name}}}x",
                 f"$a.{name}", f"${name}.", f"${{{name}", f"${name.upper()}"]
        text = self.random.choice(forms)
        return "x" if "DEFAULT." in text else text  # see the tricks

    def lines(self, assignments):
        lines, section = [], None
        for wanted, key, value in assignments:
            if wanted != section or self.random.random() < 0.1:
                section = wanted
                shown = wanted if wanted == "DEFAULT" or self.random.random() < 0.8 else wanted.swapcase()
                lines.append(f"[{shown}]" + self.random.choice(("", " ", "\t")))
            sign = self.random.choice(("=", " = ", "= ", " : ", ":"))
            lines.append(f"{key}{sign}{value}")
            if self.random.random() < 0.2:
                lines.append(self.random.choice(("", "# comment", "; comment", "   ", "#")))
        return lines

    def text(self, assignments):
        end = self.random.choice(("\n", "\n", "\n", "\r\n", "\r"))
        return (end.join("\n".join(self.lines(assignments)).split("\n")) + self.random.choice(("", end))).encode()

    def noise(self):
        return "".join(self.random.choice("[]=:#; \t\"'\\$ab\u00e9\u2003") for _ in range(self.random.randint(0, 12)))

    def put(self, case, name, assignments):
        case.files[name] = self.text(assignments)
        case.arguments += ["--config-file", "@/" + name]

    def put_text(self, case, name, text):
        case.files[name] = text.encode()
        case.arguments += ["--config-file", "@/" + name]
