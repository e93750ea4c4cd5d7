/* Contests: sets of levels of which one provider can serve only a limited number, either because
 * each of them requests at least some amount or because they must have different providers
 * (isolate).
 *
 * If a tree has a candidate, each contest has a matching that assigns each of its levels a provider
 * from its options without exceeding what any provider can serve. So if there is no matching there
 * is no candidate. The converse does not hold, and is not needed. */
#ifndef BERTH_QUERY_AC_CONTESTS_H
#define BERTH_QUERY_AC_CONTESTS_H

#include "query/ac_query.h"

/* A level in a contest. */
struct ac_contest {
    enum ac_none none;           /* the reason if there is no matching */
    const struct fit_demand *of; /* each of its levels requests at least these */
    uint32_t of_count;           /* 0: isolate, one level per provider */
    int64_t sum;                 /* if there is only one demand: the sum of the levels' amounts */
    uint32_t *levels;            /* ascending; members are identified by their index here */
    uint32_t member_count;
    uint32_t *member_of; /* by level; NUMBER_NONE: none */
    /* state for the current tree, by member */
    uint32_t *held; /* its bit; NUMBER_NONE: none */
    uint32_t *next; /* the next member on the same bit; NUMBER_NONE: none */
    uint32_t *last;
    /* by bit */
    uint32_t *first; /* a member on the bit; NUMBER_NONE: none */
    uint32_t *count;
    uint32_t *room; /* how many members it can serve; NUMBER_NONE: not yet determined */
    uint64_t *full; /* bits whose count has reached room */
};

enum { CONTESTS_MAX = 8 };

struct ac_contests {
    struct ac_contest contest[CONTESTS_MAX];
    uint32_t count;
    uint32_t words; /* the number of words of a tree for which there is memory */
    /* used while a place is searched */
    uint64_t *seen;   /* bits */
    uint32_t *from;   /* by bit: the kind from which it was reached */
    uint32_t *queue;  /* kinds */
    uint32_t *mover;  /* by kind: the member that would move */
    uint32_t *queued; /* by kind: the round in which it was queued */
    uint32_t round;
};

/* Sets query->may_contest. True: so many levels may conflict that each tree must be checked before
 * its first choice; otherwise a check after a walk without result is early enough. */
bool ac_contests_are_likely(struct ac_query *query);

/* Finds the query's contests, once the levels have been laid out. */
void ac_contests_find(struct ac_query *query);

/* Matches all members in the current tree; those of levels below `depth` keep the slots chosen for
 * them. False: there is no matching (query->none states the reason), or the budget ran out. */
bool ac_contests_match(struct ac_query *query, const struct ac_walk *walk, uint32_t depth);

/* Assigns the bit to the level that the walk chooses next; levels up to it keep theirs. False: the
 * other levels would have no matching, and the previous one has been restored. */
bool ac_contests_choose(struct ac_query *query, uint32_t level, uint32_t bit);

#endif
