/* The triggers on upstream's tables that note in berth_foreign what programs without a log change.
 *
 * A trigger inserts one row for each row that a statement has changed, and does nothing else: it
 * reads no table and waits for nobody, so that there is no order of locks in which a program and
 * berth could block each other. It does so with the rights of the user who has created it, because
 * the program may have none on berth's tables. berth's own sessions are kept out by a variable.
 *
 * MariaDB and MySQL have triggers for rows only: TRUNCATE fires none, nor do changes that a foreign
 * key causes (upstream's have none), nor what a Galera node or a replica applies, which gets the
 * notes as rows. Pure; any thread. */
#ifndef BERTH_STORE_MARIADB_FOREIGN_FOREIGN_TRIGGERS_H
#define BERTH_STORE_MARIADB_FOREIGN_FOREIGN_TRIGGERS_H

#include <stdbool.h>

#include "base/buf.h"

enum {
    MARIADB_FOREIGN_TABLES = 12,
    MARIADB_FOREIGN_EVENTS = 3, /* INSERT, UPDATE, DELETE: a trigger for each */
    MARIADB_FOREIGN_TRIGGERS = MARIADB_FOREIGN_TABLES * MARIADB_FOREIGN_EVENTS,
};

/* Keeps the triggers out of whatever this session writes from now on. */
#define MARIADB_IS_WRITER "SET @berth_writer = 1"

/* Rows of one statement; what is beyond is one note that everything may have changed. */
enum { MARIADB_FOREIGN_ROWS_OF_STATEMENT = 4000 };

/* Each appends text with a NUL byte. `trigger` counts from 0 to MARIADB_FOREIGN_TRIGGERS - 1. */
void mariadb_foreign_trigger_name(unsigned trigger, struct buf *text);
void mariadb_foreign_trigger_create(unsigned trigger, struct buf *sql);
void mariadb_foreign_trigger_drop(unsigned trigger, struct buf *sql);

const char *mariadb_foreign_trigger_table(unsigned trigger);
const char *mariadb_foreign_trigger_event(unsigned trigger);

#endif
