/* Why a question for allocation candidates found none: for metrics and the log. */
#ifndef BERTH_QUERY_AC_NONE_H
#define BERTH_QUERY_AC_NONE_H

#include <stdint.h>

struct ac_group;
struct ac_resource;

/* In the order in which the search asks: the condition that the last ones fell by. Of several
 * groups the first one counts that nobody serves; the conditions behind AC_NONE_IN_TREE are those
 * of groups together. */
enum ac_none {
    AC_NONE_FOUND_SOME, /* there are candidates */
    AC_NONE_UNKNOWN_CLASS,
    AC_NONE_UNKNOWN_TRAIT,
    AC_NONE_NOTHING_ASKED, /* a group without resources, required traits and aggregates */
    AC_NONE_INVENTORY,     /* nobody has inventory of the class */
    AC_NONE_CAPACITY,
    AC_NONE_REQUIRED_TRAITS,
    AC_NONE_FORBIDDEN_TRAITS,
    AC_NONE_MEMBER_OF,
    AC_NONE_FORBIDDEN_AGGREGATES,
    AC_NONE_IN_TREE,
    AC_NONE_ROOT_TRAITS,  /* root_required */
    AC_NONE_SHARING,      /* nobody shares with the trees what they lack */
    AC_NONE_ONE_TREE,     /* no tree serves all groups */
    AC_NONE_SUMS,         /* groups on the same provider exceed it together */
    AC_NONE_GROUP_POLICY, /* isolate */
    AC_NONE_ONE_PROVIDER, /* before 1.29: all from one provider of a tree */
    AC_NONE_SAME_SUBTREE,
    AC_NONE_LIMIT,     /* max_allocation_candidates is 0 */
    AC_NONE_ABANDONED, /* the client had gone, or the answer became too large */
    AC_NONE_NOT_KNOWN, /* finding out took too long */
    AC_NONE_COUNT
};

/* A condition of a group, and how many providers meet it and those of the group before it. */
struct ac_step {
    enum ac_none by; /* from AC_NONE_CAPACITY to AC_NONE_IN_TREE */
    const struct ac_group *group;
    const struct ac_resource *resource; /* AC_NONE_CAPACITY: the one; else NULL */
    uint64_t providers;
};

struct ac_reason {
    enum ac_none none;
    /* Groups in order, and up to the first that leaves no provider. In the unsuffixed group each
     * resource may come from another provider, so that each begins anew. None: what is missing is
     * known without looking at providers, or counting them would take too long. In the search's
     * arena. */
    const struct ac_step *steps;
    uint32_t step_count;
};

/* As a label: "capacity". */
const char *ac_none_name(enum ac_none none);

#endif
