/* Filters for lists of nodes (bare metal spec 8.3). */
#ifndef BERTH_BAREMETAL_API_NODES_NODE_FILTERS_H
#define BERTH_BAREMETAL_API_NODES_NODE_FILTERS_H

#include "api/text/query_string.h"
#include "base/buf.h"
#include "base/err.h"
#include "model/node.h"

struct arena;

enum filter_truth { FILTER_NONE, FILTER_FALSE, FILTER_TRUE };

/* Texts: data == NULL: no filter. */
struct node_filters {
    enum filter_truth associated;
    enum filter_truth maintenance;
    enum filter_truth retired;
    enum filter_truth sharded;
    struct slice provision_state;
    struct slice driver;
    struct slice resource_class;
    struct slice fault;
    struct slice conductor_group;
    struct slice conductor;
    struct slice owner;
    struct slice lessee;
    struct slice project; /* owner or lessee */
    struct slice shards;  /* A,B */
    struct slice description_contains;
    struct slice instance_uuid;
    struct slice chassis_uuid;
};

/* Reads the filters: 400. */
bool node_filters_read(struct node_filters *filters, const struct query_string *query,
                       struct arena *arena, struct err *err) BERTH_MUST_CHECK;

/* Whether the version has the filters (406), and their values are valid (400). */
bool node_filters_check(const struct node_filters *filters, unsigned minor,
                        struct err *err) BERTH_MUST_CHECK;

/* `host`: the conductor that nodes show. */
bool node_filters_match(const struct node_filters *filters, struct slice host,
                        const struct node *node);

/* Appends "&NAME=VALUE" for each filter, for `next`. */
void node_filters_write(const struct node_filters *filters, struct buf *out);

#endif
