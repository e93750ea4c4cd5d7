/* Which server the sessions of a store use, if the URL has several hosts, or one that moves.
 *
 * After a failover, some sessions may still be connected to the old primary while others have
 * reached the new one. The newest connection decides: a session that is connected to another server
 * connects again before it is used. And a promotion begins a new timeline, so a server on an older
 * timeline than one that was seen before is an old primary: it may accept writes that the cluster
 * will never have. Any thread. */
#ifndef BERTH_STORE_SERVER_LINEAGE_H
#define BERTH_STORE_SERVER_LINEAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "store/server/node_history.h"

struct server_lineage;

/* All zero: not known. */
struct server_id {
    uint64_t started;  /* when it was started: different for each start of each server */
    uint64_t system;   /* the cluster: the same for a primary and its standbys */
    uint32_t timeline; /* grows with each promotion; 0: of a standby */
};

static inline bool server_id_equal(const struct server_id *a, const struct server_id *b)
{
    return a->started == b->started && a->system == b->system && a->timeline == b->timeline;
}

struct server_lineage *server_lineage_create(void);
void server_lineage_destroy(struct server_lineage *lineage);

/* What is known of an old primary. */
struct server_old_primary {
    uint32_t newest; /* the timeline that was seen before */
    bool is_told;    /* it was refused before, since its start */
};

/* A session is connected to that server. False: it is an old primary. */
bool server_lineage_join(struct server_lineage *lineage, const struct server_id *id,
                         struct server_old_primary *old);

/* Whether the newest connection is to another server. */
bool server_lineage_has_moved(struct server_lineage *lineage, const struct server_id *id);

/* All sessions that are connected by now are left: their owners connect them again before they are
 * used. */
void server_lineage_leave_all(struct server_lineage *lineage);

/* Whether a session that was connected at that time has been left. */
bool server_lineage_has_left(const struct server_lineage *lineage, uint64_t connected_us);

/* The node of a cluster through which the store writes, for its other threads; "": none. Names that
 * are too long are cut. */
void server_lineage_set_writer(struct server_lineage *lineage, const char *node);
void server_lineage_writer(struct server_lineage *lineage, char node[static SERVER_NODE_BYTES]);

/* All nodes through which it has written so far. */
struct node_history server_lineage_nodes(struct server_lineage *lineage);

#endif
