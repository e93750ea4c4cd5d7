/* The columns of upstream's tables, as the database has them. */
#ifndef BERTH_STORE_MARIADB_SCHEMA_COLUMNS_H
#define BERTH_STORE_MARIADB_SCHEMA_COLUMNS_H

#include "store/mariadb/session/session.h"
#include "store/value_limits.h"

enum { MARIADB_NAME_CHARS = 64 };

/* All zero: it is not there, or the user may do nothing with it. */
struct mariadb_column {
    bool is_there;
    bool may_select, may_insert, may_update; /* by the user's rights */
    uint16_t chars;                          /* of a text: how many it has room for */
    char charset[MARIADB_NAME_CHARS + 1];    /* "" if it is no text */
    char collation[MARIADB_NAME_CHARS + 1];
};

struct mariadb_columns {
    struct mariadb_column of[ROWS_RECORDS][VALUE_COLUMNS_MOST]; /* in the order of rows_info() */
};

/* One query, which sees tables that were created after the begin of a snapshot. */
enum server_outcome mariadb_columns_read(struct mariadb_session *session,
                                         struct mariadb_columns *columns, uint64_t deadline_us,
                                         struct err *err) BERTH_MUST_CHECK;

#endif
