"""oslo.policy itself, with a service's rules registered, for the same queries as harness.c."""

import inspect
import logging
import warnings

from oslo_config import cfg
from oslo_policy import _checks, opts, policy
from placement import context

# oslo.policy inspects the signature of each check each time, which takes nearly all of its time.
signatures = {}


class Inspect:
    @staticmethod
    def getfullargspec(method):
        function = method.__func__
        if function not in signatures:
            signatures[function] = inspect.getfullargspec(method)
        return signatures[function]


_checks.inspect = Inspect
logging.disable(logging.CRITICAL)
warnings.simplefilter("ignore")


def defaults_of(table):
    """Berth's own table as a service would register it."""
    return [policy.RuleDefault(
        row["name"], row["check"], scope_types=row["scopes"] or None,
        deprecated_rule=row["deprecated"] and policy.DeprecatedRule(
            row["deprecated"]["name"], row["deprecated"]["check"], deprecated_reason="r", deprecated_since="W"))
        for row in table]


class Reference:
    def __init__(self, defaults, request_context=context.RequestContext):
        self.defaults = defaults
        self.request_context = request_context

    def enforcer(self, job):
        conf = cfg.ConfigOpts()
        opts._register(conf)
        conf([], project="nothing", default_config_files=[], default_config_dirs=[])
        for name, value in (("policy_file", job["file"] or "/nowhere/policy.yaml"), ("policy_dirs", job["dirs"]),
                            ("enforce_new_defaults", job["new_defaults"]), ("enforce_scope", job["scope"]),
                            ("policy_default_rule", job["default"])):
            conf.set_override(name, value, "oslo_policy")
        enforcer = policy.Enforcer(conf, default_rule=job["default"], fallback_to_json_file=False)
        enforcer.suppress_default_change_warnings = True
        enforcer.register_defaults(self.defaults)
        enforcer.load_rules()
        enforcer.use_conf = False  # the files are not read again
        return enforcer

    def answer(self, job):
        try:
            enforcer = self.enforcer(job)
        except Exception as error:
            return {"error": f"{type(error).__name__}: {error}"}
        contexts = [self.request_context(**identity) for identity in job["identities"]]
        verdicts, texts = {}, {}
        for name in job["names"]:
            verdicts[name] = "".join(self.ask(enforcer, name, dict(target), asks)
                                     for asks in contexts for target in job["targets"])
            texts[name] = str(enforcer.rules[name]) if name in enforcer.rules else None
        return {"verdicts": verdicts, "texts": texts}

    @staticmethod
    def ask(enforcer, name, target, asks):
        try:
            enforcer.enforce(name, target, asks, do_raise=True)
            return "T"
        except policy.PolicyNotAuthorized:
            return "F"
        except policy.InvalidScope:
            return "S"
        except Exception:
            return "E"
