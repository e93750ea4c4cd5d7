/* Contests: sets of levels of which a provider can serve only so many, because of an amount that
 * each of them asks for at least, or because they are to have different ones (isolate).
 *
 * If a tree has a candidate, each contest has a matching of all its levels with providers that are
 * options of theirs, none above what it can serve. So where there is no matching there is no
 * candidate; the converse does not hold, and need not. */
#ifndef BERTH_QUERY_AC_CONTESTS_H
#define BERTH_QUERY_AC_CONTESTS_H

#include "query/ac_query.h"

/* In which a level has a part. */
struct ac_contest {
    enum ac_none none;           /* what it is to lose */
    const struct fit_demand *of; /* each of its levels asks for at least these */
    uint32_t of_count;           /* 0: isolate, one level a provider */
    int64_t sum;                 /* where there is one demand: of what the levels ask for */
    uint32_t *levels;            /* ascending; members are known by their index here */
    uint32_t member_count;
    uint32_t *member_of; /* by level; NUMBER_NONE: none */
    /* in the tree at hand: by member */
    uint32_t *held; /* its bit; NUMBER_NONE */
    uint32_t *next; /* on the same bit; NUMBER_NONE */
    uint32_t *last;
    /* by bit */
    uint32_t *first; /* member; NUMBER_NONE */
    uint32_t *count;
    uint32_t *room; /* how many members it can serve; NUMBER_NONE: not looked at */
    uint64_t *full; /* bits: count is room */
};

enum { CONTESTS_MAX = 8 };

struct ac_contests {
    struct ac_contest contest[CONTESTS_MAX];
    uint32_t count;
    uint32_t words; /* of a tree: so many there is room for */
    /* what a search for a place uses */
    uint64_t *seen;   /* bits */
    uint32_t *from;   /* by bit: the kind that it was reached from */
    uint32_t *queue;  /* kinds */
    uint32_t *mover;  /* by kind: the member that would move */
    uint32_t *queued; /* by kind: the round in which it was */
    uint32_t round;
};

/* Sets query->may_contest. True: so many levels may stand in each other's way that each tree is to
 * be looked at before its first choice; else it is soon enough when a walk has been in vain. */
bool ac_contests_are_likely(struct ac_query *query);

/* Finds the query's contests, once the levels are laid out. */
void ac_contests_find(struct ac_query *query);

/* Matches all members in the tree at hand; those of levels below `depth` have the slots chosen, and
 * stay. False: there is no matching (query->none says why), or the budget ran out. */
bool ac_contests_match(struct ac_query *query, const struct ac_walk *walk, uint32_t depth);

/* Gives the level of the walk's that is chosen next its bit; levels up to it stay. False: then the
 * others have no matching, and what there was is there again. */
bool ac_contests_choose(struct ac_query *query, uint32_t level, uint32_t bit);

#endif
