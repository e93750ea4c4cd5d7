/* Nodes as documents: the body of a POST, the document that is patched, and the result of a patch
 * (bare metal spec 8.3). */
#ifndef BERTH_BAREMETAL_API_NODES_NODE_BODY_H
#define BERTH_BAREMETAL_API_NODES_NODE_BODY_H

#include <jansson.h>

#include "baremetal/write/json_text.h"
#include "base/err.h"
#include "model/node.h"

struct arena;

/* Limit for the object in one field, so that a node stays small however often it is patched. */
enum { NODE_BODY_OBJECT_BYTES_MAX = 1 << 20 };

/* Whether the version has all fields of a POST that have a value: 406. */
bool node_body_check_versions(const json_t *document, unsigned minor,
                              struct err *err) BERTH_MUST_CHECK;

/* The fields that can be patched, as they are stored, null where they are not set; the caller owns
 * the document. Objects that are not needed (by number of field, NODE_FIELD_COUNT of them) are left
 * empty, because parsing a large one takes long. */
json_t *node_body_of(const struct node *node, const bool *needed);

/* The cost of parsing, patching and writing the needed objects. */
struct json_text_cost node_body_cost(const struct node *node, const bool *needed);

/* Copies the document's values into the draft of a new node. The document has passed
 * body_checks_node, and its name has been checked. The draft's texts are in the arena. 400. */
bool node_body_create(struct node_draft *draft, const json_t *document, struct arena *arena,
                      struct err *err) BERTH_MUST_CHECK;

/* The same with the result of a patch of node_body_of's document: a missing field becomes null or
 * its initial value, an object that is equal keeps its text. */
bool node_body_patch(struct node_draft *draft, const json_t *before, const json_t *after,
                     struct arena *arena, struct err *err) BERTH_MUST_CHECK;

#endif
