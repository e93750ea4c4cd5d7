"""The answers of the real service's own functions to the requests that harness.c answers: {"value": …}, {"status",
"text"}, or {"crash": TEXT} where it would answer 500."""

import logging
import types
import warnings
from unittest import mock

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)

import webob
from ironic import api
from ironic.conf import CONF

CONF([], project="ironic", default_config_files=[], default_config_dirs=[])

from ironic.api.controllers import base
from ironic.api.controllers import v1
from ironic.api.controllers.v1 import allocation, node, utils, versions
from ironic.common import args, exception, states
from ironic.common import utils as common_utils
from ironic.conductor import steps
from oslo_utils import strutils, uuidutils

NODE = "NODE"
STANDARD_TRAITS = utils.STANDARD_TRAITS
NODE_FIELDS = node.PATCH_ALLOWED_FIELDS
ALLOCATION_FIELDS = allocation.PATCH_ALLOWED_FIELDS


def checked(controller, name):
    """A controller's method with its checks of arguments, without the creation of an HTTP answer."""
    function = getattr(controller, name)
    while function.__code__.co_name != "inner_check_args":
        function = function.__wrapped__
    return function


def at(minor):
    api.request = types.SimpleNamespace(version=types.SimpleNamespace(minor=minor), rpcapi=mock.MagicMock(),
                                        context=mock.MagicMock())
    api.response = types.SimpleNamespace()


def ask_allocation(job):
    body = allocation.ALLOCATION_VALIDATOR("allocation", job["body"])
    name = body.get("name")
    if name and not common_utils.is_valid_logical_name(name):
        raise exception.Invalid("Cannot create allocation with invalid name '%(name)s'" % {"name": name})
    return body


def ask_node(job):
    at(versions.MINOR_MAX_VERSION)
    check = node.node_patch_validator if job.get("patched") else node.node_validator
    body = check("node", job["body"])
    if body.get("name") is not None:
        text = f"Node {job['node']}: Cannot change name to invalid name " if job.get("node") else \
            "Cannot create node with invalid name "
        node.NodesController()._check_names_acceptable([body["name"]], text + "'%(name)s'")
    return body


def ask_traits(job):
    args.schema(node.TRAITS_SCHEMA)("body", job["body"])
    return True


def ask_trait(job):
    args.schema(utils.TRAITS_SCHEMA)("trait", job["trait"])
    return True


def ask_patch(job):
    patch = args.patch("patch", job["patch"])
    utils.patch_validate_allowed_fields(patch, job["fields"])
    for name in utils.get_patch_values(patch, "/name"):
        if name and not common_utils.is_valid_logical_name(name):
            raise exception.Invalid("Cannot update allocation with invalid name '%(name)s'" % {"name": name})
    return utils.apply_jsonpatch(job["document"], patch)


def ask_mask(job):
    masked = strutils.mask_dict_password(job["body"], "******")
    for name in ("configdrive", "image_url") if job["instance"] else ():
        if masked.get(name):
            masked[name] = "******"
    return masked


def ask_negotiate(job):
    headers = {} if job["own"] is None else {base.Version.string: job["own"].encode().decode("latin-1")}  # in the form of WSGI
    version = base.Version(headers, versions.min_version_string(), versions.max_version_string())
    v1.Controller()._check_version(version)
    return version.minor


def ask_argument(job):
    given = webob.Request.blank("/?" + job["query"]).GET.mixed()
    value, kind = given.get(job["name"]), job["kind"]
    if kind == "limit":
        return utils.validate_limit(args.integer("limit", value))
    if kind == "sort_dir":
        return utils.validate_sort_dir(args.string("sort_dir", "asc" if value is None else value)) == "desc"
    if kind == "fields":
        fields = args.string_list("fields", value) or []
        utils.check_for_invalid_fields(fields, job["known"])
        return fields
    if kind == "boolean":
        return bool(args.boolean(job["name"], value))
    return getattr(args, kind)(job["name"], value)


def state_for(verb):
    """A state in which that verb is possible, so that later checks are reached."""
    event = states.VERBS.get(verb, verb) if isinstance(verb, str) else None
    for state in sorted(states.machine.states):
        machine = states.machine.copy()
        machine.initialize(state)
        if machine.is_actionable_event(event):
            return state
    return states.ENROLL


def with_node(state, controller, name, minor, body):
    at(minor)
    row = types.SimpleNamespace(uuid=NODE, maintenance=False, provision_state=state, reservation=None, power_state=None)
    with mock.patch.object(utils, "check_node_policy_and_retrieve", lambda *rest: row), \
            mock.patch("ironic.api.controllers.link.build_url", lambda *rest: "/"):
        checked(controller, name)(controller(), NODE.lower(), **body)


def ask_provision(job):
    body = job["body"]
    target = body.get("target") if isinstance(body, dict) else None
    with_node(state_for(target), node.NodeStatesController, "provision", job["minor"], body)
    return target


def ask_power(job):
    body = job["body"]
    with_node(states.ACTIVE, node.NodeStatesController, "power", job["minor"], body)
    return [body["target"], int(body.get("timeout") or 0)]


def ask_maintenance(job):
    with mock.patch.object(node.NodeMaintenanceController, "_set_maintenance", lambda *rest, **more: None):
        with_node(states.ACTIVE, node.NodeMaintenanceController, "put", 82, job["body"])
    return job["body"].get("reason")


def ask_clean_error(job):
    try:
        steps._validate_user_steps(mock.MagicMock(), job["steps"], [], "clean")
    except exception.InvalidParameterValue as error:
        return f"Cannot clean node {NODE}: {error}"


def ask_states(job):
    found = {}
    event = states.VERBS.get(job["verb"], job["verb"])
    for name in states.machine.states:
        row = {"updatable": name in states.UPDATE_ALLOWED_STATES,
               "deletable": name in states.DELETE_ALLOWED_STATES + (states.AVAILABLE,),
               "power": name not in (states.CLEANWAIT, states.CLEANING),
               "transient": name in states.STUCK_STATES_TREATED_AS_FAIL, "state": None, "target": None,
               "failed": None, "failed_target": None}
        row["state"], row["target"] = after(name, event)
        if row["transient"]:
            row["failed"], row["failed_target"] = after(name, "fail")
        found[name] = row
    return {"since": utils.MIN_VERB_VERSIONS.get(job["verb"], 1), "states": found}


def after(state, event):
    """(state, target) after an event, as a task leaves them in the row."""
    machine = states.machine.copy()
    machine.initialize(state)
    if not machine.is_actionable_event(event):
        return None, None
    machine.process_event(event)
    return machine.current_state, None if machine.is_stable(machine.current_state) else machine.target_state


def answer(job):
    try:
        return {"value": globals()["ask_" + job["ask"]](job)}
    except webob.exc.HTTPException as error:
        return {"status": error.code, "text": error.detail}
    except Exception as error:
        code = getattr(error, "code", None)
        if isinstance(code, int) and 400 <= code < 500:
            return {"status": code, "text": getattr(error, "faultstring", str(error))}
        return {"crash": f"{type(error).__name__}: {error}"}


def is_uuid_like(text):
    return isinstance(text, str) and uuidutils.is_uuid_like(text)


