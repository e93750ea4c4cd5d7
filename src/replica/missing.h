/* Whether rows of other programs, and changes of other instances, fit into memory. They may refer
 * to rows that memory does not have yet, or delete rows to which rows in memory refer that the
 * programs have deleted as well. */
#ifndef BERTH_REPLICA_MISSING_H
#define BERTH_REPLICA_MISSING_H

#include "model/change.h"
#include "model/difference.h"
#include "replica/edit.h"

/* Receives an entity that must be read again, with its id; of a consumer, also its uuid, valid
 * during the call. */
typedef void missing_note(void *cls, enum entity entity, int64_t id, struct slice uuid);

/* For a change of a follow or merge that is to be applied to the edit: passes the entities that
 * memory lacks for it, or of which it must have something old. False: apply_change() must not be
 * called, because memory would be inconsistent. The writer. */
bool missing_check(const struct edit *edit, const struct change *change, missing_note *note,
                   void *cls) BERTH_MUST_CHECK;

#endif
