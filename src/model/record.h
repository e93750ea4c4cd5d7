/* A row of one of berth's own tables, whatever its fields: packed for storage, opened for editing.
 *
 * A shape is a table of fields; the first `stored` of them are columns, and the others are derived
 * by the code that shows the row. A packed record is one block that never changes: its id, 8 bytes
 * for each stored field, then the texts. Equal rows have equal blocks. */
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
    RECORD_WORDS,     /* words separated by one blank; never null */
    RECORD_REFERENCE, /* the id of a row of another table; 0: null */
    RECORD_DERIVED    /* no column */
};

enum record_flag {
    RECORD_IN_POST = 1 << 0,  /* a client may set it when it creates the row */
    RECORD_REQUIRED = 1 << 1, /* a client must set it when it creates the row */
    RECORD_IN_PATCH = 1 << 2, /* a client may change it */
    RECORD_SORTABLE = 1 << 3, /* a sort key */
    RECORD_SECRET = 1 << 4,   /* an object that may contain secrets, which are masked when shown */
    RECORD_NULLABLE = 1 << 5, /* TEXT, BOOL; in other fields null is replaced by `initial` */
    RECORD_UNIQUE = 1 << 6,   /* no two rows have the same value, unless it is null */
    RECORD_IS_UUID = 1 << 7,
    RECORD_SORTED = 1 << 8,   /* WORDS in byte order, each once; otherwise in the order given */
    RECORD_INTERNAL = 1 << 9, /* never shown, and clients cannot name it */
    RECORD_NEEDED = 1 << 10   /* a row in a file that lacks the value is invisible, as is one
                               * without a RECORD_IS_UUID that cannot be null */
};

struct record_field {
    const char *name;    /* in the API, and the column's name */
    const char *initial; /* for a new row; NULL: null. BOOL: "true" or "false" */
    uint16_t flags;
    uint16_t max_chars; /* of a text from a client; 0: only RECORD_TEXT_MAX limits it */
    uint8_t since;      /* the first minor version that has it; 1: all have it */
    uint8_t kind;       /* enum record_kind */
};

struct record_shape {
    const struct record_field *fields;
    unsigned count;
    unsigned stored; /* fields[0 .. stored) are columns, the others are RECORD_DERIVED */
};

enum {
    RECORD_TEXT_MAX = 16 << 20, /* bytes of one text. A longer text from a client is refused, one in
                                 * a file is not read */
    RECORD_FIELDS_MAX = 96      /* stored fields */
};

struct record {
    int64_t id;
    uint32_t bytes; /* size of the whole block, a multiple of 8 */
    uint32_t unused;
    uint64_t value[]; /* for a text: its length and offset, 0 for null */
};

/* One field while a row is edited. For a BOOL, the number is one of these three values. */
enum record_bool { RECORD_NULL, RECORD_FALSE, RECORD_TRUE };

struct record_value {
    struct slice text; /* TEXT, JSON, WORDS; data NULL: null. Another object owns it */
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

/* For a TIME or REFERENCE; 0: null. */
static inline int64_t record_number(const struct record *record, unsigned field)
{
    return (int64_t)record->value[field];
}

/* Whether both are the same row with the same contents. */
static inline bool record_equal(const struct record *a, const struct record *b)
{
    return a->bytes == b->bytes && memcmp(a, b, a->bytes) == 0;
}

/* Sets the stored fields to the values of a new row. */
void record_init(const struct record_shape *shape, struct record_value *values);

/* Opens a record; the record still owns the texts. */
void record_open(const struct record_shape *shape, const struct record *record,
                 struct record_value *values);

/* Packs the values into a record in the arena. Null becomes the initial value in fields that cannot
 * be null. No text may be longer than RECORD_TEXT_MAX. */
const struct record *record_pack(const struct record_shape *shape, int64_t id,
                                 const struct record_value *values, struct arena *arena);

/* The index of the field with that name; derived fields are found, internal ones are not. -1:
 * none. */
int record_find(const struct record_shape *shape, struct slice name);

/* Ascending order by a stored field: null first, texts in byte order, false before true; ties by id
 * (bare metal spec, 1.7). RECORD_BY_ID: by id alone. */
#define RECORD_BY_ID UINT32_MAX
int record_compare(const struct record_shape *shape, const struct record *a, const struct record *b,
                   uint32_t field);

/* Cuts the first word off *rest; false: none is left. */
bool record_next_word(struct slice *rest, struct slice *word);
bool record_has_word(struct slice words, struct slice word);
bool record_has_words(struct slice words, struct slice wanted); /* all of them */

/* Joins the words to a RECORD_WORDS text in the arena, on request sorted and without duplicates.
 * The words must not be empty or contain blanks. */
struct slice record_join_words(struct arena *arena, const struct slice *words, size_t count,
                               bool sorted);

#endif
