/* See new_server.h.
 *
 * The id of the server is changed wherever a session would learn it. If only the lineage were told
 * of a new server, the store's own threads would undo that: their sessions would connect again,
 * reach the old server, and name it as the newest. */
#include "new_server.h"

#include <pthread.h>

#include "unit.h"

#include "store/server/store_internal.h"

void (*_Atomic session_connects)(void);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* a session joins before or after */
static uint64_t replacements;                            /* under the lock */
static _Thread_local uint64_t joined; /* the replacements before the session joined */

bool __real_server_lineage_join(struct server_lineage *lineage, const struct server_id *id,
                                struct server_old_primary *old);
bool __wrap_server_lineage_join(struct server_lineage *lineage, const struct server_id *id,
                                struct server_old_primary *old);
bool __wrap_server_lineage_join(struct server_lineage *lineage, const struct server_id *id,
                                struct server_old_primary *old)
{
    struct server_id now = *id;
    pthread_mutex_lock(&lock);
    joined = replacements;
    now.started += joined;
    bool is_newest = __real_server_lineage_join(lineage, &now, old);
    pthread_mutex_unlock(&lock);
    return is_newest;
}

enum server_outcome __real_server_session_connect(struct server_session *session,
                                                  uint64_t deadline_us, struct err *err);
enum server_outcome __wrap_server_session_connect(struct server_session *session,
                                                  uint64_t deadline_us, struct err *err);
enum server_outcome __wrap_server_session_connect(struct server_session *session,
                                                  uint64_t deadline_us, struct err *err)
{
    void (*connects)(void) = session_connects;
    if (connects != NULL)
        connects();
    joined = 0; /* a session without a lineage does not join */
    enum server_outcome outcome = __real_server_session_connect(session, deadline_us, err);
    if (outcome == SERVER_OK)
        session->id.started += joined;
    return outcome;
}

void replace_server(struct store *base)
{
    const struct server_store *store = server_store_of(base);
    struct server_id id = store->writer->id;
    struct server_old_primary old;
    assert_true(id.timeline > 0);
    assert_false(server_session_has_moved(store->writer));
    id.started++;
    pthread_mutex_lock(&lock);
    replacements++;
    bool is_newest = __real_server_lineage_join(store->lineage, &id, &old);
    pthread_mutex_unlock(&lock);
    assert_true(is_newest);
}
