/* The format is that of array_send(): number of dimensions, whether there are nulls, the type of
 * the elements; the length and lower bound of the dimension; then each element with its length.
 * Pure; any thread. */
#include "store/postgres/session/array.h"

#include "base/check.h"

enum { HEADER_BYTES = 20 };

static void append_number(struct buf *bytes, uint64_t value, unsigned len)
{
    for (unsigned i = len; i-- > 0;)
        buf_append_char(bytes, (char)(unsigned char)(value >> (8 * i)));
}

static enum pg_type element_of(enum pg_type array)
{
    switch (array) {
    case PG_INT4_ARRAY:
        return PG_INT4;
    case PG_INT8_ARRAY:
        return PG_INT8;
    case PG_TEXT_ARRAY:
        return PG_TEXT;
    case PG_FLOAT8_ARRAY:
        return PG_FLOAT8;
    case PG_BOOL_ARRAY:
        return PG_BOOL;
    case PG_TIMESTAMP_ARRAY:
        return PG_TIMESTAMP;
    default:
        check(false);
        return PG_INFER;
    }
}

void pg_array_begin(struct pg_array *array, enum pg_type type)
{
    array->type = type;
    array->count = 0;
    array->has_nulls = false;
    array->is_out_of_range = false;
    array->nul_at = UINT32_MAX;
    array->bytes.len = 0;
    for (unsigned i = 0; i < HEADER_BYTES; i++)
        buf_append_char(&array->bytes, 0);
}

void pg_array_add_null(struct pg_array *array)
{
    append_number(&array->bytes, UINT32_MAX, 4);
    array->has_nulls = true;
    array->count++;
}

void pg_array_add_int(struct pg_array *array, int64_t value)
{
    unsigned len = array->type == PG_INT4_ARRAY ? 4 : 8;
    if (len == 4 && value != (int32_t)value) {
        array->is_out_of_range = true;
        pg_array_add_null(array);
        return;
    }
    append_number(&array->bytes, len, 4);
    append_number(&array->bytes, (uint64_t)value, len);
    array->count++;
}

void pg_array_add_bool(struct pg_array *array, bool value)
{
    append_number(&array->bytes, 1, 4);
    append_number(&array->bytes, value, 1);
    array->count++;
}

void pg_array_add_time(struct pg_array *array, int64_t us)
{
    if (us == 0) {
        pg_array_add_null(array);
        return;
    }
    append_number(&array->bytes, sizeof(us), 4);
    append_number(&array->bytes, pg_time_us(us), sizeof(us));
    array->count++;
}

void pg_array_add_float(struct pg_array *array, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    append_number(&array->bytes, sizeof(bits), 4);
    append_number(&array->bytes, bits, sizeof(bits));
    array->count++;
}

void pg_array_add_text(struct pg_array *array, struct slice text)
{
    if (array->nul_at == UINT32_MAX && memchr(text.data, '\0', text.len) != NULL)
        array->nul_at = array->count;
    append_number(&array->bytes, text.len, 4);
    buf_append_slice(&array->bytes, text);
    array->count++;
}

static void put_number(char *at, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        at[i] = (char)(unsigned char)(value >> (8 * (3 - i)));
}

struct pg_parameter pg_array_parameter(struct pg_array *array)
{
    char *header = array->bytes.data;
    bool is_empty = array->count == 0;
    put_number(header, is_empty ? 0 : 1);
    put_number(header + 4, array->has_nulls);
    put_number(header + 8, element_of(array->type));
    put_number(header + 12, array->count);
    put_number(header + 16, 1);
    if (is_empty) /* no dimension */
        return pg_binary(array->type, (struct slice){header, 12});
    return pg_binary(array->type, buf_slice(&array->bytes));
}
