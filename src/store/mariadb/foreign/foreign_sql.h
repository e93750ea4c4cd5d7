/* The statements that read berth_foreign (foreign_triggers.h), and their results. What a view is:
 * foreign_ids.h. Pure; any thread. */
#ifndef BERTH_STORE_MARIADB_FOREIGN_FOREIGN_SQL_H
#define BERTH_STORE_MARIADB_FOREIGN_FOREIGN_SQL_H

#include "store/mariadb/log/locks.h"
#include "store/mariadb/session/rows.h"
#include "store/server/foreign_view.h"

/* Appends an expression that is 1 if there are notes after the view. `is_of_server` false: the view
 * is one of another server, so that all notes are new. Outside a snapshot, it belongs into the
 * statement that asks for the newest row of the log, or into one before it: notes that are moved
 * between the two would otherwise be in neither. */
void mariadb_foreign_exists(const struct foreign_view *view, bool is_of_server, struct buf *sql);

/* Appends statements for a snapshot, each with its ";", that have these results: the new notes, of
 * a consumer that a program knew by its uuid only with the id that it has now, or 0; and the ids of
 * all notes. */
enum { MARIADB_FOREIGN_NEW, MARIADB_FOREIGN_IDS, MARIADB_FOREIGN_RESULTS };
void mariadb_foreign_new(const struct foreign_view *view, bool is_of_server, struct buf *sql);
void mariadb_foreign_read_new(const struct mariadb_rows results[static MARIADB_FOREIGN_RESULTS],
                              struct foreign_notes *notes);

/* The same for what a load has to know: whether all triggers are there, and the ids. Whoever may
 * not see the triggers looks for writes of other programs as if there were none. */
enum { MARIADB_FOREIGN_LOOK, MARIADB_FOREIGN_LOOK_IDS, MARIADB_FOREIGN_LOOK_RESULTS };
void mariadb_foreign_look(struct buf *sql);
bool mariadb_foreign_coexists(const struct mariadb_rows *look);
/* From malloc. */
char *mariadb_foreign_view(const struct mariadb_rows *ids);

/* The first notes, so many of them, as id, entity, id and uuid; in an order in which equal ones
 * follow each other. */
void mariadb_foreign_first(unsigned most, struct buf *sql);
void mariadb_foreign_read_first(const struct mariadb_rows *rows, struct foreign_notes *notes);

/* How many of the triggers the user can see. They are counted only together with the row 'coexist'
 * of berth_locks: as long as that is not there, not everybody may know of them. */
#define MARIADB_FOREIGN_TRIGGERS_SEEN                                                              \
    "(SELECT COUNT(*) FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = DATABASE()"          \
    " AND LEFT(TRIGGER_NAME, 14) = 'berth_foreign_')"
#define MARIADB_FOREIGN_IS_COMPLETE                                                                \
    "EXISTS(SELECT 1 FROM " MARIADB_LOCKS_TABLE " WHERE " MARIADB_LOCKS_TABLE                      \
    ".name = '" MARIADB_LOCK_COEXIST "')"

/* How many notes there are, up to a million. */
#define MARIADB_FOREIGN_WAITING                                                                    \
    "(SELECT COUNT(*) FROM (SELECT 1 FROM berth_foreign LIMIT 1000000) f)"

#endif
