/* JSON values as the text that rows store (baremetal-allocations spec, 2 and 8.2). */
#ifndef BERTH_BAREMETAL_WRITE_JSON_TEXT_H
#define BERTH_BAREMETAL_WRITE_JSON_TEXT_H

#include <jansson.h>

#include "base/arena.h"
#include "base/buf.h"

/* Appends the value without blanks, in ASCII, with floats as the shortest digits that read back
 * equal: jansson would write 0.1 as 0.10000000000000001. */
void json_text_append(struct buf *out, const json_t *value);

/* The same in the arena. */
struct slice json_text(const json_t *value, struct arena *arena);

/* The cost of parsing, copying and writing a text: steps of about five nanoseconds, and bytes of
 * memory. Both are estimates. At most `most_values` values are counted, because counting those of a
 * large text takes a millisecond. */
struct json_text_cost {
    int64_t steps;
    uint64_t bytes;
};

struct json_text_cost json_text_cost(struct slice text, size_t most_values);

#endif
