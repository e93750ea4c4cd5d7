/* See result.h. Values are in the form in which the server would send them. One thread. */
#include "result.h"

#include <stdio.h>
#include <stdlib.h>

/* Arenas of results that are gone, for the next ones. */
enum { ARENAS_KEPT = 64 };
static struct arena *arenas[ARENAS_KEPT];
static size_t arena_count;

static struct arena *take_arena(void)
{
    return arena_count > 0 ? arenas[--arena_count] : arena_create();
}

static void give_arena(struct arena *arena)
{
    if (arena_count == ARENAS_KEPT) {
        arena_destroy(arena);
        return;
    }
    arena_reset(arena);
    arenas[arena_count++] = arena;
}

struct pg_result *result_create(ExecStatusType status)
{
    struct pg_result *result = calloc(1, sizeof(*result));
    check(result != NULL);
    result->status = status;
    result->tag = "";
    return result;
}

struct pg_result *result_end(void)
{
    struct pg_result *result = result_create(PGRES_EMPTY_QUERY);
    result->is_end = true;
    return result;
}

struct pg_result *result_error(const char *severity, const char *sqlstate, const char *message)
{
    struct pg_result *result = result_create(PGRES_FATAL_ERROR);
    result->arena = take_arena();
    result->severity = severity;
    result->sqlstate = sqlstate;
    result->message = arena_copy(result->arena, slice_of(message)).data;
    return result;
}

struct pg_result *result_rows(bool is_binary)
{
    struct pg_result *result = result_create(PGRES_TUPLES_OK);
    result->arena = take_arena();
    result->is_binary = is_binary;
    return result;
}

void result_column(struct pg_result *result, enum pg_type type)
{
    check(result->columns < RESULT_COLUMNS_MOST);
    result->types[result->columns++] = type;
}

static void add(struct pg_result *result, struct slice bytes)
{
    result->values = arena_grow(result->arena, result->values, result->value_count,
                                &result->value_capacity, sizeof(*result->values));
    result->values[result->value_count++] = bytes;
    result->rows = (int)(result->value_count / (size_t)result->columns);
}

static enum pg_type next_type(const struct pg_result *result)
{
    return result->types[result->value_count % (size_t)result->columns];
}

static size_t width_of(enum pg_type type)
{
    return type == PG_BOOL ? 1 : type == PG_INT2 ? 2 : type == PG_INT4 ? 4 : 8;
}

static void add_number(struct pg_result *result, uint64_t value)
{
    size_t width = width_of(next_type(result));
    char *bytes = arena_alloc(result->arena, width + 1);
    for (size_t i = 0; i < width; i++)
        bytes[i] = (char)(value >> (8 * (width - 1 - i)));
    bytes[width] = '\0';
    add(result, (struct slice){bytes, width});
}

/* With a NUL byte. */
static struct slice decimal(struct arena *arena, int64_t value)
{
    char digits[24];
    size_t at = sizeof(digits);
    uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do
        digits[--at] = (char)('0' + left % 10);
    while ((left /= 10) > 0);
    if (value < 0)
        digits[--at] = '-';
    return arena_copy(arena, (struct slice){digits + at, sizeof(digits) - at});
}

void result_add_int(struct pg_result *result, int64_t value)
{
    if (result->is_binary)
        add_number(result, (uint64_t)value);
    else
        add(result, decimal(result->arena, value));
}

void result_add_bool(struct pg_result *result, bool value)
{
    if (result->is_binary)
        add_number(result, value);
    else
        add(result, value ? SLICE_LIT("t") : SLICE_LIT("f"));
}

void result_add_float(struct pg_result *result, double value)
{
    uint64_t bits;
    check(result->is_binary);
    memcpy(&bits, &value, sizeof(bits));
    add_number(result, bits);
}

void result_add_time(struct pg_result *result, int64_t us)
{
    check(result->is_binary);
    if (us == 0)
        result_add_null(result);
    else
        add_number(result, pg_time_us(us));
}

void result_add_bytes(struct pg_result *result, struct slice bytes)
{
    add(result, bytes.data == NULL ? bytes : arena_copy(result->arena, bytes));
}

void result_add_null(struct pg_result *result)
{
    add(result, (struct slice){0});
}

struct pg_result *result_single(const struct pg_result *result, int at)
{
    struct pg_result *single = result_rows(result->is_binary);
    single->status = PGRES_SINGLE_TUPLE;
    single->columns = result->columns;
    memcpy(single->types, result->types, sizeof(single->types));
    for (int i = 0; i < result->columns; i++)
        result_add_bytes(single, result->values[at * result->columns + i]);
    return single;
}

void result_free(struct pg_result *result)
{
    if (result == NULL)
        return;
    if (result->arena != NULL)
        give_arena(result->arena);
    free(result);
}
