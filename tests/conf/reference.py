"""The options of the Python service 8.0.0 (Debian's packages), and how oslo.config reads configurations."""

import contextlib
import copy
import logging
import os
import sys
import warnings

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)

from keystoneauth1 import loading as ks_loading  # noqa: E402
from keystonemiddleware.auth_token import _opts as authtoken_opts  # noqa: E402
from oslo_config import cfg, generator, types  # noqa: E402
from osprofiler import opts as profiler_opts  # noqa: E402
from placement import conf as placement_conf  # noqa: E402
from placement import wsgi  # noqa: E402

AUTHTOKEN = "keystone_authtoken"
PLUGINS = ("password", "v3password", "v3applicationcredential", "token", "v3token", "admin_token")
# Those of upstream's own sample (etc/placement/config-generator.conf), and the profiler's.
NAMESPACES = ("placement.conf", "keystonemiddleware.auth_token", "oslo.log", "oslo.middleware.cors",
              "oslo.middleware.http_proxy_to_wsgi", "oslo.policy", "osprofiler")
KINDS = {types.Integer: "integer", types.Float: "float", types.Boolean: "boolean", types.List: "list"}


def new_config():
    """With every option that the service and its middleware register."""
    config = cfg.ConfigOpts()
    placement_conf.register_opts(config)
    profiler_opts.set_defaults(config)
    wsgi._set_middleware_defaults()
    config.register_opts(authtoken_opts._OPTS, group=AUTHTOKEN)
    ks_loading.register_auth_conf_options(config, AUTHTOKEN)
    for plugin in PLUGINS:
        for option in ks_loading.get_auth_plugin_conf_options(plugin):
            option = copy.copy(option)
            option.required = False  # a plugin's requirement is not another's
            with contextlib.suppress(cfg.DuplicateOptError):  # only their helps differ
                config.register_opt(option, group=AUTHTOKEN)
    return config


def of_sample():
    """The options that `oslo-config-generator` lists for the service: [(section, option)]."""
    listed = []
    for _, groups in generator._list_opts(list(NAMESPACES)):
        for group, options in groups:
            listed += [(str(group or "DEFAULT"), option) for option in options]
    return listed


def registered(config):
    """[(section, option, its default in the service)]"""
    found = []
    groups = [(None, config._opts)] + [(name, group._opts) for name, group in config._groups.items()]
    for section, options in groups:
        for name, info in options.items():
            if name not in ("config_file", "config_dir", "config_source", "shell_completion"):
                found.append((section or "DEFAULT", info["opt"], info.get("default", info["opt"].default)))
    return found


def kind_of(option):
    if option.multi:
        return "multi"
    return KINDS.get(type(option.type), "string")


def table():
    """Rows in the form of `conf_dump table`; defaults and choices as in Python."""
    rows = {}
    config = new_config()
    known = registered(config)
    names = {(section, option.dest) for section, option, _ in known}
    known += [(section, option, option.default) for section, option in of_sample() if (section, option.dest) not in names]
    for section, option, default in known:
        choices = getattr(option.type, "choices", None)
        old = [[item.group or section, item.name or option.dest] for item in option.deprecated_opts]
        rows[section, option.dest] = {
            "type": kind_of(option), "default": default, "choices": list(choices) if choices else None,
            "any_case": bool(choices) and bool(getattr(option.type, "ignore_case", False)), "mutable": option.mutable,
            "secret": bool(option.secret), "min": getattr(option.type, "min", None), "max": getattr(option.type, "max", None),
            "old": sorted(old)}
    return rows


class Reference:
    """Reads configurations. `defaults`: {(section, name): value} for other defaults."""

    def __init__(self, defaults):
        self.defaults = defaults
        self.names = [(section, option.dest) for section, option, _ in registered(new_config())]

    def read(self, directory, environment, arguments):
        """{"values": {"section.name": value}} or {"error": its kind}."""
        config = new_config()
        for (section, name), value in self.defaults.items():
            config.set_default(name, value, group=None if section == "DEFAULT" else section)
        with self._surroundings(directory, environment):
            try:
                config(arguments, project="placement", prog="no-such-program",
                       default_config_files=wsgi._get_config_files())
                values = {}
                for section, name in self.names:
                    group = config if section == "DEFAULT" else config[section]
                    values[f"{section}.{name}"] = getattr(group, name)
                return {"values": values}
            except (Exception, SystemExit) as failure:
                return {"error": f"{type(failure).__name__}: {failure}"}

    @staticmethod
    @contextlib.contextmanager
    def _surroundings(directory, environment):
        before = dict(os.environ)
        where = os.getcwd()
        errors = os.dup(2)
        nothing = os.open(os.devnull, os.O_WRONLY)
        try:
            os.chdir(directory)
            os.environ.clear()
            os.environ.update(environment)
            sys.stderr.flush()
            os.dup2(nothing, 2)
            yield
        finally:
            sys.stderr.flush()
            os.dup2(errors, 2)
            os.close(errors)
            os.close(nothing)
            os.chdir(where)
            os.environ.clear()
            os.environ.update(before)
