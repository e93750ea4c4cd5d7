/* See cells.h. Columns have types, so a value is what its column says; only NULL, numbers that are
 * none and infinite times count as null. Any thread. */
#include "store/postgres/exchange/cells.h"

#include <math.h>

void pg_cells_begin(struct pg_cells *cells, enum rows_table table)
{
    cells->count = rows_cell_kinds(table, cells->kinds);
}

/* Binary: microseconds since 2000; the largest and the smallest number are infinite. */
static bool read_time(struct slice bytes, int64_t *us)
{
    uint64_t value = 0;
    if (bytes.len != sizeof(value))
        return false;
    for (size_t i = 0; i < bytes.len; i++)
        value = value << 8 | (unsigned char)bytes.data[i];
    return (int64_t)value != INT64_MAX && (int64_t)value != INT64_MIN &&
           !__builtin_add_overflow((int64_t)value, PG_EPOCH_S * INT64_C(1000000), us);
}

static void read_cell(const struct pg_rows *rows, size_t row, size_t column, enum cell_kind kind,
                      struct cell *cell)
{
    bool has_value = false;
    *cell = (struct cell){0};
    switch (kind) {
    case CELL_INTEGER:
    case CELL_NUMBER:
        has_value = pg_rows_int(rows, row, column, &cell->integer);
        break;
    case CELL_RATIO:
        has_value = pg_rows_float(rows, row, column, &cell->ratio) && !isnan(cell->ratio);
        break;
    case CELL_TEXT:
        cell->text = pg_rows_bytes(rows, row, column);
        has_value = cell->text.data != NULL;
        break;
    case CELL_TIME:
        has_value =
            read_time(pg_rows_bytes(rows, row, column), &cell->integer) && cell->integer != 0;
        break;
    }
    if (!has_value)
        *cell = (struct cell){.is_null = true};
}

void pg_cells_read(struct pg_cells *cells, const struct pg_rows *rows, size_t row)
{
    for (unsigned i = 0; i < cells->count; i++)
        read_cell(rows, row, i, (enum cell_kind)cells->kinds[i], &cells->at[i]);
}
