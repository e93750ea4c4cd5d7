/* Reads values out of libpq's results. What the server sends is not trusted to be what the caller
 * expects: a wrong type, form or position is reported as no value. Any thread. */
#include "store/postgres/session/rows.h"

#include <errno.h>
#include <stdlib.h>

enum {
    BOOL_TYPE = 16,
    INT8_TYPE = 20,
    INT2_TYPE = 21,
    INT4_TYPE = 23,
    OID_TYPE = 26,
    FLOAT4_TYPE = 700,
    FLOAT8_TYPE = 701
};

void pg_rows_free(struct pg_rows *rows)
{
    PQclear(rows->result);
    rows->result = NULL;
}

size_t pg_rows_count(const struct pg_rows *rows)
{
    return (size_t)PQntuples(rows->result);
}

uint64_t pg_rows_affected(const struct pg_rows *rows)
{
    return rows->result == NULL ? 0 : strtoull(PQcmdTuples(rows->result), NULL, 10);
}

struct slice pg_rows_bytes(const struct pg_rows *rows, size_t row, size_t column)
{
    bool exists = row < pg_rows_count(rows) && column < (size_t)PQnfields(rows->result);
    if (!exists || PQgetisnull(rows->result, (int)row, (int)column))
        return (struct slice){0};
    return (struct slice){PQgetvalue(rows->result, (int)row, (int)column),
                          (size_t)PQgetlength(rows->result, (int)row, (int)column)};
}

static bool is_binary(const struct pg_rows *rows, size_t column)
{
    return PQfformat(rows->result, (int)column) == 1;
}

static uint64_t big_endian(struct slice bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes.len; i++)
        value = value << 8 | (unsigned char)bytes.data[i];
    return value;
}

static bool parse_int(struct slice text, int64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoll(text.data, &end, 10);
    return text.len > 0 && end == text.data + text.len && errno == 0;
}

bool pg_rows_int(const struct pg_rows *rows, size_t row, size_t column, int64_t *value)
{
    struct slice bytes = pg_rows_bytes(rows, row, column);
    if (bytes.data == NULL)
        return false;
    Oid type = PQftype(rows->result, (int)column);
    if (type == BOOL_TYPE && bytes.len == 1) {
        *value = bytes.data[0] == 't' || bytes.data[0] == 1;
        return true;
    }
    if (type != INT2_TYPE && type != INT4_TYPE && type != INT8_TYPE && type != OID_TYPE)
        return false;
    if (!is_binary(rows, column))
        return parse_int(bytes, value);
    uint64_t raw = big_endian(bytes);
    *value = type == INT2_TYPE ? (int16_t)raw : type == INT4_TYPE ? (int32_t)raw : (int64_t)raw;
    return true;
}

bool pg_rows_float(const struct pg_rows *rows, size_t row, size_t column, double *value)
{
    struct slice bytes = pg_rows_bytes(rows, row, column);
    if (bytes.data == NULL)
        return false;
    Oid type = PQftype(rows->result, (int)column);
    if (type != FLOAT4_TYPE && type != FLOAT8_TYPE)
        return false;
    if (!is_binary(rows, column)) {
        char *end;
        *value = strtod(bytes.data, &end);
        return bytes.len > 0 && end == bytes.data + bytes.len;
    }
    uint64_t raw = big_endian(bytes);
    uint32_t raw4 = (uint32_t)raw;
    float value4;
    memcpy(&value4, &raw4, sizeof(value4));
    if (type == FLOAT8_TYPE)
        memcpy(value, &raw, sizeof(*value));
    else
        *value = (double)value4;
    return true;
}
