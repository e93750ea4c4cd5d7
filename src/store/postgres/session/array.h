/* Builds the binary form of one-dimensional arrays, the parameters of multi-row statements. */
#ifndef BERTH_STORE_POSTGRES_SESSION_ARRAY_H
#define BERTH_STORE_POSTGRES_SESSION_ARRAY_H

#include "base/buf.h"
#include "store/postgres/session/statement.h"

/* Zeroed apart from the type: empty. The bytes are freed with buf_free(). */
struct pg_array {
    enum pg_type type; /* of the array */
    uint32_t count;
    bool has_nulls;
    bool is_out_of_range; /* a number was larger than the type allows, and is null */
    uint32_t nul_at;      /* the first element that contains U+0000; UINT32_MAX: none does */
    struct buf bytes;
};

/* Empties the array and keeps its memory. */
void pg_array_begin(struct pg_array *array, enum pg_type type);

void pg_array_add_null(struct pg_array *array);
/* PG_INT4_ARRAY and PG_INT8_ARRAY. */
void pg_array_add_int(struct pg_array *array, int64_t value);
void pg_array_add_bool(struct pg_array *array, bool value);
/* Microseconds since 1970; 0: null. */
void pg_array_add_time(struct pg_array *array, int64_t us);
void pg_array_add_float(struct pg_array *array, double value);
/* The server takes no text with U+0000. */
void pg_array_add_text(struct pg_array *array, struct slice text);

/* The array as a parameter, which refers to the array's memory until it is changed. */
struct pg_parameter pg_array_parameter(struct pg_array *array);

#endif
