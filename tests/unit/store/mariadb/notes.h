/* A database with upstream's tables, as far as the triggers need them, and berth's, for tests of
 * what other programs write. */
#ifndef BERTH_TESTS_UNIT_STORE_MARIADB_NOTES_H
#define BERTH_TESTS_UNIT_STORE_MARIADB_NOTES_H

#include "sessions.h"
#include "store/server/foreign_view.h"

/* Creates the tables anew. */
void notes_make_tables(void);

/* What a snapshot finds after a view (NULL: none), which is replaced. The notes, as "provider 1 ,
 * consumer 0 UUID", sorted; "everything" stands for all of them. In the arena. */
const char *notes_after(struct arena *arena, struct mariadb_session *session, char **view);

/* Whether the question finds notes after the view. */
bool notes_are_new(struct mariadb_session *session, const char *view);

/* Notes that were moved into the log. */
uint64_t notes_moved(struct mariadb_session *session);

#endif
