/* Our tables whose rows are records (model/record.h). Their columns are the stored fields of the
 * shape, so that one more field is one more column. */
#ifndef BERTH_STORE_RECORD_TABLES_H
#define BERTH_STORE_RECORD_TABLES_H

#include "model/change.h"
#include "model/record.h"
#include "store/log.h"
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

#endif
