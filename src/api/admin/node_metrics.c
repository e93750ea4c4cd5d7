/* Nodes and their allocations, counted by state. Because all of them are visited, the page is
 * written on the slow lane; the number of samples is the number of states, however many nodes there
 * are. Everything comes from one version. */
#include "api/admin/admin_internal.h"
#include "model/node_states.h"
#include "replica/nodes.h"

enum { ROWS_A_LOOK = 1024 }; /* a check of the client takes several system calls */

struct node_counts {
    uint64_t of_state[NODE_STATE_COUNT];
    uint64_t in_maintenance;
    uint64_t free;
};

static const char *const ALLOCATION_STATES[] = {"allocating", "active", "error"};

enum { ALLOCATION_STATE_COUNT = sizeof(ALLOCATION_STATES) / sizeof(ALLOCATION_STATES[0]) };

/* False: the client has disconnected. */
static bool count_nodes(const struct version *version, const struct admin_page *page,
                        struct node_counts *counts)
{
    size_t row = 0;
    for (const struct node *node = version_next_node(version, 0); node != NULL;
         node = version_next_node(version, node->record.id)) {
        if (row++ % ROWS_A_LOOK == 0 && admin_page_is_abandoned(page))
            return false;
        counts->of_state[node_state_find(node_text(node, NODE_PROVISION_STATE))]++;
        counts->in_maintenance += node_bool(node, NODE_MAINTENANCE);
        counts->free += node_is_free(node);
    }
    return true;
}

static bool count_allocations(const struct version *version, const struct admin_page *page,
                              uint64_t counts[ALLOCATION_STATE_COUNT])
{
    size_t row = 0;
    for (const struct node_allocation *at = version_next_node_allocation(version, 0); at != NULL;
         at = version_next_node_allocation(version, at->record.id)) {
        if (row++ % ROWS_A_LOOK == 0 && admin_page_is_abandoned(page))
            return false;
        for (size_t i = 0; i < ALLOCATION_STATE_COUNT; i++)
            counts[i] += node_allocation_text_is(at, NODE_ALLOCATION_STATE, ALLOCATION_STATES[i]);
    }
    return true;
}

bool node_metrics_write(const struct version *version, const struct admin_page *page,
                        struct exposition *exposition)
{
    struct node_counts nodes = {0};
    uint64_t allocations[ALLOCATION_STATE_COUNT] = {0};
    struct label label = {"state", {0}};
    if (!count_nodes(version, page, &nodes) || !count_allocations(version, page, allocations))
        return false;
    exposition_begin(exposition, METRIC_NODES);
    for (unsigned i = NODE_NO_STATE + 1; i < NODE_STATE_COUNT; i++) {
        label.value = node_state_text((enum node_state)i);
        exposition_count(exposition, &label, 1, nodes.of_state[i]);
    }
    exposition_single(exposition, METRIC_NODES_MAINTENANCE, nodes.in_maintenance);
    exposition_single(exposition, METRIC_NODES_FREE, nodes.free);
    exposition_begin(exposition, METRIC_NODE_ALLOCATIONS);
    for (size_t i = 0; i < ALLOCATION_STATE_COUNT; i++) {
        label.value = slice_of(ALLOCATION_STATES[i]);
        exposition_count(exposition, &label, 1, allocations[i]);
    }
    return true;
}
