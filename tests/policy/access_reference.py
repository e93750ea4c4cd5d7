"""Runs Ironic's own controllers for their access checks: everything after these checks is a stand-in."""

from types import SimpleNamespace
from unittest import mock

import ironic.api
import ironic.conf
from ironic.api.controllers.v1 import allocation, collection, node, utils
from ironic.common import exception, policy
from oslo_policy import policy as oslo_policy

import metal
from reference import Reference

CONF = ironic.conf.CONF
WORDS = "Access was denied to the following resource: "


class Row(dict):
    """A node or an allocation; attributes can be read in either way."""

    __getattr__ = dict.__getitem__


def inner(method):
    while hasattr(method, "__wrapped__"):
        method = method.__wrapped__
    return method


POST_ALLOCATION = inner(allocation.AllocationsController.post)
POST_NODE = inner(node.NodesController.post)
DELETE_NODE = inner(node.NodesController.delete)


class Ironic:
    def __init__(self):
        self.reference = Reference(metal.registered(), metal.request_context)
        self.request = SimpleNamespace(context=None, version=SimpleNamespace(minor=82), rpcapi=mock.MagicMock(),
                                       dbapi=mock.MagicMock())
        ironic.api.request = self.request
        ironic.api.response = mock.MagicMock()
        for module in (allocation, node):
            module.notify = mock.MagicMock()
            module.link = mock.MagicMock()
        allocation.convert_with_links = node.node_convert_with_links = mock.MagicMock()
        # Created objects are caught here.
        self.made = {}
        catch = lambda context, **fields: self.made.update(fields) or mock.MagicMock()
        allocation.objects = SimpleNamespace(Allocation=catch)
        node.objects = mock.MagicMock(Node=catch)
        node._get_chassis_uuid = mock.MagicMock()

    def answer(self, job):
        policy._ENFORCER = self.reference.enforcer({**job, "dirs": [], "default": "default"})
        for name in ("enforce_new_defaults", "enforce_scope"):
            CONF.set_override(name, job[name.removeprefix("enforce_")], "oslo_policy")
        answers = []
        for identity in job["identities"]:
            self.request.context = metal.request_context(**identity)
            answers.append([self.ask(ask) for ask in job["asks"]])
        return answers

    def ask(self, ask):
        try:
            return "ok " + (getattr(self, "ask_" + ask["what"])(ask) or "")
        except exception.HTTPForbidden as error:
            return "403 " + str(error).removeprefix(WORDS)
        except exception.NotFound:
            return "404"
        except exception.NotAuthorized:
            return "403"
        except exception.Invalid:
            return "400"
        except oslo_policy.InvalidScope:
            return "scope"

    def ask_check(self, ask):
        utils.check_policy(ask["rule"])

    def ask_list(self, ask):
        kind = ask["list"]
        if kind in ("node", "allocation"):
            return utils.check_list_policy(kind, ask["wanted"]) or "-"
        if kind == "volume":
            return utils.check_volume_list_policy() or "-"
        return utils.check_port_list_policy(portgroup=kind == "portgroup") or "-"

    @staticmethod
    def found(ask):
        return mock.patch.multiple(utils, get_rpc_node=mock.Mock(return_value=Row(uuid="u", **ask)),
                                   get_rpc_node_with_suffix=mock.Mock(return_value=Row(uuid="u", **ask)),
                                   get_rpc_allocation_with_suffix=mock.Mock(return_value=Row(uuid="u", **ask)))

    def ask_node(self, ask):
        with self.found(ask):
            utils.check_node_policy_and_retrieve(ask["rule"], "u")

    def ask_allocation(self, ask):
        with self.found(ask):
            utils.check_allocation_policy_and_retrieve(ask["rule"], "u")

    def ask_delete(self, ask):
        with self.found(ask):
            DELETE_NODE(node.NodesController(), "u")

    def ask_patch(self, ask):
        with self.found(ask):
            node.NodesController()._authorize_patch_and_get_node("u", ask["patch"])

    def ask_create_node(self, ask):
        self.made.clear()
        POST_NODE(node.NodesController(), {"driver": "fake-hardware", **({"owner": ask["owner"]} if ask["owner"] else {})})
        return self.made.get("owner") or "-"

    def ask_create_allocation(self, ask):
        self.made.clear()
        self.request.dbapi.check_node_list.reset_mock()
        self.request.dbapi.check_node_list.return_value = {"n": "n"}
        POST_ALLOCATION(allocation.AllocationsController(), {"resource_class": "x", "candidate_nodes": ["n"],
                                                             **({"owner": ask["owner"]} if ask["owner"] else {})})
        of = self.request.dbapi.check_node_list.call_args.kwargs["project"]
        return f"{self.made.get('owner') or '-'} of {of or '-'}"

    def ask_masks(self, ask):
        shown = Row(owner=ask["owner"], lessee=ask["lessee"], last_error="e", reservation="h",
                    driver_internal_info={"a": "b"}, driver_info={"password": "p"}, instance_info={"password": "p"})
        arguments = {}
        if ask["in_list"]:
            with mock.patch.object(collection, "list_convert_with_links", mock.Mock()) as convert:
                node.node_list_convert_with_links([], 10, "nodes")
                arguments = convert.call_args.kwargs["sanitizer_args"]
        with mock.patch.object(node, "hide_fields_in_newer_versions"):
            node.node_sanitize(shown, None, **arguments)
        outcome = []
        if shown["driver_info"] != {"password": "p"} and "content" not in shown["driver_info"]:
            outcome.append("driver_secrets")
        if shown["instance_info"] != {"password": "p"}:
            outcome.append("instance_secrets")
        for field, whole in (("last_error", "e"), ("reservation", "h")):
            if shown[field] != whole:
                outcome.append(f"{field}={shown[field]}")
        for field in ("driver_internal_info", "driver_info"):
            if "content" in shown[field]:
                outcome.append(f"{field}={shown[field]['content']}")
        return " ".join(outcome)
