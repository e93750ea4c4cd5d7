/* JSON out, as Python's json.dumps writes it: ASCII only, ", " and ": " between parts, because
 * clients compare raw bodies (placement spec, Errors). */
#ifndef BERTH_BASE_JSON_WRITE_H
#define BERTH_BASE_JSON_WRITE_H

#include "base/buf.h"

/* A string in quotes. Input is UTF-8 (a malformed byte becomes U+FFFD); `"`, `\` and control
 * characters are escaped, everything outside ASCII becomes \uXXXX (surrogate pairs above U+FFFF);
 * `/` and `'` stay. */
void json_write_string(struct buf *buf, struct slice text);

/* The same without the quotes: one of several pieces of a string, each of whole characters. */
void json_write_piece(struct buf *buf, struct slice text);

/* A float as Python's repr prints it: shortest digits that read back equal, ".0" for whole numbers,
 * exponents as 1e+16. The value is finite. */
void json_write_double(struct buf *buf, double value);

#endif
