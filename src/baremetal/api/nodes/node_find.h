/* Finds the node that a client names (bare metal spec 1.1, 1.2, 7). */
#ifndef BERTH_BAREMETAL_API_NODES_NODE_FIND_H
#define BERTH_BAREMETAL_API_NODES_NODE_FIND_H

#include "api/request.h"
#include "baremetal/api/access.h"
#include "baremetal/api/input/ident.h"
#include "replica/nodes.h"

/* The caller; points into the request. */
struct access node_find_caller(struct api_request *request);

/* The owners of a node, for access checks; the texts are the node's. */
struct access_node node_find_whose(const struct node *node);

/* Whether the text can be an ident at all: 400 Expected UUID or name for ARGUMENT: TEXT. */
bool node_find_check_ident(struct slice text, const char *argument,
                           struct err *err) BERTH_MUST_CHECK;

/* The node of that ident, regardless of access, or NULL. */
const struct node *node_find_named(const struct version *version, const struct ident *ident);

/* The node that a segment of the path names, if the caller may see it, and *access, the caller;
 * NULL with err: 404. `version` is the request's own or, in a planner, the plan's: then err is the
 * write's. */
const struct node *node_find_visible(struct api_request *request, const struct version *version,
                                     struct slice segment, struct access *access, struct err *err);

/* The same; the rule must also pass: 403. */
const struct node *node_find(struct api_request *request, const struct version *version,
                             struct slice segment, enum policy_baremetal_rule rule,
                             struct err *err);

/* 404 Node IDENT could not be found. Returns NULL. */
const struct node *node_find_refuse(struct slice ident, struct err *err);

#endif
