/* The tables in which rows get ids, and ids as a server reserves them. Any thread. */
#ifndef BERTH_STORE_SERVER_ID_TABLES_H
#define BERTH_STORE_SERVER_ID_TABLES_H

#include "store/store.h"

/* The table in which rows with these ids are inserted. */
const char *id_table_name(enum store_table table);

/* Ids of upstream's tables have 32 bits, those of berth's own 64. From ID_NONE on, numbers are no
 * ids. */
static const int64_t ID_NONE = STORE_ID_MOST / 2;
int64_t id_table_most(enum store_table table);

/* Ids that are to be reserved: at most `room` of them, between the two limits. */
struct id_range {
    int64_t floor; /* of classes, which the database does not reserve: they are higher */
    int64_t most;
    size_t room;
    int64_t *at;  /* the caller's */
    size_t count; /* reserved; 0: there are none left */
};

#endif
