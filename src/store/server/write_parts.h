/* What the statements that write rows have in common on all servers. Pure; any thread. */
#ifndef BERTH_STORE_SERVER_WRITE_PARTS_H
#define BERTH_STORE_SERVER_WRITE_PARTS_H

#include "store/bundle.h"
#include "store/rows.h"

/* The table of upstream into which a bundle inserts rows. It must be of such a kind. */
const struct rows_info *write_parts_inserted(enum bundle_kind kind);

enum record_write {
    RECORD_WRITE_NONE,
    RECORD_WRITE_DELETE,
    RECORD_WRITE_INSERT,
    RECORD_WRITE_UPDATE
};

/* The table of records that a bundle writes, and how; NULL: none. */
const struct record_table_info *write_parts_record(enum bundle_kind kind, enum record_write *write);

/* What a change that writes a row has in the column. Null are a text without data, and 0 where a
 * reference need not be there. */
struct cell write_parts_cell(const struct rows_column *column, const struct change *change);

/* The generation that a row must have to be changed or deleted. Of providers and consumers. */
int64_t write_parts_expected(const struct change *change);

/* That of a change of a consumer, or of the release of all its allocations. */
struct slice write_parts_consumer_uuid(const struct change *change);

#endif
