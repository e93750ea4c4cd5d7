/* Through which nodes of a cluster a store has written within the last hour.
 *
 * The row of an instance has only the last one: whether the proxy in front of the cluster leads it
 * to a different node every few minutes is seen here. Whoever owns a history guards it. */
#ifndef BERTH_STORE_SERVER_NODE_HISTORY_H
#define BERTH_STORE_SERVER_NODE_HISTORY_H

#include <stdint.h>

enum { SERVER_NODE_BYTES = 256, NODE_HISTORY_MOST = 16, NODE_HISTORY_MINUTES = 60 };

struct node_history_node {
    char name[SERVER_NODE_BYTES];
    uint64_t left_us; /* when another one took its place; the first one is still in use */
};

/* All zero: none yet. */
struct node_history {
    struct node_history_node nodes[NODE_HISTORY_MOST]; /* the newest first */
    unsigned count;
    uint64_t changes; /* since the start */
    struct {
        uint64_t minute;
        unsigned changes;
    } minutes[NODE_HISTORY_MINUTES];
};

/* From now on, the store writes through that node. Names that are too long are cut; "" is no node.
 */
void node_history_note(struct node_history *history, const char *node, uint64_t now_us);

/* How many nodes have been in use within the last hour: those come first. */
unsigned node_history_recent(const struct node_history *history, uint64_t now_us);

/* How often the node has changed within the last hour, or up to a minute less. */
unsigned node_history_changes(const struct node_history *history, uint64_t now_us);

#endif
