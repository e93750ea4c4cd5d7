/* See copy_values.h. The limits are those of value_limits.h, and what a server's types do not hold
 * and SQLite's, which has none, does: numbers of more bits, null, text that is not UTF-8. Pure; any
 * thread. */
#include "store/copy_values.h"

#include <math.h>

#include "base/arena.h"
#include "base/utf8.h"
#include "store/instant.h"

enum { SHOWN_BYTES = 80 };

static bool refuse_value(const struct copy_table *table, const struct cell *cells, unsigned column,
                         const char *reason, struct err *err)
{
    struct slice row = copy_table_row_name(table, cells, err->arena);
    return err_set(err, 400, NULL, "the target cannot hold %.*s: %s %s", SLICE_ARG(row),
                   table->columns[column].name, reason);
}

static bool is_utf8(struct slice text)
{
    for (size_t at = 0; at < text.len;) {
        size_t length = utf8_length(text.data + at, text.len - at);
        if (length == 0)
            return false;
        at += length;
    }
    return true;
}

static struct text_room room_of(const struct copy_limits *limits, const struct copy_table *table,
                                const struct copy_column *column)
{
    if (column->in_rows == COPY_NOT_IN_ROWS)
        return (struct text_room){0};
    struct text_room room = limits->values.rooms[table->rows][column->in_rows];
    if (room.chars == 0)
        room.chars = rows_info(table->rows)->columns[column->in_rows].chars;
    return room;
}

/* NULL: it fits. */
static const char *text_reason(const struct copy_limits *limits, const struct copy_table *table,
                               const struct copy_column *column, struct slice text,
                               struct arena *arena)
{
    const struct text_room room = room_of(limits, table, column);
    size_t at;
    size_t length;
    if (!is_utf8(text))
        return "is not valid UTF-8";
    if (limits->values.refuses_nul && memchr(text.data, '\0', text.len) != NULL)
        return "contains U+0000";
    if (room.chars > 0 && value_limits_has_more_chars(text, room.chars))
        return arena_printf(arena, "has more than %u characters", room.chars).data;
    if (column->is_short && text.len > COPY_SHORT_BYTES)
        return arena_printf(arena, "has more than %d bytes", COPY_SHORT_BYTES).data;
    if (room.utf8_bytes > 0 && (length = value_limits_find_longer(text, room.utf8_bytes, &at)) > 0)
        return arena_printf(arena, "contains the character '%.*s'", (int)length, text.data + at)
            .data;
    if (column->is_json && !value_limits_fit_depth(&limits->values, text))
        return arena_printf(arena, "is JSON with more than %u levels", limits->values.json_depth)
            .data;
    return NULL;
}

static const char *value_reason(const struct copy_limits *limits, const struct copy_table *table,
                                const struct copy_column *column, const struct cell *cell,
                                struct arena *arena)
{
    if (cell->is_null)
        return column->is_needed ? "is null" : NULL;
    switch (column->cell) {
    case CELL_INTEGER:
    case CELL_NUMBER:
        if (column->is_bool)
            return cell->integer == 0 || cell->integer == 1 ? NULL : "is neither 0 nor 1";
        return column->is_wide || cell->integer == (int32_t)cell->integer
                   ? NULL
                   : "is not a number of 32 bits";
    case CELL_RATIO:
        return isfinite(cell->ratio) && fabs(cell->ratio) <= limits->ratio_most
                   ? NULL
                   : "is outside the column's range";
    case CELL_TIME:
        return cell->integer >= limits->time_least_us ? NULL : "is before the column's first time";
    case CELL_TEXT:
        return text_reason(limits, table, column, cell->text, arena);
    }
    return NULL;
}

bool copy_values_fit(const struct copy_limits *limits, const struct copy_table *table,
                     const struct cell *cells, unsigned wrong, struct err *err)
{
    size_t bytes = 0;
    if (wrong != COPY_NOTHING_WRONG)
        return refuse_value(
            table, cells, wrong,
            table->columns[wrong].is_json ? "is not JSON" : "is not of the column's type", err);
    for (unsigned i = 0; i < table->count; i++) {
        const char *reason = value_reason(limits, table, &table->columns[i], &cells[i], err->arena);
        if (reason != NULL)
            return refuse_value(table, cells, i, reason, err);
        if (table->columns[i].cell == CELL_TEXT && !cells[i].is_null)
            bytes += 2 * cells[i].text.len;
        if (limits->row_bytes_most > 0 && bytes > limits->row_bytes_most)
            return refuse_value(table, cells, i,
                                "makes the row larger than the server's max_allowed_packet", err);
    }
    return true;
}

void copy_values_form(const struct value_forms *forms, const struct copy_table *table,
                      struct cell *cells)
{
    for (unsigned i = 0; i < table->count && !rows_is_record(table->rows); i++) {
        if (cells[i].is_null)
            continue;
        if (table->columns[i].cell == CELL_TIME)
            cells[i].integer = value_forms_time(forms, cells[i].integer);
        else if (table->columns[i].cell == CELL_RATIO)
            cells[i].ratio = value_forms_ratio(forms, cells[i].ratio);
    }
}

bool copy_value_equal(const struct copy_column *column, const struct cell *one,
                      const struct cell *other)
{
    if (one->is_null || other->is_null)
        return one->is_null == other->is_null;
    if (column->cell == CELL_TEXT)
        return slice_equal(one->text, other->text);
    return column->cell == CELL_RATIO ? one->ratio == other->ratio : one->integer == other->integer;
}

unsigned copy_values_differ(const struct copy_table *table, const struct cell *one,
                            const struct cell *other)
{
    unsigned i = 0;
    while (i < table->count && copy_value_equal(&table->columns[i], &one[i], &other[i]))
        i++;
    return i;
}

struct slice copy_value_text(const struct copy_column *column, const struct cell *cell,
                             struct arena *arena)
{
    char time[INSTANT_LEN];
    if (cell->is_null)
        return SLICE_LIT("null");
    switch (column->cell) {
    case CELL_RATIO:
        return arena_printf(arena, "%.17g", cell->ratio);
    case CELL_TIME:
        instant_format(cell->integer, time);
        return arena_printf(arena, "%.*s", INSTANT_LEN, time);
    case CELL_TEXT:
        return arena_printf(arena, "'%.*s'%s",
                            (int)(cell->text.len < SHOWN_BYTES ? cell->text.len : SHOWN_BYTES),
                            cell->text.data, cell->text.len > SHOWN_BYTES ? " ..." : "");
    case CELL_INTEGER:
    case CELL_NUMBER:
        break;
    }
    return arena_printf(arena, "%lld", (long long)cell->integer);
}
