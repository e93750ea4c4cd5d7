/* Integers as Python's int() reads text: what clients' amounts have always been parsed with
 * (candidates spec, item 14). */
#ifndef BERTH_API_TEXT_PYTHON_INT_H
#define BERTH_API_TEXT_PYTHON_INT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"

/* White space around, a sign, leading zeros, single underscores between digits, decimal digits of
 * any script. Values beyond 64 bits become INT64_MAX or -INT64_MAX. False: not an integer. */
bool python_int_parse(struct slice text, int64_t *value);

/* The text without Python's white space around it. */
struct slice python_strip(struct slice text);

#endif
