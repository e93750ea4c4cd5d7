/* The requirements of a stack's groups for pairs of servers, by 6.4 and 7.2 of the Valet spec: for
 * the oracle. */
#ifndef BERTH_TESTS_UNIT_SOLVE_VIEW_H
#define BERTH_TESTS_UNIT_SOLVE_VIEW_H

#include "oracle.h"

/* By enum stack_level where there are two. */
struct view {
    uint32_t count;
    bool absent[ORACLE_SERVERS_MAX];
    bool together[2][ORACLE_SERVERS_MAX][ORACLE_SERVERS_MAX]; /* by level */
    bool apart[2][ORACLE_SERVERS_MAX][ORACLE_SERVERS_MAX];
    bool needs_rack[ORACLE_SERVERS_MAX];
    bool assigned[2][ORACLE_SERVERS_MAX][CLOUD_GROUPS];
    bool contradicts;
};

struct view view_of(const struct plan *plan);

/* What the plan requires and the accepted one did not (6.8). Without an accepted plan: nothing. */
struct anew {
    struct view view; /* pairs, needs_rack */
    bool exclusive[ORACLE_SERVERS_MAX];
    bool locations[ORACLE_SERVERS_MAX];
    bool zone[ORACLE_SERVERS_MAX];
};

struct anew view_anew(const struct plan *plan);

/* The exclusivity group that the server is assigned to; -1: none. */
int view_group(const struct view *view, uint32_t server);

#endif
