/* Nodes as documents: what POST brings, what a patch is applied to, and what it leaves (bare metal
 * spec 8.3). */
#ifndef BERTH_BAREMETAL_API_NODES_NODE_BODY_H
#define BERTH_BAREMETAL_API_NODES_NODE_BODY_H

#include <jansson.h>

#include "baremetal/write/json_text.h"
#include "base/err.h"
#include "model/node.h"

struct arena;

/* Of one field's object. So a node stays small however often it is patched. */
enum { NODE_BODY_OBJECT_BYTES_MAX = 1 << 20 };

/* Whether the version has all fields of a POST that have a value: 406. */
bool node_body_check_versions(const json_t *document, unsigned minor,
                              struct err *err) BERTH_MUST_CHECK;

/* The fields that can be patched, as they are stored, null where there is nothing; the caller's.
 * Objects that are not needed (by number of field, NODE_FIELD_COUNT of them) are left empty,
 * because parsing a large one takes long. */
json_t *node_body_of(const struct node *node, const bool *needed);

/* What parsing, patching and writing the needed objects costs. */
struct json_text_cost node_body_cost(const struct node *node, const bool *needed);

/* The document's values into the draft of a new node; the document has passed body_checks_node and
 * its name was looked at. The draft's texts are in the arena. 400. */
bool node_body_create(struct node_draft *draft, const json_t *document, struct arena *arena,
                      struct err *err) BERTH_MUST_CHECK;

/* The same of what a patch left of node_body_of: a field that is not there becomes null or its
 * initial value, an equal object keeps its text. */
bool node_body_patch(struct node_draft *draft, const json_t *before, const json_t *after,
                     struct arena *arena, struct err *err) BERTH_MUST_CHECK;

#endif
