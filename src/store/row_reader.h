/* How code that all databases share reads rows: what a database has to implement for loads, merges
 * and follows. */
#ifndef BERTH_STORE_ROW_READER_H
#define BERTH_STORE_ROW_READER_H

#include "base/err.h"
#include "model/memory_view.h"
#include "store/rows.h"

/* Receives one row; its cells are valid during the call. */
typedef void row_take(void *cls, const struct cell *cells);

/* Rows that are to be read, and the list to which they are appended. */
struct row_set {
    enum rows_table table;
    const int64_t *ids; /* values of the table's first column, or, for allocations, ids of their
                         * consumers; ascending, each once */
    size_t count;
    struct change_list *list;
};

/* One transaction of one database, as long as the transaction is open: all calls see the same
 * state. The functions return false with err (503). */
struct row_reader {
    const char *name; /* the database's, for the log */
    void *cls;
    /* Reads all rows of a table, in the order of their ids if they have ids. Of an allocation whose
     * consumer does not exist, the consumer's id is NULL. */
    bool (*stream)(void *cls, enum rows_table table, row_take *take, void *take_cls,
                   struct err *err);
    /* Passes the rows of all sets to row_set_take(): those of one table in the order of the ids.
     * References have been checked (ROWS_REFERS), except those to the ids asked for. A database
     * server should answer all sets in one round trip. */
    bool (*find)(void *cls, const struct row_set *sets, size_t count, struct err *err);
    /* Passes the ids of the consumers that have one of the uuids, and 0 for each consumer that has
     * allocations and no row. The database may take a uuid for one that is spelt otherwise. NULL:
     * each uuid that is asked for has allocations and no row. */
    bool (*find_consumers)(void *cls, const struct slice *uuids, size_t count, consumer_take *take,
                           void *take_cls, struct err *err);
};

/* So many uuids are asked for, or rows created, at a time. */
enum { ROW_READER_UUIDS_MOST = 500 };

/* Appends a row of the set to its list, unless clients cannot see it. Texts are copied. */
void row_set_take(const struct row_set *set, const struct cell *cells);

/* Reads the sets; large ones in several calls of find(). */
bool row_reader_find(const struct row_reader *reader, const struct row_set *sets, size_t count,
                     struct err *err) BERTH_MUST_CHECK;

/* Asks for consumers by their uuids, many in several calls of find_consumers(). */
bool row_reader_find_consumers(const struct row_reader *reader, const struct slice *uuids,
                               size_t count, consumer_take *take, void *take_cls,
                               struct err *err) BERTH_MUST_CHECK;

#endif
