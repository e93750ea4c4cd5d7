/* The triggers on upstream's tables that note in berth_foreign what programs without a log change.
 *
 * A trigger inserts one row for each entity that a statement has changed, and does nothing else: it
 * waits for nobody, so that there is no order of locks in which a program and berth could block
 * each other. It does so with the rights of the owner of its function, because the program may have
 * none on berth's tables. berth's own batches are kept out by a setting of their transaction. The
 * condition of the triggers refers to berth_foreign, so that the table cannot be dropped under
 * them. Pure; any thread. */
#ifndef BERTH_STORE_POSTGRES_FOREIGN_FOREIGN_TRIGGERS_H
#define BERTH_STORE_POSTGRES_FOREIGN_FOREIGN_TRIGGERS_H

#include "base/buf.h"
#include "base/slice.h"

enum {
    FOREIGN_TABLES = 12,
    FOREIGN_EVENTS = 4, /* INSERT, UPDATE, DELETE, TRUNCATE: a trigger for each */
    FOREIGN_TRIGGERS_ALL = FOREIGN_TABLES * FOREIGN_EVENTS,
};

/* Each appends a statement, with its NUL byte. `table` and `event` count from 0. */

/* Locks all tables. `writers`: against writers only, and otherwise against readers, too. */
void foreign_triggers_lock(bool writers, struct buf *sql);
/* `own`: berth_foreign, with its schema and quoted; `literal`: the same as a text of SQL. */
void foreign_triggers_function(unsigned table, struct slice own, struct slice literal,
                               struct buf *sql);
void foreign_triggers_create(unsigned table, unsigned event, struct buf *sql);
void foreign_triggers_drop(unsigned table, unsigned event, struct buf *sql);
void foreign_triggers_drop_function(unsigned table, struct buf *sql);

/* The name of the trigger, for comparison with pg_trigger; and of its table. */
const char *foreign_triggers_name(unsigned event);
const char *foreign_triggers_table(unsigned table);

#endif
