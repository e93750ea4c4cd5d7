/* Checks whether projects exist, with the service's own login: GET /v3/projects/{id} (identity API
 * v3, Show project details). Nothing is cached. */
#ifndef BERTH_KEYSTONE_PROJECTS_H
#define BERTH_KEYSTONE_PROJECTS_H

#include "base/arena.h"
#include "keystone/keystone.h"

struct keystone_projects;

/* Called once, on Keystone's thread. ACCEPTED: all exist; REFUSED: the project with index *unknown
 * does not; UNAVAILABLE: no answer from Keystone, or the service may not make the query. */
typedef void keystone_projects_done(void *cls, enum keystone_verdict verdict, size_t unknown);

/* Any thread; `done` may be called before it returns. Texts and arena must be valid until then. All
 * projects, of which there must be at least one, are queried within the time limit of one query. */
void keystone_projects_check(struct keystone *keystone, const struct slice *projects, size_t count,
                             struct slice request_id, struct arena *arena,
                             keystone_projects_done *done, void *cls);

#endif
