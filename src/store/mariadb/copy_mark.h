/* The mark of a copy that is not finished: a schema revision that no version of anything knows, so
 * that neither berth nor the Python service's tool takes the database for a complete one.
 *
 * Everything that a copy writes is written in transactions that also change the mark: if another
 * copy has begun, on whichever node of a Galera cluster, the mark is no longer that of this copy,
 * and the transaction fails. */
#ifndef BERTH_STORE_MARIADB_COPY_MARK_H
#define BERTH_STORE_MARIADB_COPY_MARK_H

#include "store/mariadb/session/session.h"
#include "store/store.h"

struct mariadb_copy_mark {
    char text[STORE_REVISION_BYTES]; /* as it is in the database */
    uint32_t token;                  /* of this copy */
    uint32_t number;
};

/* Replaces the revision, which is that of `mark->text`, by a mark. */
bool mariadb_copy_mark_set(struct mariadb_session *session, struct mariadb_copy_mark *mark,
                           struct err *err) BERTH_MUST_CHECK;

/* Replaces the mark by a revision. */
bool mariadb_copy_mark_remove(struct mariadb_session *session, struct mariadb_copy_mark *mark,
                              const char *revision, struct err *err) BERTH_MUST_CHECK;

/* Executes a statement in a transaction that changes the mark. *affected: its rows; NULL is
 * allowed. */
bool mariadb_copy_mark_execute(struct mariadb_session *session, struct mariadb_copy_mark *mark,
                               struct slice sql, uint64_t *affected,
                               struct err *err) BERTH_MUST_CHECK;

#endif
