/* What a write of a node keeps for its answer, which is written when no version is pinned. */
#ifndef BERTH_BAREMETAL_API_NODES_NODE_OUTCOME_H
#define BERTH_BAREMETAL_API_NODES_NODE_OUTCOME_H

#include "api/request.h"
#include "engine/pipeline.h"
#include "model/node.h"

struct node_outcome {
    const struct node *node; /* in the request's arena */
    struct slice allocation_uuid;
};

/* In a planner: keeps copies of the row and of the uuid of the allocation that has it. `plan`:
 * before what was planned. `released`: no allocation has it any more. */
void node_outcome_keep(struct node_outcome *outcome, struct api_request *request,
                       const struct plan *plan, const struct node *node, bool released);

/* In a finish: answers with the node and all its fields. */
void node_outcome_write(struct api_request *request, const struct node_outcome *outcome);

/* Location: BASE/v1/nodes/IDENT, followed by `below` unless it is empty. */
void node_outcome_locate(struct api_request *request, struct slice ident, const char *below);

#endif
