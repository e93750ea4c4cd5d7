/* What a write about a node leaves for its answer, which is written when no version is pinned. */
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

/* In a finish: the node with all its fields is the answer. */
void node_outcome_write(struct api_request *request, const struct node_outcome *outcome);

/* Location: BASE/v1/nodes/IDENT and, unless it is empty, what stands below. */
void node_outcome_locate(struct api_request *request, struct slice ident, const char *below);

#endif
