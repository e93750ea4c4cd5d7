/* The reasons why a query for allocation candidates found none: for metrics and the log. */
#ifndef BERTH_QUERY_AC_NONE_H
#define BERTH_QUERY_AC_NONE_H

#include <stdint.h>

struct ac_group;
struct ac_resource;

/* The most that finding the reason and counting may cost, in steps of the request's budget: half of
 * it each. On a worker also at most what the search has left of its budget. */
enum { AC_REASON_STEPS_MOST = 100000 };

/* In the order in which the search checks: the condition that excluded the last remaining ones. Of
 * several groups, the first one counts that no provider can serve; the conditions after
 * AC_NONE_IN_TREE concern several groups together. */
enum ac_none {
    AC_NONE_FOUND_SOME, /* there are candidates */
    AC_NONE_UNKNOWN_CLASS,
    AC_NONE_UNKNOWN_TRAIT,
    AC_NONE_NOTHING_REQUESTED, /* a group without resources, required traits and aggregates */
    AC_NONE_INVENTORY,         /* no provider has inventory of the class */
    AC_NONE_CAPACITY,
    AC_NONE_REQUIRED_TRAITS,
    AC_NONE_FORBIDDEN_TRAITS,
    AC_NONE_MEMBER_OF,
    AC_NONE_FORBIDDEN_AGGREGATES,
    AC_NONE_IN_TREE,
    AC_NONE_ROOT_TRAITS,  /* root_required */
    AC_NONE_SHARING,      /* no sharing provider serves the trees with what they lack */
    AC_NONE_ONE_TREE,     /* no tree serves all groups */
    AC_NONE_SUMS,         /* groups on the same provider together exceed it */
    AC_NONE_GROUP_POLICY, /* isolate */
    AC_NONE_ONE_PROVIDER, /* before 1.29: everything must come from one provider of a tree */
    AC_NONE_SAME_SUBTREE,
    AC_NONE_LIMIT,     /* max_allocation_candidates is 0 */
    AC_NONE_ABANDONED, /* the client had disconnected, or the answer became too large */
    AC_NONE_NOT_KNOWN, /* finding the reason would have cost too much */
    AC_NONE_COUNT
};

/* A condition of a group, and how many providers meet it and the group's earlier conditions. */
struct ac_step {
    enum ac_none by; /* from AC_NONE_CAPACITY to AC_NONE_IN_TREE */
    const struct ac_group *group;
    const struct ac_resource *resource; /* AC_NONE_CAPACITY: the resource; otherwise NULL */
    uint64_t providers;
};

struct ac_reason {
    enum ac_none none;
    /* The steps of the groups in order, up to the first that leaves no provider. In the unsuffixed
     * group each resource may come from a different provider, so the steps start over for each.
     * Empty if the reason is known without examining providers, or if counting would take too long.
     * In the search's arena. */
    const struct ac_step *steps;
    uint32_t step_count;
};

/* As the value of a label: "capacity". */
const char *ac_none_name(enum ac_none none);

#endif
