/* The part of node_write.c that writes Placement's tables. */
#ifndef BERTH_BAREMETAL_WRITE_NODE_MIRROR_H
#define BERTH_BAREMETAL_WRITE_NODE_MIRROR_H

#include "baremetal/write/node_provider.h"
#include "engine/plan.h"

/* A node's row before and after, and the consumers that are created and deleted with it. */
struct node_mirror {
    const struct node *before;              /* NULL: new; as it was last written to Placement */
    const struct node *after;               /* NULL: the node is deleted */
    const struct node_allocation *takes;    /* its consumer is created, unless one is adopted */
    const struct node_allocation *releases; /* its consumer is deleted, unless it was adopted */
    const struct node_allocation *holds;    /* the active one that stays */

    /* node_mirror_check fills these. */
    const struct provider *provider;        /* the existing one, or NULL */
    const struct consumer *ours;            /* the consumer of `releases` or `holds`, or NULL */
    const struct consumer *leaves;          /* that of an allocation released unmirrored, or NULL */
    struct slice class_before, class_after; /* data == NULL: none */
    bool provider_stays;                    /* although the node is deleted */
};

/* Whether the change can be mirrored in Placement. False: err is set (409). */
bool node_mirror_check(struct node_mirror *mirror, const struct plan *plan,
                       struct err *err) BERTH_MUST_CHECK;

/* Appends the changes of Placement's tables; after the check, with nothing changed since. */
void node_mirror_append(const struct node_mirror *mirror, const struct plan *plan);

#endif
