/* Whether projects exist, asked with the service's own login: GET /v3/projects/{id} (identity API
 * v3, Show project details). Nothing is cached. */
#ifndef BERTH_KEYSTONE_PROJECTS_H
#define BERTH_KEYSTONE_PROJECTS_H

#include "base/arena.h"
#include "keystone/keystone.h"

struct keystone_projects;

/* Called once, on Keystone's thread. ACCEPTED: all exist; REFUSED: *unknown, an index, does not;
 * UNAVAILABLE: Keystone did not say, or the service may not ask. */
typedef void keystone_projects_done(void *cls, enum keystone_verdict verdict, size_t unknown);

/* Any thread; `done` may be called before it returns. Texts and arena live until then. All are
 * asked about within the time of one question; at least one. */
void keystone_projects_ask(struct keystone *keystone, const struct slice *projects, size_t count,
                           struct slice request_id, struct arena *arena,
                           keystone_projects_done *done, void *cls);

#endif
