/* Reads rows of the open transaction for loads, merges and follows. */
#ifndef BERTH_STORE_SQLITE_ROW_READER_H
#define BERTH_STORE_SQLITE_ROW_READER_H

#include "store/row_reader.h"
#include "store/sqlite/internal.h"

struct row_reader sqlite_row_reader(struct sqlite_store *store);

#endif
