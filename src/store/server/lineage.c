/* See lineage.h. A standby neither decides nor is refused here: whether one will do is the
 * session's owner's to say. */
#include "store/server/lineage.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"

struct server_lineage {
    _Atomic uint64_t left_us; /* when all sessions were left; 0: never */
    pthread_mutex_t lock;     /* guards the rest */
    struct server_id newest;
    uint64_t refused; /* when the last server that was refused was started */
    char writer[SERVER_NODE_BYTES];
    struct node_history nodes;
};

struct server_lineage *server_lineage_create(void)
{
    struct server_lineage *lineage = calloc(1, sizeof(*lineage));
    check(lineage != NULL);
    pthread_mutex_init(&lineage->lock, NULL);
    return lineage;
}

void server_lineage_destroy(struct server_lineage *lineage)
{
    if (lineage == NULL)
        return;
    pthread_mutex_destroy(&lineage->lock);
    free(lineage);
}

bool server_lineage_join(struct server_lineage *lineage, const struct server_id *id,
                         struct server_old_primary *old)
{
    if (id->timeline == 0)
        return true;
    pthread_mutex_lock(&lineage->lock);
    bool is_old = id->system == lineage->newest.system && id->timeline < lineage->newest.timeline;
    *old = (struct server_old_primary){lineage->newest.timeline, lineage->refused == id->started};
    if (is_old)
        lineage->refused = id->started;
    else
        lineage->newest = *id;
    pthread_mutex_unlock(&lineage->lock);
    return !is_old;
}

bool server_lineage_has_moved(struct server_lineage *lineage, const struct server_id *id)
{
    pthread_mutex_lock(&lineage->lock);
    bool has_moved = id->timeline > 0 && id->started != lineage->newest.started;
    pthread_mutex_unlock(&lineage->lock);
    return has_moved;
}

void server_lineage_leave_all(struct server_lineage *lineage)
{
    atomic_store(&lineage->left_us, clock_monotonic_us());
}

bool server_lineage_has_left(const struct server_lineage *lineage, uint64_t connected_us)
{
    return connected_us < atomic_load(&lineage->left_us);
}

void server_lineage_set_writer(struct server_lineage *lineage, const char *node)
{
    pthread_mutex_lock(&lineage->lock);
    snprintf(lineage->writer, sizeof(lineage->writer), "%s", node);
    node_history_note(&lineage->nodes, node, clock_monotonic_us());
    pthread_mutex_unlock(&lineage->lock);
}

void server_lineage_writer(struct server_lineage *lineage, char node[static SERVER_NODE_BYTES])
{
    pthread_mutex_lock(&lineage->lock);
    memcpy(node, lineage->writer, SERVER_NODE_BYTES);
    pthread_mutex_unlock(&lineage->lock);
}

struct node_history server_lineage_nodes(struct server_lineage *lineage)
{
    pthread_mutex_lock(&lineage->lock);
    struct node_history nodes = lineage->nodes;
    pthread_mutex_unlock(&lineage->lock);
    return nodes;
}
