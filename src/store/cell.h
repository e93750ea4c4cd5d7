/* One column of one row as a database read it, before it is known what it means. */
#ifndef BERTH_STORE_CELL_H
#define BERTH_STORE_CELL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"

enum cell_kind {
    CELL_INTEGER, /* null: also, on SQLite, a value that is not an integer */
    CELL_NUMBER,  /* an integer; a value that is none is converted as the database converts it */
    CELL_RATIO,   /* null: also a value that is not a number */
    CELL_TEXT,    /* null: also a value that is not text */
    CELL_TIME     /* an integer: microseconds since 1970 UTC. null: also a value that is no time */
};

struct cell {
    bool is_null; /* the value is then all zeros */
    union {
        int64_t integer;
        double ratio;
        struct slice text; /* valid until the next row is read */
    };
};

/* Whether a text can be shown as the uuid of a provider, consumer or record: 1 to 36 printable
 * ASCII characters without quote and backslash, so that answers can copy it unchanged. */
bool cell_is_uuid(struct slice text);

#endif
