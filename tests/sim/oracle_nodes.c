/* Nodes as the oracle knows them: read from tables, compared, put and deleted. One thread. */
#include "clients.h"
#include "model/node.h"
#include "oracle.h"

void oracle_read_nodes(struct oracle *oracle, const struct tables *tables)
{
    const struct rows *rows = &tables->rows[TABLE_NODES];
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct node *row = node_of(rows->row[i].image.row.record);
        oracle->node[universe_number(node_text(row, NODE_UUID))] = (struct oracle_node){
            .exists = true,
            .name = universe_number(node_text(row, NODE_NAME)),
            .is_busy = !node_is_null(row, NODE_RESERVATION),
            .is_allocated = !node_is_null(row, NODE_INSTANCE_UUID),
        };
    }
}

bool oracle_nodes_differ(const struct oracle *a, const struct oracle *b)
{
    for (int n = 0; n < NODES; n++) {
        const struct oracle_node *one = &a->node[n];
        const struct oracle_node *other = &b->node[n];
        if (one->exists != other->exists)
            return true;
        if (one->exists && (one->name != other->name || one->is_busy != other->is_busy ||
                            one->is_allocated != other->is_allocated))
            return true;
    }
    return false;
}

static bool put(struct oracle *oracle, const struct client_request *request)
{
    for (int n = 0; n < NODES; n++)
        if (n != request->node && oracle->node[n].exists && oracle->node[n].name == request->name)
            return false;
    oracle->node[request->node] =
        (struct oracle_node){true, request->name, request->is_busy, request->is_allocated};
    return true;
}

bool oracle_decide_node(struct oracle *oracle, const struct client_request *request)
{
    if (request->op == OP_NODE_PUT)
        return put(oracle, request);
    bool exists = oracle->node[request->node].exists;
    oracle->node[request->node].exists = false;
    return exists;
}
