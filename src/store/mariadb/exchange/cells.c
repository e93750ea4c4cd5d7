/* See cells.h. All values are texts, in the form that their column's type has; only NULL, numbers
 * that are none or too large, and dates that are none count as null. Any thread. */
#include "store/mariadb/exchange/cells.h"

#include <math.h>
#include <stdlib.h>

#include "store/instant.h"

enum { NUMBER_MOST = 340 }; /* digits of the largest double, written without an exponent */

void mariadb_cells_begin(struct mariadb_cells *cells, enum rows_table table)
{
    cells->count = rows_cell_kinds(table, cells->kinds);
}

static bool read_integer(struct slice text, int64_t *value)
{
    bool is_negative = text.len > 0 && text.data[0] == '-';
    size_t at = is_negative ? 1 : 0;
    *value = 0;
    if (at == text.len)
        return false;
    for (; at < text.len; at++) {
        int digit = text.data[at] - '0';
        if (digit < 0 || digit > 9 || __builtin_mul_overflow(*value, 10, value) ||
            __builtin_add_overflow(*value, is_negative ? -digit : digit, value))
            return false;
    }
    return true;
}

static bool read_ratio(struct slice text, double *value)
{
    char digits[NUMBER_MOST + 1];
    char *end;
    if (text.len == 0 || text.len > NUMBER_MOST)
        return false;
    memcpy(digits, text.data, text.len);
    digits[text.len] = '\0';
    *value = strtod(digits, &end);
    return end == digits + text.len && isfinite(*value);
}

static void read_cell(struct slice text, enum cell_kind kind, struct cell *cell)
{
    bool has_value = false;
    *cell = (struct cell){0};
    if (text.data == NULL) {
        cell->is_null = true;
        return;
    }
    switch (kind) {
    case CELL_INTEGER:
    case CELL_NUMBER:
        has_value = read_integer(text, &cell->integer);
        break;
    case CELL_RATIO:
        has_value = read_ratio(text, &cell->ratio);
        break;
    case CELL_TEXT:
        cell->text = text;
        has_value = true;
        break;
    case CELL_TIME:
        cell->integer = instant_parse(text);
        has_value = cell->integer != 0;
        break;
    }
    if (!has_value)
        *cell = (struct cell){.is_null = true};
}

void mariadb_cells_read(struct mariadb_cells *cells, const char *const *values,
                        const unsigned long *lengths)
{
    for (unsigned i = 0; i < cells->count; i++)
        read_cell((struct slice){values[i], values[i] == NULL ? 0 : lengths[i]},
                  (enum cell_kind)cells->kinds[i], &cells->at[i]);
}
