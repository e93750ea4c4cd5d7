/* The table with a row for each lock, and its rows. Instances that ask for a turn add rows of their
 * own (asks_exchange.c). */
#ifndef BERTH_STORE_MARIADB_LOG_LOCKS_H
#define BERTH_STORE_MARIADB_LOG_LOCKS_H

#define MARIADB_LOCKS_TABLE  "berth_locks"
#define MARIADB_LOCK_BATCHES "batches"
/* There as long as all triggers are, and everybody knows of them. */
#define MARIADB_LOCK_COEXIST "coexist"

#define MARIADB_LOCK_FROM                                                                          \
    " FROM " MARIADB_LOCKS_TABLE " WHERE name='" MARIADB_LOCK_BATCHES "' FOR UPDATE;"
#define MARIADB_TAKE_LOCK "SELECT name" MARIADB_LOCK_FROM

#endif
