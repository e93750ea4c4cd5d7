/* The statements that read berth_foreign (foreign_triggers.h), and their results.
 *
 * Each row has the number of its transaction. A view is the text of a snapshot, "xmin:xmax:xip,…":
 * a row is new if its transaction is not visible in it. This needs no list of rows, and only those
 * are looked at whose transaction was not older than the oldest one that was then open. Pure; any
 * thread. */
#ifndef BERTH_STORE_POSTGRES_FOREIGN_FOREIGN_SQL_H
#define BERTH_STORE_POSTGRES_FOREIGN_FOREIGN_SQL_H

#include "store/postgres/session/rows.h"
#include "store/postgres/session/statement.h"
#include "store/server/foreign_view.h"

/* The condition on berth_foreign with which a row is new, for these two parameters. */
#define FOREIGN_IS_NEW(oldest, snapshot)                                                           \
    "txid >= " oldest "::bigint AND NOT txid_visible_in_snapshot(txid, " snapshot                  \
    "::text::txid_snapshot)"
enum { FOREIGN_PARAMETERS = 2 };
/* `is_of_server` false: the view is one of another server, so that all rows are new. */
void foreign_view_parameters(const struct foreign_view *view, bool is_of_server,
                             struct pg_parameter parameters[static FOREIGN_PARAMETERS]);

/* Within a snapshot: its text, and the new rows, as entity, id and uuid; of a consumer that its
 * transaction knew by its uuid only, with the id that it has now, or 0. At least one row, whose
 * entity is NULL if there is no new row. */
extern const char FOREIGN_NEW[];

/* The text of a snapshot as a view's; NULL: it is none. From malloc. */
char *foreign_view_text(struct slice snapshot);

/* The entities of three columns of a result, which begin with `column`. */
void foreign_notes_read(const struct pg_rows *rows, size_t column, struct foreign_notes *notes);

/* The oldest transaction of the snapshot, how many of the triggers there are, and the snapshot's
 * text. */
#define FOREIGN_TRIGGERS                                                                           \
    "(SELECT count(*) FROM pg_catalog.pg_trigger WHERE left(tgname, 14) = 'berth_foreign_'"        \
    " AND tgenabled IN ('O', 'A') AND pg_catalog.pg_table_is_visible(tgrelid))"
extern const char FOREIGN_LOOK[];

/* How many rows there are, up to a million. */
#define FOREIGN_WAITING_COUNT "(SELECT count(*) FROM (SELECT FROM berth_foreign LIMIT 1000000) f)"
extern const char FOREIGN_WAITING[];

#endif
