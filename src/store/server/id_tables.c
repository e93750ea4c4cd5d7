/* See id_tables.h. */
#include "store/server/id_tables.h"

#include "base/check.h"
#include "store/rows.h"

const char *id_table_name(enum store_table table)
{
    for (int rows = 0; rows < ROWS_RECORDS; rows++)
        if (rows_info((enum rows_table)rows)->ids == table)
            return rows_info((enum rows_table)rows)->name;
    for (int record = 0; record < RECORD_TABLE_COUNT; record++)
        if (record_tables[record].ids == table)
            return record_tables[record].name;
    check(false);
    return NULL;
}

int64_t id_table_most(enum store_table table)
{
    return table >= STORE_NODES ? ID_NONE - 1 : INT32_MAX;
}
