/* A row of one of berth's own tables, whatever its fields: packed for keeping, open for editing.
 *
 * A shape is a table of fields; the first `stored` of them are columns, the rest is derived by
 * whoever shows the row. A packed record is one block that never changes: its id, 8 bytes for each
 * stored field, then the texts. Equal rows are equal blocks. */
#ifndef BERTH_MODEL_RECORD_H
#define BERTH_MODEL_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"

struct arena;

enum record_kind {
    RECORD_TEXT,
    RECORD_BOOL,
    RECORD_TIME,      /* microseconds since 1970 UTC; 0: null */
    RECORD_JSON,      /* the text of an object; never null */
    RECORD_WORDS,     /* words without blanks, one blank between two; never null */
    RECORD_REFERENCE, /* the id of a row of another table; 0: null */
    RECORD_DERIVED    /* no column */
};

enum record_flag {
    RECORD_IN_POST = 1 << 0,  /* a client may give it when it makes the row */
    RECORD_REQUIRED = 1 << 1, /* and must */
    RECORD_IN_PATCH = 1 << 2, /* a client may alter it */
    RECORD_SORTABLE = 1 << 3, /* a sort key */
    RECORD_SECRET = 1 << 4,   /* an object whose members may be secrets, masked when shown */
    RECORD_NULLABLE = 1 << 5, /* TEXT, BOOL; in others null is given back as `initial` */
    RECORD_UNIQUE = 1 << 6,   /* no two rows have the same one, unless it is null */
    RECORD_IS_UUID = 1 << 7,
    RECORD_SORTED = 1 << 8,   /* WORDS in the order of their bytes, each once; else as they came */
    RECORD_INTERNAL = 1 << 9, /* never shown, and no client can name it */
    RECORD_NEEDED = 1 << 10   /* a row in a file that lacks it is invisible, as one without a
                                 RECORD_IS_UUID that has no null is */
};

struct record_field {
    const char *name;    /* in the API and of the column */
    const char *initial; /* of a new row; NULL: null. BOOL: "true" or "false" */
    uint16_t flags;
    uint16_t max_chars; /* of a text that a client gives; 0: no limit but RECORD_TEXT_MAX */
    uint8_t since;      /* first minor version that has it; 1: all */
    uint8_t kind;       /* enum record_kind */
};

struct record_shape {
    const struct record_field *fields;
    unsigned count;
    unsigned stored; /* fields[0 .. stored) are columns, those behind are RECORD_DERIVED */
};

enum {
    RECORD_TEXT_MAX = 16 << 20, /* bytes of one text. A client's is refused before it is longer,
                                   one in a file is not read */
    RECORD_FIELDS_MAX = 96      /* stored ones */
};

struct record {
    int64_t id;
    uint32_t bytes; /* of the whole block, a multiple of 8 */
    uint32_t unused;
    uint64_t value[]; /* a text: its length and where it begins, 0 for null */
};

/* One field while a row is edited. A BOOL's number is one of these three. */
enum record_bool { RECORD_NULL, RECORD_FALSE, RECORD_TRUE };

struct record_value {
    struct slice text; /* TEXT, JSON, WORDS; data NULL: null. Somebody else's */
    int64_t number;    /* BOOL, TIME, REFERENCE */
};

static inline bool record_is_null(const struct record *record, unsigned field)
{
    return record->value[field] == 0;
}

/* data is NULL for null. */
static inline struct slice record_text(const struct record *record, unsigned field)
{
    uint64_t value = record->value[field];
    if (value == 0)
        return (struct slice){NULL, 0};
    return (struct slice){(const char *)record + (uint32_t)value, (size_t)(value >> 32)};
}

/* Null counts as false. */
static inline bool record_bool(const struct record *record, unsigned field)
{
    return record->value[field] == RECORD_TRUE;
}

/* Of a TIME or REFERENCE; 0: null. */
static inline int64_t record_number(const struct record *record, unsigned field)
{
    return (int64_t)record->value[field];
}

/* The same row with the same contents. */
static inline bool record_equal(const struct record *a, const struct record *b)
{
    return a->bytes == b->bytes && memcmp(a, b, a->bytes) == 0;
}

/* Sets the stored fields to what a new row has. */
void record_init(const struct record_shape *shape, struct record_value *values);

/* Opens a record: the texts stay the record's. */
void record_open(const struct record_shape *shape, const struct record *record,
                 struct record_value *values);

/* The values as a record in the arena. Null where the field has none becomes its initial value. No
 * text is longer than RECORD_TEXT_MAX. */
const struct record *record_pack(const struct record_shape *shape, int64_t id,
                                 const struct record_value *values, struct arena *arena);

/* The field of that name, derived ones included, internal ones not; -1: none. */
int record_find(const struct record_shape *shape, struct slice name);

/* Ascending order by a stored field: null first, texts by their bytes, false before true; ties by
 * id (bare metal spec, 1.7). RECORD_BY_ID: by id alone. */
#define RECORD_BY_ID UINT32_MAX
int record_compare(const struct record_shape *shape, const struct record *a, const struct record *b,
                   uint32_t field);

/* Words. Cuts the first one off *rest; false when there is none left. */
bool record_next_word(struct slice *rest, struct slice *word);
bool record_has_word(struct slice words, struct slice word);
bool record_has_words(struct slice words, struct slice wanted); /* all of them */

/* The words as a RECORD_WORDS text in the arena, sorted and each once if asked for. They are not
 * empty and hold no blank. */
struct slice record_join_words(struct arena *arena, const struct slice *words, size_t count,
                               bool sorted);

#endif
