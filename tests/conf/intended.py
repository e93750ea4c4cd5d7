"""Intended differences from oslo.config 9.0.0 (docs/differences.md describes them for readers): each entry creates
cases with that one trick, and says what berth should read."""

from cases import Case

BASE = "[placement_database]\nconnection = x\n"
NUMBER = "placement_database.max_retries"


class Entry:
    """`texts`: files, one case each. `environment` and `arguments`: of all of them. `wanted`: {option: value}, or
    None if berth refuses; oslo.config must do something else."""

    def __init__(self, id, reason, texts, wanted, environment=None, arguments=(), after=()):
        self.id, self.reason, self.texts, self.wanted = id, reason, texts, wanted
        self.environment, self.arguments, self.after = environment or {}, list(arguments), list(after)

    def cases(self):
        for number, text in enumerate(self.texts):
            case = Case(f"{self.id} {number}", trick=self.id)
            case.files["a.conf"] = text if isinstance(text, bytes) else (BASE + text).encode()
            case.environment = dict(self.environment)
            case.arguments = [*self.arguments, "--config-file", "@/a.conf", *self.after]
            yield case

    def explains(self, reference, berth):
        if reference == berth:
            return False
        if self.wanted is None:
            return "error" in berth
        return "values" in berth and all(berth["values"][name] == value for name, value in self.wanted.items())


ENTRIES = [
    Entry("conf-bom", "editors write it, and nobody sees it", [b"\xef\xbb\xbf" + BASE.encode()],
          {"placement_database.connection": "x"}),
    Entry("conf-nul", "no value has one", ["[DEFAULT]\nlog_dir = a\0b\n", "# \0\n"], None),
    Entry("conf-large-number", "numbers have 64 bits", ["max_retries = 9223372036854775808\n", "max_retries = -1" + "0" * 30], None),
    Entry("conf-foreign-digits", "digits are ASCII", ["max_retries = \u0663\n", "max_retries = \uff11\n"], None),
    Entry("conf-infinite", "a time is finite", [f"[profiler]\nsocket_timeout = {word}\n" for word in ("inf", "nan", "-Infinity")], None),
    Entry("conf-multi-variable", "one variable is one value, not its letters", [""], {"oslo_policy.policy_dirs": ["abc"]},
          environment={"OS_OSLO_POLICY__POLICY_DIRS": "abc"}),
    Entry("conf-switch-first", "the command line wins, wherever the switch stands and whatever else is set",
          ["[DEFAULT]\ndebug = false\n"], {"DEFAULT.debug": True}, arguments=["--debug"]),
    Entry("conf-switch-variable", "the command line wins over variables, also where a file sets the option",
          ["[DEFAULT]\nlog_file = a\n"], {"DEFAULT.log_file": "c"}, environment={"OS_DEFAULT__LOG_FILE": "b"},
          after=["--log-file", "c"]),
    Entry("conf-default-reference", "DEFAULT is a section like others in a reference",
          ["[DEFAULT]\nlog_dir = ${DEFAULT.debug}\n", "[profiler]\nhmac_keys = ${DEFAULT.debug}x\n"], {}),
    Entry("conf-old-reference", "an old name is followed where it was valid",
          ["[placement]\nincomplete_consumer_user_id = ${keystone_authtoken.memcache_servers}\n"],
          {"placement.incomplete_consumer_user_id": ""}),
    Entry("conf-empty-number", "no number of berth's can be None", ["max_retries =\n", "[profiler]\nsocket_timeout = ' '\n"],
          {"placement_database.max_retries": 10, "profiler.socket_timeout": 0.1}),
    Entry("conf-overridden-value", "what is overridden is not looked at, as for other options",
          ["[DEFAULT]\nlog_dir = $nothing\n"], {"DEFAULT.log_dir": "b"}, environment={"OS_DEFAULT__LOG_DIR": "b"}),
    Entry("conf-empty-connection", "an empty URL is none", [b"[placement_database]\nconnection =\n"], None),
    Entry("conf-auth-section", "keystoneauth reads the plugin's options in the section that is named",
          ["[keystone_authtoken]\nauth_section = other\nusername = a\n[other]\nusername = b\n"],
          {"keystone_authtoken.username": "b"}),
    Entry("conf-log-texts", "what oslo.log refuses when it is set up is refused with the configuration",
          ["[DEFAULT]\ndefault_log_levels = a\n", "[DEFAULT]\nuse_syslog = true\nsyslog_log_facility = nowhere\n",
           "[DEFAULT]\nlogging_context_format_string = %(message\n"], None),
    Entry("conf-long-value", "references cannot make a value larger than 64 KiB",
          ["[DEFAULT]\nlog_dir = " + "x" * 40000 + "\ntempdir = $log_dir$log_dir\n"], None),
]
