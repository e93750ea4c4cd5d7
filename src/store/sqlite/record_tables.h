/* Our tables whose rows are records (model/record.h). Their columns are the stored fields of the
 * shape, so that one more field is one more column. */
#ifndef BERTH_STORE_SQLITE_RECORD_TABLES_H
#define BERTH_STORE_SQLITE_RECORD_TABLES_H

#include "base/buf.h"
#include "model/change.h"
#include "model/record.h"
#include "store/log.h"
#include "store/sqlite/db.h"
#include "store/store.h"

enum record_table {
    RECORD_TABLE_NODES,
    RECORD_TABLE_NODE_ALLOCATIONS,
    RECORD_TABLE_VALET, /* those of model/valet.h, in its order */
    RECORD_TABLE_COUNT = RECORD_TABLE_VALET + VALET_TABLE_COUNT
};

struct record_table_info {
    const char *name;
    const struct record_shape *shape;
    enum change_kind put;
    enum change_kind delete;
    enum log_kind log;
    enum store_table ids;
};

extern const struct record_table_info record_tables[RECORD_TABLE_COUNT];

/* The table of a change's rows; NULL for a change of another kind. */
const struct record_table_info *record_table_of(enum change_kind kind);

/* Inside a write transaction: creates missing tables, columns that a table of an older berth lacks,
 * and the indexes. */
bool record_tables_make(struct db *db, struct err *err) BERTH_MUST_CHECK;

/* Whether the database has the table with all its columns. */
bool record_table_is_whole(struct db *db, const struct record_table_info *table, bool *is_whole,
                           struct err *err) BERTH_MUST_CHECK;

/* Appends the statement that reads rows, up to FROM: id first, then the stored fields in order. A
 * column that the database lacks is read as NULL. *exists: whether the table exists at all. */
bool record_table_select(struct db *db, const struct record_table_info *table, struct buf *sql,
                         bool *exists, struct err *err) BERTH_MUST_CHECK;

/* Appends the statement of a change: parameter 1 is the id, the fields follow in order. Terminated
 * by a NUL that is not counted. */
void record_table_statement(enum change_kind kind, struct buf *sql);

#endif
