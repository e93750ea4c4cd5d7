/* The part of node_write.c that is about Placement's tables. */
#ifndef BERTH_BAREMETAL_WRITE_NODE_MIRROR_H
#define BERTH_BAREMETAL_WRITE_NODE_MIRROR_H

#include "baremetal/write/node_provider.h"
#include "engine/plan.h"

/* A node's row before and after, and the consumers that come and go with it. */
struct node_mirror {
    const struct node *before;              /* NULL: new; as Placement was told of it last */
    const struct node *after;               /* NULL: it goes */
    const struct node_allocation *takes;    /* brings its consumer, unless that is adopted */
    const struct node_allocation *releases; /* its consumer goes, unless it was adopted */
    const struct node_allocation *holds;    /* the active one that stays */

    /* node_mirror_check fills these. */
    const struct provider *provider;        /* the one there is, or NULL */
    const struct consumer *ours;            /* the consumer of `releases` or `holds`, or NULL */
    const struct consumer *leaves;          /* that of one that went unmirrored, or NULL */
    struct slice class_before, class_after; /* data == NULL: none */
    bool provider_stays;                    /* although the node goes */
};

/* Whether Placement can follow. False: err is set (409). */
bool node_mirror_check(struct node_mirror *mirror, const struct plan *plan,
                       struct err *err) BERTH_MUST_CHECK;

/* Appends what it means; after the check, which nothing may have changed since. */
void node_mirror_append(const struct node_mirror *mirror, const struct plan *plan);

#endif
