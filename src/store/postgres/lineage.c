/* See lineage.h. A standby neither decides nor is refused here: whether one will do is the
 * session's owner's to say. */
#include "store/postgres/lineage.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/check.h"

struct pg_lineage {
    pthread_mutex_t lock; /* guards the rest */
    struct pg_server_id newest;
    uint64_t refused; /* when the last server that was refused was started */
};

struct pg_lineage *pg_lineage_create(void)
{
    struct pg_lineage *lineage = calloc(1, sizeof(*lineage));
    check(lineage != NULL);
    pthread_mutex_init(&lineage->lock, NULL);
    return lineage;
}

void pg_lineage_destroy(struct pg_lineage *lineage)
{
    if (lineage == NULL)
        return;
    pthread_mutex_destroy(&lineage->lock);
    free(lineage);
}

bool pg_lineage_join(struct pg_lineage *lineage, const struct pg_server_id *id,
                     struct pg_old_primary *old)
{
    if (id->timeline == 0)
        return true;
    pthread_mutex_lock(&lineage->lock);
    bool is_old = id->system == lineage->newest.system && id->timeline < lineage->newest.timeline;
    *old = (struct pg_old_primary){lineage->newest.timeline, lineage->refused == id->started};
    if (is_old)
        lineage->refused = id->started;
    else
        lineage->newest = *id;
    pthread_mutex_unlock(&lineage->lock);
    return !is_old;
}

bool pg_lineage_has_moved(struct pg_lineage *lineage, const struct pg_server_id *id)
{
    pthread_mutex_lock(&lineage->lock);
    bool has_moved = id->timeline > 0 && id->started != lineage->newest.started;
    pthread_mutex_unlock(&lineage->lock);
    return has_moved;
}
