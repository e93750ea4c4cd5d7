/* Statements that change or delete rows that are found by their keys, many at once. */
#ifndef BERTH_STORE_MARIADB_EXCHANGE_JOIN_SQL_H
#define BERTH_STORE_MARIADB_EXCHANGE_JOIN_SQL_H

#include "base/buf.h"
#include "store/bundle.h"
#include "store/mariadb/session/indexes.h"

enum { JOIN_VALUES_MOST = 9 };

/* What a statement says about a row. */
enum join_value {
    JOIN_VALUE_NONE,
    JOIN_VALUE_ID, /* the row's; of links and inventories: the provider's */
    JOIN_VALUE_OTHER,
    JOIN_VALUE_CLASS,
    JOIN_VALUE_UPDATED_AT, /* of the last change */
    JOIN_VALUE_NAME,       /* of a catalog */
    JOIN_VALUE_NAME_BEFORE,
    JOIN_VALUE_CONSUMER_UUID,
    JOIN_VALUE_PROVIDER_UUID,
    JOIN_VALUE_PROVIDER_NAME,
    JOIN_VALUE_ROOT,
    JOIN_VALUE_PARENT,
    JOIN_VALUE_EXPECTED, /* the generation */
    JOIN_VALUE_NEXT,
    JOIN_VALUE_PROJECT,
    JOIN_VALUE_USER,
    JOIN_VALUE_TYPE,
    JOIN_VALUE_TOTAL,
    JOIN_VALUE_RESERVED,
    JOIN_VALUE_MIN_UNIT,
    JOIN_VALUE_MAX_UNIT,
    JOIN_VALUE_STEP_SIZE,
    JOIN_VALUE_RATIO,
};

/* "$a" is the first value, "$b" the second, and so on; the row is t. */
struct mariadb_join {
    const char *table;
    const char *index; /* NULL: PRIMARY */
    const char *match;
    const char *set; /* NULL: rows are deleted */
    enum join_value values[JOIN_VALUES_MOST];
    bool is_single; /* one row for each statement */
    bool is_unchecked;
};

/* NULL: a bundle of that kind has no such statement. Before that of BUNDLE_PROVIDER_DELETE,
 * mariadb_join_unlink has to change the same rows. */
const struct mariadb_join *mariadb_join_of(enum bundle_kind kind);

extern const struct mariadb_join mariadb_join_unlink;

/* Deletes rows of that table by their ids. */
struct mariadb_join mariadb_join_delete(const char *table);

/* Appends the statement for the rows of the chunk, with a ";" after it. */
void mariadb_join_append(const struct mariadb_join *join, const struct bundle *chunk,
                         const struct change *changes, const struct mariadb_indexes *indexes,
                         struct buf *sql);

#endif
