/* Statements and their parameters, as the session sends them. */
#ifndef BERTH_STORE_POSTGRES_SESSION_STATEMENT_H
#define BERTH_STORE_POSTGRES_SESSION_STATEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"

/* Object identifiers of types, which are the same in every server (pg_type.dat). */
enum pg_type {
    PG_INFER = 0, /* the server infers the type from the statement */
    PG_BOOL = 16,
    PG_BYTES = 17, /* bytea */
    PG_INT8 = 20,
    PG_INT2 = 21,
    PG_INT4 = 23,
    PG_TEXT = 25,
    PG_FLOAT8 = 701,
    PG_BOOL_ARRAY = 1000,
    PG_INT4_ARRAY = 1007,
    PG_TEXT_ARRAY = 1009,
    PG_INT8_ARRAY = 1016,
    PG_FLOAT8_ARRAY = 1022,
    PG_TIMESTAMP_ARRAY = 1115,
    PG_TIMESTAMP = 1114,   /* without time zone; in binary: int8, microseconds since 2000 */
    PG_TIMESTAMPTZ = 1184, /* the same in UTC */
};

struct pg_parameter {
    enum pg_type type;
    bool is_null;
    bool is_text;             /* `bytes` is the type's text form; otherwise its binary form */
    unsigned char number_len; /* > 0: the value is in `number`, and `bytes` is not used */
    unsigned char number[8];  /* big-endian */
    struct slice bytes;       /* belongs to the caller until the statement is queued */
};

static inline struct pg_parameter pg_null(enum pg_type type)
{
    return (struct pg_parameter){.type = type, .is_null = true};
}

/* A number of `len` bytes, the least significant ones of `value`. */
static inline struct pg_parameter pg_number(enum pg_type type, uint64_t value, unsigned char len)
{
    struct pg_parameter parameter = {.type = type, .number_len = len};
    for (unsigned i = 0; i < len; i++)
        parameter.number[i] = (unsigned char)(value >> (8 * (len - 1 - i)));
    return parameter;
}

static inline struct pg_parameter pg_int4(int32_t value)
{
    return pg_number(PG_INT4, (uint64_t)(int64_t)value, 4);
}

static inline struct pg_parameter pg_int8(int64_t value)
{
    return pg_number(PG_INT8, (uint64_t)value, 8);
}

enum { PG_EPOCH_S = 946684800 }; /* 2000-01-01 in seconds since 1970 */

/* Microseconds since 1970 as a timestamp's binary form. */
static inline uint64_t pg_time_us(int64_t us)
{
    return (uint64_t)us - PG_EPOCH_S * UINT64_C(1000000);
}

static inline struct pg_parameter pg_timestamp(int64_t us)
{
    return pg_number(PG_TIMESTAMP, pg_time_us(us), 8);
}

static inline struct pg_parameter pg_bool(bool value)
{
    return pg_number(PG_BOOL, value, 1);
}

static inline struct pg_parameter pg_float8(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return pg_number(PG_FLOAT8, bits, 8);
}

/* Text for columns of text types. Sent with its length; U+0000 is refused before sending. */
static inline struct pg_parameter pg_text(struct slice text)
{
    return (struct pg_parameter){.type = PG_TEXT, .bytes = text};
}

/* Any bytes for a bytea. */
static inline struct pg_parameter pg_bytes(struct slice bytes)
{
    return (struct pg_parameter){.type = PG_BYTES, .bytes = bytes};
}

/* The text form of a value whose type the server infers. U+0000 is refused before sending. */
static inline struct pg_parameter pg_literal(struct slice text)
{
    return (struct pg_parameter){.type = PG_INFER, .is_text = true, .bytes = text};
}

/* The binary form of a type. Texts in an array are the caller's to check for U+0000. */
static inline struct pg_parameter pg_binary(enum pg_type type, struct slice bytes)
{
    return (struct pg_parameter){.type = type, .bytes = bytes};
}

enum { PG_PARAMETERS_MOST = 65535 }; /* the protocol's limit */

struct pg_statement {
    const char *sql; /* one statement */
    const struct pg_parameter *parameters;
    size_t parameters_n; /* at most PG_PARAMETERS_MOST */
    bool binary_results; /* otherwise they come as text */
    bool is_prepared; /* parsed once for each connection, if that works: for statements that recur.
 Found by their text and types */
    bool is_commit;   /* COMMIT: see pg_session_commit() */
    bool is_streamed; /* for pg_stream_begin() */
    const char *what; /* for messages: "the database '…' cannot be WHAT"; NULL: "used" */
};

#endif
