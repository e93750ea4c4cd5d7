/* Which values a database cannot hold, so that a request with such a value is refused before it is
 * part of a batch.
 *
 * Memory holds exactly what the database holds. A database that rounds or shortens a value instead
 * of refusing it is described here, too, once there is one. */
#ifndef BERTH_STORE_VALUE_LIMITS_H
#define BERTH_STORE_VALUE_LIMITS_H

#include "base/err.h"
#include "model/change.h"
#include "store/rows.h"

enum { VALUE_COLUMNS_MOST = 10 }; /* of a table of upstream */

/* What a column has room for. */
struct text_room {
    uint16_t chars;     /* 0: as many characters as upstream's (rows.h) */
    uint8_t utf8_bytes; /* of the longest character that fits, in UTF-8; 0: any */
};

/* One for each kind of database, to which may be added what only an open database tells. */
struct value_limits {
    bool has_lengths;    /* a text of upstream's tables fits only if its column has room for as many
                            characters (rows.h) */
    bool refuses_nul;    /* a text with U+0000 does not fit */
    uint32_t json_depth; /* how deep a JSON text may be nested; 0: as deep as a request's body */
    struct text_room rooms[ROWS_RECORDS][VALUE_COLUMNS_MOST]; /* by table and column (rows.h) */
};

/* Whether the database can hold what the planned change writes. False: err is set (400). */
bool value_limits_fit(const struct value_limits *limits, const struct change *change,
                      struct err *err) BERTH_MUST_CHECK;

/* ---- for one text ---- */

/* Whether the text has more characters; a malformed one counts as one. */
bool value_limits_has_more_chars(struct slice text, size_t most);

/* The first character with more bytes of UTF-8: its length and position; 0: there is none.
 * Malformed ones are passed over. */
size_t value_limits_find_longer(struct slice text, size_t bytes, size_t *at);

/* Whether a JSON text is nested no deeper than the database accepts. */
bool value_limits_fit_depth(const struct value_limits *limits, struct slice json);

#endif
