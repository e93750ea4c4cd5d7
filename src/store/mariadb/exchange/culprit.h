/* Which row of a statement the server has refused. */
#ifndef BERTH_STORE_MARIADB_EXCHANGE_CULPRIT_H
#define BERTH_STORE_MARIADB_EXCHANGE_CULPRIT_H

#include "store/bundle.h"

/* Errors of the server that a row of a statement may cause. */
enum mariadb_row_error {
    MARIADB_ROW_COLUMN_NULL = 1048,
    MARIADB_ROW_DUPLICATE = 1062,
    MARIADB_ROW_REFERRED_OLD = 1217,  /* a row that is to be deleted is referred to */
    MARIADB_ROW_REFERENCE_OLD = 1216, /* a row refers to one that is not there */
    MARIADB_ROW_OUT_OF_RANGE = 1264,
    MARIADB_ROW_TRUNCATED = 1265,
    MARIADB_ROW_WRONG_VALUE = 1292, /* a time, for example */
    MARIADB_ROW_WRONG_FIELD_VALUE = 1366,
    MARIADB_ROW_TOO_LONG = 1406,
    MARIADB_ROW_REFERRED = 1451,
    MARIADB_ROW_REFERENCE = 1452,
    MARIADB_ROW_CHECK_MYSQL = 3819, /* a CHECK constraint */
    MARIADB_ROW_CHECK = 4025,
};

struct mariadb_row_failure {
    unsigned error;
    struct slice message; /* in any language */
    size_t row;           /* what MariaDB from 10.7 answers to GET DIAGNOSTICS … ROW_NUMBER: the
                           * position in the statement, from 1; 0: unknown */
};

/* The index in the batch of the change whose row made a statement of the chunk fail. SIZE_MAX: the
 * failure does not tell for certain, or is not one of a row. Not for a failed check. */
size_t mariadb_culprit(const struct bundle *chunk, const struct change *changes,
                       const struct mariadb_row_failure *failure);

/* The name of the key of a MARIADB_ROW_DUPLICATE, without that of the table, or of the constraint
 * of a MARIADB_ROW_REFERENCE; it is part of the message. Without data: the message does not name
 * one. */
struct slice mariadb_failed_key(const struct mariadb_row_failure *failure);

#endif
