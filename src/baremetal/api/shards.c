/* GET /v1/shards (bare metal spec 8.1): the number of nodes in each shard. Workers; with very many
 * nodes, the slow lane. */
#include <stdlib.h>

#include "api/charge.h"
#include "api/request.h"
#include "baremetal/api/handlers.h"
#include "baremetal/api/input/intake.h"
#include "baremetal/api/nodes/node_find.h"
#include "base/arena.h"
#include "base/json_write.h"

enum { STEPS_OF_A_NODE = 40 }; /* to read and sort */

struct shard {
    struct slice name;
    size_t count;
};

/* The largest first; equal ones by name. */
static int compare_shards(const void *left, const void *right)
{
    const struct shard *a = left;
    const struct shard *b = right;
    if (a->count != b->count)
        return a->count < b->count ? 1 : -1;
    return slice_compare(&a->name, &b->name);
}

/* The shards' names, once for each node; false: the budget is exhausted. */
static bool shards_collect(struct api_request *request, struct slice **names, size_t *count)
{
    size_t capacity = 0;
    struct budget budget = api_budget(request);
    *names = NULL;
    *count = 0;
    for (const struct node *node = version_next_node(request->version, 0); node != NULL;
         node = version_next_node(request->version, node->record.id)) {
        if (!budget_take(&budget, STEPS_OF_A_NODE))
            return false;
        *names = arena_grow(request->arena, *names, *count, &capacity, sizeof(**names));
        struct slice shard = node_text(node, NODE_SHARD);
        (*names)[(*count)++] = shard.data == NULL ? SLICE_LIT("None") : shard;
    }
    return true;
}

static size_t count_each(struct slice *names, size_t count, struct shard *shards)
{
    size_t shard_count = 0;
    if (count > 0)
        qsort(names, count, sizeof(*names), slice_compare);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || !slice_equal(names[i], names[i - 1]))
            shards[shard_count++] = (struct shard){names[i], 0};
        shards[shard_count - 1].count++;
    }
    if (shard_count > 0)
        qsort(shards, shard_count, sizeof(*shards), compare_shards);
    return shard_count;
}

enum api_step handle_baremetal_shards_list(struct api_request *request)
{
    struct slice *names;
    size_t count;
    struct buf *out = api_out(request);
    if (!intake_no_query(request))
        return API_DONE;
    struct access access = node_find_caller(request);
    if (!access_check(&access, POLICY_SHARDS_GET, &request->err))
        return API_DONE;
    if (!shards_collect(request, &names, &count))
        return api_over_budget(request);
    struct shard *shards = arena_array(request->arena, count + 1, sizeof(*shards));
    size_t shard_count = count_each(names, count, shards);
    buf_append_lit(out, "{\"shards\": [");
    for (size_t i = 0; i < shard_count; i++) {
        buf_append_slice(out, i == 0 ? SLICE_LIT("{\"name\": ") : SLICE_LIT(", {\"name\": "));
        json_write_string(out, shards[i].name);
        buf_printf(out, ", \"count\": %zu}", shards[i].count);
    }
    buf_append_lit(out, "]}");
    api_answer_json(request, 0);
    return API_DONE;
}
