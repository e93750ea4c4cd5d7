/* Integers as Python's int() parses text, which the Python service has always used for amounts
 * (candidates spec, item 14). */
#ifndef BERTH_API_TEXT_PYTHON_INT_H
#define BERTH_API_TEXT_PYTHON_INT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"

/* Accepts white space around the number, a sign, leading zeros, single underscores between digits,
 * and decimal digits of any script. Values beyond 64 bits become INT64_MAX or -INT64_MAX. False:
 * not an integer. */
bool python_int_parse(struct slice text, int64_t *value);

/* The text without what Python considers white space at both ends. */
struct slice python_strip(struct slice text);

#endif
