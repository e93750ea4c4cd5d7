/* Writes JSON as Python's json.dumps does: ASCII only, with ", " and ": " as separators, because
 * clients compare raw bodies (placement spec, Errors). */
#ifndef BERTH_BASE_JSON_WRITE_H
#define BERTH_BASE_JSON_WRITE_H

#include "base/buf.h"

/* Writes a string in quotes. The input is UTF-8 (a malformed byte becomes U+FFFD). `"`, `\` and
 * control characters are escaped, and characters outside ASCII become \uXXXX (surrogate pairs above
 * U+FFFF); `/` and `'` are not escaped. */
void json_write_string(struct buf *buf, struct slice text);

/* Like json_write_string but without the quotes, for a string written in pieces. Each piece
 * consists of whole characters. */
void json_write_piece(struct buf *buf, struct slice text);

/* Writes a float as Python's repr does: the shortest digits that read back as the same value, ".0"
 * for whole numbers, exponents as 1e+16. The value must be finite. */
void json_write_double(struct buf *buf, double value);

#endif
