/* A query for allocation candidates as parsed: names and numbers, nothing resolved yet. */
#ifndef BERTH_QUERY_AC_REQUEST_H
#define BERTH_QUERY_AC_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"

struct fit_headroom;

struct ac_names {
    struct slice *names;
    uint32_t count;
};

struct ac_resource {
    struct slice class_name;
    int64_t amount; /* at least 1; larger values than 2^63 - 1 are reduced to that */
};

struct ac_group {
    struct slice suffix; /* "": the unsuffixed group */
    struct ac_resource *resources;
    uint32_t resource_count;   /* 0: a resourceless group */
    struct ac_names *required; /* all must be met; each requires at least one of its names */
    uint32_t required_count;
    struct ac_names forbidden;
    struct ac_names *member_of; /* like required, with uuids of aggregates */
    uint32_t member_of_count;
    struct ac_names forbidden_aggregates;
    struct slice in_tree; /* uuid; data == NULL: none */
};

enum ac_order {
    AC_ORDER_DEPTH,  /* all candidates of a tree before the next tree's */
    AC_ORDER_SPREAD, /* one from each tree before a second from any */
};

/* When to count the providers that each condition leaves. */
enum ac_counts { AC_COUNTS_NEVER, AC_COUNTS_IF_NONE, AC_COUNTS_ALWAYS };

struct ac_request {
    struct ac_group *groups; /* in the order of the query string; suffixes are distinct */
    uint32_t group_count;
    bool isolate;
    struct ac_names root_required;
    struct ac_names root_forbidden;
    struct ac_names *same_subtrees; /* sets of suffixes, all of which exist */
    uint32_t same_subtree_count;
    bool nested_aware; /* from 1.29; false: a candidate takes from only one provider of a tree */
    int64_t limit;     /* -1: none */
    int64_t most;      /* [placement] max_allocation_candidates; -1: none */
    enum ac_order order;
    uint32_t turn; /* AC_ORDER_SPREAD: after its first, that many candidates of a tree follow each
                    * other; 0: one */
    bool randomize;
    enum ac_counts counts;
    const struct fit_headroom *headrooms; /* ascending by class and slot, without duplicates;
                                           * usually none */
    uint32_t headroom_count;
};

#endif
