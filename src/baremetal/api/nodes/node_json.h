/* Nodes as clients see them (bare metal spec 8.2, 8.3). */
#ifndef BERTH_BAREMETAL_API_NODES_NODE_JSON_H
#define BERTH_BAREMETAL_API_NODES_NODE_JSON_H

#include "api/request.h"
#include "baremetal/api/access.h"
#include "baremetal/api/record_json.h"
#include "model/node.h"
#include "replica/version.h"

/* Which fields an answer has, and which values are hidden from the caller. Lives as long as the
 * request. */
struct node_view {
    struct record_fields fields;
    struct access access;
    unsigned masks;
};

/* All fields of the version. */
struct record_fields node_fields_all(unsigned minor);

/* The fields of a list by default. */
struct record_fields node_fields_short(unsigned minor);

/* The requested fields; `words` is the value of `fields`. 400 for fields that cannot be requested.
 */
bool node_fields_read(const struct argument_words *words, struct record_fields *fields,
                      struct err *err) BERTH_MUST_CHECK;

/* `node`: the node that the answer is about; NULL: it is about many. */
void node_view_begin(struct node_view *view, struct api_request *request,
                     const struct record_fields *fields, const struct node *node);

/* Writes an object. `allocation_uuid`: of the allocation that has the node; data == NULL: none. */
void node_write_json(struct api_request *request, const struct node_view *view,
                     const struct node *node, struct slice allocation_uuid, struct buf *out);

/* Steps of the budget for hiding secrets in the node: the largest node takes 100 ms. */
int64_t node_json_steps(const struct node_view *view, const struct node *node);

/* The uuid of the allocation that has the node in that version, or data == NULL. */
struct slice node_allocation_uuid(const struct version *version, const struct node *node);

/* Writes "power_state": …, "provision_state": …, … : the members of GET …/states, without braces.
 */
void node_write_states(struct api_request *request, const struct node *node, struct buf *out);

#endif
