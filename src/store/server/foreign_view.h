/* Up to where memory has the rows of berth_foreign: what programs that write no log have changed,
 * as triggers on upstream's tables have noted it, and no row of the log names yet.
 *
 * What a view consists of is known by the database that it is of. Pure; any thread. */
#ifndef BERTH_STORE_SERVER_FOREIGN_VIEW_H
#define BERTH_STORE_SERVER_FOREIGN_VIEW_H

#include "store/log.h"
#include "store/server/lineage.h"

/* Owns its text. All zero: memory has none of the rows. */
struct foreign_view {
    char *text;              /* from malloc; NULL: none */
    struct server_id server; /* the text is of no use on another one */
    uint32_t taken;          /* how often new rows have been taken in so far */
};

void foreign_view_free(struct foreign_view *view);
void foreign_view_copy(struct foreign_view *to, const struct foreign_view *from);

/* Takes a text from malloc (NULL: the server has told none, and the view is as before). */
bool foreign_view_set(struct foreign_view *view, char *text, const struct server_id *server);

/* More rows at once are as if everything had changed. */
enum { FOREIGN_ROWS_MOST = 4000 };

/* The rows that are not in a view. All zero: they were not asked for. */
struct foreign_notes {
    char *view;                 /* up to here, with these; from malloc; NULL: not known */
    bool were_asked;            /* whether there are such rows */
    bool is_everything;         /* anything may have changed */
    size_t count;               /* of the rows */
    struct log_entries entries; /* what they name */
};

void foreign_notes_free(struct foreign_notes *notes);

/* Adds a row: the word for its entity, its id (0: it has none any more) and a consumer's uuid. */
void foreign_notes_add(struct foreign_notes *notes, struct slice entity, int64_t id,
                       struct slice uuid);

#endif
