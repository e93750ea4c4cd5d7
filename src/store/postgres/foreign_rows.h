/* The rows of berth_foreign: what programs that write no log have changed, as triggers on
 * upstream's tables have noted it (foreign_triggers.h), and no row of the log names yet.
 *
 * Each row has the number of its transaction. A view is a snapshot of the database up to which
 * memory has them: a row is new if its transaction is not visible in that snapshot. This needs no
 * list of rows, and only those are looked at whose transaction was not older than the oldest one
 * that was then open. Pure; any thread. */
#ifndef BERTH_STORE_POSTGRES_FOREIGN_ROWS_H
#define BERTH_STORE_POSTGRES_FOREIGN_ROWS_H

#include "store/log.h"
#include "store/postgres/rows.h"
#include "store/postgres/statement.h"
#include "store/server/lineage.h"

/* A foreign_view owns its text. All zero: memory has none of the rows. */
struct foreign_view {
    char *snapshot;          /* "xmin:xmax:xip,…" */
    int64_t oldest;          /* its xmin: rows of transactions below this number are not new */
    struct server_id server; /* numbers of transactions belong to it */
    uint32_t taken;          /* how often new rows have been taken in so far */
};

void foreign_view_free(struct foreign_view *view);
void foreign_view_copy(struct foreign_view *to, const struct foreign_view *from);

/* Takes the snapshot of a result. False: it is none. */
bool foreign_view_set(struct foreign_view *view, struct slice snapshot,
                      const struct server_id *server);

/* The condition on berth_foreign with which a row is new, for these two parameters. */
#define FOREIGN_IS_NEW(oldest, snapshot)                                                           \
    "txid >= " oldest "::bigint AND NOT txid_visible_in_snapshot(txid, " snapshot                  \
    "::text::txid_snapshot)"
enum { FOREIGN_PARAMETERS = 2 };
/* `is_of_server` false: the view is one of another server, so that all rows are new. */
void foreign_view_parameters(const struct foreign_view *view, bool is_of_server,
                             struct pg_parameter parameters[static FOREIGN_PARAMETERS]);

/* More of them at once are as if everything had changed. */
enum { FOREIGN_ROWS_MOST = 4000 };

/* Within a snapshot: its text, and the new rows, as entity, id and uuid; of a consumer that its
 * transaction knew by its uuid only, with the id that it has now, or 0. At least one row, whose
 * entity is NULL if there is no new row. */
extern const char FOREIGN_NEW[];

/* The entities of three columns of a result, which begin with `column`. */
struct foreign_entries {
    struct log_entries *entries; /* to which they are appended */
    size_t count;                /* of rows that are not NULL */
    bool is_everything;          /* anything may have changed */
};
void foreign_entries_read(const struct pg_rows *rows, size_t column, struct foreign_entries *found);

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
