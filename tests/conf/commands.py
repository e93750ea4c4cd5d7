"""berth config as an operator calls it: what it says of files, and that what it prints can be read back."""

import os
import re
import subprocess
import tempfile

import pages

GOOD = """[placement_database]
connection = sqlite:////secret.db
[keystone_authtoken]
auth_type = password
auth_url = http://keystone:5000
username = placement
user_domain_id = default
project_name = service
project_domain_id = default
password = hunter2
[DEFAULT]
log_date_format = " %Y $$x"
log_dir = first
    second
[cors]
allowed_origin = http://a, http://b
[berth]
listen = 127.0.0.1:1
listen = 127.0.0.1:2
"""
BAD = """[DEFAULT]
debug = maybe
Debug = true
logfile = x
[placement_database]
conection = y
max_pool_size = 1
[cache]
enabled = true
[berth]
listen = nowhere
"""


class Commands:
    def __init__(self, build, directory):
        self.program, self.directory = os.path.abspath(os.path.join(build, "berth")), directory
        os.mkdir(os.path.join(directory, "none"))

    def write(self, name, text):
        with open(os.path.join(self.directory, name), "w", encoding="utf-8") as file:
            file.write(text)
        return ["--config-file", name, "--config-dir", "none"]

    def run(self, *words, **environment):
        clean = {name: value for name, value in os.environ.items() if not name.startswith("OS_")}
        done = subprocess.run([self.program, "config", *words], cwd=self.directory, capture_output=True, text=True,
                              env={**clean, "HOME": self.directory, **environment}, timeout=60)
        return done.returncode, done.stdout, done.stderr

    # The cases. Each raises AssertionError, or passes.

    def good_file_is_valid(self):
        code, out, err = self.run("validate", *self.write("a.conf", GOOD))
        assert (code, err) == (0, "") and out == "read: a.conf\n0 errors, 0 warnings, 0 notes\n", out

    def every_problem_is_reported(self):
        code, out, _ = self.run("validate", *self.write("a.conf", BAD))
        assert code == 1, code
        for line in ("error: a.conf:2: [DEFAULT] debug must be true or false, not 'maybe'",
                     "error: [placement_database] connection is not set in a.conf",
                     "error: a.conf:11: [berth] listen: 'nowhere' is not",
                     "error: [keystone_authtoken] auth_type is not set in a.conf",
                     "warning: deprecated name: a.conf:4: [DEFAULT] logfile is now [DEFAULT] log_file",
                     "warning: a.conf:3: [DEFAULT] Debug is not known, and is ignored; did you mean [DEFAULT] debug?",
                     "a.conf:6: [placement_database] conection is not known, and is ignored; did you mean "
                     "[placement_database] connection?",
                     "warning: a.conf:9: there is no section [cache]: its options are ignored\n",
                     "note: [placement_database] max_pool_size has no effect. berth has no pool: "):
            assert line in out, f"{line!r} is not in {out}"
        assert re.search(r"^4 errors, 4 warnings, \d+ notes?$", out, re.M), out

    def unknown_sections_are_reported_once(self):
        code, out, _ = self.run("validate", *self.write("a.conf", GOOD + "[placement_databse]\na = 1\nb = 2\n[berth]\n"
                                                        "lisen = x\n[elsewhere]\nenable_proxy_headers_parsing = 1\n"))
        for line in ("there is no section [placement_databse]: its options are ignored; did you mean "
                     "[placement_database]?\n", "[berth] lisen is not known, and is ignored; did you mean [berth] listen?\n",
                     "there is no section [elsewhere]: its options are ignored; did you mean [oslo_middleware]?\n"):
            assert out.count(line) == 1, f"{line!r} is not in {out}"
        assert code == 0 and out.endswith("0 errors, 3 warnings, 0 notes\n"), out
        many = "".join(f"[section{number}]\na = 1\n" for number in range(150))
        code, out, _ = self.run("validate", *self.write("a.conf", GOOD + many))
        assert code == 0 and out.endswith("0 errors, 100 warnings, 0 notes\n") and "section99]" in out, out
        assert re.search(r"^warning: a.conf:\d+: unknown options from here on are not listed$", out, re.M), out

    def listeners_that_collide_are_reported(self):
        for text, expected in (("[berth]\nadmin_listen = localhost:1\n", "[berth] admin_listen localhost:1 collides with [berth] listen "
                            "127.0.0.1:1"),
                           ("[baremetal]\nenabled = true\nlisten = 0.0.0.0:2\n", "[baremetal] listen 0.0.0.0:2 collides with "
                            "[berth] listen 127.0.0.1:2"),
                           ("[valet]\nenabled = true\nlisten = unix:/run/x\nlisten = unix:/run/x\n",
                            "[valet] listen unix:/run/x collides with [valet] listen unix:/run/x"),
                           ("[berth]\nadmin_listen = [::]:1\n", "[berth] admin_listen [::]:1 collides with"),
                           ("[baremetal]\nlisten = 127.0.0.1:1\n", None),
                           ("[berth]\nadmin_listen = 127.0.0.2:1\nadmin_listen = 127.0.0.1:0\nadmin_listen = 127.0.0.1:0\n", None)):
            code, out, _ = self.run("validate", *self.write("a.conf", GOOD + text))
            assert code == (1 if expected else 0) and (expected is None or f"error: {expected}" in out), (text, out)

    def what_has_no_effect_on_a_database_is_explained(self):
        """The reason of each option, and the names of parameters, without their values."""
        text = ("connection = mysql+pymysql://u:p@db/placement?charset=utf8mb4&sql_mode=hunter2\n"
                "connection_parameters = read_timeout=4&ssl_ca=/ca.pem\nslave_connection = mysql+pymysql://u:hunter2@db2/placement\n"
                "mysql_sql_mode =\nmysql_wsrep_sync_wait = 7\n")
        code, out, _ = self.run("validate", *self.write("a.conf", GOOD.replace("connection = sqlite:////secret.db\n", text)))
        for line in ("note: parameters of the database connection have no effect: sql_mode, read_timeout\n",
                     "note: [placement_database] slave_connection has no effect. All reads are answered from memory, ",
                     "note: [placement_database] mysql_sql_mode has no effect. berth's statements always run with TRADITIONAL ",
                     "note: [placement_database] mysql_wsrep_sync_wait has no effect. Wherever the answer of a node "):
            assert out.count(line) == 1, f"{line!r} is not in {out}"
        assert code == 0 and out.endswith("0 errors, 0 warnings, 4 notes\n") and "hunter2" not in out, out
        wrong = GOOD.replace("connection = sqlite:////secret.db\n", text.replace("ssl_ca=", "ssl_cb="))
        code, out, _ = self.run("validate", *self.write("a.conf", wrong))
        assert code == 1 and 'error: the parameter "ssl_cb" of the database connection is not one of its driver\'s\n' in out, out

    def switches_of_berthd_are_taken(self):
        """All of them, with their effect: a unit passes the same ones to both programs."""
        helps = [subprocess.run([*words, "--help"], capture_output=True, text=True, timeout=60).stdout
                 for words in ([self.program + "d"], [self.program, "config", "validate"])]
        known = [set(re.findall(r"^  (-.*?)(?:   |$)", text, re.M)) - {"--version, -V"} for text in helps]
        assert len(known[0]) > 6 and known[0] <= known[1], known
        where = self.write("a.conf", GOOD)
        code, out, _ = self.run("validate", *where, "--listen", "nowhere", "-d")
        assert code == 1 and "error: --listen: [berth] listen: 'nowhere' is not" in out, out
        for switches in (["--admin-listen", "127.0.0.1:1"], ["--listen", "127.0.0.1:3", "--baremetal-listen", "127.0.0.1:3"],
                         ["--valet-listen", "127.0.0.1:2"]):
            code, out, _ = self.run("validate", *where, *switches)
            assert code == 1 and " collides with " in out, (switches, out)
        code, out, _ = self.run("validate", *where, "--listen", "127.0.0.1:3", "--admin-listen", "127.0.0.1:1", "--debug")
        assert code == 0, out

    def what_a_start_would_refuse_is_reported(self):
        """Each subsystem's error, in berthd's words, together with those of others."""
        os.mkdir(os.path.join(self.directory, "wrong"))
        for name in ("policy.yaml", "logging.conf", "key.pem"):
            with open(os.path.join(self.directory, "wrong", name), "w", encoding="utf-8") as file:
                file.write("[\n")
        wrong = {"password = hunter2\n": ("", "[keystone_authtoken] password is not set in a.conf"),
                 "auth_type = password": ("auth_type = foo", "a.conf:4: [keystone_authtoken] auth_type must be one of "),
                 "sqlite:////secret.db": ("oracle://u:hunter2@h/p", "the database connection oracle:// is not supported"),
                 "[berth]\n": ("[berth]\ntls_cert_file = wrong/key.pem\ntls_key_file = wrong/key.pem\n",
                               "[berth] tls_cert_file, tls_key_file: cannot use wrong/key.pem"),
                 "[cors]\n": ("[oslo_policy]\npolicy_file = wrong/policy.yaml\n[cors]\n", "wrong/policy.yaml:2: "),
                 "[DEFAULT]\n": ("[DEFAULT]\nlog_config_append = wrong/logging.conf\n",
                                 "the logging configuration wrong/logging.conf:1: ")}
        good = GOOD.replace("log_dir = first\n    second\n", "")
        everything = good
        for old, (new, expected) in wrong.items():
            where = self.write("a.conf", good.replace(old, new))
            code, out, _ = self.run("validate", *where)
            assert code == 1 and re.search("^error: .*" + re.escape(expected), out, re.M), (expected, out)
            assert out.endswith("1 error, 0 warnings, 0 notes\n") and "hunter2" not in out, out
            done = subprocess.run([self.program + "d", *where], cwd=self.directory, capture_output=True, text=True,
                                  timeout=60, env={"HOME": self.directory})
            error = re.search("^error: (.*)$", out, re.M).group(1)
            assert done.returncode == 1 and f"berthd: {error}\n" in done.stderr, (error, done.stderr)
            if old != "password = hunter2\n":
                everything = everything.replace(old, new)
        code, out, _ = self.run("validate", *self.write("a.conf", everything))
        assert code == 1 and out.endswith("5 errors, 0 warnings, 0 notes\n"), out

    def certificates_that_expire_soon_are_warned_of(self):
        """As berthd logs it; it is a warning, so only --strict fails."""
        def openssl(*words):
            subprocess.run(["openssl", *words], cwd=self.directory, capture_output=True, check=True)

        openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "tls.key", "-out",
                "tls.csr", "-subj", "/CN=berth")
        for days, expected in ((90, ""), (20, ""), (10, "expires in (9|10) days, on 20"), (-1, "expired on 20")):
            openssl("x509", "-req", "-in", "tls.csr", "-signkey", "tls.key", "-days", str(days), "-out", "tls.pem")
            where = self.write("a.conf", GOOD.replace("[berth]\n", "[berth]\ntls_cert_file = tls.pem\n"
                                                                   "tls_key_file = tls.key\n"))
            code, out, _ = self.run("validate", *where)
            lines = re.findall("^warning: (.*)$", out, re.M)
            count = len(lines)
            assert code == 0 and count == bool(expected) and f"0 errors, {count} warning" in out, (days, out)
            assert not expected or re.match("the certificate in tls.pem " + expected, lines[0]), (days, out)
            code, out, _ = self.run("validate", "--strict", *where)
            assert code == count, (days, out)

    def keys_that_others_may_read_are_warned_of(self):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
                        "tls.key", "-out", "tls.pem", "-subj", "/CN=berth", "-days", "90"], cwd=self.directory,
                       capture_output=True, check=True)
        where = self.write("a.conf", GOOD.replace("[berth]\n", "[berth]\ntls_cert_file = tls.pem\ntls_key_file = tls.key\n"))
        for mode, lines in ((0o600, []), (0o640, []), (0o604, ["the key in tls.key is readable by everybody"])):
            os.chmod(os.path.join(self.directory, "tls.key"), mode)
            code, out, _ = self.run("validate", *where)
            assert code == 0 and re.findall("^warning: (.*)$", out, re.M) == lines, (mode, out)

    def handlers_that_become_standard_error_are_warned_of(self):
        """In a logging configuration, as berthd logs it."""
        with open(os.path.join(self.directory, "logging.conf"), "w", encoding="utf-8") as file:
            file.write("[formatters]\nkeys=\n[handlers]\nkeys=a,b,c\n[loggers]\nkeys=root\n[logger_root]\nhandlers=a,b,c\n"
                       "[handler_a]\nclass=fluent.handler.FluentHandler\n[handler_b]\nclass=StreamHandler\nargs=(sys.stdout)\n"
                       "[handler_c]\nclass=StreamHandler\nargs=(sys.stdout,)\n")
        where = self.write("a.conf", GOOD.replace("log_dir = first\n    second\n", "log_config_append = logging.conf\n"))
        code, out, _ = self.run("validate", *where)
        wanted = ["logging.conf:9: [handler_a] fluent.handler.FluentHandler becomes standard error: handlers of this class are "
                  "not supported", "logging.conf:11: [handler_b] StreamHandler becomes standard error: its arguments are not "
                  "understood"]
        assert code == 0 and re.findall("^warning: (.*)$", out, re.M) == wanted, out
        assert self.run("validate", "--strict", *where)[0] == 1

    def options_that_moved_to_another_section(self):
        more = "auth_section = service\n[service]\n" + GOOD[GOOD.index("auth_type"):GOOD.index("[DEFAULT]")]
        code, out, _ = self.run("validate", *self.write("a.conf", GOOD.replace("[DEFAULT]\n", more + "[DEFAULT]\n")))
        assert code == 0 and "a.conf:10: [keystone_authtoken] password is ignored, because auth_section names another " \
            "section for it\n" in out and "7 warnings" in out, out

    def warnings_count_when_strict(self):
        where = self.write("a.conf", GOOD + "[cache]\nenabled = true\n")
        assert self.run("validate", *where)[0] == 0
        assert self.run("validate", "--strict", *where)[0] == 1
        assert self.run("validate", "--strict", *self.write("a.conf", GOOD))[0] == 0

    def secrets_are_masked(self):
        code, out, _ = self.run("show", "--all", *self.write("a.conf", GOOD))
        assert code == 0 and "password = ****" in out and "connection = sqlite:///" in out, out
        assert "hunter2" not in out, out
        where = self.write("b.conf", "[placement_database]\nconnection = mysql+pymysql://placement:hunter2@db/placement\n")
        code, out, _ = self.run("show", *where, "placement_database", "connection")
        assert code == 0 and "\nconnection = mysql+pymysql://placement:****@db/placement\n" in out, out

    def origins_are_shown(self):
        where = self.write("a.conf", GOOD)
        code, out, _ = self.run("show", *where, OS_CORS__MAX_AGE="5")
        assert code == 0 and "# a.conf:2\nconnection" in out and "# OS_CORS__MAX_AGE\nmax_age = 5\n" in out, out
        assert "listen = 127.0.0.1:1\nlisten = 127.0.0.1:2\n" in out and "allow_methods" not in out, out
        assert self.run("show", *where, "cors", "max_age")[1] == "[cors]\n# default\nmax_age = 3600\n"

    def what_is_shown_reads_back(self):
        _, first, _ = self.run("show", "--all", *self.write("a.conf", GOOD))
        _, again, _ = self.run("show", "--all", *self.write("b.conf", first))
        plain = lambda text: re.sub(r"^# .*\n", "", text, flags=re.M)
        assert plain(again) == plain(first), (first, again)

    def sample_holds_the_defaults(self):
        """With every line uncommented it is valid, and no value changes."""
        code, sample, _ = self.run("sample")
        assert code == 0
        text = re.sub(r"^#(\w+ =)(?! <None>)", r"\1", sample, flags=re.M)
        text = text.replace("[placement_database]\n", "[placement_database]\nconnection = sqlite:///x\n", 1)
        text = text.replace("auth_strategy = keystone\n", "auth_strategy = noauth2\n")
        code, out, _ = self.run("validate", *self.write("sample.conf", text))
        assert code == 0 and " 0 warnings" in out, out
        bare = self.write("bare.conf", "[api]\nauth_strategy = noauth2\n[placement_database]\nconnection = sqlite:///x\n")
        plain = lambda out: re.sub(r"^# .*\n", "", out, flags=re.M)
        mine, wanted = (plain(self.run("show", "--all", *where)[1]) for where in
                        (["--config-file", "sample.conf", "--config-dir", "none"], bare))
        assert mine == wanted, sorted(set(mine.split("\n")) ^ set(wanted.split("\n")))

    def wrong_command_lines(self):
        for words in ([], ["bogus"], ["show", "a", "b", "c"], ["validate", "--bogus"], ["sample", "x"],
                      ["validate", *["--config-file=x"] * 70]):
            code, out, err = self.run(*words)
            assert code == 2 and out == "" and err, (words, code, out, err)
        for words in (["--help"], ["show", "--help"], ["sample", "-h"]):
            code, out, err = self.run(*words)
            assert code == 0 and out.startswith("usage: berth config") and err == "", (words, code, out, err)

    def what_cannot_be_written(self):
        """Output that is cut by a full disk is a failure, for all programs."""
        where = self.write("a.conf", "[placement_database]\nconnection = sqlite:///" + self.directory + "/a.db\n")
        near = os.path.dirname(self.program)
        subprocess.run([near + "/placement-manage", *where, "db", "sync"], cwd=self.directory, check=True)
        for program, code, words in (
                ("berth", 2, "config sample"), ("berth", 2, "config show --all"), ("berth", 2, "policy sample"),
                ("berth", 2, "policy list"), ("berth", 2, "policy reference"), ("berth", 2, "--version"),
                ("placement-manage", 1, "db version"), ("placement-manage", 1, "db online_data_migrations"),
                ("placement-status", 255, "upgrade check"), ("placement-status", 255, "upgrade check --json")):
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run([os.path.join(near, program), *where, *words.split()], cwd=self.directory,
                                      stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
            assert done.returncode == code, (words, done)
            assert re.fullmatch(f"{program}: cannot write to standard output(: No space left on device)?\n", done.stderr), done

    def what_is_not_there(self):
        where = self.write("a.conf", GOOD)
        assert self.run("show", *where, "cors", "nothing") == (1, "", "berth config: there is no option [cors] nothing\n")
        assert self.run("show", *where, "nowhere") == (1, "", "berth config: there is no section [nowhere]\n")
        code, out, err = self.run("show", "--config-file", "nowhere")
        assert code == 2 and out == "" and "cannot read the configuration file nowhere" in err, err
        code, out, _ = self.run("validate", "--config-file", "nowhere", "--config-dir", "none")
        assert code == 1 and "error: cannot read the configuration file nowhere: " in out, out


def problems(build):
    """[(name, problem or None)]"""
    found = []
    for name in [name for name in vars(Commands) if not name.startswith("_") and name not in ("write", "run")]:
        problem = None
        with tempfile.TemporaryDirectory(prefix="berth-config-", dir="/var/tmp") as directory:
            try:
                getattr(Commands(build, directory), name)()
            except AssertionError as failure:
                problem = str(failure)[:2000] or "failed"
        found.append((name, problem))
    return found + [(f"page: {name}", problem) for name, problem in pages.problems(build)]
