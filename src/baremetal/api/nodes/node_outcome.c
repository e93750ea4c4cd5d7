/* Copies are needed because the plan's arena ends with its batch; the request's lives until the
 * answer is sent. */
#include "baremetal/api/nodes/node_outcome.h"

#include "baremetal/api/links.h"
#include "baremetal/api/nodes/node_json.h"
#include "base/arena.h"

void node_outcome_keep(struct node_outcome *outcome, struct api_request *request,
                       const struct plan *plan, const struct node *node, bool released)
{
    struct node *copy = arena_alloc(request->arena, node_bytes(node));
    memcpy(copy, node, node_bytes(node));
    outcome->node = copy;
    struct slice uuid = node_allocation_uuid(plan->version, node);
    outcome->allocation_uuid =
        uuid.data == NULL || released ? (struct slice){0} : arena_copy(request->arena, uuid);
}

void node_outcome_write(struct api_request *request, const struct node_outcome *outcome)
{
    struct record_fields fields = node_fields_all(request->minor);
    struct node_view view;
    node_view_begin(&view, request, &fields, outcome->node);
    node_write_json(request, &view, outcome->node, outcome->allocation_uuid, api_out(request));
    api_answer_json(request, 0);
}

void node_outcome_locate(struct api_request *request, struct slice ident, const char *below)
{
    struct slice base = baremetal_base(request);
    request->location = arena_printf(request->arena, "%.*s/v1/nodes/%.*s%s", SLICE_ARG(base),
                                     SLICE_ARG(ident), below);
}
